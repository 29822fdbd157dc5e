"""Errors that are the user's to mend: one line, no traceback."""

from collections.abc import Iterator


class InputError(ValueError):
    """Bad input or configuration. The message names file, row, field, value and what would do."""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what led to it, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def one_line(error: BaseException) -> str | None:
    """What to tell the user, where the fault is theirs; None where it is ours."""
    for cause in causes(error):
        if isinstance(cause, InputError):
            return " ".join(str(cause).split())
        if type(cause).__name__ == "ParameterValidationError":
            return "; ".join(part.strip() for part in str(cause).splitlines() if part.strip())
    return None
