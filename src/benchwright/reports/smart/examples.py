"""The items a reader wants to see in full: examples, groups and doubtful labels."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.sections import Section, make_section
from benchwright.reports.smart.item_list import (
    LONG_CHOICE,
    LONG_QUESTION,
    clip_text,
)

_SHOWN_LABELS = 50
_SHOWN_MEMBERS = 12


def choose_report_examples(
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    rejected_items: pd.DataFrame,
    evaluation: EvaluationParams,
    seed: int,
) -> Section:
    """Choose the items that the report shows in full.

    Examples of removed items are drawn by the seed and the item id, so they are the same in each
    run; groups are the largest ones.
    """
    texts = _Texts(items)
    suspects = verdicts[(verdicts["rule"] == "suspect_label") & (verdicts["state"] == "flagged")]
    conflicts = groups[groups["kind"] == "conflicting_gold"]
    shown = {
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
    }
    return make_section(shown=shown)


class _Texts:
    """What a page shows of an item, by its id; made when asked for, since few are shown."""

    def __init__(self, items: pd.DataFrame) -> None:
        self._items = items
        self._ids = pd.Index(items["item_id"].astype(str))

    def __getitem__(self, item_id: str) -> dict[str, Any]:
        place = int(self._ids.get_indexer(pd.Index([item_id]))[0])
        return _text(self._items.iloc[place].to_dict())


def _text(row: dict[Any, Any]) -> dict[str, Any]:
    """What a page shows of one item."""
    return {
        "item_id": str(row["item_id"]),
        "subject": str(row["subject"]),
        "question": clip_text(str(row["question"]), LONG_QUESTION),
        "choices": [clip_text(str(choice), LONG_CHOICE) for choice in row["choices"]],
        "answer": int(row["answer"]),
    }


def _examples(
    verdicts: pd.DataFrame, texts: "_Texts", most: int, seed: int
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


def _groups(part: pd.DataFrame, texts: "_Texts", most: int) -> dict[str, Any]:
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
                "raw": clip_text(str(first["raw"]), 300),
            }
        )
    return out
