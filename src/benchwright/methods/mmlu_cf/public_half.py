"""The public half of a sealed benchmark: questions to read (Tables 5–9)."""

import json
from collections.abc import Mapping
from typing import Any

from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.sealing.seal import VALIDATION

_EXAMPLES = 3  # of each field, as in the paper


def read_public_half(
    sealed_benchmark: Mapping[str, bytes], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Draw three random questions (question, choices, answer) of each field of the public half."""
    rows = [json.loads(line) for line in sealed_benchmark[VALIDATION].splitlines()]
    draws = item_uniforms(seed, "public_examples", [row["item_id"] for row in rows])
    drawn = [row for _, row in sorted(zip(draws, rows, strict=True), key=lambda pair: pair[0])]
    examples: dict[str, list[dict[str, Any]]] = {row["field"]: [] for row in rows}
    for row in drawn:
        if len(chosen := examples[row["field"]]) < _EXAMPLES:
            chosen.append({name: row[name] for name in ("question", "choices", "answer")})
    return dict(sorted(examples.items()))
