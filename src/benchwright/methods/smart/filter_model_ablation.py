"""Ablation of the filter models (SMART, section 5.1 and Table 6)."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from benchwright.core.natural_order import in_order, sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.methods.smart.answer_only import flag_answer_only_items
from benchwright.methods.smart.combine import combine_rules
from benchwright.methods.smart.easy import flag_easy_items
from benchwright.methods.smart.finding import CopyGroups, Finding, Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.tables.smart import FilterModelAblation


def vary_filter_models(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    choices_only_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    copy_groups: CopyGroups,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
    *other_findings: Finding,
) -> pd.DataFrame:
    """Filter again with subsets of the filter models and count removed items (SMART, Table 6).

    The subsets are those of `model_subsets`. Easy and answer-only items are flagged again;
    `other_findings` are those of rules without filter models and stay the same. A rule that did not
    run with all models does not run with subsets either, so that rows differ only in their models.
    The table is empty if no such rule ran.

    Raises:
        InputError: a filter model has no responses.
    """
    names = in_order(set(chosen_filter_models))
    params = filtering.ablation
    if not params.enabled or not names:
        return FilterModelAblation.empty()
    ordered = sort_items(items)
    n = len(ordered)

    def flag(models: Sequence[str]) -> list[Finding]:
        matrices = (choices_only_matrix, response_matrix)
        return [
            flag_easy_items(ordered, response_matrix, list(models), filtering, seed),
            flag_answer_only_items(ordered, *matrices, list(models), filtering),
        ]

    ran = [finding.status == "ran" for finding in flag(names)]
    if not any(ran):
        return FilterModelAblation.empty()
    rows = []
    for models in model_subsets(names, params.fewer, params.subsets, seed):
        by_models = [
            finding if runs else Finding.idle(finding.rule, n, "off")
            for finding, runs in zip(flag(models), ran, strict=True)
        ]
        single = (*by_models, *other_findings)
        findings, _ = combine_rules(ordered, copy_groups, similar_groups, filtering, seed, *single)
        removed = int(np.logical_or.reduce([finding.removed for finding in findings]).sum())
        counts = (int(finding.removed.sum()) for finding in by_models)
        rows.append((len(models), ",".join(models), removed, removed / n, *counts))
    return FilterModelAblation.from_rows(rows)


def model_subsets(
    models: Sequence[str], fewer: int, subsets: int, seed: int
) -> Iterator[tuple[str, ...]]:
    """Yield `subsets` random subsets of n models of each size below n, then all n models.

    The sizes are n − `fewer`, at least 1, to n − 1. A size with at most `subsets` subsets gives
    all of them; otherwise `subsets` different ones are drawn by `seed`. Each subset keeps the order
    of `models`.
    """
    n = len(models)
    for size in range(max(1, n - fewer), n):
        if comb(n, size) <= subsets:
            yield from combinations(models, size)
            continue
        generator = stage_generator(seed, f"filter_model_ablation_{size}")
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < subsets:
            drawn.add(tuple(np.sort(generator.permutation(n)[:size]).tolist()))
        yield from (tuple(models[i] for i in chosen) for chosen in sorted(drawn))
    yield tuple(models)
