"""Errors that users can fix: reported in one line, without a traceback."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from benchwright.core.text_folding import single_spaced

_OF_KEDRO = ("Pipeline does not contain", "Pipeline input(s)")
_KILLED = (
    "a worker process was killed, which happens when memory runs out; use fewer "
    "(--runner-params max_workers=1), or --runner SequentialRunner"
)
_OF_EXTRAS = {
    "accelerate",
    "cryptography",
    "datasets",
    "gguf",
    "httpx2",
    "kedro_datasets",
    "markdown_it",
    "mlflow",
    "plotly",
    "py3langid",
    "rapidfuzz",
    "rensa",
    "safetensors",
    "selectolax",
    "sentence_transformers",
    "sklearn",
    "spellchecker",
    "textstat",
    "tokenizers",
    "torch",
    "transformers",
    "warcio",
}  # what the extra `all` installs
_ABSENT = re.compile(r"(?:No module named '|No package metadata was found for )(\w+)")
LONGEST = 1_000
"""Maximum length of a message for the user."""

_SECTION_LINE = re.compile(r"- Parameter '([^']+)': (.*)")
_PROBLEM = re.compile(r"^  (Value error, )?| \[type=.*\]$")  # the words of pydantic around it
_VALUE = re.compile(r" \[type=(?!value_error).*?, input_value=(.*), input_type=\w+\]$")


class InputError(ValueError):
    """Invalid input or configuration. The message names file, row, field, value and a remedy."""


def expected(name: object, known: Iterable[object]) -> str:
    """Return the end of a message about an unknown name: the known ones, and the nearest."""
    names = sorted(map(str, known))
    near = get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"expected one of {', '.join(names)}{hint}" if names else "there are none"


def first_problem(error: Any, *above: str) -> str:
    """Return `place: problem` of the first problem of a pydantic ValidationError."""
    first = error.errors()[0]
    place = ".".join(map(str, (*above, *first["loc"])))
    problem = str(first["msg"]).removeprefix("Value error, ")
    return f"{place}: {problem}" if place else problem


def in_short(error: BaseException) -> str:
    """Return the message of an error, or its type, in one line of at most 200 characters."""
    return single_spaced(str(error))[:200] or type(error).__name__


_REMOTE = re.compile(rf"^{re.escape(InputError.__module__)}\.InputError: (.+)$", re.MULTILINE)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def missing_package(error: BaseException) -> str | None:
    """Return the package whose absence caused the error, if the extra `all` installs it."""
    named = (found for cause in causes(error) for found in _ABSENT.findall(str(cause)))
    return next((name for name in named if name in _OF_EXTRAS), None)


def _invalid_parameters(text: str) -> Iterator[str]:
    """Yield `section.key: problem` from what Kedro and pydantic say of invalid parameters."""
    section = key = ""
    for line in text.splitlines()[1:]:
        if section_line := _SECTION_LINE.match(line):
            section, problem = section_line.groups()
            key = ""
            if not problem.startswith("Failed to instantiate "):
                yield f"{section}: {problem}"
        elif not line.startswith("  "):
            key = f".{line}"
        elif not line.startswith("    "):
            problem = _PROBLEM.sub("", line)
            value = _VALUE.search(line)
            got = f", got {value[1]}" if value else ""
            yield f"{section}{key}: {problem}{got}"


def one_line(error: BaseException) -> str | None:
    """Return the message of a user's error in one line, None for other errors."""
    if package := missing_package(error):
        return f"{package} is not installed: pip install 'benchwright[all]'"
    for cause in causes(error):
        if line := _line_of(cause):
            return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return None


def _line_of(error: BaseException) -> str:
    """Return the message of one error that a user can fix, or ""."""
    text = str(error)
    if isinstance(error, InputError):
        return single_spaced(text)
    kind = type(error).__name__
    of_kedro = isinstance(error, ValueError) and text.startswith(_OF_KEDRO)
    # Of --nodes, --to-outputs, --namespaces …, and of --load-versions.
    if of_kedro or kind == "DatasetNotFoundError":
        return text
    if kind == "BrokenProcessPool":
        return _KILLED
    if kind == "_RemoteTraceback":  # a pool's worker reports causes as text
        reported = _REMOTE.search(text)
        return reported[1] if reported else ""
    if kind == "ParameterValidationError":
        return "; ".join(_invalid_parameters(text))
    return ""
