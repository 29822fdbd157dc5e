"""How many questions of the documents may be closed, for somebody who sees the public half."""

import pandas as pd

from benchwright.methods.mmlu_cf.splitting.split import TOGETHER

GUESSABLE = 0.5
"""Closed share of the questions that may be closed, from which a guess is more often right."""


def count_candidates(eligible: pd.DataFrame, assignment: pd.DataFrame) -> int:
    """Count the eligible questions that are not public, nor of a document that is.

    Halves share no document or passage, so the others cannot be closed. `eligible` has item_id and
    any of `TOGETHER`; `assignment` is a `SplitAssignment` with the same ids.
    """
    public = set(assignment.loc[assignment["half"].eq("validation"), "item_id"])
    shown = eligible["item_id"].isin(public)
    open_ones = ~shown
    for column in TOGETHER:
        if column in eligible:
            values = eligible[column]
            open_ones &= ~(values.isin(values[shown].dropna()) & values.notna())
    return int(open_ones.sum())
