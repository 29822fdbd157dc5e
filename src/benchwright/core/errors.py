"""Errors that are the user's to mend: one line, no traceback."""

import re
from collections.abc import Iterator

LONGEST = 1_000
"""Characters of a message for the user; what it quotes may be longer."""

_WRAPPED = re.compile(
    r"^Parameter validation failed:|^- |Failed to instantiate \w+ for parameter '\S+': "
    r"\d+ validation errors? for \w+|^For further information visit .*"
)
"""What Kedro and pydantic put around what is wrong with a parameter."""


class InputError(ValueError):
    """Bad input or configuration. The message names file, row, field, value and what would do."""


_REMOTE = re.compile(rf"^{re.escape(InputError.__module__)}\.InputError: (.+)$", re.MULTILINE)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what led to it, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _cut(line: str) -> str:
    """The line, its end left out where what it quotes makes it too long to read."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def one_line(error: BaseException) -> str | None:
    """What to tell the user, where the fault is theirs; None where it is ours."""
    for cause in causes(error):
        if isinstance(cause, InputError):
            return _cut(" ".join(str(cause).split()))
        if type(cause).__name__ == "_RemoteTraceback":  # all a pool's worker says of causes
            told = _REMOTE.findall(str(cause))
            if told:
                return _cut(str(told[0]))
        if type(cause).__name__ == "ParameterValidationError":
            parts = (_WRAPPED.sub("", part.strip()).strip() for part in str(cause).splitlines())
            return _cut("; ".join(filter(None, parts)).replace(":; ", ": "))
    return None
