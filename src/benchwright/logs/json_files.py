"""JSON files of logs, whole or one element at a time; errors name the file."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from benchwright.core.errors import InputError
from benchwright.core.verbatim import read_errors, utf8_text
from benchwright.logs import json_stream

_LARGEST = 64 << 20


def read_json(path: Path) -> Any:
    """Return the value of a file of settings or scores, which is small.

    Raises:
        InputError: it is broken, or larger than 64 MiB.
    """
    with read_errors(path), path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(f"more than {_LARGEST:,} bytes, expected settings or scores of a run")
        return json.loads(utf8_text(content))


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the numbers and values of JSON lines; see `json_stream.json_lines`."""
    with read_errors(path), path.open("rb") as stream:
        yield from json_stream.json_lines(stream)


def array_elements(path: Path) -> Iterator[Any]:
    """Yield the elements of a JSON array; see `json_stream.array_elements`."""
    with _text(path) as stream:
        yield from json_stream.array_elements(stream)


def members(path: Path, arrays: frozenset[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield the members of a JSON object; see `json_stream.members`."""
    with _text(path) as stream:
        yield from json_stream.members(stream, arrays)


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    with read_errors(path), path.open(encoding="utf-8-sig") as stream:
        yield stream
