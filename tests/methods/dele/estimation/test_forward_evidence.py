"""Unequal draws are used where they are safe for models stronger than those they are fitted to."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.forward_evidence import FEWEST_MODELS, judge_unequal
from benchwright.methods.dele.estimation.training import Training

Responses = NDArray[np.float32]


def ordered(m: int = 60, n: int = 200) -> Responses:
    """Responses of models whose items differ much in difficulty: many are right or wrong in all."""
    rng = np.random.default_rng(2)
    logits = rng.normal(0, 1, (m, 1)) - 4 * rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-logits))).astype(np.float32)


def surprising() -> Responses:
    """The same, but the best models solve a tenth of the items that no other model solves."""
    correct = ordered()
    best = np.argsort(correct.mean(axis=1))[-18:]
    correct[:, :40] = 0
    correct[np.ix_(best, np.arange(40))] = np.random.default_rng(3).random((18, 40)) < 0.5
    return correct


def test_unequal_draws_are_worth_more_where_items_differ() -> None:
    found = judge_unequal(Training(ordered()), 0)
    assert found.passed
    assert found.worth > 1.1
    assert found.reason.startswith("unequal: on the strongest of these models")


def test_items_that_only_the_strongest_solve_forbid_unequal_draws() -> None:
    found = judge_unequal(Training(surprising()), 0)
    assert not found.passed
    assert found.worth < 1
    assert found.reason.startswith("random: on the strongest of these models")


@pytest.mark.parametrize("correct", [ordered(FEWEST_MODELS - 1), ordered(n=10)])
def test_few_models_or_items_give_no_evidence(correct: Responses) -> None:
    found = judge_unequal(Training(correct), 0)
    assert not found.passed
    assert found.reason.startswith("random: too few models or items")


def test_the_order_of_models_and_items_does_not_matter() -> None:
    correct, rng = ordered(), np.random.default_rng(4)
    turned = correct[rng.permutation(60)][:, rng.permutation(200)]
    assert judge_unequal(Training(turned), 0) == pytest.approx(judge_unequal(Training(correct), 0))
