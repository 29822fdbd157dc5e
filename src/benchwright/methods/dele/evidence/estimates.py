"""How near estimates from a few items come to the score on all of them."""

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation import ESTIMATORS, PreparedTraining, Training
from benchwright.methods.dele.evidence.judging import RANDOM
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.curves import repeat_seed
from benchwright.methods.dele.samplers.registry import SAMPLERS
from benchwright.params.sampling import EstimationParams, SamplingParams
from benchwright.tables.dele import EstimateErrors

ANCHORS = "anchor_points"
_PANELS = ("held_out", "forward")
_ROUNDING = 1e-9


def measure_estimates(
    pools: Pools,
    panels: SamplingPanels,
    sampling: SamplingParams,
    estimation: EstimationParams,
    seed: int,
) -> pd.DataFrame:
    """Estimate the scores of models that did not train the estimators, and compare.

    From random subsets and from anchor points that the training models choose, each of
    `estimate_items` items or a quarter of the items.

    Returns:
        An `EstimateErrors` table; figures are means over models and subsets.
    """
    evidence, n = sampling.evidence, len(panels.item_ids)
    size = min(evidence.estimate_items, n // 4)
    rows = []
    for panel in _PANELS:
        train, judge = panels.answers(CHOSEN_BY[panel]), panels.answers(panel)
        if not size or not len(train) or not len(judge):
            continue
        names = [panels.families[place] for place in panels.groups[CHOSEN_BY[panel]]]
        families = np.unique(names, return_inverse=True)[1]
        prepared = PreparedTraining(Training(train, panels.clusters, families), estimation)
        truth = judge.mean(axis=1, dtype=np.float64)
        random = SAMPLERS[RANDOM].make(sampling)
        seeds = [repeat_seed(seed, "estimates", i) for i in range(evidence.estimate_subsets)]
        subsets = {RANDOM: [random(pools.plain, own)(size) for own in seeds], ANCHORS: []}
        with suppress(InputError):  # one set of anchors: repeats differ by ties alone
            anchors = SAMPLERS[ANCHORS].make(sampling)
            subsets[ANCHORS] = [anchors(pools.by_choosers[CHOSEN_BY[panel]], seed)(size)]
        for kind, own in subsets.items():
            for name in ESTIMATORS if own else ():
                found, reason = _errors(name, prepared, own, judge, truth, estimation, seed)
                counts = (size, len(own), len(train), len(judge))
                rows.append((name, panel, kind, *counts, *found, estimation.level, reason))
    return EstimateErrors.from_rows(rows)


def _errors(
    name: str,
    prepared: PreparedTraining,
    subsets: list[WeightedSubset],
    judge: NDArray[np.float32],
    truth: NDArray[np.float64],
    estimation: EstimationParams,
    seed: int,
) -> tuple[tuple[float, ...], str]:
    """Mean absolute error, bias, coverage and mean width in shares, and why there are none."""
    estimator = ESTIMATORS[name].make(estimation)
    parts, reasons = [], []
    for subset in subsets:
        try:
            found = estimator(prepared, subset, seed)(judge[:, subset.positions], estimation.level)
        except InputError as reason:
            return (float("nan"),) * 4, str(reason)
        known = ~np.isnan(found.score)
        bounded = known & ~np.isnan(found.low) & ~np.isnan(found.high)
        gap, width = (found.score - truth)[known], (found.high - found.low)[bounded]
        inside = (found.low - _ROUNDING <= truth) & (truth <= found.high + _ROUNDING)
        figures = (np.abs(gap), gap, inside[bounded], width)
        parts.append([_mean(values) for values in figures])
        reasons += [told for told in found.reason if told]
    means = tuple(_mean(column[~np.isnan(column)]) for column in np.array(parts).T)
    return means, reasons[0] if reasons else ""


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
