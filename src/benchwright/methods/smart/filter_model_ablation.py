"""What fewer filter models would have removed (SMART, section 5.1 and Table 6)."""

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
from benchwright.methods.smart.finding import Finding, Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.tables.smart import FilterModelAblation


def vary_filter_models(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    choices_only_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    duplicate_groups: Grouping,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
    *other_findings: Finding,
) -> pd.DataFrame:
    """Filters again with subsets of the filter models and counts what goes (SMART, Table 6).

    For each size from n − `ablation.fewer` to n − 1 of the n filter models, at least 1, random
    subsets (all of them where there are no more), and once all n. Easy and answer-only items are
    flagged anew; `other_findings`, of rules that look at no filter model, stay as they are. A rule
    that did not run with all models is left out of the subsets too, even if some of them could run
    it: the rows differ in their models and in nothing else. Empty where no such rule ran.

    Raises:
        InputError: some of the filter models are not among the answers.
    """
    names = in_order(set(chosen_filter_models))
    params = filtering.ablation
    if not params.enabled or not names:
        return FilterModelAblation.empty()
    ordered = sort_items(items)
    n = len(ordered)
    easy_off = Finding.idle("easy", n, "off")
    answer_only_off = Finding.idle("answer_only", n, "off")
    no_conflicts = Grouping("conflicting_gold", "off")

    def easy_items(models: Sequence[str]) -> Finding:
        return flag_easy_items(ordered, response_matrix, list(models), filtering, seed)

    def answer_only_items(models: Sequence[str]) -> Finding:
        return flag_answer_only_items(
            ordered, choices_only_matrix, response_matrix, list(models), filtering
        )

    easy_ran = easy_items(names).status == "ran"
    answer_only_ran = answer_only_items(names).status == "ran"
    if not (easy_ran or answer_only_ran):
        return FilterModelAblation.empty()
    rows = []
    for models in model_subsets(names, params.fewer, params.subsets, seed):
        easy = easy_items(models) if easy_ran else easy_off
        answer_only = answer_only_items(models) if answer_only_ran else answer_only_off
        # Suspect labels and conflicting answers are reported and remove nothing.
        groupings = (duplicate_groups, no_conflicts, similar_groups)
        single = (easy, answer_only, *other_findings)
        findings, _ = combine_rules(ordered, *groupings, filtering, seed, *single)
        removed = int(np.logical_or.reduce([finding.removed for finding in findings]).sum())
        by_models = (int(easy.removed.sum()), int(answer_only.removed.sum()))
        rows.append((len(models), ",".join(models), removed, removed / n, *by_models))
    return FilterModelAblation.from_rows(rows)


def model_subsets(
    models: Sequence[str], fewer: int, subsets: int, seed: int
) -> Iterator[tuple[str, ...]]:
    """Subsets of n models: `subsets` random ones of each size below n, smallest first, then all n.

    The sizes are n − `fewer`, at least 1, to n − 1. All subsets of a size are given where there
    are no more than `subsets`; otherwise as many different ones, drawn by `seed`. Each subset
    keeps the order of `models`.
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
