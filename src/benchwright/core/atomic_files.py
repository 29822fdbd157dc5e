"""Write files and folders aside and rename them: a killed run never leaves half of one.

A path that is being written is locked while its writer lives, so that the next run can tell the
leftovers of a killed run from what another run is writing.
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
"""Age in seconds from which another machine's temporary file counts as abandoned."""

_ASIDE = re.compile(r"\..+\.(?:[0-9a-f]{8}-)?[0-9a-f]{32}\.tmp")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)


@contextlib.contextmanager
def written_aside(target: str | Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield a temporary path that replaces `target` when the block ends without an error.

    Files are flushed to the disk. What a killed writer of the same target has left is removed
    first. With `folder`, the path is a folder.

    Raises:
        InputError: the disk is full, or the place cannot be written to, or a folder is already
            there; the old file is unchanged.
    """
    target = Path(target)
    aside = aside_of(target)
    with report_unwritable(target):
        try:
            with locked_path(aside, folder=folder):
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


def folder_aside(target: Path) -> AbstractContextManager[Path]:
    """Yield a temporary folder that becomes `target`; see `written_aside`."""
    return written_aside(target, folder=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def glob_literal(name: str) -> str:
    """Return a glob pattern that matches only this name."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def aside_of(target: Path) -> Path:
    """Return a new hidden name next to `target` that identifies the writing machine."""
    return target.with_name(f".{target.name}.{HOST}-{uuid.uuid4().hex}.tmp")


def is_aside(name: str) -> bool:
    """Return whether a name is one of `aside_of`."""
    return _ASIDE.fullmatch(name) is not None


@contextlib.contextmanager
def report_unwritable(target: Path) -> Iterator[None]:
    """Turn errors of a full or read-only disk into one line with the file and what to do.

    Raises:
        InputError: instead of such an OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (*_FULL, *_REFUSED, *_IN_THE_WAY, errno.EIO):
            raise
        raise InputError(
            f"{target} cannot be written: {os.strerror(error.errno)}; the old content is kept; "
            f"{_advice(error.errno)}, or set another data_root, and start the run again"
        ) from error


def _advice(number: int) -> str:
    if number in _FULL:
        return "free disk space"
    if number in _REFUSED:
        return "give this user write access"
    if number == errno.EIO:
        return "check the disk"
    return "remove what is in its place"


@contextlib.contextmanager
def locked_path(path: Path, *, folder: bool = False) -> Iterator[None]:
    """Make an empty file or folder that counts as in use while the block runs."""
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
            continue  # another run has just removed the empty folder
        try:
            _lock(descriptor, wait=True)
            if path.exists():  # else another run removed it before it was locked
                yield
                return
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Lock an existing folder for one process or thread at a time, without a lock file.

    On Windows, where folders cannot be locked, this does nothing.
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
    """Lock an open file until it is closed; False if another has the lock, None if unsupported."""
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
    """Remove what killed runs have left, but nothing of a live run; return the number removed."""
    cleared = 0
    for path in asides:
        with contextlib.suppress(OSError):
            if is_aside(path.name) and _abandoned(path):
                _remove(path)
                cleared += 1
    return cleared


def _abandoned(aside: Path) -> bool:
    """Return whether the writer of a temporary file is gone.

    A free lock proves it for this machine's own files; not every network disk shows the locks of
    other machines, so their files must be old as well.
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
