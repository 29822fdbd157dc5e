"""Find logs in files and folders, and the reader of each by its content."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.logs import every_eval_ever, helm, inspect_log, lighteval, lm_eval, opencompass
from benchwright.logs.sample import Log

HEAD = 1 << 16
"""Bytes of a file by which it is recognised."""


class Reader(Protocol):
    """A module that reads one format."""

    NAME: str

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether a file, or a folder with an empty `head`, has this format."""

    def read(self, path: Path) -> list[Log]:
        """Return the logs in it; their samples are read when they are asked for."""


READERS: tuple[Reader, ...] = (
    inspect_log,
    lighteval,
    every_eval_ever,
    lm_eval,
    opencompass,
    helm,
)
"""In the order in which they are tried (docs/how_to/extend.md)."""


class Found(NamedTuple):
    """What was found in files and folders."""

    logs: list[Log]
    others: list[Path]  # files that are no log and belong to none
    unusable: list[tuple[Path, str]]  # logs that cannot be read, and why


def reader_of(path: Path) -> Reader | None:
    """Return the reader that recognises a file or folder, if any."""
    head = b""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(HEAD)
        if not head:
            return None
    return next((reader for reader in READERS if reader.recognises(path, head)), None)


def find_logs(paths: Iterable[Path]) -> Found:
    """Find all logs in files and folders, in natural order of their paths.

    Hidden files and folders are left out, and links are not followed out of a folder.

    Raises:
        InputError: a path does not exist.
    """
    logs: list[Log] = []
    unusable: list[tuple[Path, str]] = []
    seen: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist")
        for place in [path] if path.is_file() else _places(path):
            try:
                reader = reader_of(place)
                if reader is not None:
                    logs += reader.read(place)
                elif place.is_file():
                    seen.append(place)
            except InputError as error:
                unusable.append((place, str(error)))
    used = {file.resolve() for log in logs for file in log.files}
    return Found(logs, [path for path in seen if path.resolve() not in used], unusable)


def _places(folder: Path) -> Iterator[Path]:
    """Yield folders, each before its files, that are not in a folder that is a log itself."""
    root = folder.resolve()
    for where, folders, files in os.walk(folder):  # does not enter linked folders
        folders[:] = sorted((n for n in folders if not n.startswith(".")), key=natural_key)
        yield Path(where)
        for name in sorted(files, key=natural_key):
            path = Path(where, name)
            inside = path.is_file() and path.resolve().is_relative_to(root)
            if inside and not name.startswith("."):
                yield path
