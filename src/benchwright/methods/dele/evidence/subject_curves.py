"""Samplers inside each subject, beside random subsets of it (DELE, Figures 8–27)."""

from math import ceil

import pandas as pd

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.evidence.choice import large_subjects
from benchwright.methods.dele.evidence.judging import rates_of
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.evidence.random_draws import quantiles, random_figures
from benchwright.methods.dele.evidence.ready_samplers import (
    reads_answers,
    repeats_by_name,
    runs_on,
)
from benchwright.methods.dele.samplers.curves import sampler_figures, sizes_of_rates
from benchwright.methods.dele.samplers.within_subject import sub_pool
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.dele import SubjectCurves

METRICS = ("spearman", "pearson", "wasserstein", "mean_absolute_error")
MOST_RATES = 20
"""Points of a curve; a subject has few items, so a percent more is often no item more."""


def trace_subjects(
    pools: Pools, panels: SamplingPanels, sampling: SamplingParams, seed: int
) -> pd.DataFrame:
    """Trace samplers inside each subject that has enough items, judged by all models.

    Samplers that read answers take no part, so nobody judges what its own answers chose.

    Returns:
        A `SubjectCurves` table, without rows where there is one subject or too few models.
    """
    subjects = large_subjects(pools.plain, sampling)
    if len(panels.models) < FEWEST_JUDGES:
        return SubjectCurves.empty()
    rates = thinned(rates_of(sampling))
    plain = reads_answers(sampling, answers=False)
    parts = []
    for subject, places in subjects.items():
        pool, correct = sub_pool(pools.plain, places), panels.correct[:, places]
        able, _ = runs_on(plain, pool)
        judges = Judges.of(correct, {"all": panels.groups["all"]})
        found = sampler_figures(
            pool, able, judges, rates, repeats_by_name(sampling), seed, tau=False
        )
        long = found.melt(
            ["sampler", "rate", "size"], list(METRICS), var_name="metric", value_name="mean"
        )
        means = long.groupby(["sampler", "rate", "size", "metric"])["mean"].mean().reset_index()
        rows = []
        for rate, size in zip(rates, sizes_of_rates(rates, len(pool)).tolist(), strict=True):
            generator = stage_generator(seed, f"sampling/subject_curves/{subject}/{rate:g}")
            draws = sampling.evidence.band_subsets
            random = random_figures(judges, size, draws, generator, tau=False)["all"]
            rows += [(rate, name, *quantiles(getattr(random, name))) for name in METRICS]
        columns = ["rate", "metric", "random_low", "random_median", "random_high"]
        band = pd.DataFrame(rows, columns=columns)
        means = means.merge(band, on=["rate", "metric"], how="left")
        parts.append(means.assign(subject=subject, n_items=len(pool), n_models=len(correct)))
    if not parts:
        return SubjectCurves.empty()
    table = pd.concat(parts, ignore_index=True)[SubjectCurves.columns()]
    return pd.DataFrame(SubjectCurves.validate(table))


def thinned(rates: list[float]) -> list[float]:
    """At most `MOST_RATES` of the rates, evenly, the last one among them."""
    return rates[::-1][:: ceil(len(rates) / MOST_RATES)][::-1]
