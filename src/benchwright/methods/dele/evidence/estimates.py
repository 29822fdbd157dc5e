"""Errors of scores that are estimated from a subset (docs/explanation/estimation.md)."""

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
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
from benchwright.methods.dele.samplers.registry import RANDOM, SAMPLERS
from benchwright.methods.dele.samplers.response_samplers import forward_evidence_of
from benchwright.tables.dele import EstimateErrors

UNEQUAL, ANCHORS = "unequal", "irt_clusters"
_PANELS = ("held_out", "forward")
_ITEMS = 100  # of a subset


def measure_estimates(study: SamplingStudy) -> pd.DataFrame:
    """Measure the errors of estimated scores of models that did not train the estimators.

    The subsets are random ones, draws with unequal known probabilities, and anchor points chosen by
    the training models, each of 100 items or a quarter of the items. Return an `EstimateErrors`
    table of means over models and subsets; a sampler that cannot draw has a row with the reason.
    """
    panels = study.panels
    count = study.sampling.evidence.estimate_subsets
    size = min(_ITEMS, len(panels.item_ids) // 4)
    seeds = [repeat_seed(study.seed, "estimates", i) for i in range(count)]
    # One set of anchors: repeats differ only by ties.
    kinds = {RANDOM: seeds, UNEQUAL: seeds, ANCHORS: [study.seed]}
    others = [name for name in ESTIMATORS if name not in READ_PROBABILITIES]
    names_of = {RANDOM: [*ESTIMATORS], UNEQUAL: READ_PROBABILITIES, ANCHORS: others}
    rows = []
    for panel in _PANELS:
        train, tested = panels.responses(CHOSEN_BY[panel]), panels.responses(panel)
        if not size or not len(train) or not len(tested):
            continue
        names = [panels.families[place] for place in panels.groups[CHOSEN_BY[panel]]]
        training = Training(train, panels.clusters, np.unique(names, return_inverse=True)[1])
        plain: pd.Series | None = None
        for kind, own in kinds.items():
            pool = study.plain if kind == RANDOM else study.pool_of(panel)
            sampler, why = SAMPLERS[kind].make(study.sampling), ""
            try:
                why = forward_evidence_of(pool).reason if kind == UNEQUAL else ""
                drawn = [sampler(pool, seed)(size) for seed in own]
            except InputError as error:
                drawn, why = [], str(error)
            for name in names_of[kind]:
                found, reason = estimator_errors(name, training, drawn, tested, study.seed, LEVEL)
                plain = found if plain is None else plain  # the mean of random items comes first
                counts = (size, len(own), len(train), len(tested))
                # What an item is worth in random items, by squared error and by width.
                worth = (_ratio(plain, found, "squared"), _ratio(plain, found, "width") ** 2)
                rows.append((name, panel, kind, *counts, *found[:5], *worth, LEVEL, why or reason))
    return EstimateErrors.from_rows(rows)


def _ratio(plain: pd.Series, found: pd.Series, name: str) -> float:
    return float(plain[name] / found[name]) if found[name] > 0 else float("nan")
