"""Errors of scores that are estimated from a subset (docs/explanation/estimation.md)."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.evidence.panels import CHOSEN_BY
from benchwright.methods.dele.evidence.sampler_results import repeat_seed
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import RANDOM, SAMPLERS
from benchwright.params.sampling import EstimationParams
from benchwright.tables.dele import EstimateErrors

ANCHORS, UNEQUAL = "anchor_points", "unequal"
_READ_PROBABILITIES = ("mean", "aipw")
_PANELS = ("held_out", "forward")
_ROUNDING = 1e-9
_ITEMS = 100  # of a subset


def measure_estimates(study: SamplingStudy, estimation: EstimationParams) -> pd.DataFrame:
    """Measure the errors of estimated scores of models that did not train the estimators.

    The subsets are random ones, draws with unequal known probabilities, and anchor points chosen by
    the training models, each of 100 items or a quarter of the items. Return an `EstimateErrors`
    table of means over models and subsets; a sampler that cannot draw has a row with the reason.
    """
    panels, level = study.panels, estimation.level
    count = study.sampling.evidence.estimate_subsets
    size = min(_ITEMS, len(panels.item_ids) // 4)
    seeds = [repeat_seed(study.seed, "estimates", i) for i in range(count)]
    # One set of anchors: repeats differ only by ties.
    kinds = {RANDOM: seeds, UNEQUAL: seeds, ANCHORS: [study.seed]}
    rows = []
    for panel in _PANELS:
        train, tested = panels.responses(CHOSEN_BY[panel]), panels.responses(panel)
        if not size or not len(train) or not len(tested):
            continue
        names = [panels.families[place] for place in panels.groups[CHOSEN_BY[panel]]]
        families = np.unique(names, return_inverse=True)[1]
        training = Training(train, panels.clusters, families)
        plain: _Errors | None = None
        for kind, own in kinds.items():
            pool = study.plain if kind == RANDOM else study.pool_of(panel)
            sampler, why = SAMPLERS[kind].make(study.sampling), ""
            try:
                drawn = [sampler(pool, seed)(size) for seed in own]
            except InputError as error:
                drawn, why = [], str(error)
            for name in _READ_PROBABILITIES if kind == UNEQUAL else ESTIMATORS:
                errors, reason = _errors(name, training, drawn, tested, study.seed, level)
                plain = plain or errors  # the mean of random items comes first
                counts = (size, len(own), len(train), len(tested))
                found = (*errors[:4], *_effective(errors, plain))
                rows.append((name, panel, kind, *counts, *found, level, why or reason))
    return EstimateErrors.from_rows(rows)


class _Errors(NamedTuple):
    """Means over models and subsets, in shares."""

    absolute: float
    bias: float
    coverage: float
    width: float
    squared: float


def _effective(errors: _Errors, plain: _Errors) -> tuple[float, float]:
    """Return how many items each item is worth, by squared error and by the width of intervals."""
    by_error = plain.squared / errors.squared if errors.squared > 0 else float("nan")
    by_width = (plain.width / errors.width) ** 2 if errors.width > 0 else float("nan")
    return by_error, by_width


def _errors(
    name: str,
    training: Training,
    subsets: list[WeightedSubset],
    tested: NDArray[np.float32],
    seed: int,
    level: float,
) -> tuple[_Errors, str]:
    """Return the errors of an estimator, and a reason for NaN."""
    truth = tested.mean(axis=1, dtype=np.float64)
    parts: list[list[float]] = []
    reasons: list[str] = []
    for subset in subsets:
        estimates = ESTIMATORS[name].fit(training, subset, seed)(tested[:, subset.positions], level)
        score, low, high = estimates[:3]
        known = ~np.isnan(score)
        bounded = known & ~np.isnan(low) & ~np.isnan(high)
        gap, width = (score - truth)[known], (high - low)[bounded]
        inside = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)
        columns = (np.abs(gap), gap, inside[bounded], width, gap**2)
        parts.append([_mean(values) for values in columns])
        reasons += filter(None, estimates.reason)
    table = np.array(parts).reshape(-1, len(_Errors._fields))
    means = (_mean(column[~np.isnan(column)]) for column in table.T)
    return _Errors(*means), reasons[0] if reasons else ""


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
