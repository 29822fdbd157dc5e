"""Errors that users can fix: reported in one line, without a traceback."""

import re
from collections.abc import Iterator

LONGEST = 1_000
"""Maximum length of a message for the user."""

_WRAPPED = re.compile(
    r"^Parameter validation failed:|^- |Failed to instantiate \w+ for parameter '\S+': "
    r"\d+ validation errors? for \w+|^For further information visit .*"
)
"""The words of Kedro and pydantic around a parameter error."""


class InputError(ValueError):
    """Invalid input or configuration. The message names file, row, field, value and a remedy."""


_REMOTE = re.compile(rf"^{re.escape(InputError.__module__)}\.InputError: (.+)$", re.MULTILINE)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def one_line(error: BaseException) -> str | None:
    """Return the message of a user's error in one line, None for other errors."""
    for cause in causes(error):
        lines: list[str] = []
        if isinstance(cause, InputError):
            lines = [" ".join(str(cause).split())]
        elif type(cause).__name__ == "_RemoteTraceback":  # a pool's worker reports causes as text
            lines = [str(line) for line in _REMOTE.findall(str(cause))]
        elif type(cause).__name__ == "ParameterValidationError":
            parts = (_WRAPPED.sub("", part.strip()).strip() for part in str(cause).splitlines())
            lines = ["; ".join(filter(None, parts)).replace(":; ", ": ")]
        if lines:
            return lines[0] if len(lines[0]) <= LONGEST else f"{lines[0][: LONGEST - 1]}…"
    return None
