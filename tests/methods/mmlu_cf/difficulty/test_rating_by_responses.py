"""Difficulty from models' answers, and judges beside it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.mmlu_cf.difficulty.anchors import (
    calibrated_ratings,
    judges_beside_anchors,
    judges_scale,
)
from benchwright.methods.mmlu_cf.difficulty.irt_fallback import (
    difficulty_from_responses,
    levels_by_quantiles,
)
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import levels_of
from benchwright.tables.mmlu_cf import DifficultyRatings


def test_without_reference_levels_each_level_has_a_tenth() -> None:
    values = np.random.default_rng(0).normal(size=200)
    levels = levels_by_quantiles(values, values)
    assert np.bincount(levels.astype(int)).tolist() == [20] * 10
    assert (levels == levels_of(values)).all()  # as the sample by difficulty cuts its own pool


def test_with_reference_levels_their_distribution_is_taken_over() -> None:
    values = np.arange(10.0)
    levels = levels_by_quantiles(values, values, [2, 2, 2, 2, 2, 5, 5, 5, 7, 9])
    assert levels.tolist() == [2, 2, 2, 2, 2, 5, 5, 5, 7, 9]


def test_values_are_placed_among_the_reference_and_beyond_its_ends() -> None:
    assert levels_by_quantiles([-9, 4.5, 99, np.nan], np.arange(10.0)).tolist()[:3] == [0, 5, 9]
    assert np.isnan(levels_by_quantiles([-9, np.nan], np.arange(10.0))[1])
    assert np.isnan(levels_by_quantiles([1.0], [])).all()


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
    found = difficulty_from_responses(answers(200, 40), fewest_models=5)
    levels = np.array([found.levels[f"i{n:02d}"] for n in range(40)])
    assert np.corrcoef(levels, np.arange(40))[0, 1] > 0.95
    assert set(levels) == set(range(10))
    assert found.models == 200


def test_too_few_models_give_no_difficulty_and_say_so() -> None:
    found = difficulty_from_responses(answers(3, 5), fewest_models=5)
    assert all(np.isnan(level) for level in found.levels.values())
    assert found.reason == "3 models have answers; 5 are needed"


def rated(judge: str, values: dict[str, float | None]) -> pd.DataFrame:
    return DifficultyRatings.from_rows(
        [
            (item, judge, 1, value, "r", "unparsed" if value is None else "parsed")
            for item, value in values.items()
        ]
    )


def test_a_judge_who_knows_is_told_from_one_who_does_not() -> None:
    names = [f"i{number:03d}" for number in range(120)]
    wrong = pd.Series(np.linspace(0, 1, 120), index=names)
    knows = rated("knows", {name: int(9 * wrong[name]) for name in names})
    throws = np.random.default_rng(0).integers(0, 10, 120)
    guesses = rated("guesses", dict(zip(names, throws.tolist(), strict=True)))
    same = rated("same", dict.fromkeys(names, 5))
    table = judges_beside_anchors(pd.concat([knows, guesses, same]), wrong, seed=0, draws=200)
    table = table.set_index("judge")
    assert table.loc["knows", "spearman"] > 0.98
    assert table.loc["guesses", "low"] < 0 < table.loc["guesses", "high"]
    assert table.loc["same", "reason"] == "no spread"
    assert np.isnan(table.loc["same", "spearman"])


def test_unknown_anchors_and_unread_ratings_are_left_out() -> None:
    said = rated("j", {"a": 1, "b": 2, "c": None, "d": 4})
    table = judges_beside_anchors(said, pd.Series({"a": 0.1, "b": 0.2, "c": 0.3}), seed=0)
    assert table["n_items"].tolist() == [2]
    assert table["reason"].tolist() == ["2 items have both; 3 are needed"]


def test_the_scale_never_falls_and_counts_by_hand() -> None:
    said = rated("j", {"a": 2, "b": 2, "c": 5, "d": 8})
    wrong = pd.Series({"a": 0.2, "b": 0.4, "c": 0.15, "d": 0.8})
    scale = judges_scale(said, wrong)
    assert scale["n_items"].tolist() == [0, 0, 2, 0, 0, 1, 0, 0, 1, 0]
    # 2 (mean .3, twice) and 5 (.15) are out of order: both become (.6 + .15) / 3 = .25.
    assert scale["fitted"].tolist() == pytest.approx(
        [0.25] * 6 + [0.25 + 0.55 / 3, 0.25 + 1.1 / 3, 0.8, 0.8]
    )
    calibrated = calibrated_ratings(said, scale)
    assert calibrated["rating"].tolist() == pytest.approx([2, 2, 2, 7.5])


def test_a_judge_without_anchors_keeps_its_ratings() -> None:
    scale = judges_scale(rated("j", {"a": 3}), pd.Series({"a": 0.5}))
    said = rated("other", {"a": 3, "b": None})
    assert calibrated_ratings(said, scale)["rating"].tolist()[0] == 3


@pytest.mark.real_data
def test_levels_of_real_mmlu_items_follow_their_wrong_answers(shared_data: Path) -> None:
    wide = pd.read_parquet(shared_data / "responses" / "mmlu_correct_23models.parquet")
    wide = wide[wide["item_id"].str.startswith(("mmlu/astronomy", "mmlu/virology"))]
    models = [column for column in wide if column != "item_id"]
    matrix = ResponseMatrix.of(
        tuple(models),
        tuple(wide["item_id"]),
        correct=wide[models].to_numpy(dtype=np.float32).T.copy(),
    )
    levels = pd.Series(difficulty_from_responses(matrix, fewest_models=5).levels)
    wrong = 1 - wide.set_index("item_id")[models].astype(float).mean(axis=1)
    assert levels.corr(wrong, method="spearman") > 0.9
