"""Ablation of the filter models (SMART, section 5.1 and Table 6)."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from benchwright.core.natural_order import in_order
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.methods.smart.combine import choose_redundant
from benchwright.methods.smart.easy import flag_answer_only_items, flag_easy_items
from benchwright.methods.smart.finding import CopyGroups, Finding, Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.tables.smart import FilterModelAblation

_FEWER = 3  # omitted filter models at most: of seven, sizes 4, 5 and 6
_SUBSETS = 10  # of each size at most


def vary_filter_models(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    choices_only_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    copy_groups: CopyGroups,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
    *findings: Finding,
) -> pd.DataFrame:
    """Filter again with subsets of the filter models and count removed items (SMART, Table 6).

    The subsets are those of `model_subsets`. The last two of `findings`, easy and answer-only
    items, are made again; the others, of rules without filter models, stay the same. A rule that
    did not run with all models, or only reports, does not run with subsets either, so that rows
    differ only in their models. The table is empty if no such rule ran.
    """
    *others, easy, alone = findings
    ran = [each.status == "ran" and not each.reason for each in (easy, alone)]
    if not any(ran):
        return FilterModelAblation.empty()
    ids, n = items["item_id"].tolist(), len(items)
    place = pd.Index(ids)
    rows = []
    for models in model_subsets(in_order(set(chosen_filter_models)), _FEWER, _SUBSETS, seed):
        again = (
            flag_easy_items(items, response_matrix, models, filtering, seed),
            flag_answer_only_items(items, choices_only_matrix, models, filtering),
        )
        by_models = [each.removed & runs for each, runs in zip(again, ran, strict=True)]
        removed = np.logical_or.reduce([*by_models, *(each.removed for each in others)])
        gone = {ids[row] for row in np.flatnonzero(removed)}
        found = choose_redundant(gone, copy_groups, similar_groups, filtering, seed)
        removed[place.get_indexer(list(found.copies | found.fewer | found.close))] = True
        counts = (int(removed.sum()), removed.sum() / n, *(int(each.sum()) for each in by_models))
        rows.append((len(models), ",".join(models), *counts))
    return FilterModelAblation.from_rows(rows)


def model_subsets(
    models: Sequence[str], fewer: int, subsets: int, seed: int
) -> Iterator[list[str]]:
    """Yield `subsets` random subsets of n models of each size below n, then all n models.

    The sizes are n − `fewer`, at least 1, to n − 1. A size with at most `subsets` subsets gives
    all of them; otherwise `subsets` different ones are drawn by `seed`. Each subset keeps the order
    of `models`.
    """
    n = len(models)
    for size in range(max(1, n - fewer), n):
        if comb(n, size) <= subsets:
            yield from map(list, combinations(models, size))
            continue
        generator = stage_generator(seed, f"filter_model_ablation_{size}")
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < subsets:
            drawn.add(tuple(np.sort(generator.permutation(n)[:size]).tolist()))
        yield from ([models[i] for i in chosen] for chosen in sorted(drawn))
    yield list(models)
