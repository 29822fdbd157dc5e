"""Rows of answers, from whatever files: checked against their items, and merged."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.calibration import best_of_rows
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.tally import EXAMPLES, Tally
from benchwright.core.errors import InputError
from benchwright.core.verbatim import no_rows

KEY = ["position", "condition", "style", "shots", "model", "repeat"]
LISTS = ("logprobs", "option_bytes", "option_tokens")
ROWS = [
    *KEY, "correct", "prediction", "several", "p_answer", "p_prediction", *LISTS, "extraction",
    "source", "by_hash", "disputed",
]  # fmt: skip
"""Columns of the rows: `position` is the item's position in the index; missing values are −1 in
`prediction`, else NaN or None. `several` has the options of an answer that names more than one, as
a sorted tuple. `extraction` is `missing` where the model was asked and has no answer, and `failed`
where it has one that names no option, which counts as wrong. `disputed` marks rows of which another
row with the same key states another answer."""
MISSING, FAILED = "missing", "failed"
_ROUNDING = 1e-6
_USUAL = (5, 10, 100, 1000)  # highest scores of scales from 0
_NAMES = ("model", "condition", "style", "source", "extraction")
_VALUES = [
    "correct",
    "prediction",
    "several",
    "p_answer",
    "p_prediction",
    "logprobs",
    "option_bytes",
]

Mask = NDArray[np.bool_]
Reasons = Iterable[tuple[str, str, Mask]]
"""A counter of a tally, what it counts, and the rows."""
Tallies = Mapping[str, Tally]


def constant(value: str, count: int) -> "pd.Categorical[Any]":
    """Return a column of one text."""
    return pd.Categorical([value]).repeat(count)


def name_rows(items: NDArray[np.object_], models: pd.Series, rows: Mask) -> list[str]:
    """Return the first three marked rows as `item × model`, sorted."""
    at = np.flatnonzero(rows)
    names = {(str(i), str(m)) for i, m in zip(items[at], models.iloc[at], strict=True)}
    return [f"{item} × {model}" for item, model in heapq.nsmallest(EXAMPLES, names)]


def to_share(
    file: LoadedFile, scores: NDArray[np.floating], items: NDArray[np.object_], models: Any
) -> NDArray[np.float64]:
    """Return the scores (n,) of a file as shares in [0, 1] of its scale, NaN where missing.

    A file has one scale, `spec.scale`, which is never judged value by value. Scores that are lower
    for better answers are turned round.

    Raises:
        InputError: a score is infinite or outside the scale; `items` and `models` name it.
    """
    low, high = file.spec.scale
    shares = (np.asarray(scores, dtype=np.float64) - low) / (high - low)
    if file.lower_is_better:
        shares = 1 - shares
    outside = (shares < -_ROUNDING) | (shares > 1 + _ROUNDING)
    if outside.any():
        worst = scores[outside]
        finite = worst[np.isfinite(worst)]
        usual = (
            most for most in _USUAL if len(finite) and 0 <= finite.min() <= finite.max() <= most
        )
        hints = (f"; if they are from another scale, say so, e.g. --scale 0:{n}" for n in usual)
        named = name_rows(items, pd.Series(models), outside)[0]
        raise InputError(
            f"{file.name}: {int(outside.sum()):,} of {int((~np.isnan(scores)).sum()):,} scores are "
            f"outside {low:g}–{high:g}, e.g. {worst[0]:g} ({named}){next(hints, '')}"
        )
    return np.clip(shares, 0, 1)


def count_rows(rows: pd.DataFrame, mask: Mask, counter: str, what: str, tallies: Tallies) -> None:
    """Count the marked rows in the tallies of their files."""
    if not mask.any():
        return
    marked = rows.loc[mask, ["source", "item", "model"]]
    for file, part in marked.groupby("source", sort=False, observed=True):
        everywhere = np.ones(len(part), dtype=bool)
        named = name_rows(part["item"].to_numpy(), part["model"], everywhere)
        tallies[str(file)].add(counter, what, len(part), named)


def drop_rows(rows: pd.DataFrame, reasons: Reasons, tallies: Tallies) -> pd.DataFrame:
    """Return the rows that no reason marks; the others are counted under their first."""
    left = np.ones(len(rows), dtype=bool)
    for counter, what, mask in reasons:
        count_rows(rows, mask & left, counter, what, tallies)
        left &= ~mask
    return rows if left.all() else rows[left].reset_index(drop=True)


def merge_files(
    files: Sequence[Mapping[str, Any]], index: ResponseIndex, tallies: Tallies
) -> pd.DataFrame:
    """Return the rows of all files that count, one per key, and count the others.

    Of rows with one key the first counts: an answer before none, in the order of the files, and in
    a file a row that states the item's id before those joined by text. What it lacks is filled in
    from later rows that do not disagree. `files` have the columns `ROWS` but `disputed`, and
    `item`, their name of the item; `position` is −1 where no item was found.
    """
    files = [file for file in files if len(file["position"])]
    if not files:
        return no_rows(ROWS)
    rows = _concatenated(files)
    reasons = _invalid_for_item(rows, index, tallies)
    apart = rows["position"].to_numpy() < 0
    rows = drop_rows(rows, [*reasons, ("not_joined", "not joined", apart)], tallies)
    _judge_several(rows, index, tallies)
    _mark_missing(rows, tallies)
    rows = _merged(rows, index, tallies)
    wrong = contradictions(rows, index)
    count_rows(rows, wrong, "contradicting", "inconsistent with the gold", tallies)
    unscored = rows["correct"].isna() & rows["logprobs"].isna()
    if unscored.any():
        rows["correct"] = rows["correct"].mask(unscored, answers(rows, index)[0])
    return rows[ROWS]


def _concatenated(files: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows of all files, names as categories."""
    columns = dict(files[0])
    if len(files) > 1:
        columns = {n: np.concatenate([np.asarray(file[n]) for file in files]) for n in columns}
        columns |= {name: pd.Categorical(columns[name]) for name in _NAMES}
    texts = {name: pd.Series(columns[name], dtype=object) for name in ("item", "several", *LISTS)}
    return pd.DataFrame({**columns, **texts}, copy=False)


def unanswered(rows: pd.DataFrame) -> Mask:
    """Return which rows state neither correctness nor an option nor log-likelihoods."""
    unnamed = (rows["prediction"] == -1) & rows["several"].isna()
    silent = rows["correct"].isna() & unnamed & rows["logprobs"].isna()
    return silent.to_numpy(dtype=bool)


def _mark_missing(rows: pd.DataFrame, tallies: Tallies) -> None:
    """Set the state of rows without an answer to missing, and count those that did not say so."""
    state = rows["extraction"]
    silent = unanswered(rows) & (state != FAILED).to_numpy(dtype=bool)
    fresh = silent & (state != MISSING).to_numpy(dtype=bool)
    count_rows(rows, fresh, "dropped", "dropped (no response)", tallies)
    if fresh.any():
        rows["extraction"] = pd.Categorical(np.where(silent, MISSING, state.astype(object)))


def _judge_several(rows: pd.DataFrame, index: ResponseIndex, tallies: Tallies) -> None:
    """Score answers that name several options: right if these are exactly the right ones.

    Where a file names several for an item with several right options, its models were asked for
    all of them, so that one alone is wrong there.
    """
    several = rows["several"].notna().to_numpy(dtype=bool)
    if not several.any():
        return
    count_rows(rows, several, "several", "answers with several options", tallies)
    position = rows["position"].to_numpy()
    prediction = rows["prediction"].to_numpy()
    multiple = ~index.single[position]
    asks_for_all = rows["source"].isin(rows["source"][several & multiple]).to_numpy(dtype=bool)
    unscored = (rows["correct"].isna() & rows["logprobs"].isna()).to_numpy(dtype=bool)
    judged = unscored & (several | (asks_for_all & multiple & (prediction >= 0)))
    correct = rows["correct"].to_numpy(dtype=np.float64, copy=True)
    for row in np.flatnonzero(judged):
        named = rows["several"].iloc[row] or (int(prediction[row]),)
        correct[row] = float(named == index.right[position[row]])
    rows["correct"] = correct


def _invalid_for_item(rows: pd.DataFrame, index: ResponseIndex, tallies: Tallies) -> Reasons:
    """Mark values that are invalid for their item, and options that it does not have as unread."""
    position = rows["position"].to_numpy()
    joined = position >= 0
    n_options = index.options[position]
    open_ended = joined & (n_options == 0)
    chosen = rows["prediction"].to_numpy(dtype=np.int64, copy=True)
    several = rows["several"].to_numpy(dtype=object, copy=True)
    chosen[open_ended] = -1
    several[open_ended] = None
    beyond = joined & (chosen >= np.maximum(n_options, 1))
    for row in np.flatnonzero(joined & pd.notna(several)):
        beyond[row] = several[row][-1] >= n_options[row]
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    bare = beyond & rows["correct"].isna().to_numpy() & ~scored
    if bare.any():
        count_rows(rows, bare, "", "wrong (an option that the item does not have)", tallies)
        states = rows["extraction"].to_numpy(dtype=object)
        rows["extraction"] = pd.Categorical(np.where(bare, FAILED, states))
        rows["correct"] = rows["correct"].where(~bare, 0.0)
    rows["prediction"] = np.where(beyond, -1, chosen)
    several[beyond] = None
    rows["several"] = pd.Series(several, dtype=object)
    reasons = []
    for name in LISTS:
        uneven = _where_stated(rows[name], lambda row, v: len(v) != n_options[row])
        reasons.append((f"{name} not one per option", joined & uneven))
    for name in LISTS[1:]:
        small = _where_stated(rows[name], lambda _, v: not all(1 <= n < np.inf for n in v))
        reasons.append((f"{name} below 1", small))
    endless = _where_stated(rows["logprobs"], lambda _, v: not np.isfinite(np.max(v)))
    reasons.append(("logprobs not finite", endless))
    for style, needed in (("cloze_bytes", "option_bytes"), ("cloze_tokens", "option_tokens")):
        lacking = scored & (rows["style"] == style).to_numpy() & rows[needed].isna().to_numpy()
        reasons.append((f"style {style} without {needed}", lacking))
    return [("dropped", f"dropped ({why})", mask) for why, mask in reasons]


def _where_stated(lists: pd.Series, invalid: Callable[[int, list[float]], bool]) -> Mask:
    """Mark the rows that have a list which is invalid."""
    out = np.zeros(len(lists), dtype=bool)
    stated = np.flatnonzero(lists.notna())
    cells = lists.to_numpy()
    out[stated] = [invalid(row, cells[row]) for row in stated]
    return out


def _merged(rows: pd.DataFrame, index: ResponseIndex, tallies: Tallies) -> pd.DataFrame:
    """Return one row per key, and count those of each file."""
    # Each column takes eight bytes a row.
    key = [name for name in KEY if len(rows[name].unique()) > 1] or ["position"]
    has_repeated = rows.duplicated(key).any()
    if has_repeated:
        rows = _in_precedence(rows)
    rows["item"] = pd.Series(index.ids.to_numpy(dtype=object)[rows["position"]], dtype=object)
    rows["disputed"] = False
    if not has_repeated:
        none = np.zeros(len(rows), dtype=bool)
        _count_joined(rows, ~none, none, index, tallies)
        return rows
    repeated = rows.duplicated(key).to_numpy()
    first_of_file = ~rows.duplicated([*key, "source"]).to_numpy()
    # The kept row of each later one: groups are numbered in the order of their first rows.
    kept_row = rows.groupby(key, sort=False, observed=True).ngroup().to_numpy()[repeated]
    kept = rows[~repeated].reset_index(drop=True)
    later = rows[repeated].reset_index(drop=True)
    first = kept.iloc[kept_row].reset_index(drop=True)
    said = _stated(first)
    stated = _stated(later)
    differ = _disagree(first, later, index)

    within = ~first_of_file[repeated]
    again = np.where(within[:, None], stated, stated & said).any(axis=1)
    again &= (later["extraction"] != MISSING).to_numpy(dtype=bool)  # counted as dropped
    what = "duplicates with a different response (the first counts)"
    count_rows(later, within & again, "doubled", "duplicates", tallies)
    count_rows(later, within & differ, "contradicting", what, tallies)
    count_rows(later, ~within & again, "doubled", "duplicates of an earlier file", tallies)
    count_rows(later, ~within & differ, "contradicting", "different in an earlier file", tallies)
    doubled = np.zeros(len(rows), dtype=bool)
    doubled[repeated] = again
    _count_joined(rows, first_of_file, doubled, index, tallies)

    kept.loc[kept_row[differ], "disputed"] = True
    for column, name in enumerate(_VALUES):
        adds = ~differ & stated[:, column] & ~said[:, column]
        places, fills = np.unique(kept_row[adds], return_index=True)
        kept.loc[places, name] = later[name].to_numpy()[adds][fills]
    return kept


def _in_precedence(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the order in which they count."""
    by_hash = rows["by_hash"].to_numpy(dtype=bool)
    twins = pd.factorize(np.where(by_hash, rows["item"], ""), sort=True)[0]
    silent = (rows["extraction"] == MISSING).to_numpy(dtype=bool)
    order = np.lexsort((twins, by_hash, pd.factorize(rows["source"])[0], silent))
    return rows.iloc[order].reset_index(drop=True)


def _stated(rows: pd.DataFrame) -> Mask:
    """Return which of the values (n, k) rows state."""
    known = rows[_VALUES].notna()
    return known.assign(prediction=rows["prediction"] != -1).to_numpy(dtype=bool)


def _disagree(first: pd.DataFrame, later: pd.DataFrame, index: ResponseIndex) -> Mask:
    """Return (n,) True where two rows with the same key state different answers."""
    scores = [rows["correct"].fillna(pd.Series(answers(rows, index)[0])) for rows in (first, later)]
    differ = scores[0].notna() & scores[1].notna() & (scores[0] != scores[1])
    several = zip(first["several"], later["several"], strict=True)
    other = np.array([one != another for one, another in several], dtype=bool)
    other |= (first["prediction"] != later["prediction"]).to_numpy(dtype=bool)
    both = _named(first) & _named(later)
    return np.asarray(differ.to_numpy(dtype=bool) | (both & other))


def _named(rows: pd.DataFrame) -> Mask:
    """Return which rows name one option or several."""
    return ((rows["prediction"] >= 0) | rows["several"].notna()).to_numpy(dtype=bool)


def contradictions(rows: pd.DataFrame, index: ResponseIndex) -> Mask:
    """Return (n,) True where a row contradicts itself, given the item's gold.

    The chosen option, the one with the highest log-likelihood, and `correct` must agree, where
    `correct` is entirely right or wrong; `p_answer` is at most 0.5 if wrong, at least 1/K if right.
    Items with several right options are only checked for answers that name several.
    """
    position = rows["position"].to_numpy()
    prediction = rows["prediction"].to_numpy()
    correct = rows["correct"].to_numpy()
    answer = index.answer[position]
    single = index.single[position]
    decided = (correct == 0) | (correct == 1)
    best, tied = best_of_rows(rows)
    wrong = decided & ((correct == 1) != (best == answer))
    wrong |= (prediction >= 0) & (prediction != best)
    wrong &= (best >= 0) & ~tied
    p_answer = rows["p_answer"].to_numpy()
    fair = 1 / np.maximum(index.options[position], 1)
    wrong |= (correct == 0) & (p_answer > 0.5 + _ROUNDING)
    wrong |= (correct == 1) & (p_answer < fair - _ROUNDING)
    wrong |= decided & (prediction >= 0) & ((correct == 1) != (prediction == answer))
    wrong &= single
    several = rows["several"].to_numpy(dtype=object)
    for row in np.flatnonzero(decided & pd.notna(several)):
        wrong[row] |= (correct[row] == 1) != (several[row] == index.right[position[row]])
    return np.asarray(wrong)


def _count_joined(
    rows: pd.DataFrame, own: Mask, doubled: Mask, index: ResponseIndex, tallies: Tallies
) -> None:
    """Count the joined rows of each file, and set the accuracies of logs.

    `own` marks the first row of a key in its file, `doubled` rows that repeat an earlier one.
    """
    state, by_hash = rows["extraction"], rows["by_hash"].to_numpy(dtype=bool)
    answered = own & (state != MISSING).to_numpy(dtype=bool)
    columns = {
        "joined_by_hash": answered & ~doubled & by_hash,
        "joined_by_id": answered & ~doubled & ~by_hash,
        "unreadable": own & (state == FAILED).to_numpy(dtype=bool),
    }
    is_log = any(tallies[str(file)].model for file in rows["source"].unique())
    scores = answers(rows, index)[0] if is_log else np.nan
    counted = pd.DataFrame({**columns, "accuracy": np.where(own, scores, np.nan)})
    ways = dict.fromkeys(columns, "sum") | {"accuracy": "mean"}
    of_files = counted.groupby(np.asarray(rows["source"]), sort=False).agg(ways)
    for file, counts in of_files.to_dict("index").items():
        tally, mean = tallies[str(file)], counts.pop("accuracy")
        for name, count in counts.items():
            setattr(tally, str(name), int(count))
        tally.accuracy = mean if tally.model and not np.isnan(mean) else None


def answers(
    rows: pd.DataFrame, index: ResponseIndex
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return scores and options (n,) as in a response matrix.

    They are those of the option with the highest log-likelihood, else the mark, else the score of
    the chosen option.
    """
    best, _ = best_of_rows(rows)
    chosen = np.where(best >= 0, best, rows["prediction"].to_numpy())
    judged = index.is_right(rows["position"].to_numpy(dtype=np.intp), chosen)
    marks = rows["correct"].to_numpy(dtype=np.float64)
    return np.where((best >= 0) | np.isnan(marks), judged, marks), chosen
