"""Ablation of filter models: the subsets, and the items that each removes."""

from itertools import combinations

import numpy as np
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.anomalous import flag_anomalous_items
from benchwright.methods.smart.combine import combine_rules
from benchwright.methods.smart.duplicates import find_copies
from benchwright.methods.smart.easy import flag_answer_only_items, flag_easy_items
from benchwright.methods.smart.filter_model_ablation import (
    model_subsets,
    vary_filter_models,
)
from benchwright.methods.smart.finding import Finding, Grouping
from benchwright.methods.smart.label_errors import flag_suspect_labels
from benchwright.params.filtering import FilteringParams
from methods.smart.filtering_examples import make_items, make_matrix

N = 60
MODELS = tuple("abcde")
ITEMS = make_items(
    [f"question {row % 50}" for row in range(N)], subjects=["one", "two", "odd"] * (N // 3)
)
DRAWS = np.random.default_rng(3)
MATRIX = make_matrix(
    DRAWS.random((5, N)) < 0.9, np.where(DRAWS.random((5, N)) < 0.95, 0.9, 0.7), models=MODELS
)
CHOICES_ONLY = make_matrix(
    DRAWS.random((5, N)) < 0.7, np.full((5, N), 0.9), models=MODELS, condition="choices_only"
)
SIMILAR = Grouping(
    "similar", "ran", "", tuple((f"q/{i}", f"q/{i + 1}", f"q/{i + 2}") for i in (0, 9, 20, 31))
)


def ablation(
    filtering: FilteringParams | None = None,
    matrix: ResponseMatrix = MATRIX,
    choices_only: ResponseMatrix = CHOICES_ONLY,
    models: tuple[str, ...] = MODELS,
    seed: int = 0,
    few_models: str = "",
):
    filtering = filtering or FilteringParams()
    return vary_filter_models(
        ITEMS,
        matrix,
        choices_only,
        list(models),
        find_copies(ITEMS, filtering),
        SIMILAR,
        filtering,
        seed,
        flag_anomalous_items(ITEMS, ["odd"], None),
        flag_easy_items(ITEMS, matrix, list(models), filtering, seed, few_models),
        flag_answer_only_items(ITEMS, choices_only, list(models), filtering, few_models),
    )


def removed_by_all_rules(models: list[str], filtering: FilteringParams) -> dict[str, int]:
    """Items that the nodes of the stage remove with these filter models."""
    findings, _ = combine_rules(
        ITEMS,
        find_copies(ITEMS, filtering),
        SIMILAR,
        filtering,
        0,
        flag_anomalous_items(ITEMS, ["odd"], None),
        flag_easy_items(ITEMS, MATRIX, models, filtering, 0),
        flag_answer_only_items(ITEMS, CHOICES_ONLY, models, filtering),
        flag_suspect_labels(ITEMS, MATRIX, models, filtering),
    )
    gone = np.logical_or.reduce([finding.removed for finding in findings])
    by_rule: dict[str, Finding] = {finding.rule: finding for finding in findings}
    return {
        "removed": int(gone.sum()),
        "easy": int(by_rule["easy"].removed.sum()),
        "answer_only": int(by_rule["answer_only"].removed.sum()),
    }


@pytest.mark.parametrize("independent", [False, True])
def test_each_subset_removes_the_same_as_the_stage_with_those_models(independent):
    filtering = FilteringParams(independent=independent)
    table = ablation(filtering)
    assert set(table["n_models"]) == {2, 3, 4, 5}
    assert table["removed"].nunique() > 3
    for row in table.to_dict("records"):
        expected = removed_by_all_rules(row["models"].split(","), filtering)
        assert {name: row[name] for name in expected} == expected
        assert row["share_removed"] == pytest.approx(row["removed"] / N)


def test_seven_models_give_10_subsets_of_4_and_5_and_all_of_6_and_7():
    subsets = list(model_subsets("ABCDEFG", fewer=3, subsets=10, seed=0))
    assert [len(subset) for subset in subsets] == [4] * 10 + [5] * 10 + [6] * 7 + [7]
    assert len(set(map(tuple, subsets))) == 28
    assert subsets[20:27] == list(map(list, combinations("ABCDEFG", 6)))


def test_subsets_are_never_empty_and_many_are_not_enumerated():
    assert list(model_subsets("AB", fewer=3, subsets=10, seed=0)) == [["A"], ["B"], ["A", "B"]]
    subsets = list(model_subsets(range(400), fewer=2, subsets=10, seed=1))
    assert [len(subset) for subset in subsets] == [398] * 10 + [399] * 10 + [400]


def test_rules_that_cannot_run_with_all_models_are_omitted_everywhere():
    # Without the choices-only answers of e the rule cannot run, though a to d have theirs.
    table = ablation(choices_only=CHOICES_ONLY.select_models(MODELS[:4]))
    assert (table["answer_only"] == 0).all()
    assert (table["easy"] > 0).any()


def test_without_answers_of_filter_models_the_ablation_is_empty():
    nobody = ResponseMatrix.empty(tuple(ITEMS["item_id"]))
    unknown = ("x", "y")
    assert ablation(models=()).empty
    assert ablation(few_models="only 3 models").empty
    assert ablation(models=unknown, choices_only=nobody).empty
    assert ablation(matrix=nobody, choices_only=nobody).empty
