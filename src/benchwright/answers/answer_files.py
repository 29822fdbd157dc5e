"""Find the logs and tables of answers in files and folders."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from benchwright.answers.loaded_file import LoadedFile, Names, log_file, told_apart
from benchwright.answers.source import Source
from benchwright.answers.table_files import is_of_means, load_file, may_hold_answers
from benchwright.core.errors import InputError, in_short
from benchwright.core.file_kinds import may_hold_rows
from benchwright.core.verbatim import listed
from benchwright.core.wording import count
from benchwright.logs.find import HIDDEN, Found, find_logs
from benchwright.logs.sample import Log
from benchwright.params.responses import TABLE_TYPES, ResponseFileParams

_OTHERS_SAID = 5


class Choice(NamedTuple):
    """Which answers of files count.

    Attributes:
        task: patterns of the tasks of logs, () for all.
        metric: names that count where a task has them, or `TASK=NAME` for the tasks of a pattern;
            () for the only or main one.
        filter: the same for filters and scorers.
        scale: lowest and highest score.
        repeats: of an item that was asked several times.
        lower_is_better: whether scores are turned round.
    """

    task: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    scale: tuple[float, float] = (0.0, 1.0)
    repeats: Literal["mean", "first"] = "mean"
    lower_is_better: bool = False

    def entry(self, file: Path) -> ResponseFileParams:
        """Return the settings of a file."""
        # Not validated: files in different folders may share a name, so paths identify them.
        return ResponseFileParams.model_construct(file=str(file), scale=self.scale)

    def of(self, file: LoadedFile) -> LoadedFile:
        """Return a file with the scores that count in it."""
        task = "" if file.log is None else file.log.task
        return replace(
            file,
            metrics=_names_for(task, self.metric),
            scorers=_names_for(task, self.filter),
            lower_is_better=self.lower_is_better,
        )


def _names_for(task: str, given: Sequence[str]) -> Names:
    """Return the names that are asked for a task: its own, else those that are of no task."""
    general: list[str] = []
    own: list[str] = []
    for each in given:
        pattern, equals, name = each.partition("=")
        if not equals:
            general.append(each)
        elif fnmatchcase(task, pattern):
            own.append(name)
    return Names(tuple(own or general), needed=bool(own))


def read_choice(
    scale: str | Sequence[float] = (0, 1),
    task: str | Sequence[str] = (),
    metric: str | Sequence[str] = (),
    filter: str | Sequence[str] = (),  # noqa: A002 - the word of lm-eval
    **others: Any,
) -> Choice:
    """Return a choice with a scale, `LOW:HIGH` or two numbers; raise InputError if it is none."""
    names = {"task": task, "metric": metric, "filter": filter}
    for name, value in names.items():
        others[name] = tuple(
            each for each in ([value] if isinstance(value, str) else value) if each
        )
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
        if path in found.others and not may_hold_rows(path.name):
            known = ", ".join(TABLE_TYPES)
            raise InputError(f"{path}: unknown file type; expected one of {known}, or a log")
    logs = _of_tasks(found.logs, choice.task, paths)
    files, others = load_found(found._replace(logs=logs), choice.entry, paths)
    if choice.task:
        tables = [file.name for file in files if file.table is not None]
        if tables:
            raise InputError(f"--task: {tables[0]} is a table, which states no task; give logs")
    files = [choice.of(file) for file in told_apart(files)]
    return AnswerFiles({file.name: file for file in files}, others)


def _of_tasks(logs: Sequence[Log], patterns: Sequence[str], paths: Sequence[Path]) -> list[Log]:
    """Return the logs of the tasks that some pattern fits, all without patterns.

    Raises:
        InputError: a pattern fits no task.
    """
    if not patterns:
        return list(logs)
    tasks = sorted({log.task for log in logs})
    for pattern in patterns:
        if not any(fnmatchcase(task, pattern) for task in tasks):
            there = listed(tasks) if tasks else "no log"
            raise InputError(f"--task {pattern}: {paths[0]} has no such task; there is {there}")
    return [log for log in logs if any(fnmatchcase(log.task, each) for each in patterns)]


def check_names_used(choice: Choice, sources: Iterable[Source]) -> None:
    """Raise InputError if a metric, filter or scorer that was asked for is that of no task."""
    known = list(sources)
    for option, given, values in (
        ("--metric", choice.metric, [source.metric for source in known]),
        ("--filter", choice.filter, [source.scorer for source in known]),
    ):
        for each in given:
            name = each.rpartition("=")[2]
            if name not in values:
                there = listed(sorted({value for value in values if value})) or "none"
                raise InputError(f"{option} {each}: no answers have it; there is {there}")


def load_found(
    found: Found, entry: Callable[[Path], ResponseFileParams], stated: Collection[Path]
) -> tuple[list[LoadedFile], list[Path]]:
    """Return the tables and logs of answers that were found, and the other files.

    Tables that are not `stated` are of answers if their columns say so. A file that cannot be used
    has its problem, and so has a file or folder that was passed by and may hold answers.

    Args:
        found: what was found.
        entry: the settings of a file.
        stated: files that must have answers.
    """
    files: list[LoadedFile] = []
    others: list[Path] = []
    means: dict[Path, LoadedFile] = {}
    problems = list(found.unusable)
    for path in found.others:
        loaded = load_file(path, entry(path), stated=path in stated)
        if not loaded:
            others.append(path)
        elif path not in stated and is_of_means(loaded[0]):
            means[path] = loaded[0]
        else:
            files += loaded
    for path, why in found.passed_by:
        if may_hold_answers(path):
            problems.append((path, f"{path}: {why}; give it, or what it has, as a path of its own"))
        elif why != HIDDEN:
            others.append(path)
    for log in found.logs:
        spec = entry(log.files[0])
        try:
            files.append(log_file(log, spec))
        except InputError as error:
            problems.append((log.files[0], str(error)))
    if files:
        others += means
    else:  # they are all that there is
        files = list(means.values())
    files += [LoadedFile(entry(path), None, problem=why) for path, why in problems]
    return files, others


def say_others(others: Sequence[Path]) -> str:
    """Say in a line which files hold no answers."""
    names = ["/".join(path.parts[-2:]) for path in others[:_OTHERS_SAID]]
    names += ["…"] * (len(others) > len(names))
    return f"not read, and no answers: {', '.join(names)} ({count(len(others), 'file')})"
