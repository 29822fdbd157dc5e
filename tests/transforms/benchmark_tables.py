"""Small tables of items, and checks of their perturbed copies."""

import string
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.tables.items import Items
from benchwright.tables.wicked import PerturbedItems

Row = tuple[str, Sequence[str], int]


def items_table(
    rows: Sequence[Row], prefix: str = "b/s", **columns: Sequence[object]
) -> pd.DataFrame:
    """Items `<prefix>/0`, `<prefix>/1` … from (question, choices, answer)."""
    table = pd.DataFrame(
        {
            "item_id": [f"{prefix}/{number}" for number in range(len(rows))],
            "split": "test",
            "subject": "s",
            "question": [question for question, _, _ in rows],
            "choices": [list(choices) for _, choices, _ in rows],
            "answer": [answer for _, _, answer in rows],
            "answer_text": [choices[answer] if choices else "" for _, choices, answer in rows],
            "correct_set": [[answer] if answer >= 0 else [] for _, _, answer in rows],
            "passage_id": None,
            "explanation": None,
            "domain": None,
            "url": None,
            "source_id": None,
            "content_hash": [content_hash(question, choices) for question, choices, _ in rows],
        },
        columns=Items.columns(),
    )
    return table.assign(**columns) if columns else table


def plain_items(count: int, sizes: Sequence[int] = (4,), prefix: str = "b/s") -> pd.DataFrame:
    """Items with unrelated options and a random answer."""
    random = np.random.default_rng(7)
    rows = []
    for number in range(count):
        size = sizes[number % len(sizes)]
        words = [f"word {number} {letter}" for letter in string.ascii_lowercase[:size]]
        rows.append((f"Question {number}?", words, int(random.integers(size))))
    return items_table(rows, prefix)


def assert_coherent(
    source: pd.DataFrame, perturbed_items: pd.DataFrame, none_texts: Sequence[str]
) -> None:
    """Every row of `perturbed_items` has one right option, which follows from its row of `source`.

    The right text is an option if and only if its index is the answer; else the answer is a
    none-of-the-above option that the copy put in. The number of options stays, none is doubled
    that was not, and hash and answer text are those of what is shown.
    """
    PerturbedItems.validate(perturbed_items)
    originals = {row.item_id: row for row in source.itertuples(index=False)}
    for row in perturbed_items.itertuples(index=False):
        original = originals[row.item_id]
        before, after = list(original.choices), list(row.choices)
        where = f"{row.condition} {row.item_id}: {before} → {after}, answer {row.answer}"
        assert len(after) == len(before), where
        assert row.content_hash == content_hash(row.question, after), where
        assert row.question == original.question, where
        if not before or original.answer < 0:
            assert sorted(after) == sorted(before), where  # nothing to remove, only to shuffle
            assert row.answer == original.answer, where
            continue
        gold = before[original.answer]
        right = after[row.answer]
        assert row.answer_text == right, where
        added = [text for text in none_texts if after.count(text) > before.count(text)]
        if gold in after:
            assert right == gold, where
        else:
            assert right in added, where
        assert len(added) <= 1, where
        for text in added:
            assert after.count(text) == 1, where
        kept = [text for text in after if text not in added]
        assert all(kept.count(text) <= before.count(text) for text in kept), where
