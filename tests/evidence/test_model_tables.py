"""Tables about models: scores, rank agreement, subjects, answer agreement, filter models."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.kept_ranking import (
    GROUPS,
    RankMetric,
    compare_ranks,
    compare_scores,
    models_in,
)
from benchwright.evidence.panel import Panel
from benchwright.evidence.ratings import read_ratings
from benchwright.evidence.scores import compare_responses, count_subjects, score_models, spread
from benchwright.params.evaluation import EvaluationParams, RatingsParams

NO_RATINGS = pd.DataFrame({"model": [], "rating": []})


def answers(rows: dict[str, list[float]], prediction: list[list[int]] | None = None):
    """A response matrix over items i0, i1, … and the panel of all its models."""
    correct = np.array(list(rows.values()), dtype=np.float32)
    ids = tuple(f"i{k}" for k in range(correct.shape[1]))
    blank = np.full(correct.shape, np.nan, dtype=np.float32)
    chosen = np.full(correct.shape, -1) if prediction is None else np.array(prediction)
    matrix = ResponseMatrix(tuple(rows), ids, correct, blank, blank, chosen.astype(np.int16))
    roles = ("filter", *["held_out"] * (len(rows) - 1))
    panel = Panel(tuple(rows), roles, ids, len(ids), "all items", {}, len(ids))
    return matrix, panel


def kept(*ids: str) -> pd.DataFrame:
    return pd.DataFrame({"item_id": list(ids)})


def test_scores_and_ranks_equal_those_by_hand() -> None:
    matrix, panel = answers({"a": [1, 1, 1, 0], "b": [1, 1, 0, 1], "c": [0, 1, 0, 1]})
    seen = score_models(matrix, items_of(matrix), kept("i2", "i3"), panel).set_index("model")
    assert seen["accuracy_full"].to_dict() == {"a": 0.75, "b": 0.75, "c": 0.5}
    assert seen["rank_full"].to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert seen["accuracy_kept"].to_dict() == {"a": 0.5, "b": 0.5, "c": 0.5}
    assert seen["rank_kept"].tolist() == [2.0, 2.0, 2.0]
    assert (seen["n_full"].iloc[0], seen["n_kept"].iloc[0]) == (4, 2)
    assert seen.loc["a", "se_full"] == pytest.approx(0.25)
    assert seen.loc["a", "role"] == "filter"


def items_of(matrix: ResponseMatrix) -> pd.DataFrame:
    """Items of one subject with distinct stems."""
    ids = list(matrix.item_ids)
    return pd.DataFrame(
        {
            "item_id": ids,
            "subject": "s",
            "question": [f"Question {item}?" for item in ids],
            "passage_id": None,
        }
    )


def ranks_of(
    matrix: ResponseMatrix,
    panel: Panel,
    *ids: str,
    ratings: RatingsParams | None = None,
    seed: int = 0,
    items: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rank agreement where the given items are kept."""
    return compare_ranks(
        matrix,
        items_of(matrix) if items is None else items,
        kept(*ids),
        score_models(matrix, items_of(matrix) if items is None else items, kept(*ids), panel),
        panel,
        read_ratings(NO_RATINGS, ratings or RatingsParams()),
        EvaluationParams(bootstrap_samples=200),
        seed,
    )


def test_without_kept_items_or_models_the_tables_have_reasons() -> None:
    matrix, panel = answers({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    seen = ranks_of(matrix, panel)
    assert seen["value"].isna().all()
    assert set(seen.loc[seen["models"] == "all", "reason"]) == {
        "none of the panel's items was kept"
    }
    nobody = panel._replace(models=(), roles=(), item_ids=())
    seen = ranks_of(matrix, nobody, "i0")
    assert seen["value"].isna().all()
    assert set(seen["reason"]) == {f"no {words}" for words in GROUPS.values()}


def value(table: pd.DataFrame, models: str, metric: str) -> pd.Series:
    return table[(table["models"] == models) & (table["metric"] == metric)].iloc[0]


def metrics(
    scores: pd.DataFrame, group: str = "all", ratings: RatingsParams | None = None
) -> dict[str, RankMetric]:
    known = read_ratings(NO_RATINGS, ratings or RatingsParams())
    return {row.metric: row for row in compare_scores(models_in(scores, group), known)}


def scores_of(full: pd.Series, part: pd.Series, models: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": models,
            "role": "held_out",
            "n_full": 3530,
            "n_kept": 1097,
            "accuracy_full": full,
            "accuracy_kept": part,
        }
    )


@pytest.mark.parametrize(
    ("dataset", "rated", "before", "after", "tau_b", "williams"),
    [
        ("arc", 15, 0.784, 0.846, 0.962, 0.10),
        ("mmlu", 16, 0.765, 0.777, 0.976, 0.64),
        ("commonsense_qa", 16, 0.667, 0.660, 0.973, 0.62),
    ],
)
def test_published_correlation_with_arena_is_reproduced(
    repository: Path,
    dataset: str,
    rated: int,
    before: float,
    after: float,
    tau_b: float,
    williams: float,
) -> None:
    """SMART, Table 3, where the value is truncated and said to be of 29 models."""
    tables = pd.read_csv(repository / "tests" / "data" / "smart_tables_10_11_12.csv")
    part = tables[tables["benchmark"] == dataset]
    conf = (repository / "conf" / "base" / "parameters" / "ratings.yml").read_text("utf-8")
    ratings = RatingsParams.model_validate(yaml.safe_load(conf)["ratings"])
    seen = metrics(scores_of(part["full"], part["kept"], part["model"]), ratings=ratings)
    full, kept_ = (seen[f"arena_pearson_{on}"] for on in ("full", "kept"))
    assert (full.n_models, kept_.n_models) == (rated, rated)
    assert full.value == pytest.approx(before, abs=1e-3)
    assert kept_.value == pytest.approx(after, abs=1e-3)
    assert (full.n_items, kept_.n_items) == (3530, 1097)
    assert seen["kendall_tau_b"].value == pytest.approx(tau_b, abs=5e-4)
    assert seen["arena_williams_p"].value == pytest.approx(williams, abs=5e-3)


def many_answers(seed: int = 0) -> tuple[ResponseMatrix, Panel]:
    """Twelve models of rising skill on 150 items."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.3, 0.9, 12)[:, None]
    right = (rng.random((12, 150)) < skill).astype(float)
    return answers({f"m{i:02d}": row.tolist() for i, row in enumerate(right)})


def test_metrics_have_intervals_over_items_and_over_models() -> None:
    matrix, panel = many_answers()
    seen = ranks_of(matrix, panel, *(f"i{k}" for k in range(60)))
    tau = value(seen, "all", "kendall_tau_b")
    assert tau["low"] < tau["value"] <= 1
    assert tau["low"] < tau["high"] <= 1
    assert tau["low_models"] < tau["high_models"] <= 1
    assert value(seen, "filter", "kendall_tau_b")[["low", "high"]].isna().all()  # one model


def test_intervals_do_not_depend_on_the_order_of_items_or_models() -> None:
    matrix, panel = many_answers()
    ids = [f"i{k}" for k in range(60)]
    shuffled = matrix.select_models(matrix.models[::-1]).select_items(matrix.item_ids[::-1])
    ranks = ranks_of(matrix, panel, *ids)
    shuffled_ranks = ranks_of(shuffled, panel, *ids, items=items_of(matrix).iloc[::-1])
    pd.testing.assert_frame_equal(ranks, shuffled_ranks)
    assert not ranks.equals(ranks_of(matrix, panel, *ids, seed=1))


def test_subjects_are_sorted_by_the_share_removed() -> None:
    items = pd.DataFrame({"item_id": list("abcdef"), "subject": list("xxyyyz")})
    left = items[items["item_id"].isin(["a", "d", "e", "f"])]
    seen = count_subjects(items, left[left["subject"] != "x"])
    assert seen["subject"].tolist() == ["x", "y", "z"]
    assert seen["n_full"].tolist() == [2, 3, 1]
    assert seen["n_kept"].tolist() == [0, 2, 1]
    assert seen["share_removed"].tolist() == pytest.approx([1, 1 / 3, 0])


def test_agreement_uses_predictions_if_all_models_have_them() -> None:
    rows = {"a": [1, 0, 0, 0], "b": [1, 0, 0, 1]}
    chosen = [[0, 2, 3, -1], [0, 2, 1, 0]]
    matrix, panel = answers(rows, chosen)
    scores = score_models(matrix, items_of(matrix), kept("i1", "i2"), panel)
    seen = compare_responses(matrix, kept("i1", "i2"), scores, panel).iloc[0]
    assert (seen["kind"], seen["full"], seen["kept"]) == ("prediction", 2 / 3, 0.5)
    assert (seen["n_full"], seen["n_kept"]) == (3, 2)
    assert (seen["model_a"], seen["model_b"]) == ("b", "a")  # in order of the ranking


def test_agreement_uses_correctness_if_a_model_lacks_predictions() -> None:
    matrix, panel = answers({"a": [1, 0, 0, 0], "b": [1, 0, 0, 1]}, [[0, 2, 3, 1], [-1] * 4])
    scores = score_models(matrix, items_of(matrix), kept("i1", "i2"), panel)
    seen = compare_responses(matrix, kept("i1", "i2"), scores, panel).iloc[0]
    assert (seen["kind"], seen["full"], seen["kept"]) == ("correctness", 0.75, 1.0)


def test_many_models_are_sampled_along_the_ranking() -> None:
    names = [f"m{i:02d}" for i in range(50)]
    assert spread(names, 4) == ["m00", "m16", "m33", "m49"]
    assert spread(names, 50) == names
