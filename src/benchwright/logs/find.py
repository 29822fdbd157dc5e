"""Find logs in files and folders, and the reader of each by its content."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.logs import every_eval_ever, helm, inspect_log, lighteval, lm_eval, opencompass
from benchwright.logs.opened_file import OpenedFile, opened_file
from benchwright.logs.sample import Log


class Reader(Protocol):
    """A module that reads one format."""

    NAME: str

    def recognises(self, file: OpenedFile) -> bool:
        """Return whether a file or a folder has this format."""

    def read(self, file: OpenedFile) -> list[Log]:
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


def logs_in(path: Path) -> list[Log] | None:
    """Return the logs in a file or folder, opened once; None if it has no known format.

    Raises:
        InputError: it is broken.
    """
    with opened_file(path) as file:
        reader = _reader_of(file)
        return None if reader is None else reader.read(file)


def is_log(path: Path) -> bool:
    """Return whether a file or folder begins as a log of a known format."""
    with opened_file(path) as file:
        return _reader_of(file) is not None


def _reader_of(file: OpenedFile) -> Reader | None:
    if file.stream is not None and not file.head:
        return None
    return next((reader for reader in READERS if reader.recognises(file)), None)


def find_logs(paths: Iterable[Path]) -> Found:
    """Find all logs in files and folders, in natural order of their paths.

    Hidden files and folders are left out, and links are not followed out of a folder.

    Raises:
        InputError: a path does not exist.
    """
    logs: list[Log] = []
    unusable: list[tuple[Path, str]] = []
    seen: list[Path] = []
    used: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist")
        for place in [path] if path.is_file() else _places(path):
            if place.resolve() in used and place != path:
                continue
            try:
                found = logs_in(place)
            except InputError as error:
                unusable.append((place, str(error)))
                continue
            if found is not None:
                logs += found
                used.update(file.resolve() for log in found for file in log.files)
            elif place.is_file():
                seen.append(place)
    others = [path for path in seen if path.resolve() not in used]
    return Found(logs, others, unusable)


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
