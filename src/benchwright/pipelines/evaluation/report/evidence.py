"""The items a reader wants to see: examples, groups, doubtful labels, and the list of all items."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.seeding import item_uniforms

_SHOWN_LABELS = 50
_SHOWN_MEMBERS = 12
_LONG_QUESTION = 2_000
_LONG_CHOICE = 400


def select_items_to_show(
    items: pd.DataFrame,
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    rejected_items: pd.DataFrame,
    evaluation: EvaluationParams,
    seed: int,
) -> dict[str, Any]:
    """Choose the items that the report shows in full.

    Examples of removed items are drawn by the seed and the item id, so they are the same in each
    run; groups are the largest ones; the list of items has removed ones first.
    """
    texts = {str(row["item_id"]): _text(row) for row in items.to_dict("records")}
    suspects = verdicts[(verdicts["rule"] == "suspect_label") & (verdicts["state"] == "flagged")]
    conflicts = groups[groups["kind"] == "conflicting_gold"]
    return {
        "examples": _examples(verdicts, texts, evaluation.examples_per_rule, seed),
        "similar": _groups(groups[groups["kind"] == "similar"], texts, evaluation.largest_groups),
        "duplicates": _groups(
            groups[groups["kind"] == "duplicate"], texts, evaluation.largest_groups
        ),
        "suspects": {
            "n": len(suspects),
            "shown": [
                {**texts[str(row["item_id"])], "detail": row["detail"]}
                for row in suspects.sort_values("item_id").head(_SHOWN_LABELS).to_dict("records")
            ],
        },
        "conflicts": _groups(conflicts, texts, _SHOWN_LABELS),
        "rejected": _rejected(rejected_items),
        "list": _item_list(item_audit, evaluation.report_items),
        "listed_of": len(item_audit),
    }


def _text(row: dict[Any, Any]) -> dict[str, Any]:
    """What a page shows of one item."""
    return {
        "item_id": str(row["item_id"]),
        "subject": str(row["subject"]),
        "question": _clip(str(row["question"]), _LONG_QUESTION),
        "choices": [_clip(str(choice), _LONG_CHOICE) for choice in row["choices"]],
        "answer": int(row["answer"]),
    }


def _examples(
    verdicts: pd.DataFrame, texts: dict[str, dict[str, Any]], most: int, seed: int
) -> list[dict[str, Any]]:
    """A few removed items of each rule, in the order in which the rules appear."""
    out = []
    for rule, part in verdicts[verdicts["removed"]].groupby("rule", sort=False):
        draws = item_uniforms(seed, f"report/{rule}", part["item_id"].tolist())
        chosen = part.iloc[np.argsort(draws)[:most]].sort_values("item_id")
        shown = [
            {**texts[str(row["item_id"])], "detail": str(row["detail"])}
            for row in chosen.to_dict("records")
        ]
        out.append({"rule": str(rule), "n": len(part), "shown": shown})
    return sorted(out, key=lambda entry: entry["rule"])


def _groups(part: pd.DataFrame, texts: dict[str, dict[str, Any]], most: int) -> dict[str, Any]:
    """How many groups of which size, and the largest of them with their texts."""
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
                    {**texts[str(row["item_id"])], "kept": bool(row["kept"])}
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
    """Rejected source rows by rule, with the first of each as an example."""
    out = []
    for rule, part in rejected_items.sort_values("row").groupby("rule"):
        first = part.iloc[0]
        out.append(
            {
                "rule": str(rule),
                "n": len(part),
                "row": int(first["row"]),
                "detail": str(first["detail"]),
                "raw": _clip(str(first["raw"]), 300),
            }
        )
    return out


def _item_list(item_audit: pd.DataFrame, most: int) -> list[dict[str, Any]]:
    """The rows of the searchable list: removed items first, each part in order of id."""
    ordered = item_audit.sort_values(
        ["decision", "item_id"], ascending=[False, True], kind="stable"
    ).head(most)
    return [
        {
            **_text(row),
            "decision": str(row["decision"]),
            "tags": _names(row["tags"]),
            "removed_by": _names(row["removed_by"]),
            "reasons": _or_empty(row["reasons"]),
            "neighbour": _or_empty(row["neighbour"]),
            "distance": None
            if pd.isna(row["neighbour_distance"])
            else round(float(row["neighbour_distance"]), 3),
        }
        for row in ordered.to_dict("records")
    ]


def _names(joined: object) -> list[str]:
    return [name.strip() for name in _or_empty(joined).split(",") if name.strip()]


def _or_empty(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def rules_in(listed: Iterable[dict[str, Any]]) -> list[str]:
    """The rules and tags that occur in the list, for its menu."""
    return sorted({name for row in listed for name in (*row["removed_by"], *row["tags"])})
