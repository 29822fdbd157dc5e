"""Of how many questions the difficulty is known, and what the sample lacks."""

from typing import NamedTuple

import pandas as pd


class Shortfall(NamedTuple):
    """What a sample was to have and has not.

    Attributes:
        size: questions asked for.
        taken: questions taken.
        strata: of a field and level (a field alone where no level is known) with too few.
        missing: what these lack together; other strata may have given more.
    """

    size: int
    taken: int
    strata: int
    missing: int


def known_share(difficulty_counts: pd.DataFrame, pool: str = "rated") -> float:
    """The share of a pool's questions that have a level of difficulty, 0–1; 0 of no questions."""
    own = difficulty_counts[difficulty_counts["pool"] == pool]
    total = int(own["n"].sum())
    return int(own.loc[own["level"] >= 0, "n"].sum()) / total if total else 0.0


def quotas(sampling_strata: pd.DataFrame, *, levels_known: bool) -> pd.DataFrame:
    """Target, available and taken of each stratum, and `balance`: taken minus target.

    Where no level is known, all questions stand in one: then only fields had quotas that could be
    met, and a row is a field, its level −1.

    Returns:
        field, level, target, available, taken, balance; fields in order.
    """
    keys, counts = ["field", "level"], ["target", "available", "taken"]
    table = sampling_strata[[*keys, *counts]]
    if not levels_known:
        table = table.assign(level=-1)
    table = table.groupby(keys, as_index=False)[counts].sum()
    return table.assign(balance=table["taken"] - table["target"])


def count_shortfall(sampling_strata: pd.DataFrame, size: int, *, levels_known: bool) -> Shortfall:
    """What the sample lacks of `size` questions and of its strata."""
    balance = quotas(sampling_strata, levels_known=levels_known)["balance"]
    short = balance[balance < 0]
    taken = int(sampling_strata["taken"].sum())
    return Shortfall(size, taken, len(short), -int(short.sum()))
