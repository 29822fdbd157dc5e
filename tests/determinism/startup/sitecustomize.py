"""Make a process behave as on another machine; variables control it before all imports.

`LISTED=backwards` reverses the order of folder listings; `UMASK` is octal; `NUMBERS_TOO=1` sets the
whole locale of the process (decimal comma, names of months), like a program that calls setlocale,
and not only its encoding, as Python does by default.
"""

import locale
import os
from collections.abc import Iterator
from typing import Any

_listdir, _scandir = os.listdir, os.scandir


class _Scanned:
    """The result of os.scandir in reverse order."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> "_Scanned":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _list_backwards() -> None:
    def listdir(path: Any = ".") -> list[Any]:
        return sorted(_listdir(path), reverse=True)

    def scandir(path: Any = ".") -> _Scanned:
        with _scandir(path) as entries:
            return _Scanned(sorted(entries, key=lambda entry: entry.name, reverse=True))

    os.listdir, os.scandir = listdir, scandir


if os.environ.get("LISTED") == "backwards":
    _list_backwards()
if "UMASK" in os.environ:
    os.umask(int(os.environ["UMASK"], 8))
if os.environ.get("NUMBERS_TOO"):
    locale.setlocale(locale.LC_ALL, "")
