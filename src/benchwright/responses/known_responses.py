"""Responses of models to a benchmark's items, from files or from a saved run."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import configuration_name, parse_configuration
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.item_clusters import item_clusters
from benchwright.core.natural_order import natural_key
from benchwright.datasets.response_files import LoadedFile, log_file, read_table, told_apart
from benchwright.datasets.response_matrix import ResponseMatrixDataset, is_response_matrix
from benchwright.logs.find import find_logs
from benchwright.params.responses import TABLE_TYPES, ResponseFileParams
from benchwright.responses.import_responses import import_responses
from benchwright.responses.items_of_logs import items_of_logs
from benchwright.responses.response_matrices import build_response_matrices
from benchwright.runs.saved_runs import find_run
from benchwright.tables.items import Items
from benchwright.tables.responses import Calibration, Responses

ANSWERED_BY = 0.5
"""Minimum share of the models that answered an item."""
MIN_COVERAGE = 0.95
"""Minimum share of these items that a model answered."""
_ITEM_COLUMNS = {"subject": "", "question": "", "choices": None, "passage_id": None}
_ANSWER_COLUMNS = ("item_id", "model", "condition", "style", "shots", "correct", "score")
_QUESTION = "question"


class KnownResponses(NamedTuple):
    """Responses of m models to n items, and the items' texts if known.

    Attributes:
        source: their origin, as text.
        models: m sorted names; `<model>@<style>-<shots>` if a table states style and shots.
        item_ids: n ids, from files in natural order; `<task>/<row>` for logs of other tasks.
        correct: (m, n) float32 in [0, 1], NaN where a response is missing.
        items: columns item_id, subject, question, choices and passage_id of known items, or None.
        families: family by model, if a run saved them.
        curves: a run's `SamplingCurves`, or None.
        notes: caveats.
        unreadable: items by model whose answer in a file held no option; they count as wrong.
    """

    source: str
    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: NDArray[np.float32]
    items: pd.DataFrame | None = None
    families: Mapping[str, str] = {}
    curves: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    unreadable: Mapping[str, frozenset[str]] = {}

    def select(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> "KnownResponses":
        """Return the responses of some models to some items, by masks."""
        models, item_ids = np.array(self.models, object), np.array(self.item_ids, object)
        return self._replace(
            models=tuple(models[rows]),
            item_ids=tuple(item_ids[columns]),
            correct=self.correct[np.ix_(rows, columns)],
        )

    def without(self, models: Collection[str]) -> "KnownResponses":
        """Return the responses without those of any configuration of some models."""
        names = (parse_configuration(name).model for name in self.models)
        kept = np.array([name not in models for name in names], dtype=bool)
        return self.select(kept, np.ones(len(self.item_ids), dtype=bool))

    def family_numbers(self) -> NDArray[np.intp] | None:
        """Return (m,) numbers of families, None if unknown; a model without one is its own."""
        if not self.families:
            return None
        names = [str(self.families.get(name) or f"\0{name}") for name in self.models]
        return np.unique(names, return_inverse=True)[1]

    def clusters(self) -> NDArray[np.intp]:
        """Return (n,) labels, equal for items that share a passage or stem."""
        rows = self._rows()
        return np.arange(len(self.item_ids)) if rows is None else item_clusters(rows)

    def subjects(self) -> NDArray[np.object_] | None:
        """Return the (n,) subjects; None for a single or unknown subject."""
        rows = self._rows()
        if rows is None or rows["subject"].nunique() < 2:
            return None
        return rows["subject"].astype(str).to_numpy(dtype=object)

    def item_texts(self) -> list[str]:
        """Return question and choices of the known items."""
        rows = self._rows()
        if rows is None:
            return []
        pairs = zip(rows["question"].astype(str), rows["choices"], strict=True)
        return [text for q, texts in pairs if (text := "\n".join([q, *map(str, texts)]).strip())]

    def _rows(self) -> pd.DataFrame | None:
        """Return a row per item, in order; unknown items have empty texts."""
        if self.items is None:
            return None
        rows = self.items.set_index("item_id").reindex(list(self.item_ids)).reset_index()
        empty = {"subject": "", "question": ""}
        return rows.fillna(empty).assign(choices=rows["choices"].map(_as_list))


def _as_list(choices: Any) -> list[str]:
    if isinstance(choices, str):
        return [choices]
    return [] if choices is None or isinstance(choices, float) else [str(c) for c in choices]


def known_responses(
    project: Path | None,
    env: str | None,
    files: Sequence[Path],
    params: Mapping[str, Any],
    items_file: Path | None = None,
) -> KnownResponses:
    """Read responses from files (`read_responses`), or the latest that a run saved.

    `items_file` is a table of items (`read_items`); `params` are those of the run.

    Raises:
        InputError: a file cannot be read, or no run has saved a matrix.
    """
    if files or project is None:
        responses = read_responses(files)
    else:
        responses = _responses_of_run(project, env, params)
    return responses._replace(items=read_items(items_file)) if items_file else responses


def _responses_of_run(project: Path, env: str | None, params: Mapping[str, Any]) -> KnownResponses:
    try:
        run = find_run(project, ["response_matrix"], params, env)
    except InputError as error:
        raise InputError(f"{error}; run kedro run --pipeline answers, or give a file") from None

    def table(name: str) -> pd.DataFrame | None:
        return pd.read_parquet(path) if (path := run.path(name)).exists() else None

    matrix, items, models = run.load("response_matrix"), table("items"), table("models_table")
    return KnownResponses(
        str(run),
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        None if items is None else _item_columns(items),
        {} if models is None else dict(zip(models["model"], models["family"], strict=True)),
        table("sampling_curves"),
    )


def select_answered(known: KnownResponses, all_items: bool = False) -> KnownResponses:
    """Select items that half of the models answered, then models that answered nearly all of them.

    With `all_items`, keep every item, and the models that answered nearly all items.

    Raises:
        InputError: no item or no model is left.
    """
    answered = ~np.isnan(known.correct)
    columns = np.asarray(answered.any(axis=0))
    if not all_items:
        columns &= answered.sum(axis=0) >= ANSWERED_BY * len(known.models)
    rows = answered[:, columns].mean(axis=1) >= MIN_COVERAGE if columns.any() else columns[:0]
    if not rows.any():
        raise InputError(
            f"{known.source}: no model answered {MIN_COVERAGE:.0%} of the "
            f"{int(columns.sum()):,} items"
        )
    left_out = {
        "items that fewer than half of the models answered": int((~columns).sum()),
        f"models that answered fewer than {MIN_COVERAGE:.0%} of the items": int((~rows).sum()),
    }
    notes = (f"excluded: {count:,} {what}" for what, count in left_out.items() if count)
    return known.select(rows, columns)._replace(notes=(*known.notes, *notes))


def read_items(file: Path) -> pd.DataFrame:
    """Read a table of items: item_id, and optionally question, choices, subject, passage_id.

    Raises:
        InputError: the file cannot be read, lacks item_id, or repeats an id.
    """
    table = read_table(file).to_pandas()
    if "item_id" not in table:
        raise InputError(f"{file}: no column 'item_id'; it has {', '.join(map(str, table))}")
    repeated = table["item_id"][table["item_id"].duplicated()]
    if len(repeated):
        raise InputError(f"{file}: item_id {repeated.iloc[0]!r} is not unique")
    return _item_columns(table)


def _item_columns(table: pd.DataFrame) -> pd.DataFrame:
    lacking = {name: value for name, value in _ITEM_COLUMNS.items() if name not in table}
    table = table.assign(**lacking)[["item_id", *_ITEM_COLUMNS]].astype({"item_id": str})
    return table.fillna({"subject": "", "question": ""})


class _Read(NamedTuple):
    """Responses of one kind of files: models × items, caveats, and unreadable items by model."""

    correct: pd.DataFrame
    notes: Sequence[str] = ()
    unreadable: Sequence[tuple[str, frozenset[str]]] = ()


def read_responses(paths: Sequence[Path], items: pd.DataFrame | None = None) -> KnownResponses:
    """Read responses from files and folders of tables, saved matrices and logs.

    A tidy table has a row per item and model with `correct` or `score`; a wide table has items and
    models as rows and columns, with values 0–1. Logs also give the texts of the items. The first
    response of a model to an item counts, with tables before logs; a note reports the others.
    `items` are those that logs are joined to, an `Items` table; None makes them of the logs.

    Raises:
        InputError: a file is missing, has another format, or has no response.
    """
    found = find_logs(paths)
    files = [file for path in paths for file in _tables_in(path, found.others)]
    if not files and not found.logs:
        expected = f"logs of evaluation tools or {', '.join(TABLE_TYPES)} files"
        raise InputError(f"{paths[0]}: no responses; expected {expected}")
    matrices = [file for file in files if is_response_matrix(file)]
    saved = [ResponseMatrixDataset(filepath=str(file)).load() for file in matrices]
    parts = [_Read(pd.DataFrame(m.correct, list(m.models), list(m.item_ids))) for m in saved]
    texts = None
    if loaded := {str(file): _loaded(file) for file in files if file not in matrices}:
        parts.append(_imported(loaded, nameless_items(loaded)))
    if found.logs:
        items = items_of_logs(found.logs) if items is None else items
        entry = ResponseFileParams(file="log.json")
        specs = [entry.model_copy(update={"file": str(log.files[0])}) for log in found.logs]
        # A log of several tools names one model apart.
        logs = told_apart([log_file(*pair) for pair in zip(found.logs, specs, strict=True)])
        parts.append(_imported({file.name: file for file in logs}, items))
        pairs = zip(items["question"], items["choices"], strict=True)
        questions = ["\n".join([question, *choices]).strip() for question, choices in pairs]
        texts = _item_columns(items.assign(question=questions))
    return _joined(", ".join(path.name for path in paths), parts)._replace(items=texts)


def responses_of_tables(files: Mapping[str, LoadedFile], source: str) -> KnownResponses:
    """Return the responses in tables that are loaded already; see `read_responses`.

    Raises:
        InputError: a table has another format or no response.
    """
    loaded = {name: _with_layout(file) for name, file in files.items()}
    return _joined(source, [_imported(loaded, nameless_items(loaded))])


def _tables_in(path: Path, others: Sequence[Path]) -> list[Path]:
    """Return a table, or the tables in a folder but not in its subfolders."""
    if path.is_dir():
        return [p for p in others if p.parent == path and p.name.endswith(TABLE_TYPES)]
    if path in others and not path.name.endswith(TABLE_TYPES):
        raise InputError(f"{path}: unknown file type; expected one of {', '.join(TABLE_TYPES)}")
    return [path] if path in others else []


def _loaded(file: Path) -> LoadedFile:
    # Files in different folders may share a name, so paths identify them.
    spec = ResponseFileParams(file="answers.csv").model_copy(update={"file": str(file)})
    return _with_layout(LoadedFile(spec, read_table(file)))


def _with_layout(file: LoadedFile) -> LoadedFile:
    """Return a table with its layout, which must state correctness: the options are unknown."""
    spec, table = file.spec, file.table
    names: list[str] = getattr(table, "column_names", [])
    if table is None or not {"item_id", "model"} <= set(names):
        return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)
    if not {"correct", "score"} & set(names):
        raise InputError(
            f"{file.name}: no column 'correct' or 'score' (0–1); a run reads letters and "
            "probabilities: list the file in the benchmark and use --benchmark"
        )
    table = table.select([name for name in names if name in _ANSWER_COLUMNS])
    return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)


def nameless_items(files: Mapping[str, LoadedFile]) -> pd.DataFrame:
    """Return an open-ended item for each id in the tables, since nothing else is known of it.

    Raises:
        InputError: a table has no items.
    """
    ids = sorted({item for name, file in files.items() for item in _item_ids(name, file)})
    if not ids:
        raise InputError(f"{next(iter(files))}: no item ids")
    columns = Items.empty().columns
    blank = dict.fromkeys(columns) | {"split": "test", "subject": "", "answer": -1}
    blank |= {"choices": [], "answer_text": "", "correct_set": []}
    rows = [
        blank | {"item_id": name, "question": name, "content_hash": content_hash(name)}
        for name in ids
    ]
    return pd.DataFrame(rows, columns=columns)


def _item_ids(file: str, loaded: LoadedFile) -> list[str]:
    table = loaded.table
    if table is None:
        return []
    names = table.column_names
    if "item_id" in names:
        return [str(name) for name in table["item_id"].to_pylist() if name is not None]
    if "model" in names:
        return [name for name in names if name != "model"]
    raise InputError(f"{file}: no column 'item_id' or 'model'; it has {', '.join(names[:12])}")


def _imported(loaded: dict[str, LoadedFile], items: pd.DataFrame) -> _Read:
    imported = import_responses(loaded, items, items.head(0))
    notes = [
        f"{Path(file).name}: {row['detail']}"
        for row, file in zip(imported.import_report.to_dict("records"), loaded, strict=True)
        if row["doubled"] or row["dropped"] or row["not_joined"] or row["failed"]
    ]
    built = build_response_matrices(
        Responses.empty(),
        imported.imported_responses,
        imported.wide_matrices,
        Calibration.empty(),
        items,
    )
    matrix, rows = built.response_matrix, built.responses
    if not matrix.models:
        raise InputError(f"{next(iter(loaded))}: no responses under the condition {_QUESTION}")
    lost = rows[(rows["extraction"] == "failed") & (rows["condition"] == _QUESTION)]
    unreadable = [
        (configuration_name(str(model), str(style), int(str(shots))), frozenset(ids))
        for (model, style, shots), ids in lost.groupby(["model", "style", "shots"])["item_id"]
    ]
    frame = pd.DataFrame(matrix.correct, index=list(matrix.models), columns=list(matrix.item_ids))
    return _Read(frame, notes, unreadable)


def _joined(source: str, parts: Sequence[_Read]) -> KnownResponses:
    """Join the responses; the first one of a model to an item counts."""
    out, notes = parts[0].correct, [note for part in parts for note in part.notes]
    for frame in (part.correct for part in parts[1:]):
        rows = out.index.intersection(frame.index)
        columns = out.columns.intersection(frame.columns)
        both = (out.loc[rows, columns].notna() & frame.loc[rows, columns].notna()).to_numpy().sum()
        if both:
            notes.append(f"{both:,} responses are in several kinds of files; the first counts")
        out = out.combine_first(frame)
    out = out.loc[sorted(out.index), sorted(out.columns, key=natural_key)]
    models, item_ids = (tuple(map(str, names)) for names in (out.index, out.columns))
    unreadable: dict[str, frozenset[str]] = {}
    for model, ids in (pair for part in parts for pair in part.unreadable):
        unreadable[model] = unreadable.get(model, frozenset()) | ids
    correct = out.to_numpy(np.float32)
    return KnownResponses(
        source, models, item_ids, correct, notes=tuple(notes), unreadable=unreadable
    )
