"""E-processes: their formulas, exact validity on small benchmarks, and peeking in simulations."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import betaln

from benchwright.statistics.anytime import (
    betting_evidence,
    coin_evidence,
    evidence,
    first_decision,
)


def test_coin_evidence_is_the_formula_of_the_discordant_items() -> None:
    d = np.random.default_rng(0).choice([-1, 0, 1], 80, p=[0.1, 0.5, 0.4])
    found = coin_evidence(d)
    for t in (1, 20, 80):
        wins, losses = (d[:t] > 0).sum(), (d[:t] < 0).sum()
        log_e = (wins + losses) * np.log(2) + betaln(1 + wins, 1 + losses)
        assert max(found.not_worse[t - 1], found.worse[t - 1]) == pytest.approx(log_e)
    assert found.not_worse[-1] > 0 >= found.worse[-1]


@pytest.mark.parametrize("margin", [0.0, 0.25, 0.5])
def test_evidence_is_at_most_one_on_average_in_every_order(margin: float) -> None:
    # The mean difference of these 8 items is the margin, the boundary of both hypotheses.
    values = {0.0: [1, 1, -1, -1, 0, 0, 0, 0], 0.25: [1, -1, -1, -1, 0, 0, 0, 0]}
    items = values.get(margin, [1, -1, -1, -1, -1, -1, 0, 0])
    orders = np.array(list(permutations(items)), dtype=float)
    found = evidence(orders, margin, 8)
    for process in found:
        assert (np.exp(process).mean(axis=0) <= 1 + 1e-9).all()
        # Stopping at the first time above a level is no way around it.
        for level in (1.2, 2.0):
            assert np.mean((np.exp(process) >= level).any(axis=1)) <= 1 / level


def test_capital_is_the_product_of_the_bets() -> None:
    rng = np.random.default_rng(3)
    d, margin, total = rng.choice([-1.0, 0.0, 0.5, 1.0], 40), 0.05, 100
    found = betting_evidence(d, margin, total)
    capitals = []
    for factor in (0.5, 1, 2, 4):
        capital, earlier = 1.0, []
        for t, value in enumerate(d):
            mean = (-margin * total - sum(earlier)) / (total - t)
            square = (0.25 * 5 + sum(v * v for v in earlier)) / (5 + t)
            bet = min(factor * margin / square, 0.75 / (1 + mean))
            capital *= 1 + bet * (value - mean)
            earlier.append(value)
        capitals.append(capital)
    assert found.not_worse[-1] == pytest.approx(np.log(np.mean(capitals)))


@pytest.mark.parametrize(
    ("better", "margin", "decision"),
    [
        *((4, 0.05, "worse"), (6, 0.05, "not worse"), (9, 0, "worse"), (11, 0, "not worse")),
        (10, 0, "undecided"),
    ],
)
def test_all_items_decide_exactly(better: int, margin: float, decision: str) -> None:
    d = np.array([1.0] * better + [-1.0] * 10 + [0.0] * (90 - better))
    d = np.random.default_rng(0).permutation(d)
    assert first_decision(evidence(d, margin, 100), 1e-9).decision == decision
    assert first_decision(evidence(d[:60], margin, 100), 1e-9) == ("undecided", 60)


def test_difference_at_the_margin_is_never_decided_by_rounding() -> None:
    d = np.array([-1.0] * 7 + [0.0] * 93)
    found = evidence(d[np.random.default_rng(1).permutation(100)], 0.07, 100)
    assert not np.isinf(found.not_worse).any()
    assert not np.isinf(found.worse).any()


def test_first_decision_names_the_process_that_reaches_the_level_first() -> None:
    good = coin_evidence(np.ones(40))
    assert first_decision(good, 0.05).decision == "not worse"
    assert first_decision(coin_evidence(-np.ones(40)), 0.05).decision == "worse"
    stop = first_decision(good, 0.05).items
    assert good.not_worse[stop - 1] >= np.log(20) > good.not_worse[stop - 2]
    assert first_decision(coin_evidence(np.zeros(9)), 0.05) == ("undecided", 9)
