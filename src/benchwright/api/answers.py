"""Answers in logs and tables: what the commands of the same names do, without a project."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from benchwright.answers.answer_files import Choice, read_choice
from benchwright.answers.read_answers import read_answers
from benchwright.answers.table import select_answered
from benchwright.core.errors import InputError
from benchwright.core.printable import format_value
from benchwright.verdicts import compare as comparing
from benchwright.verdicts import gate as gating
from benchwright.verdicts import suspects as suspecting
from benchwright.verdicts.options import check_options
from benchwright.verdicts.pair import read_pair, read_panel

Files = str | PathLike[str]
Answers = Files | pd.DataFrame | list[dict[str, Any]]


class Logs(NamedTuple):
    """What logs contain.

    Attributes:
        responses: a row per item and model (`Responses`), as `smart` and `sample` read them.
        items: the items (`Items`), those that were given or the questions of the logs.
        report: a row per file: what became of its samples, and its accuracy here and in the log.
    """

    responses: pd.DataFrame
    items: pd.DataFrame
    report: pd.DataFrame


def read_logs(
    logs: Files | Sequence[Files], items: pd.DataFrame | None = None, **choice: Any
) -> Logs:
    """Read logs of evaluation tools, joined to items by content.

    Args:
        logs: files, and folders that are searched.
        items: as for `smart`; None takes the questions of the logs.
        choice: `task`, `metric`, `filter`, `scale` or `repeats`, as the options of
            `benchwright read`.

    Raises:
        InputError: there is no log, or none can be read.
    """
    from benchwright.answers import read_logs as reading
    from benchwright.api.arguments import read_items

    known = None if items is None else reading.BenchmarkItems(read_items(items))
    found = reading.read_logs(_paths(logs), known, _choice(**choice))
    return Logs(found.answers, found.items, found.report)


def compare(
    a: Answers,
    b: Answers | None = None,
    *,
    baseline: str | None = None,
    items_file: Path | None = None,
    common: bool = False,
    **choice: Any,
) -> Any:
    """Compare two models on the items that both answered; see `benchwright compare`.

    The result is a `Comparison`, or with a baseline `ComparedModels`.

    Args:
        a: a log, a table of responses, also as a DataFrame, a folder of these, or `PATH:MODEL`.
        b: the same; None with a baseline.
        baseline: a model in `a`, with which all others there are compared.
        items_file: a table of items with subject and passage_id, by item_id.
        common: leave out the items that only one side was asked.
        choice: as for `read_logs`.

    Raises:
        InputError: the answers cannot be compared.
    """
    options = (items_file, _choice(**choice))
    if baseline is None and b is None:
        raise InputError("compare: give b, or the baseline that the models in a are compared with")
    with _folder_of_tables() as folder:
        if baseline is not None:
            panel = read_panel(_paths(a, folder), baseline, *options, common=common)
            return comparing.compare_models(panel)
        first = _one_path(a, folder, "A")
        second = _one_path(b, folder, "B")
        return comparing.compare(read_pair(str(first), str(second), *options, common=common))


def gate(
    a: Answers,
    b: Answers,
    margin: float,
    *,
    alpha: float = 0.05,
    anytime: bool = False,
    seed: int = 0,
    common: bool = False,
    **choice: Any,
) -> gating.Gated:
    """Decide whether `b` is not worse than `a`; see `benchwright gate`.

    Args:
        a: as for `compare`.
        b: as for `compare`.
        margin: difference that is tolerated: .01 is one percentage point; with a scale, points
            of it.
        alpha: greatest probability of each wrong decision, at most .25.
        anytime: allow looks at any time while answers come in.
        seed: seed of the order of items with `anytime`.
        common: as for `compare`.
        choice: as for `read_logs`.

    Raises:
        InputError: an option is outside its limits, the answers cannot be compared, or a part of
            them cannot be used.
    """
    chosen = _choice(**choice)
    options = check_options(scale=chosen.scale, margin=margin, alpha=alpha)
    request = gating.GateRequest(options.margin_share, alpha, seed)
    with _folder_of_tables() as folder:
        first = _one_path(a, folder, "A")
        second = _one_path(b, folder, "B")
        pair = read_pair(str(first), str(second), choice=chosen, common=common, whole=True)
    return (gating.gate_anytime if anytime else gating.gate_all)(pair, request)


def plan(
    answers: Answers | Sequence[Files],
    *,
    standard_errors: float | Sequence[float] = (),
    differences: float | Sequence[float] = (),
    gaps: float | Sequence[float] = (),
    tau_b: float | Sequence[float] = (),
    spearman: float | Sequence[float] = (),
    seed: int = 0,
    **choice: Any,
) -> pd.DataFrame:
    """Return how many items each target needs, a row per target and way to draw the items.

    Args:
        answers: tables of responses, logs, or folders of these; or a table as a DataFrame.
        standard_errors: targets of the standard error of a score, as shares; also a single one.
        differences: targets of the detectable difference of two scores.
        gaps: gaps of two models that the items should order rightly.
        tau_b: targets of Kendall's tau-b with the full ranking.
        spearman: targets of Spearman's rho with the full ranking.
        seed: of the random subsets.
        choice: as for `read_logs`.

    Raises:
        InputError: there are no answers, or no target.
    """
    from benchwright.methods.dele.planning.plan import Wanted
    from benchwright.verdicts.plan import run_plan

    wanted = Wanted(
        standard_errors=_shares(standard_errors),
        differences=_shares(differences),
        tau_b=_shares(tau_b),
        spearman=_shares(spearman),
        gaps=_shares(gaps),
        seed=seed,
    )
    with _folder_of_tables() as folder:
        given = read_answers(_paths(answers, folder), _choice(**choice))
    made = run_plan(select_answered(given), wanted)
    for note in made.notes:
        warnings.warn(note, stacklevel=2)
    return pd.DataFrame(made.plan.rows)


def _choice(**given: Any) -> Choice:
    """Return which answers of files count."""
    choice = read_choice(**given)
    check_options(repeats=choice.repeats)
    return choice


def _shares(given: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(given).tolist())


def suspects(logs: Files | Sequence[Files], **choice: Any) -> pd.DataFrame:
    """Rank the items in logs by how likely their key is wrong; see `benchwright suspects`.

    Args:
        logs: those of several models.
        choice: as for `read_logs`.

    Raises:
        InputError: there are no logs, or those of one model.
    """
    found = suspecting.find_suspects(_paths(logs), _choice(**choice))
    for note in found.notes:
        warnings.warn(note, stacklevel=2)
    return found.table


@contextmanager
def _folder_of_tables() -> Iterator[str]:
    """Yield a folder for tables, whose files have the name of the argument in errors."""
    with TemporaryDirectory() as folder:
        try:
            yield folder
        except InputError as error:
            message = str(error)
            for file in Path(folder).iterdir():
                message = message.replace(str(file), file.stem).replace(file.name, file.stem)
            raise InputError(message) from None


def _one_path(given: Any, folder: str, name: str) -> Path:
    paths = _paths(given, folder, name)
    if len(paths) > 1:
        raise InputError(f"{name}: expected one file, folder or table, got {len(paths):,} files")
    return paths[0]


def _paths(given: Any, folder: str = "", name: str = "answers") -> list[Path]:
    """Return paths; a table becomes a file of this name in the folder."""
    from benchwright.api.arguments import as_table, response_file

    rows = isinstance(given, list) and all(isinstance(each, dict) for each in given)
    of_files = isinstance(given, str | PathLike | Iterable)
    if rows or not of_files or isinstance(given, Mapping | bytes):
        given = as_table(given, name)
    if isinstance(given, pd.DataFrame):
        if not folder:
            raise InputError("expected logs: a table of answers does not say what was asked")
        file = Path(folder, f"{name}.parquet")
        pq.write_table(response_file(given, name)[name].table, file)
        return [file]
    files: list[Any] = [given] if isinstance(given, str | PathLike) else list(given)
    paths: list[Path] = []
    for file in files:
        if not isinstance(file, str | PathLike):
            found = format_value(given)
            raise InputError(f"{name}: expected files, a DataFrame or a list of rows, got {found}")
        paths.append(Path(file))
    if not paths:
        raise InputError(f"{name}: expected files, got none")
    return paths
