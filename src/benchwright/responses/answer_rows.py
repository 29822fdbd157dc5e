"""Rows of answers, from whatever file: checked against their items, and merged."""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.verbatim import no_rows
from benchwright.responses.calibration import best_options, scores_of
from benchwright.responses.item_index import ResponseIndex
from benchwright.responses.tally import EXAMPLES, Tally

KEY = ["position", "condition", "style", "shots", "model", "repeat"]
LISTS = ("logprobs", "option_bytes", "option_tokens")
ROWS = [
    *KEY, "correct", "prediction", "p_answer", "p_prediction", *LISTS, "extraction",
    "prompt_tokens", "generated_tokens", "source", "by_hash", "disputed",
]  # fmt: skip
"""Columns of the rows: `position` is the item's position in the index; missing values are −1 in
`prediction`, else NaN or None. `extraction` is `missing` where the model was asked and has no
answer, and `failed` where it has one that names no option, which counts as wrong. `disputed` marks
rows of which another row with the same key states another answer."""
MISSING, FAILED = "missing", "failed"
_VALUES = ["correct", "prediction", "p_answer", "p_prediction", "logprobs", "option_bytes"]
# A softmax in single precision may be slightly above 1, and K equal options slightly below 1/K.
_ROUNDING = 1e-6

Mask = NDArray[np.bool_]
Reasons = Sequence[tuple[str, Mask]]


def constant(value: str, count: int) -> "pd.Categorical[Any]":
    """Return a column of one text."""
    return pd.Categorical([value]).repeat(count)


def name_rows(items: NDArray[np.object_], models: pd.Series, rows: Mask) -> list[str]:
    """Return the first three marked rows as `item × model`, sorted."""
    at = np.flatnonzero(rows)
    if not len(at):
        return []
    names = {(str(i), str(m)) for i, m in zip(items[at], models.iloc[at], strict=True)}
    return [f"{item} × {model}" for item, model in heapq.nsmallest(EXAMPLES, names)]


def check_rows(
    rows: pd.DataFrame,
    items: NDArray[np.object_],
    invalid: Reasons,
    unjoined: Reasons,
    tally: Tally,
    index: ResponseIndex,
) -> pd.DataFrame:
    """Return the rows of one file that count, one per key, and count the others.

    Args:
        rows: the columns `ROWS` but `disputed`; `position` is −1 where no item was found.
        items: (n,) names of the items in the file.
        invalid: why rows are invalid.
        unjoined: why rows belong to no item, where there is more to say.
        tally: of the file.
        index: the items.
    """
    rows = rows.reset_index(drop=True)
    left = np.ones(len(rows), dtype=bool)

    def count(counter: str, reasons: Reasons) -> None:
        nonlocal left
        for what, mask in reasons:
            fresh = mask & left
            tally.add(counter, what, fresh.sum(), name_rows(items, rows["model"], fresh))
            left = left & ~fresh

    reasons = [*invalid, *_invalid_for_item(rows, index)]
    count("dropped", [(f"dropped ({why})", mask) for why, mask in reasons])
    count("not_joined", [*unjoined, ("not joined", rows["position"].to_numpy() < 0)])
    silent = left & unanswered(rows) & (rows["extraction"] != FAILED).to_numpy(dtype=bool)
    told = (rows["extraction"] == MISSING).to_numpy(dtype=bool)
    fresh = silent & ~told
    tally.add(
        "dropped", "dropped (no response)", fresh.sum(), name_rows(items, rows["model"], fresh)
    )
    rows["extraction"] = rows["extraction"].where(~silent, MISSING)
    if not left.all():
        rows, items, silent = rows[left].reset_index(drop=True), items[left], silent[left]
    rows["disputed"] = False
    repeated = _repeated(rows, items, silent)
    if repeated.any():
        rows = _without_repeated(rows, items, repeated, silent, tally)
    answered = (rows["extraction"] != MISSING).to_numpy(dtype=bool)
    tally.joined_by_hash = int((answered & rows["by_hash"].to_numpy(dtype=bool)).sum())
    tally.joined_by_id = int(answered.sum()) - tally.joined_by_hash
    wrong = contradictions(rows, index)
    named = name_rows(index.ids.to_numpy()[rows["position"]], rows["model"], wrong)
    tally.add("contradicting", "inconsistent with the gold", wrong.sum(), named)
    return rows[ROWS]


def unanswered(rows: pd.DataFrame) -> Mask:
    """Return which rows state neither correctness nor an option nor log-likelihoods."""
    silent = rows["correct"].isna() & (rows["prediction"] < 0) & rows["logprobs"].isna()
    return silent.to_numpy(dtype=bool)


def _invalid_for_item(rows: pd.DataFrame, index: ResponseIndex) -> list[tuple[str, Mask]]:
    """Mark values that are invalid for their item, and options that it does not have as unread."""
    position = rows["position"].to_numpy()
    joined = position >= 0
    n_options = index.options[position]
    chosen = rows["prediction"].to_numpy(dtype=np.int64, copy=True)
    chosen[joined & (n_options == 0)] = -1
    beyond = joined & (chosen >= np.maximum(n_options, 1))
    bare = beyond & rows["correct"].isna().to_numpy() & rows["logprobs"].isna().to_numpy()
    rows["correct"] = rows["correct"].where(~bare, 0.0)
    rows["extraction"] = rows["extraction"].where(~bare, FAILED)
    rows["prediction"] = np.where(beyond, -1, chosen)
    reasons = []
    for name in LISTS:
        uneven = _where_stated(rows[name], lambda row, v: len(v) != n_options[row])
        reasons.append((f"{name} not one per option", joined & uneven))
    for name in LISTS[1:]:
        small = _where_stated(rows[name], lambda _, v: not all(1 <= n < np.inf for n in v))
        reasons.append((f"{name} below 1", small))
    endless = _where_stated(rows["logprobs"], lambda _, v: not np.isfinite(np.max(v)))
    reasons.append(("logprobs not finite", endless))
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    for style, needed in (("cloze_bytes", "option_bytes"), ("cloze_tokens", "option_tokens")):
        if scored.any():
            lacking = scored & (rows["style"] == style).to_numpy() & rows[needed].isna().to_numpy()
            reasons.append((f"style {style} without {needed}", lacking))
    return reasons


def _where_stated(lists: pd.Series, invalid: Callable[[int, list[float]], bool]) -> Mask:
    """Mark the rows that have a list which is invalid."""
    out = np.zeros(len(lists), dtype=bool)
    stated = np.flatnonzero(lists.notna())
    cells = lists.to_numpy()
    out[stated] = [invalid(row, cells[row]) for row in stated]
    return out


def _repeated(rows: pd.DataFrame, items: NDArray[np.object_], silent: Mask) -> Mask:
    """Return (n,) True for rows that repeat the key of another row.

    An answer has precedence over none, then a row that states the item's id over rows joined by
    text, which are ordered by id. Otherwise the first row in the file has precedence.
    """
    by_hash = rows["by_hash"].to_numpy(dtype=bool)
    if not by_hash.any() and not silent.any():
        return rows.duplicated(KEY, keep="first").to_numpy()
    twins = pd.factorize(np.where(by_hash, items, ""), sort=True)[0]
    order = np.lexsort((twins, by_hash, silent))
    repeated = np.empty(len(rows), dtype=bool)
    repeated[order] = rows.iloc[order].duplicated(KEY, keep="first").to_numpy()
    return repeated


def _without_repeated(
    rows: pd.DataFrame, items: NDArray[np.object_], repeated: Mask, silent: Mask, tally: Tally
) -> pd.DataFrame:
    later, kept = rows[repeated], rows[~repeated].reset_index(drop=True)
    answers = repeated & ~silent
    named = name_rows(items, rows["model"], answers)
    tally.add("doubled", "duplicates", answers.sum(), named)
    at = _same_key(kept, later)
    differ = _disagree(kept.iloc[at].reset_index(drop=True), later.reset_index(drop=True))
    named = name_rows(items[repeated], later["model"], differ)
    what = "duplicates with a different response (the first counts)"
    tally.add("contradicting", what, differ.sum(), named)
    kept.loc[at[differ], "disputed"] = True
    return kept


def _same_key(rows: pd.DataFrame, later: pd.DataFrame) -> NDArray[np.intp]:
    """Return the row with the key of each later row, −1 if there is none."""
    places = pd.Series(np.arange(len(rows)), index=pd.MultiIndex.from_frame(rows[KEY]))
    found = places.reindex(pd.MultiIndex.from_frame(later[KEY])).fillna(-1)
    return found.to_numpy(dtype=np.intp)


def _disagree(first: pd.DataFrame, later: pd.DataFrame) -> Mask:
    """Return (n,) True where two rows with the same key state different answers."""
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
    scored = rows["logprobs"].notna().to_numpy(dtype=bool) & checkable
    for style in sorted(rows.loc[scored, "style"].unique()):
        at = np.flatnonzero(scored & (rows["style"] == style).to_numpy())
        best, tied = best_options(scores_of(rows.iloc[at]))
        wrong = decided[at] & ((correct[at] == 1) != (best == answer[at]))
        wrong |= (prediction[at] >= 0) & (prediction[at] != best)
        out[at] |= wrong & ~tied
    return np.asarray(out)


def merge_rows(
    files: Sequence[pd.DataFrame], index: ResponseIndex, tallies: dict[str, Tally]
) -> pd.DataFrame:
    """Merge the rows of all files by key; later files only fill in missing values."""
    files = [file for file in files if len(file)]
    if len(files) < 2:
        return files[0] if files else no_rows(ROWS)
    rows = pd.concat(files, ignore_index=True)
    # Keys are unique in a file; comparing only shared keys is fast for thousands of logs.
    shared = rows.duplicated(KEY, keep=False).to_numpy(dtype=bool)
    if not shared.any():
        return rows
    ends = np.cumsum([len(file) for file in files])[:-1]
    parts = zip(files, np.split(shared, ends), strict=True)
    first, *others = [file[mask] for file, mask in parts if mask.any()]
    merged = first.reset_index(drop=True)
    for later in others:
        at = _same_key(merged, later)
        both = later[at >= 0].reset_index(drop=True)
        if len(both):
            tally = tallies[str(both["source"].iloc[0])]
            merged = _fill(merged, at[at >= 0], both, index, tally)
        merged = pd.concat([merged, later[at < 0]], ignore_index=True)
    return pd.concat([rows[~shared], merged], ignore_index=True)


def _fill(
    merged: pd.DataFrame,
    at: NDArray[np.intp],
    later: pd.DataFrame,
    index: ResponseIndex,
    tally: Tally,
) -> pd.DataFrame:
    """Fill the rows `at` of `merged` from `later` where they do not contradict each other."""
    first = merged.iloc[at].reset_index(drop=True)
    filled = first.copy()
    doubled = np.zeros(len(later), dtype=bool)
    for name in _VALUES:
        lacking = _lacks(first[name])
        doubled |= ~lacking & ~_lacks(later[name])
        filled[name] = first[name].where(~lacking, later[name])
    answered = (later["extraction"] != MISSING).to_numpy(dtype=bool)
    retried = (first["extraction"] == MISSING).to_numpy(dtype=bool) & answered
    for name in ("extraction", "source"):
        filled[name] = first[name].astype(object).where(~retried, later[name].astype(object))
    clash = _disagree(first, later) | (
        contradictions(filled, index)
        & ~contradictions(first, index)
        & ~contradictions(later, index)
    )
    by_hash = later["by_hash"].to_numpy(dtype=bool)
    tally.joined_by_hash -= int((doubled & by_hash).sum())
    tally.joined_by_id -= int((doubled & ~by_hash).sum())
    items = index.ids.to_numpy()[later["position"].to_numpy()]
    for counter, what, mask in (
        ("doubled", "duplicates of an earlier file", doubled),
        ("contradicting", "different in an earlier file", clash),
    ):
        tally.add(counter, what, mask.sum(), name_rows(items, later["model"], mask))
    tally.note_disagreement(int(clash.sum()), len(later))
    out = merged.copy()
    good = np.flatnonzero(~clash)
    for name in [*_VALUES, "extraction", "source"]:
        values = out[name].to_numpy(dtype=filled[name].to_numpy().dtype, copy=True)
        values[at[good]] = filled[name].to_numpy()[good]
        out[name] = values
    disputed = out["disputed"].to_numpy(dtype=bool, copy=True)
    disputed[at] |= clash | later["disputed"].to_numpy(dtype=bool)
    return out.assign(disputed=disputed)


def _lacks(values: pd.Series) -> Mask:
    missing = values < 0 if values.name == "prediction" else values.isna()
    return np.asarray(missing, dtype=bool)
