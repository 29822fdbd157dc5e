"""The whole filtering stage on small items: tables, audit, coverage, and the order of rows."""

import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.params.filtering import EasyParams, FilteringParams, SimilarParams
from benchwright.tables.items import KeptItems
from benchwright.tables.smart import (
    Groups,
    ItemAudit,
    Verdicts,
)
from few_examples import few_examples
from methods.smart.filtering_examples import (
    make_embeddings,
    make_items,
    make_matrix,
    numbered_items,
    removed_ids,
    run_filtering,
)

TABLES = (
    *("distance_density", "groups", "verdicts", "item_audit"),
    *("rule_coverage", "kept_items", "removed_items"),
)
N = 40


def example():
    """Items with copies, a clash of answers, easy and anomalous items, and close vectors."""
    rng = np.random.default_rng(1)
    questions = [f"{word} {row}" for row, word in enumerate(rng.choice(["why", "who"], N))]
    questions[3] = questions[17] = questions[30] = "the same thing?"
    questions[5] = questions[6] = "disputed?"
    answers = [0] * N
    answers[6] = 1
    subjects = [["law", "art", "odd"][row % 3] for row in range(N)]
    items = make_items(questions, answers=answers, subjects=subjects)
    right = rng.random((3, N)) < 0.85
    sure = np.where(right, 0.7 + 0.3 * rng.random((3, N)), np.nan)
    right = np.where(rng.random((3, N)) < 0.02, np.nan, right)
    vectors = rng.normal(size=(N, 6))
    vectors[20:30] = vectors[20] + 0.1 * rng.normal(size=(10, 6))
    return items, make_matrix(right, sure), make_embeddings(vectors)


def run(items, matrix, embeddings, *, independent=False):
    similar = SimilarParams(k=10, threshold=0.05, string_similarity_exempt=None)
    filtering = FilteringParams(similar=similar, independent=independent)
    return run_filtering(
        items, matrix, embeddings, filtering=filtering, anomalous_subjects=["odd"], seed=3
    )


@pytest.mark.parametrize("independent", [False, True])
def test_tables_agree_with_each_other(independent):
    data = run(*example(), independent=independent)
    Groups.of(data["groups"])
    Verdicts.of(data["verdicts"])
    assert list(data["item_audit"]) == ItemAudit.columns()
    KeptItems.validate(data["kept_items"])
    kept, removed = data["kept_items"], data["removed_items"]
    assert sorted([*kept["item_id"], *removed["item_id"]]) == sorted(data["items"]["item_id"])
    verdicts, audit = data["verdicts"], data["item_audit"].set_index("item_id")
    assert not verdicts.duplicated(["item_id", "rule"]).any()
    assert len(verdicts) == N * verdicts["rule"].nunique()
    gone = set(verdicts.loc[verdicts["removed"], "item_id"])
    assert gone == set(removed["item_id"])
    for rule in ("easy", "anomalous", "duplicate", "similar", "answer_only"):
        of_rule = verdicts[verdicts["rule"] == rule].set_index("item_id")
        assert of_rule["state"].sort_index().tolist() == audit[rule].sort_index().tolist()
        by_rule = audit["removed_by"].str.split(",").map(lambda rules, rule=rule: rule in rules)
        assert set(audit.index[by_rule]) == set(of_rule.index[of_rule["removed"]])
    coverage = data["rule_coverage"].set_index("rule")
    counts = verdicts.groupby("rule")["removed"].sum()
    removed_by_rule = counts.reindex(coverage.index, fill_value=0)  # a rule may be switched off
    assert coverage["removed"].tolist() == removed_by_rule.tolist()
    assert audit.loc[sorted(gone), "reasons"].str.len().gt(0).all()


@given(st.permutations(range(N)), st.permutations(range(3)))
@few_examples
def test_results_do_not_depend_on_the_order_of_answers_vectors_and_models(rows, models):
    items, matrix, embeddings = example()
    first = run(items, matrix, embeddings)
    ids = [items["item_id"][row] for row in rows]
    names = [matrix.models[row] for row in models]
    shuffled = run(
        items,
        matrix.select_models(names).select_items(ids),
        embeddings.iloc[list(rows)[::-1]].reset_index(drop=True),
    )
    for name in TABLES:
        pd.testing.assert_frame_equal(shuffled[name], first[name])
    assert shuffled["similarity_threshold"] == first["similarity_threshold"]


def test_rules_that_report_or_tag_remove_nothing():
    items = make_items(["disputed?", "disputed?", "other"], answers=[0, 1, 0])
    matrix = make_matrix([[1, 0, 1]], [[0.99, 0.1, 0.1]], [[0.99, 0.95, 0.1]])
    easy = FilteringParams(easy=EasyParams(retain=1))
    data = run_filtering(items, matrix, filtering=easy)
    assert removed_ids(data) == []
    tags = ["retained_easy,conflicting_gold", "suspect_label,conflicting_gold", ""]
    assert data["item_audit"]["tags"].tolist() == tags
    assert data["kept_items"]["tags"].tolist() == tags


def test_options_that_depend_on_others_are_tagged():
    items = make_items(["one", "two"], answers=[0, 0])
    items["choices"] = [["Apple", "Both A and C", "None of these"], ["Apple", "Pear", "Stone"]]
    matrix = make_matrix([[0, 0]], [[0.1, 0.1]], [[0.5, 0.5]])
    data = run_filtering(items, matrix)
    assert data["item_audit"]["tags"].tolist() == ["none_of_the_above,refers_to_options", ""]


def test_rule_without_inputs_has_a_reason_and_no_share(caplog):
    with caplog.at_level(logging.WARNING):
        data = run_filtering(numbered_items(3), make_matrix([[1, np.nan, 0]], [[0.9] * 3]))
    coverage = data["rule_coverage"].set_index("rule")
    assert coverage.loc["answer_only", "status"] == "not_run"
    assert coverage.loc["answer_only", "reason"] == (
        "no choices-only responses for 1 of 1 filter models"
    )
    assert np.isnan(coverage.loc["answer_only", "share_removed"])
    assert coverage.loc["easy", "status"] == "partial"
    assert coverage.loc["easy", ["judged", "not_judged"]].tolist() == [2, 1]
    assert "answer_only: not run: no choices-only responses" in caplog.text
    states = data["verdicts"].groupby("rule")["state"].unique()
    assert states["answer_only"].tolist() == ["not_judged"]


def test_removing_every_item_is_an_error_with_counts_by_rule():
    filtering = FilteringParams(easy=EasyParams(retain=0))
    with pytest.raises(InputError, match=r"all 2 items are removed \(easy 2\)"):
        run_filtering(numbered_items(2), make_matrix([[1, 1]], [[0.9, 0.9]]), filtering=filtering)
