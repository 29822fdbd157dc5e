"""How far ranks move if suspect items are wrong."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.methods.smart.suspect_effect import measure_suspect_effect
from benchwright.params.evaluation import EvaluationParams
from benchwright.tables.responses import Models

N, WRONG = 60, 3
IDS = tuple(f"q/{i}" for i in range(N))
NAMES = ("a", "b", "c", "d")
MODELS = Models.from_rows([(name, name, None, None, False, None) for name in NAMES])
PANEL = Panel(NAMES, ("held_out",) * 4, tuple(sorted(IDS)), N, "all", (), N)
ITEMS = pd.DataFrame(
    {
        "item_id": IDS,
        "subject": "maths",
        "passage_id": None,
        "question": [f"Question {i}?" for i in range(N)],
        "choices": [["yes", "no"]] * N,
        "correct_set": [[0]] * N,
    }
)
NO_REVIEW = pd.DataFrame({"item_id": [], "rule": [], "verdict": []})


def answers() -> ResponseMatrix:
    """Model d, right but for one more item, is the only one to fall for the three wrong labels."""
    right = np.ones((4, N), dtype=bool)
    for model, errors in enumerate((10, 12, 15, 11)):
        right[model, WRONG : WRONG + errors] = False
    right[:3, :WRONG] = False
    return ResponseMatrix.of(
        NAMES,
        IDS,
        correct=right.astype(np.float32),
        prediction=np.where(right, 0, 1).astype(np.int16),
    )


def effect(review: pd.DataFrame = NO_REVIEW, draws: int = 200) -> pd.DataFrame:
    evaluation = EvaluationParams(random_subsets=draws)
    matrix = answers()
    ranked = rank_suspect_items(matrix, ITEMS, MODELS)
    return measure_suspect_effect(matrix, ITEMS, PANEL, ranked, review, evaluation, 0)


def reviewed(*verdicts: tuple[str, str]) -> pd.DataFrame:
    rows = [(item, "suspect_items", verdict) for item, verdict in verdicts]
    return pd.DataFrame(rows, columns=["item_id", "rule", "verdict"])


def test_confirmed_items_are_removed_rekeyed_and_compared_with_random_ones() -> None:
    review = reviewed(*((f"q/{i}", "agree") for i in range(WRONG)), ("q/5", "disagree"))
    table = effect(review).set_index("change")
    assert table["n_items"].tolist() == [3, 3, 3]
    assert table["confirmed"].all()
    # With the labels d is first; without them second, after a, which is first.
    assert table.loc["removed", "largest_shift"] == 1
    assert table.loc["removed", "kendall_tau_b"] == pytest.approx(4 / 6)
    assert table.loc["rekeyed", "largest_shift"] == 2
    assert table.loc["random", "kendall_tau_b"] > table.loc["removed", "kendall_tau_b"]


def test_without_a_review_the_top_twentieth_counts() -> None:
    table = effect()
    assert not table["confirmed"].any()
    assert table["n_items"].tolist() == [3, 3, 3]
    assert effect(draws=0)["change"].tolist() == ["removed", "rekeyed"]


def test_nothing_to_compare_gives_an_empty_table() -> None:
    matrix = answers().select_models(["a"])
    ranked = rank_suspect_items(matrix, ITEMS, MODELS)
    alone = PANEL._replace(models=("a",), roles=("held_out",))
    table = measure_suspect_effect(matrix, ITEMS, alone, ranked, NO_REVIEW, EvaluationParams(), 0)
    assert table.empty
