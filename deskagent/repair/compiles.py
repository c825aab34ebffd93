"""Whether text is good Python for the version that runs this."""

from __future__ import annotations

import warnings


def syntax_error(text: str) -> SyntaxError | None:
    """What keeps `text` from compiling as a module, warnings aside."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<candidate>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error))
    return None


def function_error(text: str, indent: str) -> SyntaxError | None:
    """As `syntax_error`, for a function that stands in a class, at `indent`: what follows must still belong to the
    class."""
    return syntax_error(f"if 1:\n{text}\n{indent}pass\n" if indent else text)
