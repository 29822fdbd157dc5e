"""Thin nodes over `benchwright.transforms`."""

from collections.abc import Mapping

import pandas as pd

from benchwright.params.perturbation import PerturbationParams
from benchwright.tables import Draws, PerturbationChanges
from benchwright.transforms.compose import perturb


def perturb_items(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    rephrasings: pd.DataFrame,
    perturbation: PerturbationParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw altered copies of the items, the demonstrations through the same draws.

    Items that cannot be altered coherently are copied, with the reason.
    """
    made = perturb(
        items,
        demonstrations,
        perturbation,
        seed,
        single_best_answer_ids["single"],
        _new_questions(rephrasings),
    )
    return (
        pd.DataFrame(Draws.validate(made.draws)) if len(made.draws) else Draws.empty(),
        pd.DataFrame(PerturbationChanges.validate(made.changes))
        if len(made.changes)
        else PerturbationChanges.empty(),
    )


def _new_questions(rephrasings: pd.DataFrame) -> dict[tuple[str, str], str | None]:
    """The wording to use by role and id; None where none passed."""
    found: dict[tuple[str, str], str | None] = {}
    columns = (rephrasings[name] for name in ("role", "item_id", "after", "used"))
    for role, item_id, after, used in zip(*columns, strict=True):
        key = (str(role), str(item_id))
        found[key] = str(after) if used else found.get(key)
    return found
