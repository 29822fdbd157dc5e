"""Models split many times into those that choose a sampler and those that say what it is worth."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.samplers.model_split import ModelSplit, split_by_family
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.params.adaptive import AdaptiveParams
from benchwright.params.sampling import SamplingParams


def model_splits(panels: SamplingPanels, adaptive: AdaptiveParams, seed: int) -> list[ModelSplit]:
    """Splits in which both sides can rank models, whole families on one side."""
    found = []
    for number in range(adaptive.splits):
        own = int(stage_generator(seed, f"sampling/split/{number}").integers(1 << 62))
        halves = split_by_family(panels.models, panels.families, adaptive.selection_share, own)
        if panels.item_ids and min(len(side) for side in halves) >= FEWEST_JUDGES:
            found.append(halves)
    return found


def pool_of(plain: SamplingPool, correct: NDArray[np.float32]) -> SamplingPool:
    """The items as they are seen by samplers that read these answers."""
    return SamplingPool(plain.item_ids, plain.subjects, plain.texts, plain.vectors, correct)


def repeats_of(sampling: SamplingParams) -> int:
    """Draws of each sampler in a split."""
    return min(sampling.repeats, sampling.evidence.choice_repeats)


def draws_seed(seed: int) -> int:
    """The seed of these draws."""
    return int(stage_generator(seed, "sampling/choice").integers(1 << 62))
