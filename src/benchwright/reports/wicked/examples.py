"""Items before and after, some of each kind."""

from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.reports.page.wording import words_of
from benchwright.reports.wicked.wording import REASONS, TRANSFORMS

_LONGEST = 1_500  # characters of a question


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
    condition = _first_draw(draws, name)
    own = perturbation_changes[
        (perturbation_changes["condition"] == condition) & (perturbation_changes["role"] == "item")
    ]
    kinds: dict[str, list[str]] = {}
    for item, changes in own.groupby("item_id", sort=False):
        for kind in _kinds(changes):
            kinds.setdefault(kind, []).append(str(item))
    rows = draws[(draws["condition"] == condition) & (draws["role"] == "item")]
    wanted = {item for ids in kinds.values() for item in ids}
    before, after = _questions(items, wanted), _questions(rows, wanted)
    return [
        {
            "title": kind,
            "n": len(ids),
            "condition": condition,
            "items": [
                {
                    "item_id": item,
                    "before": before[item],
                    "after": after[item] if not kind.startswith(_COPIED) else None,
                }
                for item in _some(ids, most, seed, kind)
            ],
        }
        for kind, ids in sorted(kinds.items(), key=lambda one: (one[0].startswith(_COPIED), one[0]))
        if most
    ]


_COPIED = "Left as it was"


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


def _first_draw(draws: pd.DataFrame, name: str) -> str:
    own = [c for c in draws["condition"].unique() if str(c).rpartition("-")[0] == name]
    return min((str(one) for one in own), key=lambda c: (len(c), c), default="")


def _some(ids: list[str], most: int, seed: int, kind: str) -> list[str]:
    order = item_uniforms(seed, f"draw_report/{kind}", ids)
    return [item for _, item in sorted(zip(order.tolist(), ids, strict=True))[:most]]


def _questions(table: pd.DataFrame, wanted: set[str]) -> dict[str, dict[str, Any]]:
    """The texts of the items wanted, by id."""
    found = {}
    for item, question, choices, answer in zip(
        table["item_id"], table["question"], table["choices"], table["answer"], strict=True
    ):
        if str(item) in wanted:
            text = str(question)
            found[str(item)] = {
                "question": text if len(text) <= _LONGEST else text[:_LONGEST] + "…",
                "choices": [str(choice) for choice in choices],
                "answer": int(answer),
            }
    return found
