"""What somebody who has the documents, but not the key, can guess of the closed half."""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import sample_by_difficulty
from benchwright.methods.mmlu_cf.splitting.split import TOGETHER
from benchwright.params.mmlu_cf import SamplingByDifficultyParams


class Guess(NamedTuple):
    """`closed` questions of the `may_be` that may be; `share` of them among as many guesses."""

    closed: int
    may_be: int
    share: float


def guess_closed(
    pool: pd.DataFrame,
    assignment: pd.DataFrame,
    sampling: SamplingByDifficultyParams,
    draws: int,
) -> Guess:
    """Guess the closed questions from everything but the key: those sampled most often.

    The sample is drawn again with other seeds, so many times. Public questions are not closed, nor
    are others of their documents and passages, since halves share none. `pool` is the table that
    was sampled, `assignment` the `SplitAssignment` of the sample.
    """
    half = pool["item_id"].map(assignment.set_index("item_id")["half"])
    public, closed = half.eq("validation"), half.eq("test")
    able = ~public
    for column in TOGETHER:
        if column in pool:
            values = pool[column]
            able &= ~(values.isin(values[public].dropna()) & values.notna())
    often: Counter[str] = Counter()
    for seed in range(draws):
        often.update(sample_by_difficulty(pool, sampling, seed).item_ids)
    counted = closed[able].groupby(pool.loc[able, "item_id"].map(lambda item_id: often[item_id]))
    by_count = counted.agg(["size", "sum"]).sort_index(ascending=False)
    n = int(closed.sum())
    guesses = (n - by_count["size"].cumsum().shift(fill_value=0)).clip(0, by_count["size"])
    right = float((guesses * by_count["sum"] / by_count["size"]).sum())
    return Guess(n, int(able.sum()), right / n if n else 0.0)
