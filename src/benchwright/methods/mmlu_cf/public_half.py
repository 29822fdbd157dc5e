"""The public half of a sealed benchmark: questions to read, and its domains (Tables 5–9)."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.sealing.seal import VALIDATION

_EXAMPLES = 3  # of each field, as in the paper


class PublicHalf(NamedTuple):
    """Random questions by field (question, choices, answer), and questions by domain ("" unknown).

    Nothing in it comes from the closed half.
    """

    examples: dict[str, list[dict[str, Any]]]
    domains: dict[str, int]


def read_public_half(sealed_benchmark: Mapping[str, bytes], seed: int) -> PublicHalf:
    """Draw three public questions of each field, and count the questions of each domain."""
    rows = [json.loads(line) for line in sealed_benchmark[VALIDATION].splitlines()]
    draws = item_uniforms(seed, "public_examples", [row["item_id"] for row in rows])
    drawn = [row for _, row in sorted(zip(draws, rows, strict=True), key=lambda pair: pair[0])]
    examples: dict[str, list[dict[str, Any]]] = {row["field"]: [] for row in rows}
    for row in drawn:
        if len(chosen := examples[row["field"]]) < _EXAMPLES:
            chosen.append({name: row[name] for name in ("question", "choices", "answer")})
    domains = Counter(row["domain"] or "" for row in rows)
    return PublicHalf(dict(sorted(examples.items())), dict(sorted(domains.items())))
