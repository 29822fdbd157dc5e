"""Items solved from the options alone, and suspect labels."""

import numpy as np

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.easy import flag_answer_only_items
from benchwright.methods.smart.label_errors import flag_suspect_labels
from benchwright.params.filtering import FilteringParams
from methods.smart.filtering_examples import make_matrix, numbered_items

NAN = np.nan
WITH_QUESTION = make_matrix([[1, 1], [1, 1]], [[0.9, 0.9], [0.9, 0.9]])


def answer_only(choices_only, models=("a", "b")):
    return flag_answer_only_items(numbered_items(2), choices_only, list(models), FilteringParams())


def test_items_that_all_models_solve_without_the_question_are_removed():
    verdicts = answer_only(make_matrix([[1, 1], [1, 0]], [[0.9, 0.9], [0.81, 0.1]]))
    assert verdicts.removed.tolist() == [True, False]


def test_answers_to_the_question_do_not_replace_choices_only_answers():
    verdicts = answer_only(ResponseMatrix.empty(("q/0", "q/1"), "choices_only"))
    assert verdicts.status == "not_run"
    assert verdicts.reason == "no choices-only responses for 2 of 2 filter models"
    assert verdicts.states().tolist() == ["not_judged", "not_judged"]


def suspects(correct, p_prediction):
    matrix = make_matrix(correct, p_prediction=p_prediction)
    items = numbered_items(len(matrix.item_ids))
    return flag_suspect_labels(items, matrix, ["a", "b"], FilteringParams())


def test_items_that_all_models_confidently_get_wrong_are_reported_and_kept():
    verdicts = suspects([[0, 0, 1], [0, 0, 0]], [[0.9, 0.8, 0.9], [0.9, 0.9, 0.9]])
    assert verdicts.states().tolist() == ["flagged", "clear", "clear"]
    assert not verdicts.removed.any()


def test_wrong_answers_without_probability_are_not_assessed():
    verdicts = suspects([[0, 0, 1], [0, 0, 0]], [[NAN, 0.9, 0.9], [0.9, 0.9, NAN]])
    assert verdicts.states().tolist() == ["not_judged", "flagged", "clear"]


def test_without_probabilities_of_wrong_answers_there_are_no_suspects():
    verdicts = suspects([[0, 1], [0, 1]], [[NAN, 0.9], [NAN, 0.9]])
    assert verdicts.status == "not_run"
    assert verdicts.reason == "no probabilities where wrong, from 2 of 2 filter models"
