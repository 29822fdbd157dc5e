"""Subjects that the benchmark's file names as unlike the rest."""

import logging

import pytest

from benchwright.core.errors import InputError
from benchwright.methods.smart.anomalous import flag_anomalous_items
from benchwright.params.filtering import FilteringParams
from methods.smart.filtering_examples import numbered_items

ITEMS = numbered_items(3, ["moral_scenarios", "moral_disputes", "moral_scenarios"])


def test_the_named_subject_goes_and_no_other():
    found = flag_anomalous_items(ITEMS, ["moral_scenarios"], FilteringParams(), None)
    assert found.removed.tolist() == [True, False, True]


def test_part_of_a_name_is_not_a_name():
    with pytest.raises(InputError, match=r"'moral'.*moral_disputes, moral_scenarios"):
        flag_anomalous_items(ITEMS, ["moral"], FilteringParams(), None)


def test_a_subject_may_be_left_out_by_limit(caplog):
    with caplog.at_level(logging.WARNING):
        found = flag_anomalous_items(ITEMS, ["virology"], FilteringParams(), 3)
    assert not found.removed.any()
    assert "'virology'" in caplog.text
