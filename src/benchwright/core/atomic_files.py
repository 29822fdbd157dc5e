"""Files and folders written aside and renamed: a killed run never leaves half of one.

What is written aside is locked for as long as its writer lives, so that the next run can tell what
a killed one has left from what another run is just writing.
"""

import contextlib
import errno
import hashlib
import os
import platform
import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from benchwright.core.errors import InputError

HOST = hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()
ABANDONED = 3600.0
"""Seconds after which what another machine has left aside is taken for litter."""

_ASIDE = re.compile(r"\..+\.(?:[0-9a-f]{8}-)?[0-9a-f]{32}\.tmp")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)


def written_aside(target: str | Path) -> AbstractContextManager[Path]:
    """A temporary path beside `target` that becomes it when the block ends without an error.

    What a killed writer of the same target has left is cleared away first.

    Raises:
        InputError: the disk is full, or the place cannot be written to; the old file is as it was.
    """
    return _written_aside(Path(target), folder=False)


def folder_aside(target: Path) -> AbstractContextManager[Path]:
    """As `written_aside`, a folder; the files in it are flushed to the disk.

    Raises:
        InputError: the disk is full, or the place cannot be written to; or `target` is there.
    """
    return _written_aside(target, folder=True)


@contextlib.contextmanager
def _written_aside(target: Path, *, folder: bool) -> Iterator[Path]:
    aside = aside_of(target)
    with told_if_not_writable(target):
        try:
            with held(aside, folder=folder):
                clear_abandoned(target.parent.glob(f".{glob_literal(target.name)}.*.tmp"))
                yield aside
                for file in sorted(aside.rglob("*")) if folder else [aside]:
                    if not file.is_dir():
                        with file.open("rb") as written:
                            os.fsync(written.fileno())
                aside.replace(target)
        finally:
            with contextlib.suppress(OSError):
                _remove(aside)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def glob_literal(name: str) -> str:
    """The name as a pattern that matches it alone."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def aside_of(target: Path) -> Path:
    """A new hidden name beside `target` that says which machine writes it."""
    return target.with_name(f".{target.name}.{HOST}-{uuid.uuid4().hex}.tmp")


def is_aside(name: str) -> bool:
    """Whether a name is one of `aside_of`."""
    return _ASIDE.fullmatch(name) is not None


@contextlib.contextmanager
def told_if_not_writable(target: Path) -> Iterator[None]:
    """Errors of a full or forbidden disk become one line that names the file and what would do.

    Raises:
        InputError: instead of such an OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (*_FULL, *_REFUSED, *_IN_THE_WAY, errno.EIO):
            raise
        raise InputError(
            f"{target} cannot be written: {os.strerror(error.errno)}; what was there before is "
            f"kept; {_advice(error.errno)}, or name another data_root, and start the run again"
        ) from error


def _advice(number: int) -> str:
    if number in _FULL:
        return "make room on the disk"
    if number in _REFUSED:
        return "let this user write there"
    if number == errno.EIO:
        return "look whether the disk is sound"
    return "move away what is in its place"


@contextlib.contextmanager
def held(path: Path, *, folder: bool = False) -> Iterator[None]:
    """Make an empty file or folder that nobody takes for litter while the block runs."""
    while True:
        (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":  # where an open file cannot be renamed
            if not folder:
                path.touch()
            yield
            return
        try:
            descriptor = os.open(path, os.O_RDONLY if folder else os.O_WRONLY | os.O_CREAT, 0o666)
        except FileNotFoundError:
            continue  # another run has just cleared away the folder, empty as it was
        try:
            _lock(descriptor, wait=True)
            if path.exists():  # else another run cleared it away before it was locked
                yield
                return
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Held by one process or thread at a time for a folder that is there; leaves no file.

    On Windows, where folders cannot be locked, all go on at once.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool | None:
    """Lock an open file; False: another has it, None: it cannot be locked here.

    The system lets go of it when the file is closed or the process ends, however it ends.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def clear_abandoned(asides: Iterable[Path]) -> int:
    """Remove what killed runs have left aside, and nothing of a run that lives; how many."""
    cleared = 0
    for path in asides:
        with contextlib.suppress(OSError):
            if is_aside(path.name) and _abandoned(path):
                _remove(path)
                cleared += 1
    return cleared


def _abandoned(aside: Path) -> bool:
    """Whether the writer of what lies aside is gone.

    A free lock says so for this machine's own files; not every network disk shows one machine the
    locks of another, so other machines' files must be old as well.
    """
    age = time.time() - aside.stat().st_mtime
    here = f".{HOST}-" in aside.name
    if sys.platform == "win32":
        return age > ABANDONED
    descriptor = os.open(aside, os.O_RDONLY)
    try:
        free = _lock(descriptor)
    finally:
        os.close(descriptor)
    return free is not False and (age > ABANDONED or (here and free is True))
