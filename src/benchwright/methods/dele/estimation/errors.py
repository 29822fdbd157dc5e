"""Errors of estimators on models that did not train them, and what these advise."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchwright.core.array_types import AnyFloats
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.statistics.rank_agreement import kendall_tau_b_rows

RANDOM = "random"
READ_PROBABILITIES = ("mean", "aipw")
"""Estimators whose intervals follow from the draw."""
LEVEL = 0.95
"""Target coverage of intervals."""

_ROUNDING = 1e-9
_ERRORS = ["mean_absolute_error", "bias", "coverage", "width", "tau_b", "squared"]
_LEAST_GAIN = 0.02  # in tau-b over the mean, on every panel, of an estimator that ranks models
_LEAST_COVERAGE = 0.93


def estimator_errors(
    name: str,
    training: Training,
    subsets: Sequence[WeightedSubset],
    tested: AnyFloats,
    seed: int,
) -> tuple[pd.Series, str]:
    """Return the errors of an estimator, means over models and subsets, and a reason for NaN."""
    truth = tested.mean(axis=1, dtype=np.float64)
    parts: list[pd.Series] = []
    reasons: list[str] = []
    for subset in subsets:
        estimate = ESTIMATORS[name].fit(training, subset, seed)
        estimates = estimate(tested[:, subset.positions], LEVEL)
        gap = estimates.score - truth
        width = estimates.high - estimates.low
        inside = (estimates.low - _ROUNDING <= truth) & (truth <= estimates.high + _ROUNDING)
        errors = {
            "mean_absolute_error": np.abs(gap),
            "bias": gap,
            "coverage": np.where(np.isnan(width), np.nan, inside),
            "width": width,
            "tau_b": kendall_tau_b_rows(truth, np.round(estimates.score, 9)[None])[0],
            "squared": gap**2,
        }
        parts.append(pd.DataFrame(errors).mean())
        reasons += filter(None, estimates.reason)
    means = pd.DataFrame(parts, columns=_ERRORS, dtype=np.float64).mean()
    return means, reasons[0] if reasons else ""


def advise(errors: pd.DataFrame) -> str:
    """Say which estimator to use for ranks, and which for scores, by an `EstimateErrors` table.

    An estimator ranks if its tau-b on common random items exceeds the mean's by .02 on every
    panel. A score comes from the least squared error, at the worst panel, of the mean and `aipw`,
    whose intervals follow from the draw, if they cover 93% on every panel. "" without such rows.
    """
    designed = errors["estimator"].isin(READ_PROBABILITIES)
    designed &= ~errors["reason"].str.startswith(f"{RANDOM}: ")  # draws that are not unequal
    by = errors[designed].set_index(["subset", "estimator", "panel"])
    worst = by.groupby(["subset", "estimator"])[["coverage", "effective_by_error"]].min()
    safe = worst[worst["coverage"] >= _LEAST_COVERAGE]["effective_by_error"].dropna()
    own = errors[errors["subset"] == RANDOM]
    tau = own.pivot_table(index="estimator", columns="panel", values="tau_b")
    if safe.empty or "mean" not in tau.index:
        return ""
    gain = (tau - tau.loc["mean"]).min(axis=1)
    ranks = str(gain.idxmax()) if gain.max() >= _LEAST_GAIN else "mean"
    found = []
    for panel, by_estimator in tau.items():
        mean = f" (mean {by_estimator['mean']:.2f})" if ranks != "mean" else ""
        found.append(f"{panel} {by_estimator[ranks]:.2f}{mean}")
    best = safe.sort_values(ascending=False, kind="stable").reset_index().iloc[0]
    return (
        f"To rank models, use {ranks} of the same random items, tau-b: {', '.join(found)}. "
        f"To score one, use {best['estimator']} of {best['subset']} items, each worth "
        f"{safe.max():.1f} random ones with the mean."
    )
