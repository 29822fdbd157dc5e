"""Find the logs and tables of answers in files and folders."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from benchwright.core.errors import InputError, in_short
from benchwright.datasets.response_files import COMPRESSED, LoadedFile, load_found, told_apart
from benchwright.logs.find import find_logs
from benchwright.logs.sample import Log
from benchwright.params.responses import TABLE_TYPES, ResponseFileParams


class Choice(NamedTuple):
    """Which answers of files count.

    `task`, `metric` and `filter` (or scorer) are of logs, "" for all, or for the only or main one.
    """

    task: str = ""
    metric: str = ""
    filter: str = ""
    scale: tuple[float, float] = (0.0, 1.0)  # lowest and highest score
    repeats: Literal["mean", "first"] = "mean"  # of an item that was asked several times

    def entry(self, file: Path) -> ResponseFileParams:
        """Return the settings of a file."""
        # Not validated: files in different folders may share a name, so paths identify them.
        return ResponseFileParams.model_construct(
            file=str(file), metric=self.metric, filter=self.filter, scale=self.scale
        )


def read_choice(scale: str | Sequence[float] = (0, 1), **others: Any) -> Choice:
    """Return a choice with a scale, `LOW:HIGH` or two numbers; raise InputError if it is none."""
    try:
        low, high = map(float, scale.split(":") if isinstance(scale, str) else scale)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not -1e300 < low < high < 1e300:
        raise InputError(f"scale {scale!r}: expected lowest and highest score, such as 0:100")
    return Choice(scale=(low, high), **others)


@cache
def _copied(address: str) -> TemporaryDirectory[str]:
    """Copy what is at an address, such as `s3://bucket/run`, until the process ends."""
    import fsspec

    folder = TemporaryDirectory(prefix="benchwright-")
    try:
        files, place = fsspec.url_to_fs(address)
        files.get(place, str(Path(folder.name, Path(address).name)), recursive=True)
    except (ImportError, ValueError, OSError) as error:  # the first names the missing package
        raise InputError(f"{address}: {in_short(error)}") from error
    return folder


def is_address(path: str | Path) -> bool:
    """Return whether a path, which need not keep both slashes, is an address of fsspec."""
    return re.match("[a-z][a-z0-9+]+:/", str(path)) is not None and not Path(path).exists()


def _local(path: Path) -> Path:
    if not is_address(path):
        return path
    address = re.sub(":/+", "://", path.as_posix(), count=1)
    return Path(_copied(address).name, path.name)


class AnswerFiles(NamedTuple):
    """Logs and tables of answers, those that cannot be used, and other files."""

    files: dict[str, LoadedFile]
    others: list[Path]

    @property
    def logs(self) -> list[Log]:
        """The logs."""
        return [file.log for file in self.files.values() if file.log is not None]


def find_answer_files(paths: Sequence[Path], choice: Choice = Choice()) -> AnswerFiles:  # noqa: B008 - immutable
    """Find all logs, and tables of answers, in files and folders, also at addresses of fsspec.

    A file that cannot be read is one of the files, with its `problem`.

    Raises:
        InputError: a path does not exist, is a file of another type, or an address that cannot be
            read.
    """
    paths = [_local(path) for path in paths]
    found = find_logs(paths)
    for path in paths:
        if path in found.others and not path.name.endswith((*TABLE_TYPES, *COMPRESSED)):
            known = ", ".join(TABLE_TYPES)
            raise InputError(f"{path}: unknown file type; expected one of {known}, or a log")
    logs = [log for log in found.logs if choice.task in ("", log.task)]
    files, others = load_found(found._replace(logs=logs), choice.entry, paths)
    return AnswerFiles({file.name: file for file in told_apart(files)}, others)
