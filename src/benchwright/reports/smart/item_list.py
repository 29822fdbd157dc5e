"""The compact list of all items, and the items shown in full."""

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import parse_configuration
from benchwright.core.natural_order import natural_order
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.evidence.panel import Panel
from benchwright.evidence.scores import spread
from benchwright.methods.smart.finding import in_rule_order
from benchwright.methods.smart.label_errors import SUSPECT
from benchwright.methods.smart.review import describe_suspect, letter
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.sections import Section, make_section

LONG_QUESTION = 2_000
LONG_CHOICE = 400
MOST_LISTED = 50_000
"""A page with more items opens slowly or not at all."""
_STATES = {"flagged": "f", "clear": "c", "not_judged": "n"}
_REMOVED, _SILENT = "r", "-"
_DIGITS = digits + ascii_lowercase
_UNKNOWN = ".."


def list_items(
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    response_matrix: ResponseMatrix,
    scores: pd.DataFrame,
    panel: Panel,
    filter_models: Sequence[str],
    evaluation: EvaluationParams,
) -> Section:
    """List all items with the verdict of every rule and the answers of some models.

    Removed items come first, each part in natural order of id, 50,000 at most. The models are
    filter models first, then others along the ranking.

    The list has columns instead of rows, so that names are not repeated. `states` has a letter per
    rule and item (r removed, f flagged, c clear, n not judged, - no verdict), `notes` pairs of the
    indices of a rule and a text. Per model and item: `right` is + or -, ~ in part, . no answer;
    `chosen` the letter of the option or .; `p` the probability of the answer in thousandths, two
    digits of base 36 or "..". Both strings are empty where nothing is known.
    """
    listed = item_audit.iloc[_removed_first(item_audit)[:MOST_LISTED]]
    ids = [str(item) for item in listed["item_id"]]
    rules, states, details, notes = _verdicts(ids, verdicts)
    matrix, n_filters, metrics = _responses(
        ids, response_matrix, scores, panel, filter_models, evaluation.report_models
    )
    records = listed.to_dict("records")
    contents = {
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
            **_encoded(matrix),
        },
    }
    return make_section(list=contents, list_names=_names(records), list_of=len(item_audit))


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


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 3) for value in values]


def _joined(value: Any) -> str:
    return "" if pd.isna(value) else ",".join(part.strip() for part in str(value).split(","))


_SHOWN_LABELS = 50
_SHOWN_MEMBERS = 12
_STRONGEST = 7


def choose_report_examples(
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    rejected_items: pd.DataFrame,
    suspect_items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    evaluation: EvaluationParams,
    seed: int,
) -> Section:
    """Choose the items that the report shows in full.

    Examples of removed items are drawn by the seed and the item id, so that every run draws the
    same. The largest groups are shown.
    """
    texts = items.set_index(items["item_id"].astype(str))
    similar, duplicates, supersets, conflicts = (
        groups[groups["kind"] == kind]
        for kind in ("similar", "duplicate", "option_superset", "conflicting_gold")
    )
    shown = {
        "examples": _examples(verdicts, texts, evaluation.examples_per_rule, seed),
        "similar": _groups(similar, texts, evaluation.largest_groups),
        "duplicates": _groups(duplicates, texts, evaluation.largest_groups),
        "supersets": _groups(supersets, texts, evaluation.largest_groups),
        "suspects": _suspects(suspect_items, verdicts, response_matrix, texts),
        "conflicts": _groups(conflicts, texts, _SHOWN_LABELS),
        "rejected": _rejected(rejected_items),
    }
    return make_section(shown=shown)


def _suspects(
    suspect_items: pd.DataFrame,
    verdicts: pd.DataFrame,
    matrix: ResponseMatrix,
    texts: pd.DataFrame,
) -> dict[str, Any]:
    """Return the top of the ranking, and what the strongest models chose."""
    flagged = verdicts[(verdicts["rule"] == SUSPECT) & (verdicts["state"] == "flagged")]
    detail = dict(zip(flagged["item_id"], flagged["detail"], strict=True))
    top = suspect_items.head(_SHOWN_LABELS)
    known = ~np.isnan(matrix.correct)
    accuracy = np.where(known, matrix.correct, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    order = np.lexsort((np.array(matrix.models), -accuracy.round(12))).tolist()
    best = {parse_configuration(matrix.models[row]).model: row for row in reversed(order)}
    strongest = [row for row in order if row in best.values()][:_STRONGEST]
    chosen = matrix.select_items(top["item_id"].tolist()).prediction[strongest]
    return {
        "n": len(suspect_items),
        "flagged": len(flagged),
        "models": [matrix.models[row] for row in strongest],
        "shown": [
            {
                **_text(texts, row.item_id),
                "detail": describe_suspect(row),
                "flagged": detail.get(row.item_id, ""),
                "chosen": [letter(option) if option >= 0 else "–" for option in chosen[:, place]],
            }
            for place, row in enumerate(top.itertuples())
        ],
    }


def _text(by_id: pd.DataFrame, item_id: object) -> dict[str, Any]:
    """Return the contents of an item that the page shows."""
    row = by_id.loc[str(item_id)].to_dict()
    return {
        "item_id": str(item_id),
        "subject": str(row["subject"]),
        "question": clip_text(str(row["question"]), LONG_QUESTION),
        "choices": [clip_text(str(choice), LONG_CHOICE) for choice in row["choices"]],
        "answer": int(row["answer"]),
    }


def _examples(
    verdicts: pd.DataFrame, texts: pd.DataFrame, most: int, seed: int
) -> list[dict[str, Any]]:
    examples = []
    for rule, part in verdicts[verdicts["removed"]].groupby("rule", sort=False):
        draws = item_uniforms(seed, f"report/{rule}", part["item_id"].tolist())
        chosen = part.iloc[np.argsort(draws)[:most]].sort_values("item_id")
        shown = [
            {**_text(texts, row["item_id"]), "detail": str(row["detail"])}
            for row in chosen.to_dict("records")
        ]
        examples.append({"rule": str(rule), "n": len(part), "shown": shown})
    return sorted(examples, key=lambda entry: entry["rule"])


def _groups(part: pd.DataFrame, texts: pd.DataFrame, most: int) -> dict[str, Any]:
    """Return the number of groups by size, and the largest of them with their texts."""
    sizes = part.groupby("group_id")["item_id"].size()
    ranked = sorted(sizes.items(), key=lambda entry: (-entry[1], str(entry[0])))[:most]
    shown = []
    for group, size in ranked:
        members = part[part["group_id"] == group].sort_values(
            ["kept", "item_id"], ascending=[False, True]
        )
        shown.append(
            {
                "group_id": str(group),
                "size": int(size),
                "kept": int(members["kept"].sum()),
                "members": [
                    {**_text(texts, row["item_id"]), "kept": bool(row["kept"])}
                    for row in members.head(_SHOWN_MEMBERS).to_dict("records")
                ],
            }
        )
    counts = sizes.value_counts().sort_index()
    return {
        "n": len(sizes),
        "items": int(sizes.sum()),
        "sizes": [(int(str(size)), int(count)) for size, count in counts.items()],
        "shown": shown,
    }


def _rejected(rejected_items: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rejected source rows by rule, with the first of each as an example."""
    return [
        {
            "rule": str(rule),
            "n": len(part),
            "row": int(part["row"].iloc[0]),
            "detail": str(part["detail"].iloc[0]),
            "raw": clip_text(str(part["raw"].iloc[0]), 300),
        }
        for rule, part in rejected_items.sort_values("row").groupby("rule")
    ]
