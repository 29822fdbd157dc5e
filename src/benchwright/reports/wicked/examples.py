"""Items before and after, some of each kind."""

from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.methods.wicked.comparison.compared_answers import perturbation_of
from benchwright.reports.page.wording import words_of
from benchwright.reports.wicked.wording import REASONS, TRANSFORMS

_LONGEST = 1_500  # characters of a question
_COPIED = "Left as it was"


def choose_examples(
    items: pd.DataFrame,
    draws: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    name: str,
    most: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Some items of each kind, from the first draw of a perturbation, by seed and item id.

    Kinds are: the right option kept, the right option gone, only reordered or reworded, and copies
    by reason.

    Returns:
        By kind its title, how many items are of it, and the items with `before` and, where they
        were altered, `after`.
    """
    names = [str(one) for one in draws["condition"].unique() if perturbation_of(one) == name]
    condition = min(names, key=lambda one: (len(one), one), default="")
    own, rows = (
        table[(table["condition"] == condition) & (table["role"] == "item")]
        for table in (perturbation_changes, draws)
    )
    kinds: dict[str, list[str]] = {}
    for item, changes in own.groupby("item_id", sort=False):
        for kind in _kinds(changes):
            kinds.setdefault(kind, []).append(str(item))
    found = []
    for kind in sorted(kinds, key=lambda kind: (kind.startswith(_COPIED), kind)) if most else ():
        ids = kinds[kind]
        order = item_uniforms(seed, f"draw_report/{kind}", ids).tolist()
        some = [item for _, item in sorted(zip(order, ids, strict=True))[:most]]
        before, after = _questions(items, some), _questions(rows, some)
        shown = [
            {
                "item_id": item,
                "before": before[item],
                "after": None if kind.startswith(_COPIED) else after[item],
            }
            for item in some
        ]
        found.append({"title": kind, "n": len(ids), "condition": condition, "items": shown})
    return found


def _kinds(changes: pd.DataFrame) -> list[str]:
    """The kind of an item that was altered, or each reason why it was not."""
    altered = changes[changes["altered"].astype(bool)]
    if (altered["removed_index"] >= 0).any():
        gone = bool(altered["gold_removed"].any())
        return ["An option replaced, the right one " + ("gone" if gone else "still there")]
    if len(altered):
        done = " and ".join(words_of(TRANSFORMS, one) for one in altered["transform"])
        return [f"Only {done}"]
    return [
        f"{_COPIED}: {words_of(REASONS, str(reason))}"
        for reason in dict.fromkeys(changes["reason"])
    ]


def _questions(table: pd.DataFrame, wanted: list[str]) -> dict[str, dict[str, Any]]:
    """The texts of the items wanted, by id."""
    return {
        row["item_id"]: {
            "question": row["question"][:_LONGEST] + "…" * (len(row["question"]) > _LONGEST),
            "choices": list(row["choices"]),
            "answer": row["answer"],
        }
        for row in table[table["item_id"].isin(wanted)].to_dict("records")
    }
