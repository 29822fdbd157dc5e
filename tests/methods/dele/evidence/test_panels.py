"""Panels of models, and the compared items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.dele.evidence.panels import split_by_family, split_forward
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_study,
)


def test_nodes_share_answers_that_none_can_change() -> None:
    study = make_study()
    assert study.panels.responses("all") is study.panels.correct
    with pytest.raises(ValueError, match="read-only"):
        study.panels.correct[0, 0] = 1


def test_items_and_models_with_missing_responses_are_dropped() -> None:
    answers = make_answers()
    answers[:, 0] = np.nan  # no model
    answers[:13, 1] = np.nan  # too few models
    answers[5, 2:20] = np.nan  # one model has many missing responses
    answers[6, 30] = np.nan  # one model misses one item, which is dropped
    panels = make_panels(answers)
    assert panels.answered_items == 58
    assert panels.left_out == 1
    assert "m05" not in panels.models
    assert set(make_items()["item_id"]) - set(panels.item_ids) == {"i000", "i001", "i030"}
    assert not np.isnan(panels.correct).any()
    column = panels.item_ids.index("i040")
    assert panels.correct[0, column] == answers[0, 40]


def test_panels_are_empty_without_responses() -> None:
    panels = make_panels(np.full((4, 60), np.nan, np.float32))
    assert (panels.item_ids, panels.models, panels.left_out) == ((), (), 4)
    assert panels.main == "all"


@given(
    families=st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40),
    seed=st.integers(0, 99),
)
def test_families_are_not_split(families: list[str], seed: int) -> None:
    models = [f"m{place}" for place in range(len(families))]
    split = split_by_family(families, seed)
    sides = [{families[place] for place in side} for side in split]
    assert not sides[0] & sides[1]
    assert sorted([*split.selection, *split.held_out]) == list(range(len(models)))
    assert len(split.selection) >= 1
    if len({families[place] for place in split.selection}) > 1:
        assert len(split.selection) <= len(models) / 2


def test_stronger_models_are_held_out_in_the_forward_split() -> None:
    split = split_forward(["a", "b", "c", "d"], [0.9, 0.2, 0.5, 0.2])
    assert split.selection.tolist() == [1, 3]
    assert split.held_out.tolist() == [0, 2]
