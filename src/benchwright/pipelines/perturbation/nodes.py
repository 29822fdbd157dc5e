"""Thin nodes over `benchwright.perturbation`."""

from collections.abc import Mapping

import pandas as pd

from benchwright.errors import InputError
from benchwright.params.perturbation import PerturbationParams
from benchwright.perturbation.compose import perturb
from benchwright.tables import Draws, PerturbationChanges


def read_labels(
    single_best_answer_labels: pd.DataFrame, perturbation: PerturbationParams
) -> dict[str, list[str]]:
    """Take from the labels which items have a single best answer and which surely have not.

    An item that several annotators labelled has one if any of them says so: a missed one becomes
    incoherent, one too many is only copied. `sba: none` in the settings reads no labels.

    Returns:
        `single`: ids of items with a single best answer; `several`: those read and found without.

    Raises:
        InputError: a label is not 0 or 1.
    """
    if perturbation.sba == "none" or single_best_answer_labels.empty:
        return {"single": [], "several": []}
    numbers = pd.to_numeric(single_best_answer_labels["sba"], errors="coerce")
    wrong = ~numbers.isin([0, 1])
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        given = single_best_answer_labels["sba"].iloc[row]
        raise InputError(
            f"single_best_answer_labels, row {row + 1}: sba is {given!r}; it must be 0 or 1"
        )
    highest = numbers.groupby(single_best_answer_labels["item_id"].astype(str)).max()
    return {
        "single": sorted(highest.index[highest == 1]),
        "several": sorted(highest.index[highest == 0]),
    }


def perturb_items(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    perturbation: PerturbationParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw altered copies of the items, the demonstrations through the same draws.

    Items that cannot be altered coherently are copied, with the reason.
    """
    made = perturb(items, demonstrations, perturbation, seed, single_best_answer_ids["single"])
    return (
        pd.DataFrame(Draws.validate(made.draws)) if len(made.draws) else Draws.empty(),
        pd.DataFrame(PerturbationChanges.validate(made.changes))
        if len(made.changes)
        else PerturbationChanges.empty(),
    )
