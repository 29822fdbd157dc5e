"""JSON files of logs, whole or one element at a time; errors name the file.

An element is parsed by `json`, which reads NaN and Infinity as numbers. The time is linear in the
length of the text, and the memory is that of the largest element.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

from benchwright.core.errors import InputError
from benchwright.core.verbatim import read_errors, utf8_text
from benchwright.logs.opened_file import OpenedFile, bytes_of, path_of, text_of

File = Path | OpenedFile

LARGEST_ELEMENT = 1 << 28
"""Characters that one element may have."""
_CHUNK = 1 << 20
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"
_MARGIN = 20  # characters; a number or word that is cut is shorter


def read_json(path: Path) -> Any:
    """Return the value of a file of settings or scores, which is small.

    Raises:
        InputError: it is broken.
    """
    with read_errors(path):
        return json.loads(utf8_text(path.read_bytes()))


def json_lines(file: File) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines with their numbers from 1; empty lines are skipped.

    Raises:
        InputError: a line is not valid JSON; the message names it.
    """
    with read_errors(path_of(file)), bytes_of(file) as stream:
        for number, line in enumerate(stream, start=1):  # of bytes, since lines end at \n only
            if not line.strip():
                continue
            try:
                yield number, json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"line {number}: not valid JSON: {' '.join(str(error).split())}; if the tool "
                    "was interrupted, run it again"
                ) from error


def array_elements(file: File) -> Iterator[Any]:
    """Yield the elements of a JSON array.

    Raises:
        InputError: there is none, or it ends early; else the message names the invalid element.
    """
    with _opened(file) as text:
        text.take("the start", "[")
        yield from _elements(text, "element")


def members(file: File, arrays: frozenset[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a JSON object, in order; elements of `arrays` one by one.

    Raises:
        InputError: as `array_elements`; the message names the key.
    """
    with _opened(file) as text:
        text.take("the start", "{")
        if text.next_mark() == "}":
            return
        mark = ","
        while mark == ",":
            key = str(text.element("a key"))
            text.take(f"key {key!r}", ":")
            if key in arrays and text.next_mark() == "[":
                text.take(key, "[")
                for value in _elements(text, key):
                    yield key, value
            else:
                yield key, text.element(key)
            mark = text.take(f"key {key!r}", ",}")


def _elements(text: "_Text", what: str) -> Iterator[Any]:
    if text.next_mark() == "]":
        text.take(what, "]")
        return
    for number in count(1):
        yield text.element(f"{what} {number}")
        if text.take(f"{what} {number}", ",]") == "]":
            return


@contextmanager
def _opened(file: File) -> Iterator["_Text"]:
    with read_errors(path_of(file)), text_of(file) as stream:
        yield _Text(stream)


class _Text:
    """The unread rest of a stream."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._rest = ""
        self._at = 0

    def _more(self) -> bool:
        """Read on; keep only what is not consumed. Return False at the end."""
        chunk = self._stream.read(max(_CHUNK, len(self._rest) - self._at))
        self._rest = self._rest[self._at :] + chunk
        self._at = 0
        return bool(chunk)

    def next_mark(self) -> str:
        """Return the next character that is not blank, without consuming it; "" at the end."""
        while True:
            while self._at < len(self._rest) and self._rest[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._rest):
                return self._rest[self._at]
            if not self._more():
                return ""

    def take(self, after: str, marks: str) -> str:
        """Consume one of several marks."""
        mark = self.next_mark()
        if not mark or mark not in marks:
            found = f"got {mark!r}" if mark else "the text ends"
            raise InputError(
                f"not valid JSON after {after}: expected {' or '.join(marks)}, {found}"
            )
        self._at += 1
        return mark

    def element(self, what: str) -> Any:
        """Consume and parse one value."""
        self.next_mark()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._rest, self._at)
            except (ValueError, RecursionError) as error:
                self._read_on(what, error)
            else:
                length = end - self._at
                if len(self._rest) - end >= _MARGIN or not self._more():
                    self._at += length
                    return value

    def _read_on(self, what: str, error: Exception) -> None:
        """Read more of a value that the end of the chunk has cut."""
        left = 0 if "Unterminated" in str(error) else len(self._rest) - getattr(error, "pos", 0)
        if len(self._rest) - self._at > LARGEST_ELEMENT:
            raise InputError(f"{what}: longer than {LARGEST_ELEMENT:,} characters") from error
        if left < _MARGIN and self._more():
            return
        if left <= len(self._rest) - len(self._rest.rstrip()):
            problem = "the text ends early; copy the file again"
        else:
            problem = f"not valid JSON: {' '.join(str(error).split())}"
        raise InputError(f"{what}: {problem}") from error
