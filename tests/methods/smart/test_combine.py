"""Combined verdicts: redundancy never removes a group's last acceptable member."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.smart.combine import combine_rules, redundant_similar
from benchwright.methods.smart.finding import CopyGroups, Finding, Grouping
from benchwright.params.filtering import EasyParams, FilteringParams
from methods.smart.filtering_examples import (
    make_embeddings,
    make_items,
    make_matrix,
    numbered_items,
    removed_ids,
    run_filtering,
)

KEEP_NONE = EasyParams(retain=0)


def partition(draw: st.DrawFn, n: int) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more of n items, no item in two."""
    labels = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    groups = ([f"q/{row}" for row in range(n) if labels[row] == label] for label in range(5))
    return tuple(tuple(group) for group in groups if len(group) > 1)


@st.composite
def situations(draw: st.DrawFn):
    n = draw(st.integers(2, 14))
    gone = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    return n, gone, partition(draw, n), partition(draw, n), draw(st.integers(0, 3))


def combined(n, gone, copies, similar, seed, *, fewer=(), independent=False, remove=0.5):
    removed = Finding(
        "anomalous", "ran", "", np.ones(n, bool), gone, gone, np.full(n, np.nan), ("",) * n
    )
    filtering = FilteringParams.model_validate(
        {"independent": independent, "similar": {"remove": remove}}
    )
    findings, groups = combine_rules(
        numbered_items(n),
        CopyGroups(
            Grouping("conflicting_gold", "ran", ""),
            Grouping("duplicate", "ran", "", copies),
            Grouping("option_superset", "ran", "", fewer),
        ),
        Grouping("similar", "ran", "", similar),
        filtering,
        seed,
        removed,
        Finding.idle("easy", n, "off"),
    )
    return {finding.rule: finding for finding in findings}, groups


@given(situations(), st.sampled_from([0.0, 0.5, 0.99]))
def test_no_group_loses_its_last_acceptable_member(situation, remove):
    n, gone, copies, similar, seed = situation
    _, groups = combined(n, gone, copies, similar, seed, remove=remove)
    acceptable = {f"q/{row}" for row in range(n) if not gone[row]}
    for group_id, members in groups.groupby("group_id"):
        if acceptable & set(members["item_id"]):
            assert members["kept"].any(), group_id


def test_duplicate_that_another_rule_removes_is_not_the_one_kept():
    items = make_items(["Is it?", "Is it?", "Was it?"])
    matrix = make_matrix([[1, 1, 0]], [[0.99, 0.5, 0.5]])
    data = run_filtering(items, matrix, filtering=FilteringParams(easy=KEEP_NONE))
    assert removed_ids(data) == ["q/0"]
    audit = data["item_audit"].set_index("item_id")
    assert audit.loc["q/0", "removed_by"] == "easy,duplicate"
    assert audit.loc["q/1", "reasons"] == "duplicate: kept, copies: q/0"


def test_independent_rules_may_remove_all_duplicates_as_in_the_released_code():
    items = make_items(["Is it?", "Is it?", "Was it?"])
    lost_everything = []
    for seed in range(20):
        matrix = make_matrix([[1, 0, 0]], [[0.99, 0.5, 0.5]])
        filtering = FilteringParams(easy=KEEP_NONE, independent=True)
        lost_everything.append(
            removed_ids(run_filtering(items, matrix, filtering=filtering, seed=seed))
            == ["q/0", "q/1"]
        )
    assert any(lost_everything)
    assert not all(lost_everything)


def test_kept_duplicate_is_not_removed_as_similar():
    nobody = np.zeros(3, dtype=bool)
    findings, groups = combined(3, nobody, (("q/0", "q/1"),), (("q/0", "q/2"),), 1)
    assert findings["duplicate"].removed.tolist() == [False, True, False]
    assert findings["similar"].removed.tolist() == [False, False, True]
    assert groups["kept"].tolist() == [True, False, True, False]


def test_of_copies_with_other_options_the_largest_acceptable_one_stays():
    fewer = (("q/2", "q/0", "q/1"),)
    copies = (("q/0", "q/1"),)
    nobody = np.zeros(3, dtype=bool)
    findings, groups = combined(3, nobody, copies, (("q/2", "q/0"),), 0, fewer=fewer)
    assert findings["duplicate"].removed.tolist() == [False, True, False]
    assert findings["option_superset"].removed.tolist() == [True, False, False]
    assert not findings["similar"].flagged.any()
    assert set(groups.loc[groups["kept"], "item_id"]) == {"q/2"}
    largest_gone = np.array([False, False, True])
    findings, _ = combined(3, largest_gone, copies, (), 0, fewer=fewer)
    assert findings["option_superset"].removed.tolist() == [False, False, True]
    findings, _ = combined(3, largest_gone, (), (), 0, fewer=fewer, independent=True)
    assert findings["option_superset"].removed.tolist() == [True, True, False]


def test_anomalous_items_and_copies_take_no_part_in_distances_if_prefiltered():
    items = make_items(["Is it?", "Is it?", "Odd?", "What?", "Who?"], subjects=[*"aaoaa"])
    vectors = np.eye(5)
    matrix = make_matrix(np.zeros((1, 5)), np.full((1, 5), 0.1))
    settings = {"independent": True, "similar": {"prefiltered": True, "threshold": 0.5}}
    data = run_filtering(
        items,
        matrix,
        make_embeddings(vectors),
        filtering=FilteringParams.model_validate(settings),
        anomalous_subjects=["o"],
    )
    gone = set(removed_ids(data))
    assert len(gone) == 2
    assert set(data["neighbours"].item_ids) == set(items["item_id"]) - gone
    verdicts = data["verdicts"].set_index(["rule", "item_id"]).loc["similar"]
    left_out = verdicts[verdicts["state"] == "not_judged"]
    assert set(left_out.index) == gone
    assert set(left_out["detail"]) == {"removed before distances are computed"}


def test_half_of_similar_items_is_rounded_down_and_counts_other_removals():
    members = tuple("abcde")
    draw = {member: float(rank) for rank, member in enumerate(members)}
    assert redundant_similar([members], 0.5, draw) == {"a", "b"}
    assert redundant_similar([members], 0.5, draw, gone={"e"}) == {"e", "a"}
    assert redundant_similar([members], 0.5, draw, gone={"c", "d", "e"}) == {"c", "d"}
    assert redundant_similar([members], 0.5, draw, stays={"a"}) == {"b", "c"}
