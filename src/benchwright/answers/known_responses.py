"""Responses of models to a benchmark's items, from files or from a saved run."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.answers.answer_files import Choice, find_answer_files
from benchwright.answers.answer_rows import FAILED, MISSING, answers
from benchwright.answers.answer_tables import has_letters
from benchwright.answers.calibration import configurations
from benchwright.answers.import_responses import join_responses
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.items_of_logs import collect_items
from benchwright.answers.response_matrices import matrix_of_rows, one_of_repeats
from benchwright.answers.tally import SAME_SCORE
from benchwright.core.configuration import parse_configuration
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.item_clusters import item_clusters
from benchwright.core.natural_order import sort_items
from benchwright.datasets.response_files import LoadedFile, read_table
from benchwright.params.responses import TABLE_TYPES
from benchwright.runs.saved_runs import find_run
from benchwright.tables.items import Items

ANSWERED_BY = 0.5
"""Minimum share of the models that answered an item."""
MIN_COVERAGE = 0.95
"""Minimum share of these items that a model answered."""
_ITEM_COLUMNS = {"subject": "", "question": "", "choices": None, "passage_id": None}
_ANSWER_COLUMNS = (
    *("item_id", "model", "condition", "style", "shots", "repeat", "correct", "score"),
    *("prediction", "extraction", "subject"),
)
_QUESTION = "question"
_NOTED = ("doubled", "dropped", "not_joined", "failed", "contradicting", "several")


class KnownResponses(NamedTuple):
    """Responses of m models to n items, and the items' texts if known."""

    source: str  # their origin, as text
    models: tuple[str, ...]  # m sorted names; `<model>@<style>-<shots>` if a table states these
    item_ids: tuple[str, ...]  # n ids, from files in natural order; `<task>/<row>` of other logs
    correct: NDArray[np.float32]  # (m, n) in [0, 1], NaN where a response is missing
    items: pd.DataFrame | None = None  # columns item_id and `_ITEM_COLUMNS`, of known items
    families: Mapping[str, str] = {}  # family by model, if a run saved them
    notes: tuple[str, ...] = ()  # caveats
    # Items by model: whose answer could not be read, which counts as wrong; that it was asked and
    # has no answer to, or not each repeat; with several different answers, of which the first
    # counts. `listed` has all items of its wide tables, per table.
    unreadable: Mapping[str, frozenset[str]] = {}
    unanswered: Mapping[str, frozenset[str]] = {}
    disputed: Mapping[str, frozenset[str]] = {}
    listed: Mapping[str, Sequence[frozenset[str]]] = {}
    # lines on answers whose mark or file contradicts the key of the item
    contradicting: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()  # why files could not be used
    chosen: NDArray[np.int16] | None = None  # (m, n) options, −1 if unknown; None if all are

    def select(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> "KnownResponses":
        """Return the responses of some models to some items, by masks."""
        models, item_ids = np.array(self.models, object), np.array(self.item_ids, object)
        return self._replace(
            models=tuple(models[rows]),
            item_ids=tuple(item_ids[columns]),
            correct=self.correct[np.ix_(rows, columns)],
            chosen=None if self.chosen is None else self.chosen[np.ix_(rows, columns)],
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
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> KnownResponses:
    """Read responses from files (`read_responses`), or the latest that a run saved.

    `items_file` is a table of items (`read_items`); `params` are those of the run.

    Raises:
        InputError: a file cannot be read, or no run has saved a matrix.
    """
    if files or project is None:
        responses = read_responses(files, choice=choice)
    else:
        responses = _responses_of_run(project, env, params)
    return responses._replace(items=read_items(items_file)) if items_file else responses


def _responses_of_run(project: Path, env: str | None, params: Mapping[str, Any]) -> KnownResponses:
    run = find_run(project, ["response_matrix"], params, env)

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


def read_responses(
    paths: Sequence[Path],
    items: pd.DataFrame | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> KnownResponses:
    """Read responses from files and folders of tables, saved matrices and logs.

    A tidy table has a row per item and model with `correct` or `score`; a wide table has items and
    models as rows and columns. The first response of a model to an item counts. Logs are joined to
    `items`, an `Items` table; None makes them of the logs.

    Raises:
        InputError: a file is missing or has another format, or there is no response.
    """
    found = find_answer_files(paths, choice)
    if not found.files:
        expected_types = f"logs of evaluation tools or {', '.join(TABLE_TYPES)} files"
        raise InputError(f"{paths[0]}: no responses; expected {expected_types}")
    source = ", ".join(path.name for path in paths)
    if items is None and found.logs:
        items = collect_items(found.logs).items
    return responses_of_files(found.files, source, items, choice)


def responses_of_files(
    files: Mapping[str, LoadedFile],
    source: str,
    items: pd.DataFrame | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> KnownResponses:
    """Return the responses in files that are loaded already; see `read_responses`.

    Raises:
        InputError: no file has a response.
    """
    usable = {name: _judged(file) for name, file in files.items()}
    problems = [file.problem for file in usable.values() if file.problem]
    parts = [] if items is None else [items]
    if any(file.table is not None for file in usable.values()):
        parts.append(nameless_items(usable, () if items is None else set(items["item_id"])))
    if not parts:
        raise InputError(problems[0])
    items = sort_items(pd.concat(parts, ignore_index=True))
    index = ResponseIndex(items)
    rows, report = join_responses(usable, index)
    notes = []
    for row in report.to_dict("records"):
        if row["layout"] != "unusable":
            log = usable[row["file"]].log
            cut = abs(row["accuracy"] - row["log_score"]) > SAME_SCORE  # answers that are not there
            said = row["detail"] if log is None else log.notes
            noted = any(row[name] for name in _NOTED) or cut or said
            notes += [f"{Path(row['file']).name}: {row['detail']}"] * bool(noted)
        elif not usable[row["file"]].problem:
            problems.append(row["detail"])
    if rows.empty and problems:
        raise InputError(problems[0])
    rows = _named(rows[rows["condition"] == _QUESTION])
    given = rows[rows["extraction"] != MISSING]
    correct, options = answers(given, index)
    given = one_of_repeats(given.assign(correct=correct, prediction=options), choice.repeats)
    matrix = matrix_of_rows(given, _QUESTION, index).select_items(tuple(index.ids))
    if not matrix.models:
        raise InputError(f"{source}: no responses under the condition {_QUESTION}")
    chosen = np.where(matrix.answered(), matrix.prediction, np.int16(-1))
    texts = items["question"].mask(items["question"] == items["item_id"], "")

    def by_model(mask: pd.Series) -> dict[str, frozenset[str]]:
        ids = pd.Series(index.ids.to_numpy()[rows["position"][mask].to_numpy(dtype=np.intp)])
        of_models = ids.groupby(rows["configuration"][mask].to_numpy())
        return {str(name): frozenset(part) for name, part in of_models}

    return KnownResponses(
        source,
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        _item_columns(items.assign(question=texts)),
        notes=(*problems, *notes),
        contradicting=tuple(_contradicting(report, usable)),
        unreadable=by_model(rows["extraction"] == FAILED),
        unanswered=by_model(rows["extraction"] == MISSING),
        disputed=by_model(rows["disputed"].astype(bool)),
        listed=_listed(rows, usable),
        unusable=tuple(problems),
        chosen=chosen if (chosen >= 0).any() else None,
    )


def _contradicting(report: pd.DataFrame, files: Mapping[str, LoadedFile]) -> Iterator[str]:
    """Say how many answers contradict a key, by model or table, and how both keys score them."""
    contrary = report[report["contradicting"] > 0]
    names = np.array([files[name].spec.model or name for name in contrary["file"]], object)
    for name, part in contrary.groupby(names):
        own, here = np.average(part[["log_score", "accuracy"]], axis=0, weights=part["rows"])
        said = f"{part['contradicting'].sum():,} answers of {name} contrary to an answer key"
        scores = f": {own:.2%} right by its log, {here:.2%} by the key in use"
        yield f"{said}{'' if np.isnan(own + here) else scores}; see the notes"


def _listed(rows: pd.DataFrame, files: Mapping[str, LoadedFile]) -> dict[str, list[frozenset[str]]]:
    """Return the items of each wide table by the models that it has answers of."""
    listed = defaultdict(list)
    for file, of_file in rows.groupby("source", observed=True):
        table = files[str(file)].table
        if table is not None and files[str(file)].spec.layout == "wide":
            names = table.column_names
            ids = table["item_id"].to_pylist() if "item_id" in names else names
            shared = frozenset(map(str, ids)) - {"model"}
            for name in of_file["configuration"].unique():
                listed[name].append(shared)
    return listed


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `configuration`, a name for each way in which a model was asked.

    Ways of which not all is known are told apart in the name. If no item was asked in two ways,
    they are parts of one, and the name is the model's.
    """
    asked = rows[["model", "style", "shots"]].drop_duplicates()
    names = pd.Series(configurations(asked), asked.index, dtype=object)
    unclear = names.duplicated(keep=False)
    once = rows.drop_duplicates([*asked, "position"])
    twice = once["model"][once.duplicated(["model", "position"])]
    for row in asked.index[unclear]:
        _, style, shots = asked.loc[row]
        way = [style] * bool(style) + [f"{shots} shots" if shots >= 0 else "unknown shots"]
        names[row] = f"{names[row]} ({', '.join(way)})"
    clear = asked["model"][~unclear].astype(object)
    parts = clear.duplicated(keep=False) & ~clear.isin(twice)
    names.update(clear[parts])
    codes = rows.groupby([*asked], sort=False, observed=True).ngroup().to_numpy(dtype=np.intp)
    return rows.assign(configuration=names.to_numpy()[codes])


def _judged(file: LoadedFile) -> LoadedFile:
    """Return a table with its layout, which must state correctness: the options are unknown."""
    spec, table = file.spec, file.table
    if table is None:
        return file
    table = table.rename_columns([_item_id(name, table) for name in table.column_names])
    marked = {"item_id", *("correct", "score")} & {*table.column_names}
    if "model" not in table.column_names and "item_id" in marked and len(marked) > 1:
        table = table.append_column("model", pa.array([Path(file.name).stem] * len(table)))
    names = table.column_names
    scored = bool({"correct", "score"} & set(names))
    if "item_id" not in names and (scored or "model" not in names):
        lacking = "'item_id', 'item' or 'id'" if scored else "'item_id' or 'model'"
        why = f"{file.name}: no column {lacking}; it has {', '.join(names[:12])}"
    elif not {"item_id", "model"} <= set(names):
        return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)
    elif scored:
        table = table.select([name for name in names if name in _ANSWER_COLUMNS])
        return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)
    else:
        why = (
            f"{file.name}: no column 'correct' or 'score'; letters need the items: "
            "`benchwright read --benchmark NAME --out FILE` marks them"
        )
    return LoadedFile(spec, None, problem=why)


def _item_id(name: str, table: pa.Table) -> str:
    """Return `item_id` for `item` or `id` in a table without such a column, else the name."""
    others = {"item_id", "item"} if name == "id" else {"item_id"}
    known = name in ("item", "id") and not others & {*table.column_names}
    return "item_id" if known else name


def nameless_items(files: Mapping[str, LoadedFile], known: Collection[str] = ()) -> pd.DataFrame:
    """Return an open-ended item for each id in tables that is not known, with its subject if any.

    Raises:
        InputError: there is no id, an item has two subjects, or answers are letters alone.
    """
    subjects: dict[str, str] = {}
    for file, table in ((f, f.table) for f in files.values() if f.table is not None):
        names = table.column_names
        chosen = "prediction" in names or has_letters(file, table)
        if chosen and not {"correct", "score"} & {*names}:
            raise InputError(f"{file.name}: no column 'correct' or 'score'; letters need `items`")
        ids = table["item_id"].to_pylist() if "item_id" in names else names
        stated = table["subject"].to_pylist() if {"item_id", "subject"} <= {*names} else repeat("")
        for name, subject in dict.fromkeys(zip(ids, stated, strict=False)):
            own = "" if subject is None else str(subject)
            first = subjects.get(str(name)) or own
            if own and first != own:
                why = f"item {name} is of subject {first!r} and {own!r}"
                raise InputError(f"{file.name}: {why}; give each an id of its own")
            subjects[str(name)] = first
    new = subjects.keys() - {"model", "None", *known}
    if not new and not known:
        raise InputError(f"{next(iter(files))}: no item ids")
    columns = Items.empty().columns
    blank = dict.fromkeys(columns) | {"split": "test", "answer": -1}
    blank |= {"choices": [], "answer_text": "", "correct_set": []}
    rows = [
        {**blank, "item_id": name, "question": name, "content_hash": content_hash(name)}
        | {"subject": subjects[name]}
        for name in sorted(new)
    ]
    return pd.DataFrame(rows, columns=columns)
