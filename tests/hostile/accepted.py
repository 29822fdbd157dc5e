"""Rows and documents that the readers accept."""

from typing import Any

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.exports.subset_manifest import ids_hash
from benchwright.tables.items import Items

PARTS = ["joined_by_id", "joined_by_hash", "not_joined", "doubled", "dropped", "failed"]


def benchmark_params(sources: Any) -> dict[str, Any]:
    """A benchmark's file."""
    texts = dict.fromkeys(("title", "licence", "citation", "url"), "x")
    return {"name": "toy", **texts, "splits": {"evaluation": ["test"]}, "sources": sources}


def items() -> pd.DataFrame:
    """Three evaluation items."""
    rows = []
    for name in ("q1", "q2", "01"):
        choices = [f"{name} {letter}" for letter in "abcd"]
        row: dict[str, Any] = dict.fromkeys(Items.empty().columns)
        row |= {"item_id": name, "split": "test", "subject": "s", "question": f"What of {name}?"}
        row |= {"choices": choices, "answer": 1, "answer_text": choices[1], "correct_set": [1]}
        rows.append(row | {"content_hash": content_hash(f"What of {name}?", choices)})
    return Items.from_rows(rows)


SUBSET = {
    "subset": {
        "benchmark": "x",
        "sampler": "random",
        "seed": 0,
        "rate": 10,
        "of_items": 20,
        "of_items_hash": "0",
        "items_hash": ids_hash(["a 0"]),
        "equal_weights": True,
        "scoring": "x",
        "items": [{"item_id": "a", "weight": 1, "content_hash": "0", "stock": ["t", 1]}],
    }
}
HALF = {
    "format": "benchwright-half-score-1",
    "version": "1",
    "half": "test",
    "model": "m",
    "benchmark": {"name": "x", "canary": "x", "validation": "0" * 64, "test": "1" * 64},
    "style": "letters",
    "shots": 0,
    "all": {"n": 5, "accuracy": 0.5, "se": 0.1},
    "fields": {},
    "unanswered": 0,
    "reason": "",
}
