"""The headline of the report, its warnings, and flat metrics."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.labels import METRICS, PANELS, bounds, coefficient
from benchwright.reports.page.wording import count, joined
from benchwright.tracking import metric_name

METRIC = "tau_b"
"""The figure of the headline (docs/explanation/statistics.md: Kendall's tau-b first)."""
_OF_A_SAMPLER = ("tau_b", "spearman", "pearson", "wasserstein", "mean_absolute_error")
_FEW = 20  # models of a panel on which a rank correlation is rough


class Headline(NamedTuple):
    """The top of the page."""

    kept: str  # how well a random subset keeps the order, or why nothing can be said
    beaten: str  # which samplers beat random, and which random beats; "" without tests
    chosen: str  # the gain of choosing a sampler; "" without splits


def write_headline(
    panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    sampling: SamplingParams,
) -> Headline:
    """Write what random items of the middle rate keep, who beats them, and the gain of a choice."""
    rate, main = sampling.evidence.main_rate, panels.main
    judges = len(panels.groups[main])
    if not panels.item_ids or judges < FEWEST_MODELS:
        return Headline(_too_few(panels), "", "")
    tested = sampling_against_random
    own = tested[(tested["sampler"] == RANDOM) & (tested["panel"] == main)]
    row = own[(own["rate"] == rate) & (own["metric"] == METRIC)].iloc[0]
    n = len(panels.item_ids)
    whom = f"{judges:,} {PANELS[main]}"
    if main == "all":
        held_out = len(panels.groups["held_out"])
        whom = f"all {judges:,} models (too few are held out: {held_out})"
    if pd.isna(row["random_median"]):
        kept = f"The {whom} all score alike, so there is no order to keep."
        return Headline(kept, "", "")
    figure = f"{coefficient(row['random_median'])} {bounds(row['random_low'], row['random_high'])}"
    kept = (
        f"{int(row['size']):,} of {count(n, 'item')} ({rate:g}%), drawn at random, keep the order "
        f"of {whom} with Kendall tau-b {figure}{_enough(sampling_summary, main, sampling)}."
    )
    return Headline(kept, _beaten(sampling_against_random, main, sampling), _worth(sampler_choice))


def verdicts(sampling_against_random: pd.DataFrame, panel: str) -> tuple[list[str], list[str]]:
    """Return the samplers that are better and worse than random at some tested rate, sorted."""
    tested = sampling_against_random
    own = tested[(tested["panel"] == panel) & (tested["metric"] == METRIC)]
    better, worse = (set(own.loc[own["verdict"] == one, "sampler"]) for one in ("better", "worse"))
    return sorted(better), sorted(worse)


def _too_few(panels: SamplingPanels) -> str:
    if not panels.item_ids:
        return "No model answered enough items, so nothing is said about samplers."
    models = count(len(panels.models), "model")
    return f"Only {models} answered enough items, too few to rank; nothing is said about samplers."


def _enough(sampling_summary: pd.DataFrame, main: str, sampling: SamplingParams) -> str:
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == main)
    ]
    wanted = f"tau-b {sampling.evidence.keep:g}"
    if own.empty or pd.isna(own["rate_for_tau_b"].iloc[0]):
        return f"; no rate keeps {wanted} on average"
    rate, size = own["rate_for_tau_b"].iloc[0], int(own["items_for_tau_b"].iloc[0])
    return f"; {wanted} on average takes {rate:g}% ({count(size, 'item')})"


def _beaten(sampling_against_random: pd.DataFrame, main: str, sampling: SamplingParams) -> str:
    own = sampling_against_random[sampling_against_random["panel"] == main]
    tried = own.loc[own["sampler"] != RANDOM, "sampler"].nunique()
    if not tried:
        return ""
    better, worse = verdicts(sampling_against_random, main)
    rates = joined([f"{rate:g}%" for rate in sampling.evidence.at_rates])
    if better:
        verb = "beats" if len(better) == 1 else "beat"
        said = f"Of {count(tried, 'sampler')}, {joined(better)} {verb} random subsets in tau-b"
    else:
        whom = "The one sampler is not" if tried == 1 else f"None of {tried} samplers is"
        said = f"{whom} shown to beat random subsets in tau-b"
    lost = f"; {joined(worse)} {'does' if len(worse) == 1 else 'do'} worse" if worse else ""
    return f"{said} at one of {rates}, after Holm's correction{lost}."


def _worth(sampler_choice: pd.DataFrame) -> str:
    gains = gains_over_splits(sampler_choice)
    if not gains.splits:
        return ""
    metric = METRICS[str(sampler_choice["metric"].iloc[0])]
    span = bounds(gains.low, gains.high)
    return (
        f"A sampler chosen by some of the models gains {_signed(gains.apparent)} over random in "
        f"{metric} by their own answers, and {_signed(gains.held_out)} {span} by the others' "
        f"(mean and middle 95% of {count(gains.splits, 'split')}; {gains.winner} was chosen most "
        f"often, {gains.won} times). The best of as many random orders, chosen in the same way, "
        f"gains {_signed(gains.luck)} there: so much is luck with the items."
    )


def _signed(value: float) -> str:
    written = coefficient(value)
    return written if written.startswith(("−", "—")) else f"+{written}"


def write_notes(
    panels: SamplingPanels, samplers_left_out: pd.DataFrame, sampling: SamplingParams
) -> list[str]:
    """Write the caveats of the figures, the most important first."""
    notes = []
    n = len(panels.item_ids)
    judges = len(panels.groups[panels.main])
    if panels.main == "all":
        notes.append(
            "Too few models are held out, so all models judge. Samplers that read answers have "
            "then seen those of their judges: their figures are in-sample."
        )
    elif judges < _FEW:
        notes.append(f"Only {judges} models are held out; their rank correlations are rough.")
    paper = len(panels.groups["paper"])
    if paper < _FEW:
        enough = "too few to rank" if paper < FEWEST_MODELS else "its figures are rough"
        notes.append(f"The paper's panel has {count(paper, 'model')} here: {enough}.")
    if panels.left_out:
        notes.append(
            f"{panels.left_out:,} models were left out: they answered less than "
            f"{sampling.evidence.min_coverage:.0%} of the {panels.judged:,} judged items."
        )
    if n < panels.all_items:
        notes.append(
            f"Samplers choose among {n:,} of the {panels.all_items:,} items: those that all of "
            f"the {len(panels.models):,} models answered. The subset that is handed on stands "
            "for these."
        )
    if panels.unknown_families:
        notes.append(
            f"The names of {panels.unknown_families:,} of {len(panels.models):,} models tell no "
            "family, so each is taken for a family by itself and kin of it may be on the other "
            "side; `models.families` in conf names families."
        )
    if any("answers" in kind.reads for kind in sampler_kinds(sampling).values()):
        notes.append(
            "`anchor_points` and `irt_clusters` give their items weights; a score on them is a "
            "weighted mean."
        )
    stopped = samplers_left_out.drop_duplicates("sampler").to_dict("records")
    return [*notes, *(f"`{row['sampler']}` did not run: {row['reason']}." for row in stopped)]


def collect_sampling_metrics(
    sampling_panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    estimate_errors: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampling: SamplingParams,
) -> dict[str, float]:
    """Collect the figures of the panel of headlines at the middle rate as flat numbers."""
    panels, main, rate = sampling_panels, sampling_panels.main, sampling.evidence.main_rate
    gains = gains_over_splits(sampler_choice)
    better, worse = verdicts(sampling_against_random, main)
    figures: dict[str, float] = {
        "n_items": len(panels.item_ids),
        "n_models": len(panels.models),
        "n_chosen_items": len(chosen_subset),
        "samplers_better_than_random": len(better),
        "samplers_worse_than_random": len(worse),
        "choice_splits": gains.splits,
        "choice_gain_apparent": gains.apparent,
        "choice_gain_held_out": gains.held_out,
        "choice_gain_by_luck": gains.luck,
        "choice_gain_held_out.low": gains.low,
        "choice_gain_held_out.high": gains.high,
        **{f"n_models.{panel}": n for panel, n in panels.sizes().items()},
        **{f"subjects.{name}": value for name, value in subject_luck.items()},
    }
    for row in sampling_summary[sampling_summary["panel"] == main].to_dict("records"):
        for metric in _OF_A_SAMPLER:
            figures[f"{metric}.{row['sampler']}"] = row[metric]
        figures[f"rate_for_tau_b.{row['sampler']}"] = row["rate_for_tau_b"]
        figures[f"rate_for_spearman.{row['sampler']}"] = row["rate_for_spearman"]
    tested = sampling_against_random
    tested = tested[(tested["panel"] == main) & (tested["rate"] == rate)]
    for row in tested.to_dict("records"):
        figures[f"percentile.{row['metric']}.{row['sampler']}"] = row["percentile"]
    for row in estimate_errors.to_dict("records"):
        name = f"{row['panel']}.{row['subset']}.{row['estimator']}"
        figures[f"estimate_error.{name}"] = row["mean_absolute_error"]
        figures[f"estimate_coverage.{name}"] = row["coverage"]
    return {
        metric_name(name): float(value)
        for name, value in figures.items()
        if value is not None and math.isfinite(value)
    }
