"""Proportional whole-number shares."""

from hypothesis import given
from hypothesis import strategies as st

from benchwright.statistics.random_subsets import largest_remainder

SIZES = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 50), max_size=8)


@given(SIZES, st.floats(0, 1))
def test_shares_sum_to_the_total_and_are_within_one_of_the_exact_share(sizes, fraction):
    whole = sum(sizes.values())
    total = int(fraction * whole)
    shares = largest_remainder(sizes, total)
    assert sum(shares.values()) == total
    for name, size in sizes.items():
        assert 0 <= shares[name] <= size
        assert not whole or abs(shares[name] - total * size / whole) < 1


def test_largest_remainders_come_first_and_ties_follow_the_names():
    assert largest_remainder({"c": 10, "b": 10, "a": 10}, 2) == {"a": 1, "b": 1, "c": 0}
    assert largest_remainder({"small": 4, "large": 16}, 2) == {"small": 0, "large": 2}
