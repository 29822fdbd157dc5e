"""The headline of the sampling report, its warnings, and the metrics of a run."""

from collections.abc import Mapping

import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.evidence.rate_curves import SUFFICIENT
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots import METRICS
from benchwright.reports.page.parts import Text, Top
from benchwright.reports.page.wording import bounds, coefficient, count, joined
from benchwright.runs.tracking import known_metrics

METRIC = "tau_b"
"""The metric of the headline (docs/explanation/statistics.md: Kendall's tau-b first)."""
_FEW = 20  # with fewer models a rank correlation is imprecise
_FEW_SPLITS = 20  # with fewer splits the middle 95% has no meaning


def show_sampling_top(
    sampling_panels: SamplingPanels,
    samplers_left_out: pd.DataFrame,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    sampling: SamplingParams,
) -> Top:
    """Write how well random subsets rank models, whether a sampler is better, and the caveats."""
    headline, *lead = write_headline(
        sampling_panels,
        sampling_against_random,
        sampling_summary,
        sampler_choice,
        subject_luck,
        sampling,
    )
    sentences = [Text(line, "judgement") for line in lead if line]
    return Top(headline, sentences, _notes(sampling_panels, samplers_left_out, sampling))


def write_headline(
    panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    sampling: SamplingParams,
) -> list[str]:
    """Write the rank agreement of random subsets, the tests and the gain of choosing a sampler.

    There is only the reason where no agreement is known.
    """
    rate, main = sampling.evidence.main_rate, panels.main
    if not panels.item_ids or len(panels.groups[main]) < FEWEST_MODELS:
        return [_too_few(panels)]
    tested = sampling_against_random
    own = tested[(tested["sampler"] == RANDOM) & (tested["panel"] == main)]
    row = own[(own["rate"] == rate) & (own["metric"] == METRIC)].iloc[0]
    names = [panels.models[place] for place in panels.groups[main]]
    panel = count_models(names, "held-out")
    if main == "all":
        held_out = len(panels.groups["held_out"])
        panel = f"all {count_models(names)}, in-sample (only {held_out} held out)"
    if pd.isna(row["random_median"]):
        return [f"No ranking exists: {panel} have equal scores."]
    value = f"{coefficient(row['random_median'])} {bounds(row['random_low'], row['random_high'])}"
    agreement = (
        f"A random subset of {int(row['size']):,} of {count(len(panels.item_ids), 'item')} "
        f"({rate:g}%) ranks {panel} as all items do with Kendall tau-b {value} (median and middle "
        f"95% of subsets){_sufficient_size(sampling_summary, main, sampling)}."
    )
    return [
        agreement,
        _test_results(sampling_against_random, main, sampling),
        _choice_gain(sampler_choice, subject_luck, rate),
    ]


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


def _sufficient_size(sampling_summary: pd.DataFrame, main: str, sampling: SamplingParams) -> str:
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == main)
    ]
    wanted = f"tau-b {SUFFICIENT:g}"
    if own.empty or pd.isna(own["rate_for_tau_b"].iloc[0]):
        return f"; no rate reaches a mean {wanted}"
    rate, size = own["rate_for_tau_b"].iloc[0], int(own["items_for_tau_b"].iloc[0])
    return f"; a mean {wanted} needs {rate:g}% of the items ({size:,})"


def _test_results(
    sampling_against_random: pd.DataFrame, main: str, sampling: SamplingParams
) -> str:
    own = sampling_against_random[sampling_against_random["panel"] == main]
    tried = own.loc[own["sampler"] != RANDOM, "sampler"].nunique()
    if not tried:
        return ""
    better, worse = verdicts(sampling_against_random, main)
    rates = joined([f"{rate:g}%" for rate in sampling.evidence.at_rates])
    if better:
        names, verb = joined(better), "is" if len(better) == 1 else "are"
        verdict, where = f"Of {count(tried, 'sampler')}, {names} {verb}", "at one or more of"
    else:
        verdict = "The one sampler is not" if tried == 1 else f"None of {tried} samplers is"
        where = "at any of"
    loss = f"; {joined(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse"
    return (
        f"{verdict} significantly better than random subsets in tau-b {where} {rates}, after "
        f"Holm's correction{loss if worse else ''}."
    )


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
    n, n_models, evidence = len(panels.item_ids), len(panels.groups[panels.main]), sampling.evidence
    if panels.main == "all":
        notes.append(
            "Too few models are held out, so results are measured on all models. Samplers that "
            "read responses have read those of the same models: their results are in-sample."
        )
    elif n_models < _FEW:
        notes.append(f"Only {n_models} models are held out; rank correlations are imprecise.")
    if panels.left_out:
        notes.append(
            f"{panels.left_out:,} models are left out because they answered less than "
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
            f"The families of {panels.unknown_families:,} of {len(panels.models):,} models are "
            "unknown, so related models may be on both sides of a split. Set `models.families`."
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
    panels, main = sampling_panels, sampling_panels.main
    gains = gains_over_splits(sampler_choice)
    better, worse = verdicts(sampling_against_random, main)
    metrics: dict[str, float] = {
        "n_items": len(panels.item_ids),
        "n_models": len(panels.models),
        "n_models.held_out": panels.sizes()["held_out"],
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
            metrics[f"{metric}.{row['sampler']}"] = row[metric]
    for row in estimate_errors.to_dict("records"):
        name = f"{row['panel']}.{row['subset']}.{row['estimator']}"
        metrics[f"estimate_error.{name}"] = row["mean_absolute_error"]
    return known_metrics(metrics)
