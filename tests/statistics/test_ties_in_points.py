"""Ranges of scores are whole answers: equal ones tie, however their decimals came out."""

import numpy as np
import pytest

from benchwright.statistics.percentile import percentile_among, two_sided_p
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import subset_figures


def test_a_range_of_as_many_answers_is_a_tie() -> None:
    rng = np.random.default_rng(0)
    n, size, models, draws = 395, 338, 25, 400
    correct = (rng.random((models, n)) < np.linspace(0.4, 0.7, models)[:, None]).astype(float)
    figures = subset_figures(correct, draw_subsets(n, size, draws, rng), top=20)
    answers = np.round(figures.spread_top / 100 * size).astype(int)
    for subset in range(20):
        below = int((answers < answers[subset]).sum())
        equal = int((answers == answers[subset]).sum())
        value = float(figures.spread_top[subset])
        assert percentile_among(value, figures.spread_top) == pytest.approx(
            100 * (below + equal / 2) / draws
        )
        nearer = min(below, draws - below - equal)
        expected = min(1, 2 * (1 + equal + nearer) / (1 + draws))
        assert two_sided_p(value, figures.spread_top) == pytest.approx(expected)
