"""Rules against contamination: rephrase, shuffle, replace an option (MMLU-CF, 3.2, step 5)."""

from collections import Counter
from typing import Any

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.params.perturbation import ONE_COPY, PerturbationParams
from benchwright.tables.items import Demonstrations, Items
from benchwright.tables.mmlu_cf import CleanItems
from benchwright.transforms.compose import Rephrased, perturb


def as_items(clean: pd.DataFrame) -> pd.DataFrame:
    """Convert `CleanItems` to `Items`: fields become subjects; passages are omitted."""
    rows = []
    for row in clean.to_dict("records"):
        choices = [str(choice) for choice in row["choices"]]
        answer = int(row["answer"])
        known = 0 <= answer < len(choices)
        rows.append(
            {
                "item_id": str(row["item_id"]),
                "split": "built",
                "subject": str(row["field"]),
                "question": str(row["question"]),
                "choices": choices,
                "answer": answer,
                "answer_text": choices[answer] if known else "",
                "correct_set": [answer] if known else [],
                "passage_id": None,
                "explanation": _text(row["explanation"]),
                "domain": _text(row["domain"]),
                "url": _text(row["url"]),
                "source_id": None,
                "content_hash": content_hash(str(row["question"]), choices),
            }
        )
    return Items.from_rows(rows)


def apply_transforms(
    clean: pd.DataFrame, params: PerturbationParams, seed: int, rephrasings: Rephrased
) -> tuple[pd.DataFrame, dict[str, dict[str, int]]]:
    """Apply all transforms to the items, as in the first perturbed copy.

    `rephrasings` are new questions by role (`item`) and id. Return `CleanItems`; by transform,
    counts of `altered` items and of unaltered ones by reason.
    """
    once = params.model_copy(update=ONE_COPY)
    made = perturb(
        as_items(clean), Demonstrations.empty(), once, seed=seed, rephrasings=rephrasings
    )
    changed = made.perturbed_items.set_index("item_id").loc[clean["item_id"].astype(str).tolist()]
    ruled = clean.reset_index(drop=True)
    for name in ("question", "choices", "answer", "explanation"):
        ruled[name] = changed[name].tolist()
    counts: dict[str, dict[str, int]] = {}
    for transform, part in made.changes.groupby("transform", sort=False):
        reasons = Counter(str(reason) or "altered" for reason in part["reason"])
        counts[str(transform)] = dict(sorted(reasons.items()))
    return pd.DataFrame(CleanItems.validate(ruled)), counts


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
