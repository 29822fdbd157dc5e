"""The public half of a sealed benchmark: questions to read (Tables 5–9)."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.sealing.seal import VALIDATION

_EXAMPLES = 3  # of each field, as in the paper


def read_public_half(
    sealed_benchmark: Mapping[str, bytes], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Draw three random questions (question, choices, answer) of each field of the public half."""
    rows = [json.loads(line) for line in sealed_benchmark[VALIDATION].splitlines()]
    draws = item_uniforms(seed, "public_examples", [row["item_id"] for row in rows])
    examples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for place in np.argsort(draws, kind="stable"):
        row = rows[place]
        chosen = examples[row["field"]]
        if len(chosen) < _EXAMPLES:
            chosen.append({name: row[name] for name in ("question", "choices", "answer")})
    return dict(sorted(examples.items()))
