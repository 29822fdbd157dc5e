"""Thresholds and precision against recall."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.wicked.single_best_answer.evaluation import (
    asks_for_the_best,
    operating_point,
)

scored = st.lists(
    st.tuples(st.integers(0, 8).map(lambda tenth: tenth / 8), st.integers(0, 1)), min_size=1
)


@given(scored, st.floats(0.01, 1))
def test_threshold_is_the_highest_that_meets_the_target(
    rows: list[tuple[float, int]], recall: float
) -> None:
    probabilities = np.array([p for p, _ in rows])
    labels = np.array([label for _, label in rows])
    point = operating_point(probabilities, labels, recall)
    if not labels.sum():
        assert (point.threshold, point.share_flagged, point.reason) == (
            0.0,
            1.0,
            "no item has the label 1",
        )
        return
    assert point.recall >= recall - 1e-9
    higher = probabilities[probabilities > point.threshold]
    if len(higher):
        result = labels[probabilities >= higher.min()].sum() / labels.sum()
        assert result < recall
    flagged = probabilities >= point.threshold
    assert point.share_flagged == flagged.mean()
    assert point.precision == labels[flagged].mean()


def test_recall_equal_to_the_target_meets_it() -> None:
    probabilities = np.arange(10, 0, -1) / 10
    point = operating_point(probabilities, np.ones(10, dtype=int), 0.7)
    assert (point.recall, point.threshold) == (0.7, 0.4)


def test_paper_recall_requires_all_positives_if_they_are_few() -> None:
    labels = np.array([1, 0, 0, 1, 0])
    point = operating_point(np.array([0.9, 0.8, 0.7, 0.2, 0.1]), labels, 0.989)
    assert (point.recall, point.threshold, point.share_flagged) == (1.0, 0.2, 0.8)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which is the best treatment?", True),
        ("What MOST likely caused it?", True),
        ("Which of these is least harmful?", True),
        ("What is at most 2?", False),
        ("Name the mainland.", False),
    ],
)
def test_words_that_ask_for_a_degree_are_recognised(question: str, asks: bool) -> None:
    assert asks_for_the_best(question) is asks
