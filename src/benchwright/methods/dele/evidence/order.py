"""How far apart two models must be for a subset to order them as all items do."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.evidence.told_apart import not_told_apart
from benchwright.exports.export import ALL_MODELS_SPLIT, sampler_of
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS
from benchwright.methods.dele.evidence.sampler_results import repeat_seed, runs_on, weights_of
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.statistics.order_curve import gap_told_apart, order_curve
from benchwright.statistics.subset_scores import subset_scores
from benchwright.tables.dele import OrderCurves

_MOST_MODELS = 1_000
_RESAMPLES = 200


def trace_order(sampler_choice: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Compute the share of pairs of models in the right order, by their gap on all items.

    On the main panel, for `random`, the sampler chosen by all models and the exported one, at the
    rates of the tests; of more than 1,000 models, 1,000 random ones. Return an `OrderCurves` table;
    empty with fewer than three models.
    """
    panels, sampling = study.panels, study.sampling
    correct = panels.responses(panels.main)
    if not panels.item_ids or len(correct) < FEWEST_MODELS:
        return OrderCurves.empty()
    generator = study.generator("order")
    places = np.sort(generator.permutation(len(correct))[:_MOST_MODELS])
    families = np.array(panels.families, object)[panels.groups[panels.main][places]].astype(str)
    correct = correct[places]
    whole = subset_scores(correct, np.ones((1, correct.shape[1])))[0]
    by_all = sampler_choice[sampler_choice["split"] == ALL_MODELS_SPLIT]["winner"]
    wanted = {RANDOM, sampler_of(sampling, sampler_choice), *by_all}
    pool, rates = study.pool_of(panels.main), sampling.evidence.at_rates
    able, _ = runs_on({k: v for k, v in study.samplers().items() if k in wanted}, pool)
    draws, rows = study.draws(rates), list[dict[str, Any]]()
    for name in sorted(able):
        count = draws.repeats[name]
        seeds = [repeat_seed(draws.seed, name, repeat) for repeat in range(count)]
        drawn = [able[name](pool, seed) for seed in seeds]
        for rate, size in study.sizes(rates):
            weights, _ = weights_of(drawn, count, [size], len(pool))
            parts = subset_scores(correct, weights)
            found = order_curve(whole, parts, families, _RESAMPLES, generator)
            key = {"sampler": name, "rate": rate, "size": size, "n_models": len(correct)}
            least = {f"least{end}": _finite(getattr(found, f"least{end}")) for end in _ENDS}
            by_gap = zip(found.gap, found.pairs, found.right, found.low, found.high, strict=True)
            columns = ("gap", "pairs", "right", "low", "high")
            rows += [key | least | dict(zip(columns, row, strict=True)) for row in by_gap]
    if not rows:
        return OrderCurves.empty()
    return pd.DataFrame(OrderCurves.validate(pd.DataFrame(rows)[OrderCurves.columns()]))


_ENDS = ("", "_low", "_high")


def _finite(value: float) -> float:
    return value if np.isfinite(value) else float("nan")


def describe_subset(chosen_subset: pd.DataFrame, study: SamplingStudy) -> dict[str, str]:
    """Say which pairs of models the exported subset does not tell apart, as `told_apart`.

    The sentence is "" for weighted items, and where fewer than two models answered them.
    """
    kept = pd.Index(study.panels.item_ids, dtype=object).isin(chosen_subset["item_id"].astype(str))
    weights = chosen_subset["weight"].to_numpy()
    if (weights != weights[0]).any() or kept.sum() < len(chosen_subset):
        return {"told_apart": ""}
    gap = gap_told_apart(study.panels.correct[:, kept], len(kept))
    return {"told_apart": not_told_apart(100 * gap)}
