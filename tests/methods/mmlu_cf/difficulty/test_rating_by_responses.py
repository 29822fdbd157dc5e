"""Difficulty from models' answers."""

import numpy as np

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import (
    difficulty_from_responses,
    levels_by_quantiles,
)


def test_without_reference_levels_each_level_has_a_tenth() -> None:
    values = np.random.default_rng(0).normal(size=200)
    levels = levels_by_quantiles(values)
    assert np.bincount(levels.astype(int)).tolist() == [20] * 10


def test_levels_follow_the_distribution_of_reference_levels() -> None:
    values = np.arange(10.0)
    levels = levels_by_quantiles(values, [2, 2, 2, 2, 2, 5, 5, 5, 7, 9])
    assert levels.tolist() == [2, 2, 2, 2, 2, 5, 5, 5, 7, 9]


def test_ties_share_the_level_of_their_middle_and_unknown_values_have_none() -> None:
    assert levels_by_quantiles([2.0, 2.0, 2.0]).tolist() == [5.0, 5.0, 5.0]
    assert np.isnan(levels_by_quantiles([np.nan, 1.0])[0])
    assert len(levels_by_quantiles([])) == 0


def answers(models: int, items: int) -> ResponseMatrix:
    generator = np.random.default_rng(1)
    ability = generator.normal(size=(models, 1))
    difficulty = np.linspace(-2, 2, items)
    right = generator.random((models, items)) < 1 / (1 + np.exp(-1.5 * (ability - difficulty)))
    return ResponseMatrix.of(
        tuple(f"m{n}" for n in range(models)),
        tuple(f"i{n:02d}" for n in range(items)),
        correct=right.astype(np.float32),
    )


def test_harder_items_get_higher_levels() -> None:
    known, _ = difficulty_from_responses(answers(200, 40), min_models=5)
    levels = np.array([known[f"i{n:02d}"] for n in range(40)])
    assert np.corrcoef(levels, np.arange(40))[0, 1] > 0.95
    assert set(levels) == set(range(10))


def test_too_few_models_give_no_difficulty_with_a_reason() -> None:
    levels, reason = difficulty_from_responses(answers(3, 5), min_models=5)
    assert all(np.isnan(level) for level in levels.values())
    assert reason == "models with answers: 3; 5 are needed"
