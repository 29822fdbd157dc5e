"""The sampler that suits a benchmark: some models choose it, others judge (DELE, Algorithm 1)."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.dele.samplers.pool import Sampler
from benchwright.methods.dele.samplers.ranking import prefixes, random_order
from benchwright.params.sampling import AdaptiveParams

_HIGHER_IS_BETTER = frozenset({"spearman", "tau_b", "pearson"})


class Choice(NamedTuple):
    """The winner of one panel, and what it was chosen from."""

    winner: str  # a sampler's name; "" where no sampler has figures
    # one row per sampler, best first: sampler, eligible, mean_place, and each criterion's mean over
    # rates.
    standing: pd.DataFrame
    reason: str = ""  # what to know of the choice, "" where nothing


def choose_sampler(figures: pd.DataFrame, params: AdaptiveParams) -> Choice:
    """Choose by the figures of one panel.

    Eligible are the samplers whose Spearman correlation, in the mean over repeats, reaches
    `min_correlation` at every rate looked at; where none does, all are, with a reason. Among them
    the criteria are ranked, ties sharing their place, and the lowest mean place wins; then the
    higher correlation, then the name.

    `figures` have the columns sampler, rate, repeat and the fields of `Preservation`, of one panel.
    """
    by_rate = _by_rate(figures, params)
    groups = by_rate.groupby("sampler", sort=True)
    table = groups[by_rate.columns.drop(["sampler", "rate"]).tolist()].mean()
    table["eligible"] = groups["spearman"].min().ge(params.min_correlation)
    table = table.assign(mean_place=np.nan).reset_index()
    reason = ""
    if by_rate.empty:
        reason = f"no figures between {params.lowest_rate:g}% and {params.highest_rate:g}%"
        return Choice("", table, reason)
    if not table["eligible"].any():
        reason = f"no sampler keeps ranks with a correlation of {params.min_correlation:g}"
        if not table["spearman"].notna().any():
            reason = "no correlation exists: too few models, or all scores are equal"
            return Choice("", table, reason)
    running = table["eligible"] if table["eligible"].any() else table["spearman"].notna()
    places = pd.DataFrame(
        {
            name: table.loc[running, name].rank(
                ascending=name not in _HIGHER_IS_BETTER, na_option="bottom"
            )
            for name in params.criteria
        }
    )
    table["mean_place"] = places.mean(axis=1).reindex(table.index)
    table = table.sort_values(
        ["mean_place", "spearman", "sampler"], ascending=[True, False, True], ignore_index=True
    )
    return Choice(str(table["sampler"].iloc[0]), table, reason)


def _by_rate(figures: pd.DataFrame, params: AdaptiveParams) -> pd.DataFrame:
    """Means over repeats, and the variance over repeats of the mean score, by sampler and rate."""
    inside = figures["rate"].between(params.lowest_rate, params.highest_rate)
    groups = figures[inside].groupby(["sampler", "rate"], sort=True)
    columns = ["spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error"]
    return (
        groups[columns].mean().assign(variance=groups["bias"].var(ddof=1).fillna(0)).reset_index()
    )


class Luck(NamedTuple):
    """How far winners of two halves of the models agree, beside what luck would give."""

    n: int  # subjects (or benchmarks) with a winner in both halves
    agreed: int  # of them, the same winner in both
    # agreements if the halves chose independently, each with its own shares of winners.
    expected: float
    distinct: int  # different winners among the first halves
    uniform: float  # of n winners, those that each of the samplers would get by lot


def luck_of_winners(first: pd.Series, second: pd.Series, samplers: int) -> Luck:
    """Compare winners by subject; "" is none.

    `first` and `second` are the winners by subject that each half of the models chose among so many
    `samplers`.
    """
    both = pd.DataFrame({"first": first, "second": second}).dropna()
    both = both[both["first"].ne("") & both["second"].ne("")]
    n = len(both)
    if not n:
        return Luck(0, 0, float("nan"), 0, float("nan"))
    shares = [both[name].value_counts(normalize=True) for name in ("first", "second")]
    chance = float(shares[0].mul(shares[1], fill_value=0).sum())
    agreed = int(both["first"].eq(both["second"]).sum())
    return Luck(n, agreed, n * chance, int(both["first"].nunique()), n / max(samplers, 1))


def fixed_orders(count: int, seed: int) -> dict[str, Sampler]:
    """So many samplers that each take the items in one random order, whatever the repeat.

    The best of them, chosen as a sampler is, shows what a choice among fixed orders gains by luck:
    items that happen to rank some models well tend to rank others well too.
    """

    def fixed(number: int) -> Sampler:
        name = f"fixed order {number}"
        return lambda pool, _seed: prefixes(random_order(pool, seed, name))

    return {f"order {number:03d}": fixed(number) for number in range(count)}


def gain_over_random(
    figures: pd.DataFrame, sampler: str, metric: str, params: AdaptiveParams
) -> float:
    """How much better a sampler's metric is than random's, in the mean over rates and repeats.

    Positive is better, whichever way the metric goes; NaN where either has no figures.

    `figures` are of one panel that did not choose the sampler; `metric` is a criterion.
    """
    by_rate = _by_rate(figures[figures["sampler"].isin([sampler, "random"])], params)
    means = by_rate.groupby("sampler")[metric].mean()
    difference = float(means.get(sampler, np.nan) - means.get("random", np.nan))
    return difference if metric in _HIGHER_IS_BETTER else -difference
