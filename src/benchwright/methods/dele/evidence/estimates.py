"""Errors of scores that are estimated from a subset (docs/explanation/estimation.md)."""

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.errors import (
    LEVEL,
    READ_PROBABILITIES,
    estimator_errors,
)
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.evidence.panels import CHOSEN_BY
from benchwright.methods.dele.evidence.sampler_results import repeat_seed
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import RANDOM, SAMPLERS
from benchwright.methods.dele.samplers.response_samplers import forward_evidence_of
from benchwright.params.sampling import SamplingParams
from benchwright.tables.dele import EstimateErrors

UNEQUAL = "unequal"
ANCHORS = "irt_clusters"
_PANELS = ("held_out", "forward")
_ITEMS = 100  # of a subset


def measure_estimates(study: SamplingStudy) -> pd.DataFrame:
    """Measure the errors of estimated scores of models that did not train the estimators.

    The subsets are random ones, draws with unequal known probabilities, and anchor points chosen by
    the training models, each of 100 items or a quarter of the items. Return an `EstimateErrors`
    table of means over models and subsets; a sampler that cannot draw has a row with the reason.
    """
    panels = study.panels
    size = min(_ITEMS, len(panels.item_ids) // 4)
    count = study.sampling.evidence.estimate_subsets
    seeds = [repeat_seed(study.seed, "estimates", i) for i in range(count)]
    # One set of anchors: repeats differ only by ties.
    seeds_of = {RANDOM: seeds, UNEQUAL: seeds, ANCHORS: [study.seed]}
    others = [name for name in ESTIMATORS if name not in READ_PROBABILITIES]
    names_of = {RANDOM: list(ESTIMATORS), UNEQUAL: READ_PROBABILITIES, ANCHORS: others}
    rows = []
    for panel in _PANELS:
        train = panels.responses(CHOSEN_BY[panel])
        tested = panels.responses(panel)
        if not size or not len(train) or not len(tested):
            continue
        names = [panels.families[place] for place in panels.groups[CHOSEN_BY[panel]]]
        training = Training(train, panels.clusters, np.unique(names, return_inverse=True)[1])
        plain: pd.Series | None = None
        for kind, own in seeds_of.items():
            pool = study.plain if kind == RANDOM else study.pool_of(panel)
            drawn, why = _draw(kind, pool, own, size, study.sampling)
            for name in names_of[kind]:
                found, reason = estimator_errors(name, training, drawn, tested, seed=study.seed)
                plain = found if plain is None else plain  # the mean of random items comes first
                rows.append(
                    {
                        "estimator": name,
                        "panel": panel,
                        "subset": kind,
                        "size": size,
                        "subsets": len(own),
                        "n_train": len(train),
                        "n_models": len(tested),
                        **found.drop("squared"),
                        # What an item is worth in random items.
                        "effective_by_error": _ratio(plain, found, "squared"),
                        "effective_by_width": _ratio(plain, found, "width") ** 2,
                        "level": LEVEL,
                        "reason": why or reason,
                    }
                )
    return EstimateErrors.from_rows(rows)


def _draw(
    kind: str, pool: SamplingPool, seeds: list[int], size: int, sampling: SamplingParams
) -> tuple[list[WeightedSubset], str]:
    """Draw subsets; return also why items are drawn so, or cannot be drawn."""
    sampler = SAMPLERS[kind].make(sampling)
    try:
        why = forward_evidence_of(pool).reason if kind == UNEQUAL else ""
        return [sampler(pool, seed)(size) for seed in seeds], why
    except InputError as error:
        return [], str(error)


def _ratio(plain: pd.Series, found: pd.Series, name: str) -> float:
    return plain[name] / found[name] if found[name] > 0 else np.nan
