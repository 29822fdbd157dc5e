"""Labels of rules, metrics, methods and roles, and the formatting of metrics."""

import re
from typing import Literal, NamedTuple

from benchwright.core.cells import is_missing
from benchwright.core.wording import p_value

Unit = Literal["coefficient", "count", "places", "share", "points", "ratio", "p"]

RULE_MEANINGS = {
    "anomalous": "In a subject that is listed as anomalous: it measures something other than the "
    "rest.",
    "easy": "All filter models answer correctly with a probability above the limit, so it does "
    "not separate them. Some are retained, so that regressions of later models are noticed.",
    "easy_unanimous": "All filter models answer correctly, whatever the probability.",
    "answer_only": "All filter models find the answer from the options alone, without the "
    "question. Such an item is a poor test; this does not prove that it was memorised.",
    "suspect_label": "All filter models answer wrong with a probability above the limit. "
    "Reported for manual review, never removed.",
    "conflicting_gold": "Same question and options as another item, but another gold answer. "
    "Reported.",
    "duplicate": "The same question, options and answer as another item: a copy gives its question "
    "double weight.",
    "option_superset": "The same question and answer as another item, which has all or most of its "
    "options.",
    "similar": "Closer to another item than the threshold δ, by embedding: near-copies repeat the "
    "same question.",
}
"""What each rule looks for."""

BRANCHES = {
    "first_peak": "the first peak of the density",
    "halved": "the only peak of the density, halved",
    "fixed": "set by hand",
}
"""How the threshold of similar items was chosen."""

METHODS = {"kept": "This run", "ire": "IRE"}

_FORMATS = {
    "coefficient": "{:.3f}",
    "count": "{:,.0f}",
    "places": "{:,.1f}",
    "share": "{:.1%}",
    "points": "{:,.1f}",
    "ratio": "{:,.2f}",
}


class Metric(NamedTuple):
    """The label of a metric and the unit in which it is written."""

    label: str
    unit: Unit


METRICS = {
    "kendall_tau_b": Metric("Kendall tau-b", "coefficient"),
    "spearman": Metric("Spearman", "coefficient"),
    "pearson": Metric("Pearson of accuracies", "coefficient"),
    "mean_rank_shift": Metric("Mean rank shift, places", "places"),
    "max_rank_shift": Metric("Largest rank shift, places", "places"),
    "pairwise_agreement": Metric("Clearly different pairs in the same order", "share"),
    "clear_pairs": Metric("Clearly different pairs", "count"),
    "tau_b_complement": Metric("Kendall tau-b, kept and removed items", "coefficient"),
    "mdd_full": Metric("Minimum detectable difference, all items, points", "points"),
    "mdd_kept": Metric("Minimum detectable difference, kept items, points", "points"),
    "spread_top": Metric("Range of the best models, points", "points"),
    "signal_to_noise": Metric("Signal to noise", "ratio"),
    "signed_shift": Metric("Mean shift of accuracy, points", "points"),
    "wasserstein": Metric("Wasserstein distance of accuracies, points", "points"),
    "arena_pearson": Metric("Pearson with ratings", "coefficient"),
    "arena_pearson_full": Metric("Pearson with ratings, all items", "coefficient"),
    "arena_pearson_kept": Metric("Pearson with ratings, kept items", "coefficient"),
    "arena_williams_p": Metric("p of their difference (Williams)", "p"),
}
"""In the order in which tables show them; others follow in the order of the data."""


def metric_of(name: str) -> Metric:
    """Return label and unit of a metric; the label of an unknown one is its name."""
    return METRICS.get(name, Metric(name.replace("_", " ").capitalize(), "coefficient"))


def in_order(names: list[str]) -> list[str]:
    """Return the distinct names of metrics, known ones first in the order of `METRICS`."""
    distinct = list(dict.fromkeys(names))
    return [n for n in METRICS if n in distinct] + [n for n in distinct if n not in METRICS]


def write_value(metric: str, value: float | None) -> str:
    """Return the value in its unit, — where it is missing."""
    unit = metric_of(metric).unit
    if value is None or is_missing(value) or unit == "p":
        return p_value(value)
    written = _FORMATS[unit].format(value)
    return written.replace("-", "−") if re.search("[1-9]", written) else written.lstrip("-")


def write_interval(metric: str, low: float | None, high: float | None) -> str:
    """Return `[low, high]`, "" where one bound is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{write_value(metric, low)}, {write_value(metric, high)}]"


def write_percentile(value: float) -> str:
    """Return a percentile in whole numbers, with a decimal at the ends where it matters."""
    return f"{value:.1f}".removesuffix(".0") if value < 1 or value > 99 else f"{value:.0f}"
