"""Commands that go on in the background: started, looked at, typed to, ended."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from deskagent.messages import Outcome, Result
from deskagent.terminal.pty import PtySession
from deskagent.terminal.types import Command, Limits
from deskagent.tools import lines
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.jobs import MOST, Job
from deskagent.tools.plain import plain, shortened

_KEYS = {
    "enter": b"\r",
    "ctrl-c": b"\x03",
    "ctrl-d": b"\x04",
    "escape": b"\x1b",
    "tab": b"\t",
    "up": b"\x1b[A",
}
_SIZE = (50, 200)


class Do(StrEnum):
    START = "start"
    LOOK = "look"
    TYPE = "type"
    STOP = "stop"
    LIST = "list"


class JobArguments(Arguments):
    do: Do
    command: str = Field("", description="start: a line for bash")
    job: str = Field("", description="look, type, stop: which, as start named it")
    text: str = Field("", description="type: what to type; Enter is not added")
    key: str = Field("", description=f"type: a key behind the text: {', '.join(_KEYS)}")
    seconds: float = Field(
        2, ge=0, le=600, description="how long to wait for it to end or ask before telling"
    )


class RunJob(Tool[JobArguments]):
    name = "job"
    prompt = (
        "Runs a command in the background, in the sandbox: a server, a watcher, a program that asks for input. `start` "
        "gives it a name; `look` tells what it printed since; `type` types into it; `stop` ends it; `list` lists all. "
        "All end with the conversation. What ends by itself soon belongs to `terminal`."
    )
    arguments = JobArguments

    def wish(self, arguments: JobArguments, context: Context) -> Wish:
        if arguments.do is Do.START:
            if len(context.jobs.running) >= MOST:
                raise ToolError(f"{MOST} jobs run already. Stop one first.")
            return lines.wish(arguments.command, "job", context, "(in the background)")
        if arguments.do is not Do.LIST:
            job = self._job(arguments, context)
            if arguments.do is Do.TYPE:
                if arguments.key and arguments.key not in _KEYS:
                    raise ToolError(f"There is no key {arguments.key!r}; there are {', '.join(_KEYS)}.")
                typed = f"type into {job.line!r}: {arguments.text!r} {arguments.key}".rstrip()
                return Wish(Effect.RUN, typed, f"type:{job.line}:{arguments.text}:{arguments.key}")
        return Wish(Effect.NONE, str(arguments.do), f"job:{arguments.do}")

    def run(self, arguments: JobArguments, context: Context) -> Result:
        if arguments.do is Do.LIST:
            return Result.of(
                "\n".join(f"{job.name}: {job.line} ({_state(job)})" for job in context.jobs.all) or "None."
            )
        if arguments.do is Do.START:
            session = PtySession(
                Command(("bash", "-c", arguments.command), context.folder, context.env, pty=True, size=_SIZE),
                sandbox=context.sandbox,
                policy=context.policy,
                limits=Limits(seconds=None),
                on_output=lambda data: context.say(data.decode("utf-8", "replace")),
            )
            job = context.jobs.add(arguments.command, session)
        else:
            job = self._job(arguments, context)
        if job.taken and arguments.do in (Do.TYPE, Do.STOP):
            return Result.of(f"{job.name}: the person types there now. Look again later.", Outcome.REFUSED)
        if arguments.do is Do.TYPE:
            try:
                job.session.write(arguments.text.encode("utf-8", "replace") + _KEYS.get(arguments.key, b""))
            except (BrokenPipeError, TimeoutError) as error:
                return Result.of(f"{job.name}: {error}.", Outcome.FAILED)
        if arguments.do is Do.STOP:
            job.session.terminate()
            job.session.wait(5)
        news = shortened(plain(job.news(arguments.seconds, context.cancel)).strip("\n"))
        return Result.of("\n".join(filter(None, [f"{job.name} ({_state(job)})", news])))

    @staticmethod
    def _job(arguments: JobArguments, context: Context) -> Job:
        job = context.jobs.find(arguments.job)
        if job is None:
            names = ", ".join(each.name for each in context.jobs.all) or "none"
            raise ToolError(f"There is no job {arguments.job!r}. There are: {names}.")
        return job


def _state(job: Job) -> str:
    if (result := job.result) is not None:
        return f"{result.end}, code {result.code}"
    return str(job.waiting) if job.waiting else "running"
