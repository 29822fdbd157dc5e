"""The verdict on a subset: whether to use it, in one sentence, with the figures behind it.

Reports, the end of a run, MLflow and the API all show this one.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.evidence.panel import Panel, headline_group

Place = Literal["better", "same", "worse", "unknown"]

FEWEST_REMOVED = 10
"""The removal of fewer items shows nothing about a ranking, whichever items they are."""

_MOST = 0.95  # clearly different means at the 5% level, so one pair in twenty may be in no order
_MOSTLY_ANSWERED = 0.9  # share of items below which the sentence says how many were judged
_ROUGH = 0.9  # Kendall's tau-b below which a ranking is a rough one


class Verdict(NamedTuple):
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
) -> Verdict:
    """Judge the kept items by the held-out models, or by all models if these are too few.

    A subset is worse than random ones if its Kendall tau-b, as written with three decimals, is
    below the middle 95% of theirs. It is better if it is above, the interval over models of
    `order_beyond_random` is above 0, and the models are held out: a gain is claimed for other
    models, too. Removing fewer than `FEWEST_REMOVED` items gives no verdict.
    """
    n_items, n_kept = len(items), len(kept_items)
    group = headline_group(panel)
    of_group = rank_agreement[rank_agreement["models"] == group].to_dict("records")
    known = {row["metric"]: row for row in of_group}
    values = {name: row["value"] for name, row in known.items()}
    place, reason = _place(random_comparison, known, group)
    held_out = group == "held_out"
    who = count_models(panel.select(group), "held-out" if held_out else "")
    who += "" if held_out else " (in-sample)"
    total, same = pairs_in_order(values)
    lost = values.get("pairwise_agreement", 1) < _MOST
    pairs = f"all {total}" if same == total else f"{'only ' * lost}{same} of {total}"
    link = "though they" if place == "worse" and not lost else "and"
    kept = f", {link} keep the order of {pairs} clearly different pairs." if total else "."
    these = f"these {n_kept:,} of {n_items:,} items"
    judged = beside_random(random_comparison, group)
    if judged.get("n_full", n_items) < _MOSTLY_ANSWERED * n_items:
        these += f" (judged by the answers to {judged['n_items']:,} of {judged['n_full']:,})"
    random = "random subsets of the same size"
    if n_kept == n_items:
        sentence = f"Use all {n_items:,} items: none was removed."
    elif place == "unknown":
        sentence = f"No verdict on {these}: {reason}."
    elif place == "better":
        sentence = f"Use {these}: they rank {who} better than {random}{kept}"
    elif place == "worse":
        sentence = f"Do not rank models by {these}: they rank {who} worse than {random}{kept}"
    elif lost or values["kendall_tau_b"] < _ROUGH:
        sentence = (
            f"Rank models by {these} only roughly: they rank {who} no better than {random}{kept}"
        )
    else:
        sentence = (
            f"Use {these} to save {1 - n_kept / n_items:.0%} of the questions, not for a better "
            f"ranking: they rank {who} no better than {random}{kept}"
        )
    return Verdict(place, sentence, figures(values, n_items, n_kept))


def _place(
    random_comparison: pd.DataFrame, known: Mapping[str, Mapping[Any, Any]], group: str
) -> tuple[Place, str]:
    """Return the place among random subsets, and the reason where it is unknown."""
    row = beside_random(random_comparison, group)
    if pd.isna(row.get("value")) or pd.isna(row.get("random_low")):
        why = known.get("kendall_tau_b", {}).get("reason") or "there are too few models to rank"
        return "unknown", row.get("reason") or why
    removed = row["n_full"] - row["n_items"]
    if removed < FEWEST_REMOVED:
        return "unknown", f"too few were removed ({removed}) to judge a ranking"
    value, low, high = (round(row[name], 3) for name in ("value", "random_low", "random_high"))
    if value < low:
        return "worse", ""
    gain = known["order_beyond_random"]["low_models"] > 0
    return "better" if value > high and gain and group == "held_out" else "same", ""


def beside_random(
    random_comparison: pd.DataFrame, group: str, metric: str = "kendall_tau_b"
) -> dict[Any, Any]:
    """Return a metric of the kept items beside plain random subsets; empty if not compared."""
    wanted = {"method": "kept", "models": group, "metric": metric, "random": "plain"}
    rows = random_comparison[(random_comparison[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return next(iter(rows.to_dict("records")), {})


def figures(values: Mapping[str, float], n_items: int, n_kept: int) -> tuple[tuple[str, str], ...]:
    """Return the figures of a subset with their labels, from metrics of `rank_agreement`."""
    before, after = (values.get(name, float("nan")) for name in ("mdd_full", "mdd_kept"))
    apart = "—" if pd.isna(before) or pd.isna(after) else f"{before:.1f} → {after:.1f} points"
    removed = n_items - n_kept
    total, same = pairs_in_order(values)
    share = f"{same} of {total} ({values['pairwise_agreement']:.1%})" if total else "—"
    return (
        (share.replace("100.0%", "100%"), "clearly different pairs of models in the same order"),
        (f"{removed:,} of {n_items:,} ({removed / n_items:.0%})", "items saved"),
        (apart, "smallest difference of two models told apart (median pair, 80% power)"),
    )


def pairs_in_order(values: Mapping[str, float]) -> tuple[str, str]:
    """Return the number of clearly different pairs, and of those in the same order, or ""."""
    share, total = values.get("pairwise_agreement", float("nan")), values.get("clear_pairs", 0)
    if math.isnan(share):
        return "", ""
    # Two pairs with equal scores on the subset count as one.
    return f"{total:,.0f}", f"{math.floor(share * total + 1e-6):,}"
