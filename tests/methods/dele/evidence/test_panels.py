"""Panels of models, and the compared items."""

from copy import deepcopy

import numpy as np
import pytest

from benchwright.methods.dele.evidence.panels import CHOSEN_BY
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_study,
)


def test_no_family_is_in_selection_and_held_out() -> None:
    panels = make_panels()
    sides = [{panels.families[p] for p in panels.groups[g]} for g in ("selection", "held_out")]
    assert not sides[0] & sides[1]
    assert sum(len(panels.groups[g]) for g in ("selection", "held_out")) == 24
    assert panels.main == "held_out"


def test_forward_panel_has_the_stronger_models() -> None:
    panels = make_panels()
    scores = panels.correct.mean(axis=1)
    assert scores[panels.groups["forward"]].min() >= scores[panels.groups["weak"]].max()


def test_model_panels_may_be_selected() -> None:
    panels = make_panels()
    assert set(panels.model_panels().panels) == set(CHOSEN_BY)
    some = panels.model_panels(["forward"])
    assert list(some.panels) == ["forward"]
    assert np.array_equal(some.correct[some.panels["forward"]], panels.responses("forward"))


def test_nodes_share_a_study_that_none_can_change() -> None:
    study = make_study()
    assert deepcopy(study) is study
    assert deepcopy(study.panels) is study.panels
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


def test_panels_do_not_depend_on_row_order() -> None:
    items = make_items()
    shuffled = items.sample(frac=1, random_state=1).reset_index(drop=True)
    sorted_panels, shuffled_panels = make_panels(items=items), make_panels(items=shuffled)
    assert shuffled_panels.item_ids == tuple(shuffled["item_id"])
    assert all(
        np.array_equal(sorted_panels.groups[g], shuffled_panels.groups[g])
        for g in sorted_panels.groups
    )
