"""The data behind the page's list of items: compact, because thousands of items travel with it."""

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.natural_order import natural_key
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.evidence.scores import spread
from benchwright.methods.smart.finding import in_rule_order
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.sections import Section, make_section

LONG_QUESTION = 2_000
LONG_CHOICE = 400
_LONG_NEIGHBOUR = 300
_STATES = {"flagged": "f", "clear": "c", "not_judged": "n"}
_REMOVED, _SILENT = "r", "-"
_DIGITS = digits + ascii_lowercase
_UNKNOWN = ".."
_ALIKE = ("similar", "duplicate", "conflicting_gold")


def list_items(
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    response_matrix: ResponseMatrix,
    scores: pd.DataFrame,
    panel: Panel,
    filter_models: Sequence[str],
    evaluation: EvaluationParams,
) -> Section:
    """List the items with every rule's verdict and the answers of some models.

    The rows of the searchable list, removed items first, each part in natural order of id. The
    models are filter models first, then others along the ranking.

    Columns instead of rows, so that names are not repeated. `states` has a letter per rule and
    item (r removed, f flagged, c clear, n not judged, - no word), `notes` pairs of a rule's and a
    text's index. Per model and item: `right` is + or -, ~ in part, . no answer; `chosen` the
    letter of the option or .; `p` the probability of the answer in thousandths, two digits of
    base 36 or "..". Both strings are empty where nothing is known.
    """
    listed = _first(item_audit, evaluation.report_items)
    ids = [str(item) for item in listed["item_id"]]
    rules, states, details, notes = _verdicts(ids, verdicts)
    matrix, n_filters, figures = _answers(
        ids, response_matrix, scores, panel, filter_models, evaluation.report_models
    )
    records = listed.to_dict("records")
    contents = {
        "models": list(matrix.models),
        "filters": n_filters,
        "rules": rules,
        "details": details,
        "others": _unlisted_neighbours(listed, item_audit),
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
            **figures,
            "states": states,
            "notes": notes,
            **_encoded(matrix),
        },
    }
    return make_section(
        list=contents, list_names=_names(records), n_listed=len(ids), listed_of=len(item_audit)
    )


def clip_text(text: str, most: int) -> str:
    """Return at most so many characters, the end cut off."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _names(records: list[dict[Any, Any]]) -> list[str]:
    joined = [_joined(row[column]) for row in records for column in ("removed_by", "tags")]
    return sorted({name for names in joined for name in names.split(",") if name})


def _first(item_audit: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return removed items first, each part in natural order of id."""
    keys = [
        (decision != "removed", natural_key(str(item)))
        for decision, item in zip(item_audit["decision"], item_audit["item_id"], strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return item_audit.iloc[order[:most]]


def _verdicts(
    ids: list[str], verdicts: pd.DataFrame
) -> tuple[list[str], list[str], list[str], list[list[int]]]:
    """Rule names, states by item, distinct texts, and pairs (rule, text) by item."""
    rules = in_rule_order(verdicts["rule"])
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


def _answers(
    ids: list[str],
    response_matrix: ResponseMatrix,
    scores: pd.DataFrame,
    panel: Panel,
    filter_models: Sequence[str],
    most: int,
) -> tuple[ResponseMatrix, int, dict[str, list[float | None]]]:
    """Return answers of up to `most` models, how many of these are filter models, and figures.

    Filter models come first, then a spread of the others along the ranking. The figures are the
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
    figures = {
        "share": _over_models(right, "mean"),
        "lowest": _over_models(p_answer, "min"),
        "highest": _over_models(p_answer, "max"),
    }
    return shown, len(first), figures


def _over_models(values: NDArray[np.float32], what: str) -> list[float | None]:
    """Return mean, min or max of each column over its known values; None where none is known."""
    some = ~np.isnan(values).all(axis=0)
    out = np.full(values.shape[1], np.nan)
    if len(values) and some.any():
        known = values[:, some].astype(np.float64)
        out[some] = getattr(np, f"nan{what}")(known, axis=0)
    return _rounded(out)


def _encoded(matrix: ResponseMatrix) -> dict[str, list[str]]:
    """Return the answers as strings of one or two characters per model."""
    letters = np.array(list(ascii_uppercase))
    pairs = np.array([_DIGITS[i // 36] + _DIGITS[i % 36] for i in range(1001)])
    columns = range(len(matrix.item_ids))
    right = np.select(
        [np.isnan(matrix.correct), matrix.correct >= 1, matrix.correct <= 0], [".", "+", "-"], "~"
    )
    prediction = matrix.prediction.astype(int)
    lettered = (prediction >= 0) & (prediction < 26)
    chosen = np.where(lettered, letters[np.clip(prediction, 0, 25)], ".")
    known = ~np.isnan(matrix.p_answer)
    thousandths = np.where(known, np.round(1000 * np.nan_to_num(matrix.p_answer)), 0).astype(int)
    p_answer = np.where(known, pairs[np.clip(thousandths, 0, 1000)], _UNKNOWN)
    return {
        "right": ["".join(right[:, i]) for i in columns],
        "chosen": ["".join(chosen[:, i]) if lettered[:, i].any() else "" for i in columns],
        "p": ["".join(p_answer[:, i]) if known[:, i].any() else "" for i in columns],
    }


def _unlisted_neighbours(listed: pd.DataFrame, item_audit: pd.DataFrame) -> dict[str, str]:
    """Questions of neighbours that are not in the list, where a rule about likeness spoke."""
    spoke = (listed[list(_ALIKE)] == "flagged").any(axis=1)
    wanted = set(listed.loc[spoke, "neighbour"].dropna()) - set(listed["item_id"])
    rows = item_audit[item_audit["item_id"].isin(wanted)].sort_values("item_id")
    return {
        str(item): clip_text(str(question), _LONG_NEIGHBOUR)
        for item, question in zip(rows["item_id"], rows["question"], strict=True)
    }


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 3) for value in values]


def _joined(value: Any) -> str:
    return "" if pd.isna(value) else ",".join(part.strip() for part in str(value).split(","))
