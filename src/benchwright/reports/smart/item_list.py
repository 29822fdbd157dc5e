"""The compact list of all items."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.natural_order import natural_order
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.evidence.scores import spread
from benchwright.methods.smart.finding import in_rule_order
from benchwright.reports.page.parts import ItemTable, Section, Text
from benchwright.reports.page.wording import count

LONG_QUESTION = 2_000
LONG_CHOICE = 400
MOST_LISTED = 50_000
"""A page with more items opens slowly or not at all."""
_MODELS = 30  # with their answers
_STATES = {"flagged": "f", "clear": "c", "not_judged": "n"}
_REMOVED, _SILENT = "r", "-"


def list_items(
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    response_matrix: ResponseMatrix,
    scores: pd.DataFrame,
    panel: Panel,
    filter_models: Sequence[str],
) -> Section:
    """List all items with the verdict of every rule and the answers of some models.

    Removed items come first, each part in natural order of id, 50,000 at most. The models are
    filter models first, then others along the ranking.

    The list has columns instead of rows, so that names are not repeated. `states` has a letter per
    rule and item (r removed, f flagged, c clear, n not judged, - no verdict), `notes` pairs of the
    indices of a rule and a text. Per model and item: `right` is + or -, ~ in part, . no answer;
    `chosen` the letter of the option or .; `p` the probability of the answer in thousandths. All
    three are empty where nothing is known.
    """
    listed = item_audit.iloc[_removed_first(item_audit)[:MOST_LISTED]]
    ids = [str(item) for item in listed["item_id"]]
    rules, states, details, notes = _verdicts(ids, verdicts)
    matrix, n_filters, metrics = _responses(
        ids, response_matrix, scores, panel, filter_models, _MODELS
    )
    records = listed.to_dict("records")
    contents: dict[str, Any] = {
        "models": list(matrix.models),
        "filters": n_filters,
        "rules": rules,
        "details": details,
        "items": {
            "id": ids,
            "subject": [str(row["subject"]) for row in records],
            "question": [clip_text(str(row["question"]), LONG_QUESTION) for row in records],
            "choices": [
                [clip_text(str(c), LONG_CHOICE) for c in row["choices"]] for row in records
            ],
            "answer": [int(row["answer"]) for row in records],
            "decision": [str(row["decision"]) for row in records],
            "tags": [_joined(row["tags"]) for row in records],
            "removed_by": [_joined(row["removed_by"]) for row in records],
            "neighbour": [_joined(row["neighbour"]) for row in records],
            "distance": _rounded(listed["neighbour_distance"].to_numpy(dtype=np.float64)),
            **metrics,
            "states": states,
            "notes": notes,
            **_answers(matrix),
        },
    }
    known = [
        (key, title)
        for key, title in _COLUMNS
        if key not in _NUMBERS or any(value is not None for value in contents["items"][key])
    ]
    n, n_models = len(item_audit), len(matrix.models)
    some = len(listed) < n
    text = (
        f"The first {len(listed):,} of {n:,} items, removed ones first,"
        if some
        else (f"All {n:,} items")
    )
    text += (
        f" with the reason for each decision; {'all are' if some else 'also'} in the dataset "
        "`item_audit`. Open an item for its options, every rule's verdict, its nearest item"
        f" and the answers of {count(n_models, 'model')}. Click a heading to sort. Nearest: cosine "
        "distance to the nearest item. Right: share of the panel's models that answer correctly. "
        "p: lowest and highest probability that a filter model gives to the gold answer. The "
        "address of this page holds the search and the filters, so you can share a view as a link."
    )
    table = ItemTable(contents, _names(records), known)
    return Section("All items", [Text(text, code=True), table], "items")


_NUMBERS = ("distance", "share", "lowest", "highest")
_COLUMNS = (
    *(("id", "Item"), ("subject", "Subject"), ("decision", "Decision"), ("", "Question")),
    *zip(_NUMBERS, ("Nearest", "Right", "p low", "p high"), strict=True),
)


def clip_text(text: str, most: int) -> str:
    """Return the text, cut to at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _names(records: list[dict[Any, Any]]) -> list[str]:
    joined = [_joined(row[column]) for row in records for column in ("removed_by", "tags")]
    return sorted({name for names in joined for name in names.split(",") if name})


def _removed_first(item_audit: pd.DataFrame) -> NDArray[np.intp]:
    """Return the rows of removed items first, each part in natural order of id."""
    order = natural_order(item_audit["item_id"].tolist())
    kept = (item_audit["decision"] != "removed").to_numpy()[order]
    return np.concatenate([order[~kept], order[kept]])


def _verdicts(
    ids: list[str], verdicts: pd.DataFrame
) -> tuple[list[str], list[str], list[str], list[list[int]]]:
    """Return rule names, states by item, distinct texts, and pairs (rule, text) by item."""
    rules = in_rule_order(verdicts["rule"].unique())
    place = {item: i for i, item in enumerate(ids)}
    states = [[_SILENT] * len(rules) for _ in ids]
    details: dict[str, int] = {}
    notes: list[list[int]] = [[] for _ in ids]
    number = {rule: i for i, rule in enumerate(rules)}
    shown = verdicts[verdicts["item_id"].isin(place)]
    shown = shown.assign(
        rule_number=shown["rule"].map(number), place=shown["item_id"].map(place)
    ).sort_values(["place", "rule_number"])
    columns = (shown[name] for name in ("place", "rule_number", "state", "removed", "detail"))
    for item, rule, state, removed, detail in zip(*columns, strict=True):
        states[item][rule] = _REMOVED if removed else _STATES[state]
        if detail:
            notes[item] += [int(rule), details.setdefault(str(detail), len(details))]
    return rules, ["".join(row) for row in states], list(details), notes


def _responses(
    ids: list[str],
    response_matrix: ResponseMatrix,
    scores: pd.DataFrame,
    panel: Panel,
    filter_models: Sequence[str],
    most: int,
) -> tuple[ResponseMatrix, int, dict[str, list[float | None]]]:
    """Return responses of up to `most` models, the number of filter models among them, and metrics.

    Filter models come first, then a spread of the others along the ranking. The metrics are the
    share of the panel's models that are right, and the lowest and highest probability of the
    answer among all filter models (among the models shown where there are no filter models).
    """
    known = set(response_matrix.models)
    chose = [model for model in filter_models if model in known]
    first = chose[:most]
    ranked = [str(model) for model in scores["model"] if model not in chose and model in known]
    room = most - len(first)
    others = spread(ranked, room) if room else []
    shown = response_matrix.select_models([*first, *others]).select_items(ids)
    everyone = response_matrix.select_models([m for m in panel.models if m in known])
    right = everyone.select_items(ids).correct
    p_answer = (response_matrix.select_models(chose).select_items(ids) if chose else shown).p_answer
    metrics = {
        "share": _over_models(right, "mean"),
        "lowest": _over_models(p_answer, "min"),
        "highest": _over_models(p_answer, "max"),
    }
    return shown, len(first), metrics


def _over_models(values: NDArray[np.float32], what: str) -> list[float | None]:
    """Return mean, min or max of each column over its known values; None where none is known."""
    some = ~np.isnan(values).all(axis=0)
    summary = np.full(values.shape[1], np.nan)
    if len(values) and some.any():
        known = values[:, some].astype(np.float64)
        summary[some] = getattr(np, f"nan{what}")(known, axis=0)
    return _rounded(summary)


def _answers(matrix: ResponseMatrix) -> dict[str, list[Any]]:
    """Return the answers to each item, with a character or a number per model."""
    letters = np.array([*ascii_uppercase, "."])
    right = np.select(
        [np.isnan(matrix.correct), matrix.correct >= 1, matrix.correct <= 0], [".", "+", "-"], "~"
    )
    prediction = matrix.prediction.astype(int)
    chosen = letters[np.where((prediction >= 0) & (prediction < 26), prediction, 26)]
    p = np.round(1000 * matrix.p_answer.astype(np.float64))
    columns = range(len(matrix.item_ids))
    return {
        "right": ["".join(right[:, i]) for i in columns],
        "chosen": ["".join(chosen[:, i]).rstrip(".") and "".join(chosen[:, i]) for i in columns],
        "p": [
            []
            if np.isnan(p[:, i]).all()
            else [None if np.isnan(value) else int(value) for value in p[:, i]]
            for i in columns
        ],
    }


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 3) for value in values]


def _joined(value: Any) -> str:
    return "" if pd.isna(value) else ",".join(part.strip() for part in str(value).split(","))
