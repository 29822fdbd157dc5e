"""Find logs in files and folders, and the reader of each by its content."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from benchwright.core.errors import InputError, in_short
from benchwright.core.file_kinds import is_there
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
    unusable: list[tuple[Path, str]]  # logs and folders that cannot be read, and why
    passed_by: list[tuple[Path, str]]  # hidden and linked files and folders, and that they are


class Place(NamedTuple):
    """A file or folder, and why it cannot be used, "" if it can."""

    path: Path
    why: str = ""


def logs_in(path: Path) -> list[Log] | None:
    """Return the logs in a file or folder, opened once; None if it has no known format.

    Raises:
        InputError: it is broken.
    """
    with _opened(path) as file:
        reader = _reader_of(file)
        return None if reader is None else reader.read(file)


def is_log(path: Path) -> bool:
    """Return whether a file or folder begins as a log of a known format; InputError if broken."""
    with _opened(path) as file:
        return _reader_of(file) is not None


@contextmanager
def _opened(path: Path) -> Iterator[OpenedFile]:
    try:
        with opened_file(path) as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or in_short(error)}") from error


def _reader_of(file: OpenedFile) -> Reader | None:
    if file.stream is not None and not file.head:
        return None
    return next((reader for reader in READERS if reader.recognises(file)), None)


def find_logs(paths: Iterable[Path]) -> Found:
    """Find all logs in files and folders, in natural order of their paths.

    Hidden files and folders, and links out of a folder, are passed by.

    Raises:
        InputError: a path does not exist.
    """
    found = Found([], [], [], [])
    used: set[Path] = set()
    for path in paths:
        if not is_there(path):
            raise InputError(f"{path} does not exist")
        for place in [Place(path)] if path.is_file() else walk(path):
            file, why = place
            if why in (HIDDEN, LINKED):
                found.passed_by.append((file, why))
                continue
            if file.resolve() in used and file != path:
                continue
            logs, problem = _logs_at(place)
            if problem:
                found.unusable.append((file, problem))
            elif logs is not None:
                found.logs.extend(logs)
                used.update(part.resolve() for log in logs for part in log.files)
            elif file.is_file():
                found.others.append(file)
    return found._replace(others=[path for path in found.others if path.resolve() not in used])


def _logs_at(place: Place) -> tuple[list[Log] | None, str]:
    """Return the logs at a place, None if it is no log, and why it cannot be used."""
    if place.why:
        return None, place.why
    try:
        return logs_in(place.path), ""
    except InputError as error:
        return None, str(error)


HIDDEN = "hidden"
LINKED = "a link out of the folder"
_OF_TOOLS = re.compile(
    r"\.(git|hg|svn|bzr|venv|tox|nox|dvc|idea|vscode|cache|[a-z]+_cache|ipynb_checkpoints)|\._.*|__pycache__"
)
"""Folders and files that tools make: `.git`, `.pytest_cache`, `._b.csv`; not `.old`."""
_SPECIAL = "neither a file nor a folder"


def walk(folder: Path, *, hidden: bool = False) -> Iterator[Place]:
    """Yield folders, each before its files, that are not in a folder that is a log itself.

    What is `HIDDEN` or `LINKED` has this as its `why`, and is not entered; links to places within
    the folder, and what tools hide, are left out. With `hidden`, hidden places are as others.
    """
    root = folder.resolve()
    failed: list[OSError] = []
    for where, folders, files in os.walk(folder, onerror=failed.append):
        yield from _failed(failed)
        yield Place(Path(where))
        entered: list[str] = []
        for name in sorted(folders, key=natural_key):
            place = _place(Path(where, name), root, hidden=hidden)
            if place is None:
                continue
            if place.why:
                yield place
            elif not place.path.is_symlink():
                entered.append(name)
        folders[:] = entered
        for name in sorted(files, key=natural_key):
            place = _place(Path(where, name), root, hidden=hidden)
            if place is not None:
                yield place
    yield from _failed(failed)


def _failed(errors: list[OSError]) -> Iterator[Place]:
    """Yield the folders that could not be entered, and forget them."""
    for error in errors:
        path = Path(str(error.filename))
        yield Place(path, f"{path}: cannot be read: {error.strerror}")
    errors.clear()


def _place(path: Path, root: Path, *, hidden: bool) -> Place | None:
    """Return a file or folder in a folder, None for what tools hide."""
    if _OF_TOOLS.fullmatch(path.name):
        return None
    if path.name.startswith(".") and not hidden:
        return Place(path, HIDDEN)
    try:
        inside = path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a loop of links; a RuntimeError up to 3.12
        return Place(path, LINKED)
    if path.is_symlink() and not (inside and path.exists()):
        return Place(path, LINKED)
    if not path.is_file() and not path.is_dir():
        return Place(path, f"{path}: {_SPECIAL}")
    return Place(path)
