"""Errors of scores that are estimated from a subset (docs/explanation/estimation.md)."""

from collections.abc import Sequence

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
from benchwright.methods.dele.samplers.response_samplers import forward_evidence_of
from benchwright.statistics.rank_agreement import kendall_tau_b_rows
from benchwright.tables.dele import EstimateErrors

ANCHORS, UNEQUAL = "anchor_points", "unequal"
_READ_PROBABILITIES = ("mean", "aipw")
_PANELS = ("held_out", "forward")
_ROUNDING = 1e-9
_ITEMS = 100  # of a subset
_ERRORS = ["absolute", "bias", "coverage", "width", "tau_b", "squared"]
_LEAST_GAIN = 0.02  # in tau-b over the mean, on every panel, of an estimator that ranks models
_LEAST_COVERAGE = 0.93
LEVEL = 0.95  # target coverage of intervals


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
            for name in _READ_PROBABILITIES if kind == UNEQUAL else ESTIMATORS:
                found, reason = estimator_errors(name, training, drawn, tested, study.seed, LEVEL)
                plain = found if plain is None else plain  # the mean of random items comes first
                counts = (size, len(own), len(train), len(tested))
                # What an item is worth in random items, by squared error and by width.
                worth = (_ratio(plain, found, "squared"), _ratio(plain, found, "width") ** 2)
                rows.append((name, panel, kind, *counts, *found[:5], *worth, LEVEL, why or reason))
    return EstimateErrors.from_rows(rows)


def _ratio(plain: pd.Series, found: pd.Series, name: str) -> float:
    return float(plain[name] / found[name]) if found[name] > 0 else float("nan")


def estimator_errors(
    name: str,
    training: Training,
    subsets: Sequence[WeightedSubset],
    tested: NDArray[np.floating],
    seed: int,
    level: float,
) -> tuple[pd.Series, str]:
    """Return the errors of an estimator, means over models and subsets, and a reason for NaN."""
    truth = tested.mean(axis=1, dtype=np.float64)
    parts: list[pd.Series] = []
    reasons: list[str] = []
    for subset in subsets:
        estimates = ESTIMATORS[name].fit(training, subset, seed)(tested[:, subset.positions], level)
        score, low, high = estimates[:3]
        gap, width = score - truth, high - low
        inside = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)
        tau = kendall_tau_b_rows(truth, np.round(score, 9)[None])[0]
        columns = (np.abs(gap), gap, np.where(np.isnan(width), np.nan, inside), width, tau, gap**2)
        parts.append(pd.DataFrame(dict(zip(_ERRORS, columns, strict=True))).mean())
        reasons += filter(None, estimates.reason)
    means = pd.DataFrame(parts, columns=_ERRORS, dtype=np.float64).mean()
    return means, reasons[0] if reasons else ""


def advise(errors: pd.DataFrame) -> str:
    """Say which estimator to use for ranks, and which for scores, by an `EstimateErrors` table.

    An estimator ranks if its tau-b on common random items exceeds the mean's by .02 on every
    panel. A score comes from the least squared error, at the worst panel, of the mean and `aipw`,
    whose intervals follow from the draw, if they cover 93% on every panel. "" without such rows.
    """
    designed = errors["estimator"].isin(_READ_PROBABILITIES) & errors["subset"].ne(ANCHORS)
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
    pairs = tau.loc[[ranks, "mean"]].T.itertuples(name=None)
    beside = " (mean {:.2f})" if ranks != "mean" else ""
    found = ", ".join(f"{panel} {tau:.2f}" + beside.format(mean) for panel, tau, mean in pairs)
    best = safe.sort_values(ascending=False, kind="stable").reset_index().iloc[0]
    return (
        f"To rank models, use {ranks} of the same random items, tau-b: {found}. To score one, use "
        f"{best['estimator']} of {best['subset']} items, each worth {safe.max():.1f} random ones "
        "with the mean."
    )
