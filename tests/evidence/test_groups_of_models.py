"""Sets of models, and the metrics that depend on clusters."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.kept_ranking import compare_ranks, models_in
from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.ratings import Ratings
from benchwright.evidence.scores import score_models
from benchwright.params.evaluation import EvaluationParams


def scores_of(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "role", "accuracy_full"])


def test_model_equal_to_the_best_filter_model_is_not_stronger() -> None:
    scores = scores_of(
        [
            ("weak", "filter", 0.4),
            ("strong", "filter", 0.8),
            ("equal", "held_out", 0.8),
            ("between", "held_out", 0.7),
            ("above", "held_out", 0.81),
        ]
    )
    assert models_in(scores, "stronger")["model"].tolist() == ["above"]


IDS = tuple(f"i{k:02d}" for k in range(24))


def in_threes(models: int = 5) -> tuple[ResponseMatrix, Panel, pd.DataFrame]:
    """Answers to 24 items, three per stem; a model's answers within a stem are equal."""
    rng = np.random.default_rng(2)
    right = rng.random((models, 8)) < np.linspace(0.3, 0.8, models)[:, None]
    matrix = ResponseMatrix.of(
        tuple(f"m{i}" for i in range(models)),
        IDS,
        correct=np.repeat(right, 3, axis=1).astype(np.float32),
    )
    items = pd.DataFrame(
        {
            "item_id": list(IDS),
            "subject": "s",
            "question": [f"Stem {k // 3}?" for k in range(24)],
            "passage_id": None,
        }
    )
    roles = ("filter", *["held_out"] * (models - 1))
    return matrix, Panel(matrix.models, roles, IDS, 24, "all", {}, 24), items


def clustered(correct: np.ndarray, stem: np.ndarray) -> float:
    """√(G/(G − 1) Σ R²)/n, where R is the sum of the deviations in a stem."""
    sums = [float((correct - correct.mean())[stem == s].sum()) for s in np.unique(stem)]
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.square(sums).sum()) / len(correct))


def ranks_of(
    matrix: ResponseMatrix, panel: Panel, items: pd.DataFrame, kept: list[str]
) -> pd.DataFrame:
    chosen = pd.DataFrame({"item_id": kept})
    table = compare_ranks(
        matrix,
        items,
        chosen,
        score_models(matrix, items, chosen, panel),
        panel,
        Ratings({}, ""),
        EvaluationParams(bootstrap_samples=0),
        0,
    )
    return table[table["models"] == "all"].set_index("metric")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a@cloze-0", "a@cloze_bytes-0", "a@letters-0"], "1 model; at least 3 are needed"),
        (["a@cloze-0", "a@letters-0", "b"], "2 models; at least 3 are needed"),
        (["a@cloze-0", "b", "c"], "pairs that differ significantly on all items: 3"),
        (["a@cloze-0", "a@letters-0", "b", "c"], "pairs that differ significantly on all items: 5"),
    ],
)
def test_clear_pairs_are_of_at_least_three_different_models(names: list[str], reason: str) -> None:
    _, panel, items = in_threes()
    items["question"] = items["item_id"]
    right = np.arange(24) < np.array([1, 8, 16, 23])[: len(names), None]
    matrix = ResponseMatrix.of(tuple(names), IDS, correct=right.astype(np.float32))
    of = panel._replace(models=matrix.models, roles=("held_out",) * len(names))
    seen = ranks_of(matrix, of, items, list(IDS))
    assert seen.loc["pairwise_agreement", "reason"] == reason
    assert np.isnan(seen.loc["clear_pairs", "value"]) == ("needed" in reason)
    assert headline_group(of) == ("all" if "needed" in reason else "held_out")


def test_detectable_differences_are_in_points_and_clustered_by_stem() -> None:
    matrix, panel, items = in_threes()
    kept = [*range(9), *range(15, 24)]
    seen = ranks_of(matrix, panel, items, [IDS[k] for k in kept])
    correct, stem = matrix.correct.astype(float), np.arange(24) // 3
    z = 1.959964 + 0.841621
    for metric, some in (("mdd_full", np.arange(24)), ("mdd_kept", np.array(kept))):
        errors = [
            clustered(correct[a, some] - correct[b, some], stem[some])
            for a in range(5)
            for b in range(a)
        ]
        assert seen.loc[metric, "value"] == pytest.approx(100 * z * np.median(errors), rel=1e-4)
        assert seen.loc[metric, "n_items"] == len(some)
    assert seen.loc["mdd_full", "value"] != seen.loc["mdd_kept", "value"]
