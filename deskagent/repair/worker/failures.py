"""What is told of a failure: the places it went through and a text that stays readable."""

import traceback

_FRAMES = 60
_HEAD, _TAIL = 6000, 10000


def shorten(text):
    """`text` with its middle left out where it is long."""
    if len(text) <= _HEAD + _TAIL:
        return text
    gap = len(text) - _HEAD - _TAIL
    return "%s\n… %d characters left out …\n%s" % (text[:_HEAD], gap, text[-_TAIL:])


def text_of(error, project):
    """The traceback as Python prints it, from the first frame in the project on."""
    start = error.__traceback__
    while start is not None and project.inside(start.tb_frame.f_code.co_filename) is None:
        start = start.tb_next
    return "".join(traceback.format_exception(type(error), error, start or error.__traceback__))


def frames_of(error, project):
    """[path, line, function] from the first frame in the project on, outermost first; then those of the causes.

    Paths are relative to the project, or absolute outside it.
    """
    found, seen = [], set()
    while error is not None and id(error) not in seen and len(seen) < 5:
        seen.add(id(error))
        found.extend(
            _inside(project, [(f.f_code, line) for f, line in traceback.walk_tb(error.__traceback__)])
        )
        if isinstance(error, SyntaxError) and error.filename and error.lineno:
            found.append([project.inside(error.filename) or error.filename, error.lineno, "<module>"])
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return _cut(found)


def frames_of_stack(frame, project):
    """The same for a running frame and its callers."""
    stack = [(f.f_code, line) for f, line in traceback.walk_stack(frame)]
    return _cut(_inside(project, stack[::-1]))


def _inside(project, stack):
    started, found = False, []
    for code, line in stack:
        path = project.inside(code.co_filename)
        started = started or path is not None
        if started:
            found.append([path or code.co_filename, line or code.co_firstlineno, code.co_name])
    return found


def _cut(frames):
    half = _FRAMES // 2
    return frames if len(frames) <= _FRAMES else frames[:half] + frames[-half:]
