"""Errors of scores that are estimated from a subset (docs/explanation/estimation.md)."""

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.fitted import SubsetEstimator
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.methods.dele.evidence.panels import CHOSEN_BY
from benchwright.methods.dele.evidence.sampler_results import repeat_seed
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import RANDOM, SAMPLERS
from benchwright.params.sampling import EstimationParams
from benchwright.tables.dele import EstimateErrors

ANCHORS = "anchor_points"
_PANELS = ("held_out", "forward")
_ROUNDING = 1e-9


def measure_estimates(study: SamplingStudy, estimation: EstimationParams) -> pd.DataFrame:
    """Measure the errors of estimated scores of models that did not train the estimators.

    The subsets are random ones and anchor points chosen by the training models, each of
    `estimate_items` items or a quarter of the items. Return an `EstimateErrors` table of means over
    models and subsets.
    """
    panels, sampling, seed = study.panels, study.sampling, study.seed
    evidence = sampling.evidence
    size = min(evidence.estimate_items, len(panels.item_ids) // 4)
    rows = []
    for panel in _PANELS:
        train, tested = panels.responses(CHOSEN_BY[panel]), panels.responses(panel)
        if not size or not len(train) or not len(tested):
            continue
        names = [panels.families[place] for place in panels.groups[CHOSEN_BY[panel]]]
        families = np.unique(names, return_inverse=True)[1]
        prepared = PreparedTraining(Training(train, panels.clusters, families), estimation)
        random = SAMPLERS[RANDOM].make(sampling)
        seeds = [repeat_seed(seed, "estimates", i) for i in range(evidence.estimate_subsets)]
        subsets = {RANDOM: [random(study.plain, own)(size) for own in seeds], ANCHORS: []}
        with suppress(InputError):  # one set of anchors: repeats differ only by ties
            anchors = SAMPLERS[ANCHORS].make(sampling)
            subsets[ANCHORS] = [anchors(study.pool_of(panel), seed)(size)]
        for kind, drawn in subsets.items():
            for name, estimator in ESTIMATORS.items() if drawn else ():
                errors, reason = _errors(estimator.make(estimation), prepared, drawn, tested, seed)
                counts = (size, len(drawn), len(train), len(tested))
                rows.append((name, panel, kind, *counts, *errors, estimation.level, reason))
    return EstimateErrors.from_rows(rows)


def _errors(
    estimator: SubsetEstimator,
    prepared: PreparedTraining,
    subsets: list[WeightedSubset],
    tested: NDArray[np.float32],
    seed: int,
) -> tuple[tuple[float, ...], str]:
    """Return mean absolute error, bias, coverage and mean width in shares, and a reason for NaN."""
    truth, level = tested.mean(axis=1, dtype=np.float64), estimator.params.level
    parts: list[list[float]] = []
    reasons: list[str] = []
    for subset in subsets:
        try:
            estimates = estimator(prepared, subset, seed)(tested[:, subset.positions], level)
        except InputError as reason:
            return (float("nan"),) * 4, str(reason)
        score, low, high = estimates[:3]
        known = ~np.isnan(score)
        bounded = known & ~np.isnan(low) & ~np.isnan(high)
        gap, width = (score - truth)[known], (high - low)[bounded]
        inside = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)
        columns = (np.abs(gap), gap, inside[bounded], width)
        parts.append([_mean(values) for values in columns])
        reasons += filter(None, estimates.reason)
    means = tuple(_mean(column[~np.isnan(column)]) for column in np.array(parts).T)
    return means, reasons[0] if reasons else ""


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
