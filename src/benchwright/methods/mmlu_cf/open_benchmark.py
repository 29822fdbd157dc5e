"""Clean questions as an open benchmark in JSON lines, ready for ingestion."""

import json
from collections import defaultdict
from itertools import chain
from string import ascii_uppercase
from typing import Any

import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.seeding import item_uniforms
from benchwright.core.wording import rows_of
from benchwright.params.mmlu_cf import OpenBenchmarkParams

_SHARE = 0.25  # of a field that becomes demonstrations, at most
_UNNAMED = "Other"  # one of the 14 fields; an item without a subject would be rejected


def choose_demonstrations(items: pd.DataFrame, params: OpenBenchmarkParams, seed: int) -> set[str]:
    """Choose the ids of the demonstrations, by field and a hash of seed and id.

    Questions with a passage, which others share, and those without an answer are not chosen. The
    order of rows does not matter, and more documents change few of the choices.
    """
    sizes = items.groupby(_subjects(items)).size()
    usable = items[items["passage"].isna() & items["answer"].ge(0)]
    ids = usable["item_id"].tolist()
    draws = item_uniforms(seed, "open_benchmark", ids)
    chosen: defaultdict[str, list[str]] = defaultdict(list)
    for _, item_id, subject in sorted(zip(draws, ids, _subjects(usable), strict=True)):
        most = min(params.demonstrations, int(_SHARE * int(sizes[subject])))
        if len(chosen[subject]) < most:
            chosen[subject].append(item_id)
    return set(chain.from_iterable(chosen.values()))


def _subjects(items: pd.DataFrame) -> pd.Series:
    return items["field"].fillna(_UNNAMED).astype(str)


def benchmark_lines(items: pd.DataFrame, demonstrations: set[str]) -> str:
    """Write the benchmark as JSON lines, in the natural order of ids.

    Each line has item_id, split (`dev` for demonstrations, else `test`), subject (the field, or
    "Other"), question, choices, answer (a letter or null), passage, explanation, field_confidence,
    doc_id, url and domain. Missing values are null.
    """
    rows = rows_of(sort_items(items.assign(field=_subjects(items))))
    return "".join(_line(row, str(row["item_id"]) in demonstrations) for row in rows)


def _line(row: dict[str, Any], demonstration: bool) -> str:
    answer = int(row["answer"])
    confidence = row["field_confidence"]
    cells = {
        "item_id": row["item_id"],
        "split": "dev" if demonstration else "test",
        "subject": row["field"],
        "question": row["question"],
        "choices": [str(choice) for choice in row["choices"]],
        "answer": ascii_uppercase[answer] if answer >= 0 else None,
        "passage": row["passage"],
        "explanation": row["explanation"],
        "field_confidence": None if confidence is None else round(float(confidence), 4),
        "doc_id": row["doc_id"],
        "url": row["url"],
        "domain": row["domain"],
    }
    return json.dumps(cells, ensure_ascii=False) + "\n"
