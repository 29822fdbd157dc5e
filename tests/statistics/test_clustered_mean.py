"""Means and shares of clustered items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.statistics.proportion import clustered_means, clustered_share, wilson_interval


def test_independent_items_give_students_interval() -> None:
    from scipy import stats

    values = np.array([[-1.0, 0.0, 0.5, -0.5, 0.0, -1.0]])
    interval = clustered_means(values, np.arange(6))
    wanted = stats.t.interval(0.95, 5, loc=values.mean(), scale=stats.sem(values[0]))
    assert (interval.low[0], interval.high[0]) == pytest.approx(wanted)
    assert interval.reason == ""


def test_no_items_and_one_cluster_have_no_interval_and_a_reason() -> None:
    assert clustered_means(np.empty((2, 0)), np.empty(0, dtype=int)).reason == "there are no items"
    interval = clustered_means(np.array([[0.0, 1.0]]), np.zeros(2, dtype=int))
    assert interval.mean[0] == 0.5
    assert np.isnan(interval.low[0])
    assert "one cluster" in interval.reason


@given(st.integers(1, 60), st.data())
def test_independent_cases_give_wilsons_interval(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    interval = clustered_share(np.arange(n) < k, np.arange(n))
    wanted = wilson_interval(k, n)
    assert (interval.low, interval.high) == pytest.approx((wanted.low, wanted.high))


def test_draws_of_one_item_count_as_little_more_than_one_case() -> None:
    hits = np.repeat([True, False, True, True, False, False, True, False], 5)
    items = np.repeat(np.arange(8), 5)
    interval = clustered_share(hits, items)
    alone = wilson_interval(4, 8)
    assert interval.value == 0.5
    # The clustered variance has 8/7 in it, so it is a little wider than that of 8 cases.
    assert interval.low == pytest.approx(alone.low, abs=0.03)
    assert interval.low < wilson_interval(20, 40).low - 0.1


def test_share_of_1_in_few_clusters_has_a_wide_interval() -> None:
    interval = clustered_share(np.ones(20, dtype=bool), np.repeat(np.arange(4), 5))
    assert interval.low == pytest.approx(wilson_interval(4, 4).low)
    assert interval.high == 1
    assert np.isnan(clustered_share(np.empty(0, dtype=bool), np.empty(0, dtype=int)).value)
