"""Read the elements of large JSON documents one at a time.

An element is parsed by `json`, which reads NaN and Infinity as numbers. The time is linear in the
length of the text, and the memory is that of the largest element.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import IO, Any

from benchwright.core.errors import InputError

LARGEST_ELEMENT = 1 << 28
"""Characters that one element may have."""
_CHUNK = 1 << 20
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"
_MARK = re.compile(r'[\[\]{}"]')
_STRING_PART = re.compile(r'["\\]')
_SCALAR_END = re.compile(r"[,\]}\s]")


def json_lines(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines with their numbers from 1; empty lines are skipped.

    Raises:
        InputError: a line is not valid JSON or too long; the message names it.
    """
    number = 0
    while line := stream.readline(LARGEST_ELEMENT + 1):  # of bytes, since lines end at \n only
        number += 1
        if len(line) > LARGEST_ELEMENT:
            raise InputError(f"line {number}: longer than {LARGEST_ELEMENT:,} bytes")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"line {number}: not valid JSON: {' '.join(str(error).split())}; if the tool was "
                "interrupted, run it again"
            ) from error


def array_elements(stream: IO[str]) -> Iterator[Any]:
    """Yield the elements of a JSON array.

    Raises:
        InputError: the text is no array, ends early, or an element is invalid or too long; the
            message names the element, from 1.
    """
    yield from _elements(_Text(stream), "element")


def _elements(text: "_Text", what: str) -> Iterator[Any]:
    text.expect("[", "a JSON array")
    if text.next_mark() == "]":
        text.take(what, "]")
        return
    for number in count(1):
        yield text.element(f"{what} {number}")
        if text.take(f"{what} {number}", ",]") == "]":
            return


def members(stream: IO[str], arrays: frozenset[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a JSON object, in order.

    Args:
        stream: the text.
        arrays: keys whose values are arrays: their elements are yielded one by one, each under
            the key.

    Raises:
        InputError: as `array_elements`; the message names the key.
    """
    text = _Text(stream)
    text.expect("{", "a JSON object")
    if text.next_mark() == "}":
        return
    while True:
        key = text.element("a key")
        if not isinstance(key, str):
            raise InputError(f"not valid JSON: {str(key)[:40]!r} is no key")
        text.take(f"key {key!r}", ":")
        if key in arrays and text.next_mark() == "[":
            for value in _elements(text, key):
                yield key, value
        else:
            yield key, text.element(key)
        if text.take(f"key {key!r}", ",}") == "}":
            return


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

    def expect(self, mark: str, what: str) -> None:
        """Consume a mark that begins the text."""
        if self.next_mark() != mark:
            raise InputError(f"not valid JSON: expected {what}")
        self._at += 1

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
        first = self.next_mark()
        for _ in range(2) if first and first in '[{"' else ():
            try:
                value, self._at = _DECODER.raw_decode(self._rest, self._at)
                return value
            except (ValueError, RecursionError):
                self._more()  # the chunk may end inside the value
        length = self._nested(what) if first and first in '[{"' else self._scalar(what)
        text = self._rest[self._at : self._at + length]
        self._at += length
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{what}: not valid JSON: {' '.join(str(error).split())}") from error

    def _scalar(self, what: str) -> int:
        """Return the length of the number or word that begins here."""
        end = 0
        while (found := _SCALAR_END.search(self._rest, self._at + end)) is None:
            end = self._grow(what)
        return found.start() - self._at

    def _nested(self, what: str) -> int:
        """Return the length of the array, object or text that begins here."""
        end, depth, in_string = 0, 0, False
        while end == 0 or depth > 0 or in_string:
            found = (_STRING_PART if in_string else _MARK).search(self._rest, self._at + end)
            if found is None:
                end = self._grow(what)
            elif found[0] == "\\" and found.end() == len(self._rest):
                self._grow(what)
                end = found.start() - found.pos + end
            elif found[0] == "\\":
                end = found.end() + 1 - self._at  # the escaped character is skipped
            else:
                end = found.end() - self._at
                in_string ^= found[0] == '"'
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        return end

    def _grow(self, what: str) -> int:
        """Read on inside a value; return the length that was known of it."""
        end = len(self._rest) - self._at
        if end > LARGEST_ELEMENT:
            raise InputError(f"{what}: longer than {LARGEST_ELEMENT:,} characters")
        if not self._more():
            raise InputError(f"{what}: the text ends early; copy the file again")
        return end
