"""The streams of the MCP library over a process of ours, so that it ends with us like every other."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.to_thread
import mcp_types
from mcp.shared.message import SessionMessage

from deskagent.terminal.process import Process

_LONGEST = 32 << 20
_SECONDS = 10.0
_RUBBISH = 1000
"""Lines that are no messages after which a server isn't listened to any more."""


@contextlib.asynccontextmanager
async def piped(process: Process) -> AsyncIterator[tuple[Any, Any]]:
    """A line is a message. The streams end when the process does, or says nothing but rubbish."""
    came, coming = anyio.create_memory_object_stream[Any](0)
    going, goes = anyio.create_memory_object_stream[Any](0)
    one = anyio.CapacityLimiter(1)

    async def hear() -> None:
        rubbish = 0
        async with came:
            while rubbish < _RUBBISH:
                try:
                    line = await anyio.to_thread.run_sync(
                        process.stdout.line, None, _LONGEST, abandon_on_cancel=True, limiter=one
                    )
                except (ValueError, OSError):
                    return
                if not line:
                    return
                try:
                    message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    rubbish += 1  # servers print what belongs into their log
                    continue
                await came.send(SessionMessage(message))

    async def speak() -> None:
        async with goes:
            async for message in goes:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
                try:
                    await anyio.to_thread.run_sync(
                        process.send, line.encode("utf-8", "replace"), _SECONDS, abandon_on_cancel=True
                    )
                except (OSError, TimeoutError):
                    await came.aclose()
                    return

    async with anyio.create_task_group() as group:
        group.start_soon(_quietly, hear)
        group.start_soon(_quietly, speak)
        try:
            yield coming, going
        finally:
            group.cancel_scope.cancel()
            for stream in (coming, going):
                stream.close()


async def _quietly(work: Any) -> None:
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # who listened has gone
        await work()
