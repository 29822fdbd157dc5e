"""Easy items: the definition, items that are not assessed, and the tenth that stays."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.easy import flag_easy_items
from benchwright.methods.smart.filter_models import doubt_few_models
from benchwright.params.filtering import EasyParams, FilteringParams
from methods.smart.filtering_examples import make_matrix, numbered_items

NAN = np.nan
KEEP_NONE = FilteringParams(easy=EasyParams(retain=0))


def states(correct, p_answer, filtering=KEEP_NONE, models=("a", "b")):
    matrix = make_matrix(correct, p_answer)
    items = numbered_items(len(matrix.item_ids))
    verdicts = flag_easy_items(items, matrix, list(models), filtering, seed=0)
    return verdicts.states().tolist()


ABOVE = np.nextafter(np.float32(0.8), np.float32(1))


@pytest.mark.parametrize(
    ("correct", "p_answer", "state"),
    [
        ([1, 1], [ABOVE, 0.99], "flagged"),
        ([1, 1], [0.8, 0.99], "clear"),
        ([1, 0], [0.9, 0.9], "clear"),
        ([1, 0.5], [0.9, 0.9], "clear"),  # a fraction is not right
        ([1, 0], [0.9, NAN], "clear"),
        ([1, 1], [0.9, NAN], "not_judged"),
        ([0, NAN], [NAN, NAN], "not_judged"),
    ],
)
def test_every_model_must_be_right_and_confident(correct, p_answer, state):
    columns = [[value, 1] for value in correct], [[value, 0.9] for value in p_answer]
    assert states(*columns) == [state, "flagged"]


@pytest.mark.parametrize(
    ("confidence", "rule", "status"),
    [(0.8, "easy", "not_run"), (None, "easy_unanimous", "ran")],
)
def test_items_without_probabilities_are_never_easy(confidence, rule, status):
    filtering = FilteringParams(easy=EasyParams(confidence=confidence, retain=0))
    verdicts = flag_easy_items(
        numbered_items(2), make_matrix([[1, 1], [1, 0]]), ["a", "b"], filtering, seed=0
    )
    assert (verdicts.rule, verdicts.status) == (rule, status)
    assert verdicts.flagged.tolist() == ([True, False] if status == "ran" else [False, False])


def test_filter_model_without_answers_disables_the_rule_and_is_named():
    matrix = make_matrix([[1, 1], [NAN, NAN]], [[0.9, 0.9], [NAN, NAN]])
    verdicts = flag_easy_items(numbered_items(2), matrix, ["a", "b"], FilteringParams(), seed=0)
    assert verdicts.status == "not_run"
    assert verdicts.reason == "no responses for 1 of 2 filter models: b"
    assert verdicts.states().tolist() == ["not_judged", "not_judged"]


def all_easy(n: int) -> ResponseMatrix:
    return make_matrix(np.ones((1, n)), np.full((1, n), 0.9))


def stays(items: pd.DataFrame, matrix: ResponseMatrix, seed: int, **easy: object) -> set[str]:
    filtering = FilteringParams(easy=EasyParams(**easy))
    verdicts = flag_easy_items(items, matrix, ["a"], filtering, seed)
    order = sorted(items["item_id"], key=lambda item_id: int(item_id.split("/")[1]))
    return {order[row] for row in np.flatnonzero(verdicts.flagged & ~verdicts.removed)}


@given(
    st.lists(st.sampled_from(["anatomy", "law", "virology"]), min_size=1, max_size=120),
    st.sampled_from([0.0, 0.1, 0.25, 1.0]),
    st.integers(0, 5),
)
def test_exact_share_stays_and_is_proportional_by_subject(subjects, retain, seed):
    n = len(subjects)
    items = numbered_items(n, subjects)
    kept = stays(items, all_easy(n), seed, retain=retain)
    assert len(kept) == round(retain * n)
    for subject, group in items.groupby("subject"):
        part = len(kept & set(group["item_id"]))
        assert abs(part - len(kept) * len(group) / n) < 1, subject


def test_items_that_stay_have_the_lowest_hash_of_seed_and_id():
    ids = [f"q/{row}" for row in range(50)]
    hashes = dict(zip(ids, item_uniforms(7, "easy_retention", ids), strict=True))
    lowest = set(sorted(ids, key=hashes.__getitem__)[:5])
    assert stays(numbered_items(50), all_easy(50), seed=7) == lowest


def test_each_item_is_drawn_independently():
    many = stays(numbered_items(2000), all_easy(2000), seed=3, retention="bernoulli")
    few = stays(numbered_items(500), all_easy(500), seed=3, retention="bernoulli")
    assert few == {item_id for item_id in many if int(item_id.split("/")[1]) < 500}
    # 10% ± 4 standard deviations
    assert 146 <= len(many) <= 254


@pytest.mark.parametrize(
    ("rule", "models", "chosen", "removes"),
    [
        (None, 8, 4, True),
        (None, 7, 4, False),
        ({"choose": "strongest"}, 8, 3, False),
        ("forward", 7, 7, False),
        ({"count": 3}, 3, 3, True),  # asked for
        ("all", 3, 3, True),
        (["m0", "m1"], 3, 2, True),
        (None, 0, 0, True),  # there is nothing to doubt
    ],
)
def test_few_models_report_easy_items_unless_they_are_named(rule, models, chosen, removes):
    names = [f"m{i}" for i in range(models)]
    # Two configurations are one model.
    answers = (*names, "m0@letters-5") if names else ()
    matrix = make_matrix(np.ones((len(answers), 20)), models=answers)
    doubt = doubt_few_models(rule, names[:chosen], matrix)
    assert (doubt == "") == removes
    items, filtering = numbered_items(20), FilteringParams(easy=EasyParams(confidence=None))
    found = flag_easy_items(items, matrix, names[:chosen], filtering, 0, doubt)
    if chosen:
        assert found.flagged.all()
        assert found.removed.sum() == (18 if removes else 0)
        assert found.reason == doubt
        assert removes or "`filter_models` with names or a `count`" in doubt
