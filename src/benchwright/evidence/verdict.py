"""The verdict on a subset: whether to use it, in one sentence, with the figures behind it.

Reports, the end of a run, MLflow and the API all show this one.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.random_comparison import PAIRS, TAU

Place = Literal["better", "same", "worse", "unknown"]

FEWEST_CHANGED = 3
"""With fewer clearly different pairs in another order no subset is worse than random ones."""
FEWEST_DRAWS = 99
"""Random subsets that can show a two-sided p of 2%."""

_LEVEL = 0.02  # two-sided: one in 100 random subsets counts as worse than random ones
_MOST = 0.95  # clearly different means at the 5% level, so one pair in twenty may be in no order
_MOSTLY_ANSWERED = 0.9  # share of items below which the sentence says how many were judged
_ROUGH = 0.9  # Kendall's tau-b below which the sentence says that other models change places
_ROUNDING = 1e-6  # of counts of pairs

Row = Mapping[Any, Any]


class SubsetVerdict(NamedTuple):
    """A subset's rank agreement beside that of random subsets, in words and in figures."""

    place: Place
    sentence: str
    tiles: tuple[tuple[str, str], ...]  # figures, each with its label


def judge_subset(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    random_comparison: pd.DataFrame,
    panel: Panel,
) -> SubsetVerdict:
    """Judge the kept items by the held-out models, or by all models if these are too few.

    A subset is worse than random ones if it changes the order of at least `FEWEST_CHANGED` pairs of
    models that differ significantly on all items, and of more such pairs than 99 of 100 random
    subsets. It is better if Kendall's tau-b, as written with three decimals, is above the middle
    95% of random subsets, its interval over models above their mean, and the models are held out:
    a gain is claimed for other models, too.
    """
    group = headline_group(panel)
    of_group = rank_agreement[rank_agreement["models"] == group].to_dict("records")
    known = {row["metric"]: row for row in of_group}
    values = {name: row["value"] for name, row in known.items()}
    tau, pairs = (beside_random(random_comparison, group, name) for name in (TAU, PAIRS))
    place, reason = _place(tau, pairs, known, group)
    n_items = len(items)
    n_kept = len(kept_items)
    these = f"these {n_kept:,} of {n_items:,} items"
    if tau.get("n_full", n_items) < _MOSTLY_ANSWERED * n_items:
        these += f" (judged by the answers to {tau['n_items']:,} of {tau['n_full']:,})"
    if n_kept == n_items:
        sentence = f"Use all {n_items:,} items: none was removed."
        if not panel.models:
            sentence = "No verdict: no item was removed, but no answers of models were given."
    elif place == "unknown":
        sentence = f"No verdict on {these}: {reason}."
    else:
        who = count_models(panel.select(group), "held-out" if group == "held_out" else "")
        who += "" if group == "held_out" else " (in-sample)"
        advice = _advice(place, these, 1 - n_kept / n_items, values)
        sentence = f"{advice}: they {_found(place, who, pairs, values)}."
        if place == "same" and round(tau["value"], 3) < round(tau["random_low"], 3):
            sentence += " Models that differ less change places more than on random subsets."
        elif values[TAU] < _ROUGH and place != "worse":
            sentence += f" Models that differ less change places (tau-b {values[TAU]:.2f})."
    return SubsetVerdict(place, sentence, figures(values, n_items, n_kept, known.get(PAIRS)))


def _place(tau: Row, pairs: Row, known: Mapping[str, Row], group: str) -> tuple[Place, str]:
    """Return the place among random subsets, and the reason where it is unknown."""
    if any(pd.isna(row.get("value")) or pd.isna(row.get("random_low")) for row in (tau, pairs)):
        rows = (known[name] for name in (TAU, PAIRS) if name in known)
        missing = (row["reason"] for row in rows if pd.isna(row["value"]))
        return "unknown", next(filter(None, missing), "there are too few models to rank")
    if pairs["draws"] < FEWEST_DRAWS:
        return "unknown", f"at least {FEWEST_DRAWS} random subsets are needed"
    changed = known["clear_pairs"]["value"] * (1 - pairs["value"])
    rare = pairs["p_value"] <= _LEVEL and pairs["value"] < pairs["random_mean"]
    if changed > FEWEST_CHANGED - _ROUNDING and rare:
        return "worse", ""
    above = round(tau["value"], 3) > round(tau["random_high"], 3)
    gain = known[TAU]["low_models"] > tau["random_mean"]
    return "better" if above and gain and group == "held_out" else "same", ""


def _advice(place: Place, these: str, removed: float, values: Mapping[str, float]) -> str:
    """Say what to do with the items; `removed` is the share (0–1) of items that are not kept."""
    few = values[PAIRS] < _MOST and _changed(values, values[PAIRS]) > FEWEST_CHANGED - _ROUNDING
    if place == "worse":
        return f"Do not rank models by {these}" if few else f"Rank models by {these} with care"
    if place == "better":
        return f"Use {these}"
    if few:
        return f"Rank models by {these} only roughly"
    return f"Use {these} to save {removed:.0%} of the questions, not for a better ranking"


def _found(place: Place, who: str, pairs: Row, values: Mapping[str, float]) -> str:
    """Say what the items do to the order of the models, beside random subsets."""
    total, same = _pairs_in_order(values)
    random = "random subsets of the same size"
    if place == "worse":
        low, high = (round(_changed(values, pairs[end])) for end in ("random_high", "random_low"))
        return (
            f"change the order of {total - same:,} of {total:,} clearly different pairs of {who}, "
            f"worse than {random} ({low:,} to {high:,})"
        )
    rank = "no better" if place == "same" else place
    which, ties = ("all", "") if same == total else (f"{same:,} of", " (ties count half)")
    kept = f"keep the order of {which} {total:,} clearly different pairs{ties}"
    return f"rank {who} {rank} than {random}, and {kept}"


def _changed(values: Mapping[str, float], share: float) -> float:
    """Return the number of clearly different pairs in another order, ties counted half."""
    return values["clear_pairs"] * (1 - share)


def beside_random(random_comparison: pd.DataFrame, group: str, metric: str = TAU) -> dict[Any, Any]:
    """Return a metric of the kept items beside plain random subsets; empty if not compared."""
    wanted = {"method": "kept", "models": group, "metric": metric, "random": "plain"}
    rows = random_comparison[(random_comparison[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return next(iter(rows.to_dict("records")), {})


def figures(
    values: Mapping[str, float], n_items: int, n_kept: int, pairs: Row | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the figures of a subset with their labels, from metrics of `rank_agreement`.

    `pairs` is the row of `pairwise_agreement`, for its interval over families.
    """
    before, after = (values.get(name, float("nan")) for name in ("mdd_full", "mdd_kept"))
    apart = "—" if pd.isna(before) or pd.isna(after) else f"{before:.1f} → {after:.1f} points"
    removed = n_items - n_kept
    total, same = _pairs_in_order(values)
    share = 1.0 if same == total else min(values[PAIRS], 0.999)  # not 100% if some are lost
    found = f"{same:,} of {total:,} ({share:.1%})" if total else "—"
    ties = ", ties count half" if same < total else ""
    label = f"clearly different pairs of models in the same order{ties}"
    if total and pairs is not None and pairs["low_models"] < pairs["high_models"]:
        label += f" (95% over families: {pairs['low_models']:.1%}–{pairs['high_models']:.1%})"
    return (
        (found.replace("100.0%", "100%"), label.replace("100.0%", "100%")),
        (f"{removed:,} of {n_items:,} ({removed / n_items:.0%})", "items saved"),
        (apart, "smallest difference of two models told apart (median pair, 80% power)"),
    )


def _pairs_in_order(values: Mapping[str, float]) -> tuple[int, int]:
    """Return the numbers of clearly different pairs and of those in the same order, or 0."""
    share = values.get(PAIRS, math.nan)
    if math.isnan(share):
        return 0, 0
    total = values["clear_pairs"]
    # Two pairs with equal scores on the subset count as one.
    return int(total), math.floor(share * total + _ROUNDING)


def not_told_apart(points: float) -> str:
    """Say below which gap, in points, pairs of models are not told apart; "" where unknown or 0."""
    if math.isnan(points) or points < 0.05:
        return ""
    return f"Pairs of models closer than {points:.1f} points are not told apart by these items."
