"""The verdict of the sampling report, its warnings, and the metrics of a run."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.core.wording import bounds, coefficient, count, joined
from benchwright.evidence.kept_ranking import compare_answers, compare_pairs
from benchwright.evidence.panel import share_of_families
from benchwright.evidence.verdict import figures
from benchwright.exports.export import sampler_of
from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.evidence.rate_curves import SUFFICIENT
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots import METRICS
from benchwright.reports.verdict import Verdict, write_verdict
from benchwright.runs.tracking import known_metrics

METRIC = "tau_b"
"""The metric of the headline (docs/explanation/statistics.md: Kendall's tau-b first)."""
_FEW = 20  # with fewer models a rank correlation is imprecise
_FEW_SPLITS = 20  # with fewer splits the middle 95% has no meaning


def judge_samplers(
    sampling_panels: SamplingPanels,
    samplers_left_out: pd.DataFrame,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    chosen_subset: pd.DataFrame,
    sampling: SamplingParams,
) -> Verdict:
    """Write what to take, the figures of the exported subset, and the caveats."""
    panels = sampling_panels
    tested = sampling_against_random
    notes = _notes(panels, samplers_left_out, sampling)
    if not panels.item_ids or len(panels.groups[panels.main]) < FEWEST_MODELS:
        return write_verdict(_too_few(panels), kind=_KIND, notes=notes)
    drawn_by = sampler_of(sampling, sampler_choice)
    lines = [
        f"The figures are of the exported subset, sampler {drawn_by}.",
        _agreement(panels, tested, sampling.evidence.main_rate),
        _choice_gain(sampler_choice, subject_luck, sampling.evidence.main_rate),
    ]
    return write_verdict(
        _advice(panels, tested, sampling_summary, sampling),
        kind=_KIND,
        tiles=_figures(panels, chosen_subset),
        judgements=[line for line in lines if line],
        notes=notes,
        next_step=_NEXT,
    )


_KIND = "Benchmark subsets"
_NEXT = (
    "Ask new models the exported subset (`chosen_subset`; settings `sampling.export`), then "
    "`benchwright estimate`. `benchwright plan` says how many items half and 95% of random subsets "
    "need for new models; this page averages over subsets, on models that chose no items."
)


def _whose(panels: SamplingPanels) -> str:
    if panels.main == "all":
        return f"{count_models(panels.models)} (in-sample)"
    return count_models([panels.models[place] for place in panels.groups["held_out"]], "held-out")


def _advice(
    panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampling: SamplingParams,
) -> str:
    """Say in one sentence which items to take, and how many.

    A sampler that ranks the stronger half of the models worse is not recommended.
    """
    tested = sampling_against_random[sampling_against_random["panel"] == panels.main]
    tried = tested.loc[tested["sampler"] != RANDOM, "sampler"].nunique()
    better, worse = verdicts(tested, panels.main)
    harmful = {*worse, *verdicts(sampling_against_random, "forward")[1]}
    risky = [name for name in better if name in harmful]
    better = [name for name in better if name not in harmful]
    rates = joined([f"{rate:g}%" for rate in sampling.evidence.at_rates])
    if risky and not better:
        advice = (
            f"Take random items: those of {joined(risky)} rank {_whose(panels)} better than random "
            "subsets at some rates, but worse at others, or rank the stronger half of models worse"
        )
    elif better:
        advice = (
            f"Take the items of {joined(better)}: they rank {_whose(panels)} better than random "
            f"subsets at one or more of {rates}"
        )
    else:
        none = f"none of {tried} samplers" if tried > 1 else "no sampler"
        advice = (
            f"Take random items: {none} ranks {_whose(panels)} better than random subsets at any "
            f"of {rates}"
        )
    if worse:
        advice += f" ({joined(worse)}: worse)"
    return f"{advice}; {_sufficient_size(sampling_summary, panels)}."


def _agreement(panels: SamplingPanels, sampling_against_random: pd.DataFrame, rate: float) -> str:
    """Write how well random subsets of the main rate rank the models."""
    tested = sampling_against_random
    own = tested[(tested["sampler"] == RANDOM) & (tested["panel"] == panels.main)]
    row = own[(own["rate"] == rate) & (own["metric"] == METRIC)].iloc[0]
    if pd.isna(row["random_median"]):
        return "No ranking exists: all models have equal scores."
    value = f"{coefficient(row['random_median'])} {bounds(row['random_low'], row['random_high'])}"
    return (
        f"A random subset of {int(row['size']):,} of {count(len(panels.item_ids), 'item')} "
        f"({rate:g}%) has Kendall tau-b {value} with all items (median and middle 95% of subsets)."
    )


def _figures(panels: SamplingPanels, chosen_subset: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the figures of the exported subset; of weighted items only their number is known."""
    weights = chosen_subset["weight"]
    values: dict[str, float] = {}
    ids = pd.Index(panels.item_ids, dtype=object)
    kept = np.asarray(ids.isin(chosen_subset["item_id"].astype(str)))
    if len(weights) and weights.eq(weights.iloc[0]).all() and kept.sum() == len(weights):
        answers = panels.responses(panels.main), kept, panels.clusters
        models = [panels.models[place] for place in panels.groups[panels.main]]
        found = [*compare_answers(*answers), *compare_pairs(*answers, models)]
        values = {row.metric: row.value for row in found}
    pairs, saved, apart = figures(values, len(ids), len(chosen_subset))
    return pairs, (saved[0], "items saved by the exported subset"), apart


def verdicts(sampling_against_random: pd.DataFrame, panel: str) -> tuple[list[str], list[str]]:
    """Return the samplers that are better, and worse, than random at a tested rate, sorted."""
    tested = sampling_against_random
    own = tested[(tested["panel"] == panel) & (tested["metric"] == METRIC)]
    better, worse = (set(own.loc[own["verdict"] == v, "sampler"]) for v in ("better", "worse"))
    return sorted(better), sorted(worse)


def _too_few(panels: SamplingPanels) -> str:
    if not panels.item_ids:
        return "No model answered enough items, so samplers cannot be compared."
    models = count(len(panels.models), "model")
    return (
        f"Only {models} answered enough items; comparing samplers needs at least {FEWEST_MODELS}."
    )


def _sufficient_size(sampling_summary: pd.DataFrame, panels: SamplingPanels) -> str:
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == panels.main)
    ]
    if own.empty or pd.isna(own["rate_for_tau_b"].iloc[0]):
        return f"no number of them reaches a mean tau-b of {SUFFICIENT:g}"
    rate = own["rate_for_tau_b"].iloc[0]
    size = int(own["items_for_tau_b"].iloc[0])
    of = len(panels.item_ids)
    return f"{size:,} of {of:,} ({rate:g}%) random ones have a mean tau-b of {SUFFICIENT:g}"


def _choice_gain(
    sampler_choice: pd.DataFrame, subject_luck: Mapping[str, float], rate: float
) -> str:
    gains = gains_over_splits(sampler_choice)
    if not gains.splits:
        return ""
    metric = METRICS[str(sampler_choice["metric"].iloc[0])]
    span = "" if gains.splits < _FEW_SPLITS else f" {bounds(gains.low, gains.high)}"
    composed = ""
    if "composed_gain" in subject_luck:
        ends = bounds(subject_luck["composed_gain.low"], subject_luck["composed_gain.high"])
        gain = _signed(subject_luck["composed_gain"])
        composed = f" Chosen inside each subject, it gains {gain} {ends} at {rate:g}%."
    return (
        f"A sampler chosen on one part of the models (most often {gains.winner}) gains "
        f"{_signed(gains.held_out)}{span} in {metric} over random subsets on the other part, mean "
        f"of {count(gains.splits, 'split')}.{composed}"
    )


def _signed(value: float) -> str:
    written = coefficient(value)
    return written if written.startswith(("−", "—")) else f"+{written}"


def _notes(
    panels: SamplingPanels, samplers_left_out: pd.DataFrame, sampling: SamplingParams
) -> list[str]:
    """Write the caveats of the results, the most important first."""
    notes = []
    n = len(panels.item_ids)
    n_models = len(panels.groups[panels.main])
    evidence = sampling.evidence
    if panels.main == "all":
        notes.append(
            "Too few models are held out, so results are measured on all models. Samplers that "
            "read responses have read those of the same models: their results are in-sample."
        )
    elif n_models < _FEW:
        notes.append(f"Rank correlations are imprecise: {count(n_models, 'model')} held out.")
    if panels.left_out:
        notes.append(
            f"Left out: {count(panels.left_out, 'model')} that answered less than "
            f"{evidence.min_coverage:.0%} of {panels.answered_items:,} items: those that at least "
            f"{evidence.answered_by:.0%} of the models answered."
        )
    if n < panels.all_items:
        notes.append(
            f"Samplers choose among the {n:,} of {panels.all_items:,} items that all "
            f"{len(panels.models):,} models answered. The exported subset represents these items."
        )
    if panels.unknown_families:
        notes.append(
            f"The bases of {panels.unknown_families:,} of {len(panels.models):,} models are "
            "unknown, so related ones may be on both sides of a split. Set `models.families`. "
            + share_of_families(panels.models, panels.families)
        )
    skipped = samplers_left_out.drop_duplicates("sampler").to_dict("records")
    return [*notes, *(f"`{row['sampler']}` did not run: {row['reason']}." for row in skipped)]


def collect_sampling_metrics(
    sampling_panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    estimate_errors: pd.DataFrame,
    chosen_subset: pd.DataFrame,
) -> dict[str, float]:
    """Collect the metrics of the main panel at the main rate."""
    panels = sampling_panels
    main = panels.main
    gains = gains_over_splits(sampler_choice)
    better, worse = verdicts(sampling_against_random, main)
    metrics: dict[str, float] = {
        "n_items": len(panels.item_ids),
        "n_models": len(panels.models),
        "n_models.held_out": len(panels.groups["held_out"]),
        "n_chosen_items": len(chosen_subset),
        "samplers_better_than_random": len(better),
        "samplers_worse_than_random": len(worse),
        "choice_splits": gains.splits,
        "choice_gain_held_out": gains.held_out,
        "choice_gain_held_out.low": gains.low,
        "choice_gain_held_out.high": gains.high,
        "subjects.composed_gain": subject_luck.get("composed_gain", float("nan")),
    }
    for row in sampling_summary[sampling_summary["panel"] == main].to_dict("records"):
        for metric in (METRIC, "spearman", "mean_absolute_error", "rate_for_tau_b"):
            metrics[f"{metric}_{main}.{row['sampler']}"] = row[metric]
    for row in estimate_errors.to_dict("records"):
        name = f"{row['panel']}.{row['subset']}.{row['estimator']}"
        metrics[f"estimate_error.{name}"] = row["mean_absolute_error"]
    return known_metrics(metrics)
