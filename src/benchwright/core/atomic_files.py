"""Write files and folders under a hidden name and rename them: a killed run leaves no half of one.

The hidden name has the machine and the process that writes, so that the next run can tell what a
killed run has left from what another run is writing.
"""

import contextlib
import errno
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchwright.core.errors import InputError

_HOST = hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()
_ABANDONED = 3600.0  # seconds from which another machine's temporary file counts as abandoned
_ASIDE = re.compile(r"\..+\.(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{32}\.tmp")
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free disk space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "give this user write access"),
    **dict.fromkeys(
        (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG),
        "remove what is in its place",
    ),
    errno.EIO: "check the disk",
    **dict.fromkeys((errno.ENOENT, errno.ELOOP), "check the path"),
}


@contextlib.contextmanager
def written_aside(target: str | Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield a temporary path that replaces `target` when the block ends without an error.

    Files are flushed to the disk. What a killed writer of the same target has left is removed
    first. A link is followed. With `folder`, the path is a folder, and `target` must not exist.

    Raises:
        InputError: the disk is full, or the place cannot be written to, or a folder is already
            there; the old file is unchanged.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file() and not folder:
        raise InputError(f"{target} is no file: choose another place")
    aside = aside_of(target)
    with report_unwritable(target):
        (aside if folder else target.parent).mkdir(parents=True, exist_ok=True)
        clear_abandoned(target.parent.glob(f".{glob.escape(target.name)}.*.tmp"))
        try:
            yield aside
            for file in filter(Path.is_file, aside.rglob("*") if folder else [aside]):
                with file.open("rb") as written:
                    os.fsync(written.fileno())
            aside.replace(target)
        finally:
            _remove(aside)


def write_json(file: Path, content: Any) -> Path:
    """Write JSON to a file, and return the file."""
    with written_aside(file) as aside:
        aside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file


def folder_aside(target: Path) -> AbstractContextManager[Path]:
    """Yield a temporary folder that becomes `target`; see `written_aside`."""
    return written_aside(target, folder=True)


def aside_of(target: Path) -> Path:
    """Return a new hidden name next to `target` that identifies the writing process."""
    return target.with_name(f".{target.name}.{_HOST}-{os.getpid()}-{uuid.uuid4().hex}.tmp")


@contextlib.contextmanager
def report_unwritable(target: Path) -> Iterator[None]:
    """Turn errors of a full or read-only disk into one line with the file and what to do.

    Raises:
        InputError: instead of such an OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _ADVICE:
            raise
        raise InputError(
            f"{target} cannot be written: {os.strerror(error.errno)}; the old content is kept; "
            f"{_ADVICE[error.errno]}, or set another data_root, and start the run again"
        ) from error


def clear_abandoned(paths: Iterable[Path]) -> None:
    """Remove what killed runs have left, but no other file and nothing of a live run."""
    for path in paths:
        aside = _ASIDE.fullmatch(path.name)
        with contextlib.suppress(OSError):
            if aside and _is_abandoned(path, aside["host"], int(aside["process"])):
                _remove(path)


def _is_abandoned(path: Path, host: str, process: int) -> bool:
    if host == _HOST and os.name == "posix":  # elsewhere signal 0 is Ctrl+C
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # of another user
            pass
        return False
    return time.time() - path.stat().st_mtime > _ABANDONED


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
