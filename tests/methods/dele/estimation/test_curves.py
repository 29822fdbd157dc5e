"""Sums of item curves: equal items are taken once and count as often as they are."""

import numpy as np

from benchwright.methods.dele.estimation.training import ItemCurves
from benchwright.statistics.item_response import fit_2pl, probability


def test_equal_items_count_as_often_as_they_are() -> None:
    rng = np.random.default_rng(0)
    few = (rng.random((8, 20)) < np.linspace(0.2, 0.9, 8)[:, None]).astype(np.float64)
    answers = few[:, rng.integers(0, 20, 300)]
    answers[:, 7] = np.nan  # an item that nobody answered
    fit = fit_2pl(answers)
    curves = ItemCurves.of(fit)
    known = np.arange(300) != 7
    p = probability(curves.nodes, fit.discrimination[known], fit.difficulty[known])
    np.testing.assert_allclose(curves.total, [p.sum(axis=1), (p * (1 - p)).sum(axis=1)])

    places = np.array([0, 1, 7, 50])
    found = curves.expected(places, np.array([[1.0, 0.0, 1.0, 1.0]]))
    asked = [0, 1, 50]
    prior = np.exp(-0.5 * curves.nodes**2)
    of_asked = probability(curves.nodes, fit.discrimination[asked], fit.difficulty[asked])
    likelihood = np.prod(np.where([True, False, True], of_asked, 1 - of_asked), axis=1)
    posterior = prior * likelihood / (prior * likelihood).sum()
    rest = np.delete(np.arange(300), places)
    others = probability(curves.nodes, fit.discrimination[rest], fit.difficulty[rest])
    np.testing.assert_allclose(found.mean, [posterior @ others.mean(axis=1)])
