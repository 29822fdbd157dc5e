"""What a run has saved of a benchmark's answers, and answers from files, for commands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.commands.recorded_answers import read_answers
from benchwright.core.errors import InputError
from benchwright.core.item_clusters import item_clusters
from benchwright.core.natural_order import natural_key
from benchwright.datasets.response_files import read_table
from benchwright.datasets.response_matrix import ResponseMatrixDataset
from benchwright.project_conf import load_conf

ANSWERED_BY = 0.5
"""An item takes part where so many of the models answered it."""
MIN_COVERAGE = 0.95
"""A model takes part where it answered so many of these items."""


class KnownAnswers(NamedTuple):
    """Answers of m models to n items, and what is known of the items.

    Attributes:
        source: where they are from, in words.
        models: m names, sorted.
        item_ids: n ids.
        correct: (m, n) float32 in [0, 1], NaN where there is no answer.
        items: columns item_id, subject, question, choices and passage_id of the items that are
            known; None where nothing but ids is.
        families: family by model, where a run told them.
        curves: a run's `SamplingCurves`, or None.
        notes: a line for each thing to bear in mind.
    """

    source: str
    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: NDArray[np.float32]
    items: pd.DataFrame | None
    families: Mapping[str, str]
    curves: pd.DataFrame | None
    notes: tuple[str, ...]

    def clusters(self) -> NDArray[np.intp]:
        """(n,) labels, equal for items that share a passage or stem; each alone if unknown."""
        rows = self._rows()
        if rows is None:
            return np.arange(len(self.item_ids))
        return item_clusters(rows)

    def strata(self) -> NDArray[np.intp] | None:
        """(n,) labels by subject; None where there is one, or none is known."""
        rows = self._rows()
        if rows is None:
            return None
        labels, names = pd.factorize(rows["subject"].astype(str), sort=True)
        return labels if len(names) > 1 else None

    def item_texts(self) -> list[str]:
        """Question and choices of the items that are known."""
        rows = self._rows()
        if rows is None:
            return []
        pairs = zip(rows["question"].astype(str), rows["choices"], strict=True)
        return [
            text for text in ("\n".join([q, *map(str, own)]).strip() for q, own in pairs) if text
        ]

    def _rows(self) -> pd.DataFrame | None:
        """A row per item, in order; an item that is not listed has no texts."""
        if self.items is None:
            return None
        rows = self.items.set_index("item_id").reindex(list(self.item_ids)).reset_index()
        empty = {"subject": "", "question": ""}
        return rows.fillna(empty).assign(choices=rows["choices"].map(_listed))


def known_answers(
    project: Path | None,
    env: str | None,
    files: Sequence[Path],
    params: Mapping[str, Any],
    items_file: Path | None = None,
) -> KnownAnswers:
    """Answers from files where some are named, else those that a run saved last.

    Args:
        project: the project's folder; not needed for files.
        env: as `--env`.
        files: tables, saved matrices, logs of lm-eval, or folders of such.
        params: benchmark, variant and data_root, where they are not conf's. Without a variant the
            newest matrix of any.
        items_file: a table of the items (item_id, question, choices, subject, passage_id).

    Raises:
        InputError: a file cannot be read, or no run has saved a matrix.
    """
    items = None if items_file is None else read_items(items_file)
    if not files:
        if project is None:
            raise ValueError("without files the project is needed")
        found = _of_run(project, env, params)
        return found if items is None else found._replace(items=items)
    read = read_answers(files)
    if items is None and read.texts:
        items = _checked_items(
            pd.DataFrame({"item_id": list(read.texts), "question": list(read.texts.values())})
        )
    return KnownAnswers(
        ", ".join(file.name for file in files),
        read.models,
        read.item_ids,
        read.correct,
        items,
        {},
        None,
        read.notes,
    )


def judged(known: KnownAnswers, all_items: bool = False) -> KnownAnswers:
    """The items that half of the models answered, and the models that answered nearly all of them.

    Args:
        known: the answers.
        all_items: keep every item instead, and the models that answered nearly all of these.

    Raises:
        InputError: nothing is left.
    """
    answered = ~np.isnan(known.correct)
    columns = np.asarray(answered.any(axis=0))
    if not all_items:
        columns &= answered.sum(axis=0) >= ANSWERED_BY * len(known.models)
    rows = answered[:, columns].mean(axis=1) >= MIN_COVERAGE if columns.any() else columns[:0]
    notes = list(known.notes)
    if not columns.any() or not rows.any():
        raise InputError(
            f"{known.source}: no model answered {MIN_COVERAGE:.0%} of the "
            f"{int(columns.sum()):,} items"
        )
    if not columns.all():
        notes.append(
            f"{int((~columns).sum()):,} items that under half of the models answered are left out"
        )
    if not rows.all():
        notes.append(
            f"{int((~rows).sum()):,} models that answered under {MIN_COVERAGE:.0%} of the items "
            "are left out"
        )
    return known._replace(
        models=tuple(np.array(known.models, object)[rows]),
        item_ids=tuple(np.array(known.item_ids, object)[columns]),
        correct=known.correct[np.ix_(rows, columns)],
        notes=tuple(notes),
    )


def read_items(file: Path) -> pd.DataFrame:
    """A table of items: item_id, and question, choices, subject, passage_id where it has them.

    Raises:
        InputError: it cannot be read, lacks item_id, or has one twice.
    """
    table = read_table(file).to_pandas()
    if "item_id" not in table:
        raise InputError(f"{file}: needs a column 'item_id'; it has {', '.join(map(str, table))}")
    twice = table["item_id"][table["item_id"].duplicated()]
    if len(twice):
        raise InputError(f"{file}: item_id {twice.iloc[0]!r} is there twice")
    return _checked_items(table)


def _checked_items(table: pd.DataFrame) -> pd.DataFrame:
    wanted = {"subject": "", "question": "", "choices": None, "passage_id": None}
    for name, default in wanted.items():
        if name not in table:
            table = table.assign(**{name: default})
    table = table[["item_id", *wanted]].astype({"item_id": str})
    return table.fillna({"subject": "", "question": ""})


def _listed(choices: Any) -> list[str]:
    if isinstance(choices, str):
        return [choices]
    return [] if choices is None or isinstance(choices, float) else [str(c) for c in choices]


def _of_run(project: Path, env: str | None, params: Mapping[str, Any]) -> KnownAnswers:
    conf = load_conf(project, env, dict(params))
    benchmark = str(conf["parameters"]["benchmark"])
    path = project / str(conf["catalog"]["response_matrix"]["filepath"])
    saved = _newest(path, "variant" in params)
    if saved is None:
        raise InputError(
            f"no run has saved answers to benchmark {benchmark!r} below {path.parent.parent}; "
            f"run kedro run --pipeline answers --params benchmark={benchmark}, or name a file"
        )
    version, variant = saved.parent.name, saved.parents[2]
    matrix = ResponseMatrixDataset(filepath=str(saved)).load()
    items = _newest(project / str(conf["catalog"]["items"]["filepath"]), True)
    models = variant / "models_table.parquet" / version / "models_table.parquet"
    curves = _newest(variant / "sampling_curves.parquet", True)
    table = pd.read_parquet(models) if models.is_file() else pd.DataFrame()
    return KnownAnswers(
        f"{benchmark} · {variant.name} · {version}",
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        None if items is None else _checked_items(pd.read_parquet(items)),
        dict(zip(table["model"], table["family"], strict=True)) if len(table) else {},
        None if curves is None else pd.read_parquet(curves),
        (),
    )


def _newest(path: Path, this_variant: bool) -> Path | None:
    """The last version of a dataset; of any variant's where none is asked for."""
    folders = [path] if this_variant else sorted(path.parent.parent.glob(f"*/{path.name}"))
    found = [file for folder in folders for file in folder.glob(f"*/{path.name}")]
    return max(found, key=lambda file: natural_key(file.parent.name), default=None)
