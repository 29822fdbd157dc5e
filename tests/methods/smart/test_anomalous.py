"""Subjects that the benchmark's configuration names as anomalous."""

import logging

import pytest

from benchwright.core.errors import InputError
from benchwright.methods.smart.anomalous import flag_anomalous_items
from methods.smart.filtering_examples import numbered_items

ITEMS = numbered_items(3, ["moral_scenarios", "moral_disputes", "moral_scenarios"])


def test_only_the_named_subject_is_removed():
    verdicts = flag_anomalous_items(ITEMS, ["moral_scenarios"], None)
    assert verdicts.removed.tolist() == [True, False, True]


def test_subject_names_match_in_full():
    with pytest.raises(InputError, match=r"'moral'.*moral_disputes, moral_scenarios"):
        flag_anomalous_items(ITEMS, ["moral"], None)


def test_anomalous_subject_may_be_excluded_by_limit(caplog):
    with caplog.at_level(logging.WARNING):
        verdicts = flag_anomalous_items(ITEMS, ["virology"], 3)
    assert not verdicts.removed.any()
    assert "'virology'" in caplog.text
