"""Read response files with a row per item and model."""

import heapq
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.configuration import STYLES
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.datasets.response_files import LoadedFile
from benchwright.params.responses import TIDY_COLUMNS
from benchwright.responses.calibration import best_options, scores_of
from benchwright.responses.cell_values import (
    Cells,
    number_lists,
    numbers,
    options,
    text_lists,
    texts,
)
from benchwright.responses.item_index import ResponseIndex
from benchwright.responses.tally import EXAMPLES, Tally

KEY = ["position", "condition", "style", "shots", "model", "repeat"]
ANSWER = ["correct", "prediction", "p_answer", "p_prediction", "logprobs"]
_ITEM = ("item_id", "content_hash", "question")
_VALUES = ("correct", "score", "prediction", "logprobs")
_LISTS = ("logprobs", "option_bytes", "option_tokens")
_TOKENS = ["prompt_tokens", "generated_tokens"]
ROWS = [*KEY, *ANSWER, "option_bytes", "option_tokens", "extraction", *_TOKENS, "source", "by_hash"]
"""Columns of the rows: `position` is the item's position in the index; missing values are −1 in
`prediction`, else NaN or None."""

# A softmax in single precision may be slightly above 1, and K equal options slightly below 1/K.
_ROUNDING = 1e-6
_MAX_SHOTS = 10_000
_MAX_REPEATS = 10_000
_EXTRACTIONS = ("ok", "failed", "too_long", "none")

Mask = NDArray[np.bool_]


def _names(file: LoadedFile) -> dict[str, str]:
    """Map standard column names to the names in the file."""
    renamed: dict[str, str] = {str(ours): theirs for ours, theirs in file.spec.columns.items()}
    return {name: renamed.get(name, name) for name in TIDY_COLUMNS}


class _Columns:
    """The columns of a file under their standard names."""

    def __init__(self, file: LoadedFile) -> None:
        table = file.table
        if table is None:
            raise ValueError(f"{file.name} was not loaded")
        self.file = file
        self.table = table
        self.names = _names(file)
        present = table.column_names
        for ours, theirs in file.spec.columns.items():
            if theirs not in present:
                raise InputError(
                    f"{file.name}: no column {theirs!r} (configured for {ours}); "
                    f"it has {', '.join(present[:12])}"
                )
        for name in self.names.values():
            if present.count(name) > 1:
                raise InputError(f"{file.name}: column {name!r} is not unique")

    def __contains__(self, name: str) -> bool:
        return self.names[name] in self.table.column_names

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        return self.table[self.names[name]]

    def texts(self, name: str, default: str | None = None) -> NDArray[np.object_]:
        if name not in self:
            return np.full(len(self.table), default, dtype=object)
        values = texts(self[name], f"{self.file.name}, column {self.names[name]!r}")
        values[pd.isna(values)] = default
        return values

    def categories(self, name: str, default: str | None = None) -> pd.Categorical:
        if name not in self:
            return pd.Categorical([default]).repeat(len(self.table))
        return pd.Categorical(self.texts(name, default))

    def cells(self, name: str, read: Any, missing: Any = np.nan) -> Cells:
        if name in self:
            return Cells(*read(self[name]))
        empty = np.array(missing, dtype=object if missing is None else np.float64)
        # Views of one value: a file of millions of rows lacks most columns.
        return Cells(*(np.broadcast_to(value, len(self.table)) for value in (empty, False)))


def looks_tidy(file: LoadedFile) -> bool:
    """Return whether a file has columns for the model and the item, or for a value of responses."""
    table = file.table
    if table is None:
        return False
    names, present = _names(file), set(table.column_names)
    has_item = not present.isdisjoint(names[name] for name in _ITEM)
    return (has_item and names["model"] in present) or not present.isdisjoint(
        names[name] for name in _VALUES
    )


def read_tidy(file: LoadedFile, index: ResponseIndex) -> tuple[pd.DataFrame, Tally]:
    """Read a tidy file: the joined responses, one row per key, and a tally of all rows.

    A row is joined to the items of its condition: items of a perturbed copy have the copy's texts.

    Raises:
        InputError: a required column is missing, or no row has a response.
    """
    columns = _Columns(file)
    _require(columns)
    tally = Tally(file.name, "tidy", rows=len(columns.table))
    frame, problems = _read(columns)
    tally.models = int(frame["model"].nunique())
    item_ids = columns.texts("item_id")
    labels = _Labels(item_ids, frame["model"])
    foreign_rows = _join(frame, item_ids, columns, index)
    problems += _problems_of_joined(frame, index)
    _require_valid_row(columns, problems)

    dropped = np.zeros(len(frame), dtype=bool)
    for reason, mask in problems:
        fresh = mask & ~dropped
        tally.add("dropped", f"dropped ({reason})", fresh.sum(), labels.first(fresh))
        dropped |= fresh

    lost = ~dropped & (frame["position"].to_numpy() < 0)
    unreported = lost
    for what, mask in [*foreign_rows, ("not joined", lost)]:
        fresh = mask & unreported
        tally.add("not_joined", what, fresh.sum(), labels.first(fresh))
        unreported = unreported & ~fresh

    kept = frame[~dropped & ~lost] if dropped.any() or lost.any() else frame
    repeated = _repeated(kept, item_ids)
    examples = labels.first(kept.index.to_numpy()[repeated])
    tally.add("doubled", "duplicates", repeated.sum(), examples)
    _count_differing_doubles(kept, repeated, tally, labels)

    kept = kept[~repeated] if repeated.any() else kept
    tally.joined_by_hash = int(kept["by_hash"].sum())
    tally.joined_by_id = len(kept) - tally.joined_by_hash
    wrong = contradictions(kept, index)
    examples = labels.first(kept.index.to_numpy()[wrong])
    tally.add("contradicting", "inconsistent with the gold", wrong.sum(), examples)
    return kept[ROWS].reset_index(drop=True), tally


def _require(columns: _Columns) -> None:
    name = columns.file.name
    has = ", ".join(columns.table.column_names[:12])
    for needed in (("model",), _ITEM, _VALUES):
        if not any(key in columns for key in needed):
            *others, last = map(repr, needed)
            wanted = f"{', '.join(others)} or {last}" if others else last
            near = (get_close_matches(key, columns.table.column_names, n=1) for key in needed)
            renamed = next((close[0] for close in near if close), None)
            hint = f"; rename {renamed!r}, or name it under `columns`" if renamed else ""
            raise InputError(f"{name}: a tidy file needs a column {wanted}; it has {has}{hint}")


class _Labels(NamedTuple):
    """Names of rows, `item × model`, for the report."""

    items: NDArray[np.object_]
    models: pd.Series

    def first(self, rows: NDArray[Any]) -> list[str]:
        """Return the first names, sorted, of a mask or of row numbers."""
        where = np.flatnonzero(rows) if rows.dtype == bool else rows
        models = self.models.iloc[where].astype(object)
        names = {(str(self.items[row]), str(m)) for row, m in zip(where, models, strict=True)}
        return [f"{item} × {model}" for item, model in heapq.nsmallest(EXAMPLES, names)]


def _read(columns: _Columns) -> tuple[pd.DataFrame, list[tuple[str, Mask]]]:
    """Read all rows, and mark those with invalid values."""
    spec, n = columns.file.spec, len(columns.table)
    stated = "correct" if "correct" in columns else "score"
    cells = {
        stated: columns.cells(stated, numbers),
        "prediction": columns.cells("prediction", options),
        **{name: columns.cells(name, numbers) for name in ("p_answer", "p_prediction")},
        "shots": columns.cells("shots", numbers, float(spec.shots)),
        "repeat": columns.cells("repeat", numbers, 1.0),
        **{name: columns.cells(name, numbers, -1.0) for name in _TOKENS},
        **{name: columns.cells(name, number_lists, None) for name in _LISTS},
    }
    problems = [(f"{name} unreadable", read.bad) for name, read in cells.items()]
    for name in (stated, "p_answer", "p_prediction"):
        stated_value = cells[name].content
        outside = (stated_value < -_ROUNDING) | (stated_value > 1 + _ROUNDING)
        problems.append((f"{name} outside 0–1", outside))
    shots = np.where(np.isnan(cells["shots"].content), spec.shots, cells["shots"].content)
    whole = (shots >= -1) & (shots <= _MAX_SHOTS) & (np.floor(shots) == shots)
    problems.append(("invalid shots", ~whole))
    repeat = np.where(np.isnan(cells["repeat"].content), 1, cells["repeat"].content)
    countable = (repeat >= 1) & (repeat <= _MAX_REPEATS) & (np.floor(repeat) == repeat)
    problems.append(("invalid repeat", ~countable))
    models = columns.categories("model")
    problems.append(("missing model", pd.isna(models) | (models == "")))
    style = columns.categories("style", spec.style)
    problems.append(("unknown style", ~style.isin(["", *STYLES])))
    prediction = cells["prediction"].content
    frame = pd.DataFrame(
        {
            "model": models,
            "condition": columns.categories("condition", spec.condition),
            "style": style,
            "shots": np.where(whole, shots, -1).astype(np.int64),
            "repeat": np.where(countable, repeat, 1).astype(np.int64),
            "correct": np.clip(cells[stated].content, 0, 1),
            "prediction": np.where(np.isnan(prediction), -1, prediction).astype(np.int64),
            "p_answer": np.clip(cells["p_answer"].content, 0, 1),
            "p_prediction": np.clip(cells["p_prediction"].content, 0, 1),
            "extraction": _extraction(columns, n),
            **{name: _whole(cells[name].content) for name in _TOKENS},
            "source": pd.Categorical([columns.file.name]).repeat(n),
        },
        copy=False,
    )
    for name in _LISTS:
        frame[name] = pd.Series(cells[name].content, dtype=object)
    return frame, problems


def _extraction(columns: _Columns, n: int) -> NDArray[np.object_]:
    if "extraction" not in columns:
        return np.full(n, "none", dtype=object)
    stated = columns.texts("extraction", "none")
    return np.where(np.isin(stated.astype(str), _EXTRACTIONS), stated, "none")


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return counts, −1 where there is none."""
    known = (values >= 0) & (values < 1 << 53)
    return np.where(known, values, -1).astype(np.int64)


def _join(
    frame: pd.DataFrame, item_ids: NDArray[np.object_], columns: _Columns, index: ResponseIndex
) -> list[tuple[str, Mask]]:
    """Add `position` and `by_hash`; return the rows of copies that are not of this run."""
    hashes, question_only = _hashes(columns)
    conditions = frame["condition"]
    joined = index.join(item_ids, hashes, conditions, question_only=question_only)
    positions = joined.positions
    foreign_rows = []
    for condition in sorted(conditions.unique()):
        of_condition = (conditions == condition).to_numpy(dtype=bool)
        if index.of(condition) is None:
            foreign_rows.append((unknown_condition(condition), of_condition))
        elif condition in index.perturbed and hashes is not None and not question_only:
            texts_of = np.array(hashes, dtype=object)[of_condition]
            if index.compare_texts(condition, item_ids[of_condition], texts_of).is_foreign():
                foreign_rows.append((different_texts(condition), of_condition))
                positions[of_condition] = -1
    frame["position"] = positions
    frame["by_hash"] = joined.by_hash & (positions >= 0)
    return foreign_rows


def unknown_condition(condition: str) -> str:
    """Return the report's text for responses under an unknown condition."""
    return f"not joined (unknown condition {condition})"


def different_texts(condition: str) -> str:
    """Return the report's text for responses to other texts than those of the copy."""
    return (
        f"not joined (texts differ from those of {condition} in this run; "
        "check the seed and settings of the perturbation)"
    )


def _hashes(columns: _Columns) -> tuple[list[str | None] | None, bool]:
    """Return the hash of each row's text, if any, and whether it is of the question alone."""
    if "content_hash" in columns:
        return columns.texts("content_hash").tolist(), False
    if "question" not in columns:
        return None, False
    questions = columns.texts("question")
    if "choices" not in columns:
        return [None if q is None else content_hash(q) for q in questions], True
    known: dict[Any, str] = {}  # an item repeats for each model
    hashes: list[str | None] = []
    for question, choices in zip(questions, text_lists(columns["choices"]), strict=True):
        if question is None:
            hashes.append(None)
            continue
        text = (question, choices or ())
        if text not in known:
            known[text] = content_hash(*text)
        hashes.append(known[text])
    return hashes, False


def _problems_of_joined(frame: pd.DataFrame, index: ResponseIndex) -> list[tuple[str, Mask]]:
    """Mark values that are invalid for their item."""
    position = frame["position"].to_numpy()
    joined = position >= 0
    n_options = index.options[position]
    open_ended = joined & (n_options == 0)
    frame.loc[open_ended, "prediction"] = -1
    beyond = joined & (frame["prediction"].to_numpy() >= np.maximum(n_options, 1))
    problems = [("prediction is not an option of the item", beyond)]
    for name in _LISTS:
        uneven = _where_stated(frame[name], lambda row, v: len(v) != n_options[row])
        problems.append((f"{name} not one per option", joined & uneven))
    for name in ("option_bytes", "option_tokens"):
        small = _where_stated(frame[name], lambda _, v: not all(1 <= n < np.inf for n in v))
        problems.append((f"{name} below 1", small))
    endless = _where_stated(frame["logprobs"], lambda _, v: not np.isfinite(np.max(v)))
    problems.append(("logprobs not finite", endless))
    for style, needed in (("cloze_bytes", "option_bytes"), ("cloze_tokens", "option_tokens")):
        bare = (frame["style"] == style) & frame["logprobs"].notna() & frame[needed].isna()
        problems.append((f"style {style} without {needed}", bare.to_numpy(dtype=bool)))
    silent = frame["correct"].isna() & (frame["prediction"] < 0) & frame["logprobs"].isna()
    problems.append(("no response", silent.to_numpy(dtype=bool)))
    return problems


def _where_stated(lists: pd.Series, invalid: Callable[[int, list[float]], bool]) -> Mask:
    """Mark the rows that have a list which is invalid."""
    out = np.zeros(len(lists), dtype=bool)
    stated = np.flatnonzero(lists.notna())
    cells = lists.to_numpy()
    out[stated] = [invalid(row, cells[row]) for row in stated]
    return out


def _require_valid_row(columns: _Columns, problems: list[tuple[str, Mask]]) -> None:
    """Raise InputError if every row is invalid; else invalid rows are dropped and counted."""
    if not np.logical_or.reduce([mask for _, mask in problems]).all():
        return
    reason = next(reason for reason, mask in problems if mask[0])
    shown = ("model", "correct", "score", "prediction", "p_answer", "p_prediction", "logprobs")
    values = ", ".join(
        f"{columns.names[name]} {columns[name][0].as_py()!r}" for name in shown if name in columns
    )
    raise InputError(
        f"{columns.file.name}: no valid row; row 1: {reason} (got {values}); write 'correct' and "
        "probabilities as 0–1, and 'prediction' as a letter or 0-based index"
    )


def _repeated(kept: pd.DataFrame, item_ids: NDArray[np.object_]) -> Mask:
    """Return (n,) True for rows that repeat the key of another row.

    A row that states the item's id has precedence over rows joined by text, which are ordered by
    id. Otherwise, the first row in the file has precedence.
    """
    by_hash = kept["by_hash"].to_numpy(dtype=bool)
    if not by_hash.any():
        return kept.duplicated(KEY, keep="first").to_numpy()
    stated_ids = item_ids[kept.index.to_numpy()]
    twins = pd.factorize(np.where(by_hash, stated_ids, ""), sort=True)[0]
    order = np.lexsort((twins, by_hash))
    repeated = np.empty(len(kept), dtype=bool)
    repeated[order] = kept.iloc[order].duplicated(KEY, keep="first").to_numpy()
    return repeated


def _count_differing_doubles(
    kept: pd.DataFrame, repeated: Mask, tally: Tally, labels: _Labels
) -> None:
    if not repeated.any():
        return
    later = kept[repeated]
    first = kept[~repeated].set_index(KEY).loc[pd.MultiIndex.from_frame(later[KEY])]
    differ = disagree(first.reset_index(drop=True), later.reset_index(drop=True))
    examples = labels.first(later.index.to_numpy()[differ])
    what = "duplicates with a different response (the first counts)"
    tally.add("contradicting", what, differ.sum(), examples)


def disagree(first: pd.DataFrame, later: pd.DataFrame) -> Mask:
    """Return (n,) True where two rows with the same key state different values."""
    a, b = first["correct"].to_numpy(), later["correct"].to_numpy()
    differ = ~np.isnan(a) & ~np.isnan(b) & (a != b)
    c, d = first["prediction"].to_numpy(), later["prediction"].to_numpy()
    return np.asarray(differ | ((c >= 0) & (d >= 0) & (c != d)))


def contradictions(rows: pd.DataFrame, index: ResponseIndex) -> Mask:
    """Return (n,) True where a row contradicts itself, given the item's gold.

    `correct` must agree with the prediction and with the highest log-likelihood. `p_answer` must
    not exceed 0.5 if wrong, or be below 1/K if right. Probabilities of two options must not sum to
    more than 1. Only items with exactly one right option are checked, and only responses that are
    entirely right or wrong.
    """
    if rows.empty:
        return np.zeros(0, dtype=bool)
    position = rows["position"].to_numpy()
    answer = index.answer[position]
    correct = rows["correct"].to_numpy()
    prediction = rows["prediction"].to_numpy()
    p_answer = rows["p_answer"].to_numpy()
    checkable = index.single[position]
    decided = checkable & ((correct == 0) | (correct == 1))
    out = decided & (prediction >= 0) & ((correct == 1) != (prediction == answer))
    out |= decided & (correct == 0) & (p_answer > 0.5 + _ROUNDING)
    fair = 1 / np.maximum(index.options[position], 1)
    out |= decided & (correct == 1) & (p_answer < fair - _ROUNDING)
    other = checkable & (prediction >= 0) & (prediction != answer)
    out |= other & (p_answer + rows["p_prediction"].to_numpy() > 1 + _ROUNDING)
    return np.asarray(out | _contradicts_logprobs(rows, answer, decided, checkable))


def _contradicts_logprobs(
    rows: pd.DataFrame, answer: NDArray[np.int64], decided: Mask, checkable: Mask
) -> Mask:
    out = np.zeros(len(rows), dtype=bool)
    scored = rows["logprobs"].notna().to_numpy() & checkable
    for style in sorted(rows.loc[scored, "style"].unique()):
        at = np.flatnonzero(scored & (rows["style"] == style).to_numpy())
        chosen = rows.iloc[at]
        best, tied = best_options(scores_of(chosen))
        correct = chosen["correct"].to_numpy()
        stated = chosen["prediction"].to_numpy()
        wrong = decided[at] & ((correct == 1) != (best == answer[at]))
        wrong |= (stated >= 0) & (stated != best)
        out[at] = wrong & ~tied
    return out
