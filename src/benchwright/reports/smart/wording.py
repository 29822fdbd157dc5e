"""The names of rules, metrics, methods and roles in words, and how metrics are written."""

import re
from typing import Literal, NamedTuple

from benchwright.reports.page.wording import is_missing, p_value

Unit = Literal["coefficient", "places", "share", "points", "ratio", "p"]

RULE_MEANINGS = {
    "anomalous": "In a subject that is named as unlike the rest.",
    "easy": "Every filter model is right, each with a probability above the limit.",
    "easy_unanimous": "Every filter model is right; how sure they were is not asked.",
    "answer_only": "Every filter model finds the answer from the options alone, without the "
    "question. That makes an item a poor test; it does not prove that it was memorised.",
    "suspect_label": "Every filter model is wrong with a probability above the limit. "
    "Reported for a person to check, never removed.",
    "conflicting_gold": "Same question and options as another item, but another answer. Reported.",
    "duplicate": "The same question, options and answer as another item.",
    "similar": "Closer to another item than the threshold δ, in meaning.",
}
"""What each rule looks for."""

ROLES = {
    "filter": "chose the items",
    "same_family": "same family as a filter model",
    "held_out": "held out",
}

METHODS = {
    "full": "All items",
    "kept": "This run",
    "random": "Random subsets of its size",
    "ire": "IRE",
}

SUBSETS = {"plain": "any items", "stratified": "by subject"}
"""How random subsets are drawn."""


_FORMATS = {
    "coefficient": "{:.3f}",
    "places": "{:,.1f}",
    "share": "{:.1%}",
    "points": "{:,.1f}",
    "ratio": "{:,.2f}",
}


class Metric(NamedTuple):
    """What a metric is called and in which unit it is written."""

    label: str
    unit: Unit


METRICS = {
    "kendall_tau_b": Metric("Kendall tau-b", "coefficient"),
    "spearman": Metric("Spearman", "coefficient"),
    "pearson": Metric("Pearson of accuracies", "coefficient"),
    "mean_rank_shift": Metric("Mean rank shift, places", "places"),
    "max_rank_shift": Metric("Largest rank shift, places", "places"),
    "pairwise_agreement": Metric("Clearly different pairs kept in order", "share"),
    "tau_b_complement": Metric("Kendall tau-b, kept against removed items", "coefficient"),
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
    """Return the wording of a metric; an unknown one is called by its name."""
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
    return written if re.search("[1-9]", written) else written.lstrip("-")


def write_interval(metric: str, low: float | None, high: float | None) -> str:
    """Return `[low, high]`, "" where one bound is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{write_value(metric, low)}, {write_value(metric, high)}]"


def write_percentile(value: float) -> str:
    """Return a percentile in whole numbers, with a decimal at the ends where it matters."""
    return f"{value:.1f}".removesuffix(".0") if value < 1 or value > 99 else f"{value:.0f}"
