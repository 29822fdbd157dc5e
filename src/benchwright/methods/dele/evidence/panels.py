"""Panels of models: those that choose items, and held-out ones (docs/reference/sampling.md)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchwright.core.array_types import Places
from benchwright.core.configuration import parse_configuration
from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.evidence.panel import count_unknown, families_of
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import ModelPanels

FEWEST_MODELS = 3
"""Minimum number of models for a rank correlation."""

CHOSEN_BY: Mapping[str, str] = {
    "selection": "selection",
    "held_out": "selection",
    "forward": "weak",
    "all": "all",
}
"""Panels in the order of the report, and the group whose responses choose items for each."""


class ModelSplit(NamedTuple):
    """Sorted positions of the models that choose and of the held-out models."""

    selection: Places
    held_out: Places


class SamplingPanels(NamedTuple):
    """Responses of m models to the n items that all of them answered, and groups of the models."""

    item_ids: tuple[str, ...]  # n ids, in the order of the items table
    models: tuple[str, ...]  # m names, sorted
    families: tuple[str, ...]  # m families; a model of unknown family is its own family
    correct: NDArray[np.float32]  # (m, n) float32 in [0, 1], none missing
    clusters: Places  # (n,) labels: items that share a passage or a stem
    # positions of models by group: selection, held_out, weak, forward, all
    groups: Mapping[str, Places]
    answered_items: int  # items that enough models answered, including those that one lacks
    all_items: int  # of the benchmark
    left_out: int  # models that answered too few items
    unknown_families: int  # models whose base model is unknown

    def responses(self, group: str) -> NDArray[np.float32]:
        """Return the responses (k, n) of a group of models."""
        places = self.groups[group]
        everyone = np.array_equal(places, np.arange(len(self.correct)))
        return self.correct if everyone else self.correct[places]

    def model_panels(self, panels: Iterable[str] = tuple(CHOSEN_BY)) -> ModelPanels:
        """Return all panels or some of them."""
        return ModelPanels.of(self.correct, {name: self.groups[name] for name in panels})

    @property
    def main(self) -> str:
        """The main panel: `held_out`, or `all` if too few models are held out."""
        enough = len(self.groups["held_out"]) >= FEWEST_MODELS
        return "held_out" if enough else "all"


def choose_panels(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    models_table: pd.DataFrame,
    sampling: SamplingParams,
    seed: int,
) -> SamplingPanels:
    """Choose models and items so that no answer is missing, and split the models.

    First keep the items that a share `answered_by` of the models answered, then the models that
    answered a share `min_coverage` of these items, then the items that all these models answered.
    """
    evidence = sampling.evidence
    ids = tuple(items["item_id"])
    matrix = response_matrix.select_items(ids)
    answered = matrix.answered()
    well_answered = answered.any(axis=0)
    well_answered &= answered.sum(axis=0) >= evidence.answered_by * len(matrix.models)
    total = max(well_answered.sum(), 1)
    enough = (answered & well_answered).sum(axis=1) >= evidence.min_coverage * total
    kept = well_answered & answered[enough].all(axis=0) & enough.any()
    by_name = np.argsort(np.array(matrix.models, object))
    order = by_name[enough[by_name]]
    models = tuple(matrix.models[row] for row in order)
    families = families_of(models, models_table)
    plain_names = [parse_configuration(name).model for name in models]
    correct = np.ascontiguousarray(matrix.correct[order][:, kept], dtype=np.float32)
    correct.setflags(write=False)  # the nodes share it
    scores = correct.mean(axis=1, dtype=np.float64) if kept.any() else np.zeros(len(models))
    by_family = split_by_family(families, seed)
    forward = split_forward(models, scores)
    return SamplingPanels(
        item_ids=tuple(np.array(ids, object)[kept]),
        models=models,
        families=families,
        correct=correct,
        clusters=np.asarray(item_clusters(items.loc[kept].reset_index(drop=True)), np.intp),
        groups={
            "selection": by_family.selection,
            "held_out": by_family.held_out,
            "weak": forward.selection,
            "forward": forward.held_out,
            "all": np.arange(len(models)),
        },
        answered_items=int(well_answered.sum()),
        all_items=len(ids),
        left_out=len(matrix.models) - len(models),
        unknown_families=count_unknown(plain_names, models_table),
    )


def split_by_family(families: Sequence[str], seed: int, share: float = 0.5) -> ModelSplit:
    """Split whole families at random, so that at most this share of the models choose.

    Families are taken in a seeded order. A family that would exceed the share is held out, except
    for the first one. The order of the models does not matter.
    """
    distinct, family, sizes = np.unique(
        np.array(families, dtype=str), return_inverse=True, return_counts=True
    )
    chosen = np.zeros(len(distinct), dtype=bool)
    taken = 0
    for place in np.argsort(item_uniforms(seed, "model_split", distinct.tolist()), kind="stable"):
        if not taken or taken + sizes[place] <= share * len(families):
            chosen[place] = True
            taken += sizes[place]
    return ModelSplit(np.flatnonzero(chosen[family]), np.flatnonzero(~chosen[family]))


def split_forward(models: Sequence[str], scores: ArrayLike, share: float = 0.5) -> ModelSplit:
    """Let this share of the models, the weakest, choose and hold out the others; ties by name."""
    order = np.lexsort((np.array(models, dtype=str), np.asarray(scores, dtype=np.float64)))
    cut = round(share * len(order))
    return ModelSplit(np.sort(order[:cut]), np.sort(order[cut:]))
