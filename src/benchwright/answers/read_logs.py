"""`benchwright read`: what logs contain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright.answers.answer_files import Choice, find_answer_files, say_others
from benchwright.answers.answer_rows import MISSING
from benchwright.answers.import_responses import as_responses
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.join_files import join_files, join_logs
from benchwright.answers.loaded_file import LoadedFile
from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.text_table import table_lines
from benchwright.core.verbatim import listed
from benchwright.params.benchmark import FieldMapping

_UNWRITTEN = [
    *("p_answer", "p_prediction", "shots_used", "prompt_tokens", "generated_tokens"),
    *("prompt_id", "source"),
]


class BenchmarkItems(NamedTuple):
    """Items of benchmarks, and how source rows of these benchmarks are read."""

    items: pd.DataFrame
    mappings: tuple[FieldMapping, ...] = ()


class ReadLogs(NamedTuple):
    """What was read: logs and tables by name, the items, the answers, and a line per file.

    `left_out` has the log and the reason of items that are no question of a benchmark.
    """

    files: dict[str, LoadedFile]
    items: pd.DataFrame
    answers: pd.DataFrame
    report: pd.DataFrame
    others: list[Path]
    left_out: Mapping[str, tuple[str, str]] = {}

    @property
    def unusable(self) -> int:
        """The number of files that could not be used."""
        return int((self.report["layout"] == "unusable").sum())


def read_logs(
    paths: Sequence[Path],
    known: BenchmarkItems | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> ReadLogs:
    """Read all logs, and tidy tables of responses, in files and folders, and join them to items.

    Args:
        paths: files, and folders that are searched.
        known: of benchmarks; None takes the questions in the logs, which tables alone lack.
        choice: which answers count.

    Raises:
        InputError: nothing was recognised, or a file is broken.
    """
    found = find_answer_files(paths, choice)
    problems = [file.problem for file in found.files.values()]
    if all(problems):
        raise InputError(next(iter(problems), f"{listed(paths)}: no log was recognised"))
    files = found.files
    left_out: Mapping[str, tuple[str, str]] = {}
    if known is not None:
        items = known.items
        files = {n: replace(file, mappings=known.mappings) for n, file in files.items()}
        index = ResponseIndex(items)
        joined = join_files(files, index)
    elif found.logs:
        [joined], of_logs = join_logs([files])
        if of_logs is None:
            raise next(iter(joined.errors.values()), InputError("the logs have no questions"))
        items, left_out, _ = of_logs
        index = ResponseIndex(items)
        joined.add_tables(files, index)
    else:
        raise InputError(
            f"{listed(paths)}: no log was recognised; tables of answers are for compare, gate, "
            "plan and estimate, or for read with --benchmark; a table of questions (question, "
            "answer, and choices or A, B, …) becomes a benchmark by --make-benchmark NAME"
        )
    if joined.errors and not joined.rows:
        raise next(iter(joined.errors.values()))
    rows = joined.merged(files, index)
    report = joined.report(files)
    answers = as_responses(rows[rows["extraction"] != MISSING], index)
    return ReadLogs(files, items, answers, report, found.others, left_out)


def summary_lines(read: ReadLogs) -> list[str]:
    """Return a table with a line per log, followed by its file and what its report says."""
    report = [dict(row) for _, row in read.report.iterrows()]
    lines = table_lines([_line(read.files[row["file"]], row) for row in report])
    lines += ["–: the file does not say", ""]
    for number, row in enumerate(report, start=1):
        lines.append(f"{number}: {row['file']}")
        lines += [f"   {part}" for part in row["detail"].split("; ") if part]
    if read.others:
        lines += ["", say_others(read.others)]
    return lines


def _line(file: LoadedFile, row: Mapping[str, Any]) -> dict[str, Any]:
    log = file.log
    usable = row["layout"] != "unusable"
    known = dict.fromkeys(("format", "version", "task", "model", "revision", "shots"))
    known |= {"format": row["layout"], "model": f"models: {row['models']}" if usable else None}
    if log is not None and usable:
        shots = None if file.spec.shots < 0 else file.spec.shots
        of_log = {name: getattr(log, name) or None for name in ("version", "task", "revision")}
        known |= {"format": log.format, "model": file.spec.model, "shots": shots, **of_log}
    counts = ("not_joined", "doubled", "dropped", "failed", "unreadable")
    return {
        **known,
        "samples": row["rows"],
        "joined": row["joined_by_id"] + row["joined_by_hash"],
        **{name.replace("_", " "): row[name] for name in counts},
        "accuracy": _share(row["accuracy"]),
        "log's": _share(row["log_score"]),
    }


def _share(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.4f}"


def write_answers(read: ReadLogs, file: Path) -> None:
    """Write the joined answers as a table that `compare`, `plan` and runs read."""
    hashes = read.items[["item_id", "content_hash"]]
    table = read.answers.drop(columns=_UNWRITTEN).merge(hashes, on="item_id")
    chosen = table["prediction"].astype("Int64")
    table["prediction"] = chosen.mask(chosen < 0)
    with written_aside(file) as aside:
        if file.suffix == ".csv":
            table.to_csv(aside, index=False)
        else:
            table.to_parquet(aside, index=False)
