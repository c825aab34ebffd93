"""A language server in the sandbox: started once, told of texts, asked what is wrong in them.

A thread of its own starts it, since the kernel ends a sandbox with the thread that began it, and reads what it says.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from deskagent.terminal import spawn
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Command, Limits, Policy
from deskagent.tools.diagnose.found import Problem
from deskagent.tools.diagnose.programs import Speaks

if TYPE_CHECKING:
    from lsprotocol.types import Diagnostic, PublishDiagnosticsParams

    from deskagent.terminal.process import Process

_LIMITS = Limits(seconds=None, memory=4 << 30)
_SEND = 5.0


class Server:
    """name: what is told as the source of its problems. Never raises once it is made: what fails finds nothing."""

    def __init__(self, speaks: Speaks, command: Command, sandbox: Sandbox, policy: Policy) -> None:
        self.name = speaks.argv[0]
        self._speaks, self._command, self._sandbox, self._policy = speaks, command, sandbox, policy
        self._news = threading.Condition()
        self._said: dict[str, list[PublishDiagnosticsParams]] = {}
        self._versions: dict[str, int] = {}
        self._ready: Future[Any] = Future()
        self._stop = threading.Event()
        self._process: Process | None = None
        self._checking = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
        self._thread.start()

    def check(self, uri: str, text: str, until: float) -> list[Problem] | None:
        """Errors in `text` as the file `uri`; None where it doesn't say by the monotonic time `until`."""
        from lsprotocol import types as lsp

        with self._checking:
            try:
                client = self._ready.result(max(0.0, until - time.monotonic()))
                version = self._versions[uri] = self._versions.get(uri, 0) + 1
                with self._news:
                    self._said[uri] = []
                if version == 1:
                    item = lsp.TextDocumentItem(uri, self._speaks.language, version, text)
                    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
                else:
                    named = lsp.VersionedTextDocumentIdentifier(version=version, uri=uri)
                    whole = lsp.TextDocumentContentChangeWholeDocument(text)
                    client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [whole]))
                return self._wait(uri, version, until)
            except Exception as error:  # a server is no part of the work: without it nothing is found
                logging.getLogger(__name__).info("%s: %r", self.name, error)
                return None

    def close(self) -> None:
        self._stop.set()
        if self._process is not None:
            self._process.terminate(0.0)
        self._thread.join(10)

    def _wait(self, uri: str, version: int, until: float) -> list[Problem] | None:
        def answer() -> PublishDiagnosticsParams | None:
            fitting = [one for one in self._said[uri] if one.version in (None, version)]
            return fitting[-1] if fitting else None

        with self._news:
            self._news.wait_for(
                lambda: answer() is not None or self._stop.is_set(), max(0.0, until - time.monotonic())
            )
            found = answer()
        return (
            None if found is None else [self._problem(each) for each in found.diagnostics if _is_error(each)]
        )

    def _problem(self, found: Diagnostic) -> Problem:
        code = "" if found.code is None else str(found.code)
        return Problem(found.range.start.line + 1, str(found.message), code, found.source or self.name)

    def _serve(self) -> None:
        try:
            with spawn.start(
                self._command, sandbox=self._sandbox, policy=self._policy, limits=_LIMITS
            ) as process:
                self._process = process
                self._talk(process)
        except Exception as error:  # see above: without it nothing is found
            self._failed(error)
        finally:
            self._stop.set()
            self._failed(RuntimeError(f"{self.name} has ended"))
            with self._news:
                self._news.notify_all()

    def _failed(self, error: Exception) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)

    def _talk(self, process: Process) -> None:
        """Greets it, then reads what it says until its end."""
        from lsprotocol import types as lsp
        from pygls import io_
        from pygls.lsp.client import LanguageClient

        for name in ("pygls.client", "pygls.protocol.json_rpc", "pygls.feature_manager"):
            logging.getLogger(name).setLevel(
                logging.CRITICAL
            )  # what a server says wrong is not for the screen
        client = LanguageClient("deskagent", "1")
        client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._take(params))
        client.feature(lsp.WORKSPACE_CONFIGURATION)(lambda params: [None] * len(params.items))
        client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
        client.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda params: None)
        client.protocol.set_writer(_Writer(process))
        folder = self._command.cwd.as_uri()
        texts = lsp.TextDocumentClientCapabilities(
            publish_diagnostics=lsp.PublishDiagnosticsClientCapabilities(version_support=True)
        )
        wish = lsp.InitializeParams(
            lsp.ClientCapabilities(text_document=texts),
            root_uri=folder,
            workspace_folders=[lsp.WorkspaceFolder(folder, self._command.cwd.name)],
            initialization_options=self._speaks.options,  # type: ignore[arg-type]
        )

        def greeted(_: object) -> None:
            client.initialized(lsp.InitializedParams())
            self._ready.set_result(client)

        client.protocol.send_request(lsp.INITIALIZE, wish, callback=greeted)
        io_.run(self._stop, _Reader(process), client.protocol)

    def _take(self, params: PublishDiagnosticsParams) -> None:
        with self._news:
            self._said.setdefault(params.uri, []).append(params)
            self._news.notify_all()


def _is_error(found: Diagnostic) -> bool:
    return found.severity is None or found.severity == 1


class _Reader:
    def __init__(self, process: Process) -> None:
        self._pipe = process.stdout

    def readline(self) -> bytes:
        return self._pipe.line()

    def read(self, n: int) -> bytes:
        return self._pipe.exactly(n)


class _Writer:
    def __init__(self, process: Process) -> None:
        self._process = process

    def write(self, data: bytes) -> None:
        self._process.send(data, _SEND)

    def close(self) -> None:
        self._process.end_input()
