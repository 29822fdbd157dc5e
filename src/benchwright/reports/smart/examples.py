"""The items a reader wants to see in full: examples, groups and doubtful labels."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.sections import Section, make_section
from benchwright.reports.smart.item_list import LONG_CHOICE, LONG_QUESTION, clip_text

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
    texts = items.set_index(items["item_id"].astype(str))
    suspects = verdicts[(verdicts["rule"] == "suspect_label") & (verdicts["state"] == "flagged")]
    similar, duplicates, conflicts = (
        groups[groups["kind"] == kind] for kind in ("similar", "duplicate", "conflicting_gold")
    )
    shown = {
        "examples": _examples(verdicts, texts, evaluation.examples_per_rule, seed),
        "similar": _groups(similar, texts, evaluation.largest_groups),
        "duplicates": _groups(duplicates, texts, evaluation.largest_groups),
        "suspects": {
            "n": len(suspects),
            "shown": [
                {**_text(texts, row["item_id"]), "detail": row["detail"]}
                for row in suspects.sort_values("item_id").head(_SHOWN_LABELS).to_dict("records")
            ],
        },
        "conflicts": _groups(conflicts, texts, _SHOWN_LABELS),
        "rejected": _rejected(rejected_items),
    }
    return make_section(shown=shown)


def _text(by_id: pd.DataFrame, item_id: object) -> dict[str, Any]:
    """Return what a page shows of one item."""
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
    out = []
    for rule, part in verdicts[verdicts["removed"]].groupby("rule", sort=False):
        draws = item_uniforms(seed, f"report/{rule}", part["item_id"].tolist())
        chosen = part.iloc[np.argsort(draws)[:most]].sort_values("item_id")
        shown = [
            {**_text(texts, row["item_id"]), "detail": str(row["detail"])}
            for row in chosen.to_dict("records")
        ]
        out.append({"rule": str(rule), "n": len(part), "shown": shown})
    return sorted(out, key=lambda entry: entry["rule"])


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
