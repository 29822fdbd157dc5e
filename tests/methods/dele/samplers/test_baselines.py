"""Sizes, quotas, nesting, ties and row order of samplers that read no responses."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.baselines import (
    balanced_sampler,
    random_sampler,
    stratified_sampler,
    within_subjects,
)
from benchwright.methods.dele.samplers.pool import (
    Draw,
    Sampler,
    SamplingPool,
    order_by,
)
from benchwright.methods.dele.samplers.registry import SAMPLERS
from benchwright.params.sampling import SamplingParams

PLAIN = {
    name: kind
    for name, kind in SAMPLERS.items()
    if kind.family in {"baseline", "quality", "difficulty"} and "responses" not in kind.reads
}
TEXTS = (
    "Can pigs fly?",
    "The doctor carefully examined the patient. He recommended immediate surgery.",
    "",
    "8 + 8 = ?",
    "Photosynthesis requires",
    "Can pigs fly?",
    "THE CAT saw the other cat becasue of teh dog...",
    "naïve 猫 हिन्दी é",
)


def _pool(sizes: dict[str, int], texts: tuple[str, ...] = TEXTS) -> SamplingPool:
    subjects = tuple(name for name, size in sizes.items() for _ in range(size))
    ids = tuple(f"item/{place}" for place in range(len(subjects)))
    return SamplingPool(ids, subjects, tuple(texts[i % len(texts)] for i in range(len(ids))))


def _ids(pool: SamplingPool, draw: Draw, size: int) -> list[str]:
    return [pool.item_ids[place] for place in draw(size).positions]


def _subjects(pool: SamplingPool, draw: Draw, size: int) -> Counter[str]:
    return Counter(pool.subjects[place] for place in draw(size).positions)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_subsets_have_their_size_and_equal_weights(name: str, within: bool) -> None:
    pool = _pool({"b": 7, "a": 3, "": 1})
    sampler = PLAIN[name].make(SamplingParams())
    draw = (within_subjects(sampler) if within else sampler)(pool, 5)
    for size in range(1, 12):
        subset = draw(size)
        assert len(set(subset.positions.tolist())) == len(subset.positions) == size
        assert subset.weights == pytest.approx(np.full(size, 1 / size))


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_draws_do_not_depend_on_row_order(name: str, within: bool) -> None:
    pool = _pool({"b": 9, "a": 6, "c": 6})
    sampler = PLAIN[name].make(SamplingParams())
    sampler = within_subjects(sampler) if within else sampler
    expected = sampler(pool, 3)
    for seed in range(3):
        shuffled = pool.select(np.random.default_rng(seed).permutation(len(pool)))
        draw = sampler(shuffled, 3)
        for size in (1, 4, 10, 21):
            assert _ids(shuffled, draw, size) == _ids(pool, expected, size)


@given(
    st.dictionaries(st.text(max_size=3), st.integers(1, 9), min_size=1, max_size=6),
    st.data(),
    st.integers(0, 2**62),
)
def test_subjects_get_their_quotas(sizes: dict[str, int], data: st.DataObject, seed: int) -> None:
    pool = _pool(sizes)
    size = data.draw(st.integers(1, len(pool)))
    for sampler in (stratified_sampler, within_subjects(random_sampler)):
        got = _subjects(pool, sampler(pool, seed), size)
        for name, n in sizes.items():
            assert abs(got[name] - size * n / len(pool)) < 1
    got = _subjects(pool, balanced_sampler(pool, seed), size)
    level = max(got.values())
    # A subject with at least two items fewer than the largest quota has given all its items.
    assert all(got[name] >= level - 1 or got[name] == n for name, n in sizes.items())


def test_items_are_sorted_by_value_with_missing_values_last() -> None:
    pool = _pool({"": 5})
    values = [2.0, float("nan"), 3.0, 2.0, 1.0]
    up = order_by(values, pool, 0, "x", highest_first=False).tolist()
    down = order_by(values, pool, 0, "x", highest_first=True).tolist()
    assert up[0] == 4
    assert set(up[1:3]) == {0, 3}
    assert up[3:] == [2, 1]
    assert [down[0], *down[3:]] == [2, 4, 1]  # NaN last in both directions


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("spelling_errors", "It is so", "We recieve it"),
        ("word_length", "Photosynthesis", "I am a man"),
        ("repeated_words", "one two three", "one one one"),
        ("cpd", "A. B. C. DE fg.", "rhythm strength x"),
        ("lexical_diversity", "one two three", "one one one"),
        ("difficult_words", "mitochondrial enzymes", "the cat"),
        ("dale_chall", "mitochondrial enzymes", "the cat"),
        ("flesch", "mitochondrial enzymes", "the cat"),
        ("gunning_fog", "mitochondrial enzymes", "the cat"),
    ],
)
def test_each_sampler_starts_with_the_expected_text(name: str, first: str, last: str) -> None:
    pool = SamplingPool(("a", "b"), ("", ""), (last, first))
    assert SAMPLERS[name].make(SamplingParams())(pool, 0)(2).positions.tolist() == [1, 0]


def test_within_subjects_keeps_weights_and_selects_from_the_pool() -> None:
    seen: list[SamplingPool] = []

    def weighted(pool: SamplingPool, seed: int) -> Draw:
        seen.append(pool)
        return lambda size: WeightedSubset(
            np.arange(size), np.arange(1, size + 1) / (size * (size + 1) / 2)
        )

    sampler: Sampler = within_subjects(weighted)
    ids = ("p", "q", "r", "s", "t", "u")
    pool = SamplingPool(
        ids,
        ("b", "a", "b", "b", "a", "b"),
        ids,
        {"enc": np.arange(12, dtype=np.float32).reshape(6, 2)},
        np.arange(18, dtype=np.float32).reshape(3, 6),
    )
    subset = sampler(pool, 0)(3)
    assert [part.item_ids for part in seen] == [("q", "t"), ("p", "r", "s", "u")]
    assert seen[0].vectors["enc"].tolist() == [[2, 3], [8, 9]]
    assert seen[1].correct.tolist() == [[0, 2, 3, 5], [6, 8, 9, 11], [12, 14, 15, 17]]
    assert subset.positions.tolist() == [1, 0, 2]
    assert subset.weights == pytest.approx([1 / 3, 2 / 3 * 1 / 3, 2 / 3 * 2 / 3])
