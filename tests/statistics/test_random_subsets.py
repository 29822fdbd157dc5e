"""Random subsets: exact sizes, quotas per stratum, equal probability of all items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.statistics.random_subsets import draw_subsets, largest_remainder, subset_blocks


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.integers(-2, 4), min_size=1, max_size=40), st.data())
def test_sizes_and_quotas_are_exact(labels: list[int], data: st.DataObject) -> None:
    strata = np.array(labels)
    size = data.draw(st.integers(0, len(labels)))
    drawn = draw_subsets(len(labels), size, 5, rng(1), strata)
    assert (drawn.sum(axis=1) == size).all()
    names, counts = np.unique(strata, return_counts=True)
    quotas = largest_remainder(dict(zip(map(str, names), counts.tolist(), strict=True)), size)
    remainders = {str(k): size * c % len(labels) for k, c in zip(names, counts, strict=True)}
    for row in drawn:
        seen = {str(name): int(row[strata == name].sum()) for name in names}
        # The same quotas, except where equal remainders are settled at random.
        assert sorted(
            (remainders[k], seen[k] - size * c // len(labels))
            for k, c in zip(map(str, names), counts, strict=True)
        ) == sorted(
            (remainders[k], quotas[k] - size * c // len(labels))
            for k, c in zip(map(str, names), counts, strict=True)
        )


def test_every_item_and_every_pair_is_equally_likely() -> None:
    drawn = draw_subsets(6, 2, 30_000, rng(2))
    together = drawn.T.astype(float) @ drawn / 30_000
    assert np.diag(together) == pytest.approx(np.full(6, 1 / 3), abs=0.012)
    assert together[~np.eye(6, dtype=bool)] == pytest.approx(np.full(30, 1 / 15), abs=0.008)


class FewNumbers:
    """A generator whose numbers are often equal."""

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return rng(7).integers(0, 3, shape) / 4


@pytest.mark.parametrize("strata", [None, np.array([0, 0, 1, 1, 1, 2] * 5)])
def test_sizes_are_exact_with_equal_numbers(strata: np.ndarray | None) -> None:
    drawn = draw_subsets(30, 11, 50, FewNumbers(), strata)  # type: ignore[arg-type]
    assert (drawn.sum(axis=1) == 11).all()


def test_sizes_zero_and_all_are_valid() -> None:
    assert not draw_subsets(4, 0, 3, rng()).any()
    assert draw_subsets(4, 4, 3, rng(), np.array([0, 1, 1, 2])).all()
    assert draw_subsets(0, 0, 2, rng()).shape == (2, 0)


@pytest.mark.parametrize("rows", [1, 3, 7, 20])
def test_subsets_in_blocks_equal_those_at_once(rows: int) -> None:
    strata = np.arange(30) % 4
    whole = draw_subsets(30, 11, 10, np.random.default_rng(3), strata)
    parts = list(subset_blocks(30, 11, 10, np.random.default_rng(3), strata, rows))
    assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
    assert np.array_equal(np.concatenate(parts), whole)


def test_largest_remainders_come_first_and_ties_follow_the_names() -> None:
    assert largest_remainder({"c": 10, "b": 10, "a": 10}, 2) == {"a": 1, "b": 1, "c": 0}
    assert largest_remainder({"small": 4, "large": 16}, 2) == {"small": 0, "large": 2}
    assert largest_remainder({"a": 0}, 0) == {"a": 0}
