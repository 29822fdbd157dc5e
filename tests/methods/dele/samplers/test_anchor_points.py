"""Samplers that read responses: chosen items and weights."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.anchor_points import (
    AnchorClusters,
    cut_tree,
    irt_clusters_sampler,
    ward_merges,
)
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import SAMPLERS
from benchwright.methods.dele.samplers.response_samplers import share_wrong
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.item_response import fit_2pl, probability
from few_examples import few_examples

NAN = float("nan")

READING_RESPONSES = [name for name, kind in SAMPLERS.items() if "responses" in kind.reads]


def answers_pool(correct: np.ndarray) -> SamplingPool:
    n = correct.shape[1]
    ids = tuple(f"q{place:04d}" for place in np.random.default_rng(8).permutation(n))
    return SamplingPool(ids, ("",) * n, ("",) * n, correct=correct.astype(np.float32))


def simulated(m: int, n: int, seed: int = 0, gaps: float = 0.0) -> np.ndarray:
    """Simulate responses to items of varied difficulty and discrimination."""
    generator = np.random.default_rng(seed)
    chance = probability(
        generator.normal(size=m), generator.lognormal(0, 0.4, n), generator.normal(0, 1.2, n)
    )
    correct = (generator.random((m, n)) < chance).astype(np.float32)
    correct[generator.random((m, n)) < gaps] = NAN
    return correct


def test_share_wrong_counts_half_a_wrong_and_half_a_right_response_more() -> None:
    correct = np.array([[1, NAN, NAN], [1, 0, NAN], [0, 1, NAN], [NAN, 1, NAN]], np.float32)
    assert share_wrong(correct) == pytest.approx([1.5 / 4, 1.5 / 4, 0.5])


def test_share_wrong_draws_items_first_as_often_as_they_are_missed() -> None:
    correct = np.repeat([[0, 0, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1]], 3, axis=0).T  # 9 items
    pool, sampler = answers_pool(correct), SAMPLERS["share_wrong"].make(SamplingParams())
    first = [sampler(pool, seed)(1).positions[0] for seed in range(600)]
    share = share_wrong(correct)
    found = np.bincount(first, minlength=9) / 600
    assert found == pytest.approx(share / share.sum(), abs=0.05)


def test_irt_clusters_use_the_fitted_parameters() -> None:
    correct = simulated(60, 50, gaps=0.1)
    correct[:, 7] = NAN
    pool = answers_pool(correct)
    fit = fit_2pl(correct)
    points = np.stack([fit.discrimination, np.clip(fit.difficulty, -6, 6)], axis=1)
    points[7] = np.nanmedian(points, axis=0)
    chosen = irt_clusters_sampler(pool, 0)(12)
    labels = fcluster(linkage(points, "ward"), 12, "maxclust")
    assert adjusted_rand_score(labels[chosen.positions], np.arange(12)) == 1
    shares = np.bincount(labels)[labels[chosen.positions]] / 50
    assert chosen.weights == pytest.approx(shares)


@pytest.mark.parametrize("name", READING_RESPONSES)
def test_samplers_without_responses_raise_an_error(name: str) -> None:
    sampler = SAMPLERS[name].make(SamplingParams())
    blank = SamplingPool(("a", "b"), ("", ""), ("", ""))
    nothing = SamplingPool(("a", "b"), ("", ""), ("", ""), correct=np.full((3, 2), NAN, "f4"))
    for pool in (blank, nothing):
        with pytest.raises(InputError, match=rf"{name} reads responses"):
            sampler(pool, 0)


@pytest.mark.parametrize("name", READING_RESPONSES)
def test_subsets_have_their_size_and_nesting_in_any_row_order(name: str) -> None:
    kind = SAMPLERS[name]
    assert kind.reads == "responses"
    pool = answers_pool(simulated(40, 60, gaps=0.05))
    sampler = kind.make(SamplingParams())
    draw, order = sampler(pool, 5), np.random.default_rng(0).permutation(60)
    shuffled = sampler(pool.select(order), 5)
    for size in (1, 10, 25, 60):
        chosen, again = draw(size), shuffled(size)
        assert order[again.positions].tolist() == chosen.positions.tolist()
        assert len(set(chosen.positions.tolist())) == size
        assert chosen.weights.sum() == pytest.approx(1)
        if name in ("pass_rate", "share_wrong"):
            assert chosen.positions.tolist() == draw(60).positions[:size].tolist()


def test_items_of_medium_pass_rates_come_first_at_random_then_the_nearest() -> None:
    correct = np.zeros((99, 6), np.float32)
    for item, solved in enumerate((50, 30, 69, 80, 10, 99)):
        correct[:solved, item] = 1
    pool = answers_pool(correct)
    first = {
        tuple(SAMPLERS["pass_rate"].make(SamplingParams())(pool, seed)(6).positions.tolist())
        for seed in range(40)
    }
    assert {order[:3] for order in first} == set(permutations(range(3)))
    assert {order[3:] for order in first} == {(3, 4, 5)}


@given(st.integers(0, 10_000))
@few_examples
def test_anchors_match_a_direct_implementation(seed: int) -> None:
    """Use sums over the points of a cluster."""
    drawn = np.random.default_rng(seed)
    points = drawn.integers(0, 3, size=(40, 2)).astype(float) * (1, 0.5)
    ties = np.round(drawn.random(40), 1)  # some are equal
    clusters = AnchorClusters(points)
    different, kind, sizes = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    merges = ward_merges(different, sizes)
    for size in (1, 4, len(different), 23, 40):
        labels = cut_tree(merges, len(different), min(size, len(different)))[kind.ravel()]
        members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
        nearest = []
        for cluster in members:
            gaps = np.round(((points[cluster] - points[cluster].mean(axis=0)) ** 2).sum(axis=1), 6)
            rows = zip(gaps.tolist(), ties[cluster].tolist(), cluster.tolist(), strict=True)
            nearest.append(min(rows)[-1])
        others = sorted(set(range(40)) - set(nearest), key=lambda place: (ties[place], place))
        places = nearest + others[: size - len(nearest)]
        own = [cluster for place in places for cluster in members if place in cluster]
        weights = [len(cluster) / np.isin(cluster, places).sum() / 40 for cluster in own]
        anchors = clusters.anchors(size, ties)
        assert anchors.positions.tolist() == places
        assert anchors.weights.tolist() == pytest.approx(weights)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10_000))
def test_point_of_size_s_equals_s_points(u: int, dimensions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, sizes = rng.normal(size=(u, dimensions)), rng.integers(1, 5, u)
    merges = ward_merges(points, sizes)
    assert merges.shape == (u - 1, 2)
    every = np.repeat(np.arange(u), sizes)
    for k in {1, u, 1 + u // 3, 1 + u // 2}:
        labels = cut_tree(merges, u, k)
        assert len(set(labels.tolist())) == k
        if len(every) > 1:
            theirs = fcluster(linkage(points[every], method="ward"), k, "maxclust")
            assert adjusted_rand_score(labels[every], theirs) == 1
