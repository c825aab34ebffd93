"""Commands in the background are started, looked at, typed to and ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deskagent.tools.base import Context, Effect, ToolError
from deskagent.tools.job import JobArguments, RunJob


@pytest.fixture(autouse=True)
def ended(context: Context) -> Iterator[None]:
    yield
    context.jobs.close()


def job(context, do: str, **more):
    return RunJob().run(JobArguments(do=do, **more), context)


def test_it_goes_on_until_it_is_stopped(context, text) -> None:
    assert text(job(context, "start", command="echo up; sleep 600", seconds=1)).startswith("job-1 (")
    assert "sleep 600" in text(job(context, "list"))
    assert (
        "running" in text(job(context, "look", job="job-1", seconds=0)) or context.jobs.find("job-1").waiting
    )
    job(context, "stop", job="job-1")
    assert context.jobs.running == []


def test_a_program_that_asks_is_answered(context, text) -> None:
    asked = text(job(context, "start", command='read -p "Name? " x; echo "Hello $x"', seconds=20))
    assert "waits for input" in asked and "Name?" in asked
    told = text(job(context, "type", job="job-1", text="Ada", key="enter", seconds=20))
    assert "Hello Ada" in told and "code 0" in told


def test_what_it_prints_is_told_once(context, text) -> None:
    first = text(job(context, "start", command="echo one; read x; echo two", seconds=20))
    assert "one" in first
    second = text(job(context, "type", job="job-1", key="enter", seconds=20))
    assert "two" in second and "one" not in second


def test_starting_and_typing_are_runs_that_are_asked_for_and_looking_is_not(context) -> None:
    wish = RunJob().wish(JobArguments(do="start", command="make serve"), context)
    assert wish.effect is Effect.RUN and wish.commands == (("make", "serve"),)
    job(context, "start", command="cat", seconds=0)
    typed = RunJob().wish(JobArguments(do="type", job="job-1", text="rm"), context)
    assert typed.effect is Effect.RUN and "rm" in typed.subject
    assert RunJob().wish(JobArguments(do="look", job="job-1"), context).effect is Effect.NONE


def test_what_is_not_there_is_said(context) -> None:
    with pytest.raises(ToolError, match="no job 'job-9'"):
        RunJob().wish(JobArguments(do="look", job="job-9"), context)
    job(context, "start", command="cat", seconds=0)
    with pytest.raises(ToolError, match="no key"):
        RunJob().wish(JobArguments(do="type", job="job-1", key="f13"), context)


def test_where_the_person_types_the_model_does_not(context, text) -> None:
    job(context, "start", command="cat", seconds=0)
    context.jobs.find("job-1").taken = True
    for do in ("type", "stop"):
        told = job(context, do, job="job-1", text="x")
        assert told.outcome == "refused" and "the person types there" in text(told)
    assert len(context.jobs.running) == 1
    context.jobs.find("job-1").taken = False
    assert job(context, "stop", job="job-1").outcome == "done"


def test_who_watches_learns_of_new_jobs(context) -> None:
    names: list[str] = []
    context.jobs.watch(lambda: names.append(context.jobs.all[-1].name))
    job(context, "start", command="cat", seconds=0)
    assert names == ["job-1"]
