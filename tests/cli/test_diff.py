"""What changed between two refinements, by item and by rule."""

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_examples import audit, row, save_three
from benchwright.cli.diff import (
    AUDIT,
    Comparison,
    SavedAudit,
    compare_saved,
    diff_audits,
    diff_json,
    differing_settings,
    terminal_lines,
)


def by_id(items: pd.DataFrame) -> dict[str, dict[Any, Any]]:
    return {record["item_id"]: record for record in items.to_dict("records")}


def test_equal_audits_have_no_differences() -> None:
    same = audit(row("a"), row("b", "easy"))
    diff = diff_audits(same, same)
    assert len(diff.items) == 0
    changed = {"added", "gone", "renamed", "changed_text", "came_in", "went_out", "other_rules"}
    assert {diff.counts[name] for name in changed} == {0}
    assert diff.counts["common"] == 2


def test_changed_decisions_name_the_rules() -> None:
    before = audit(
        row("in-clear", "easy,similar"),
        row("in-unjudged", "easy"),
        row("in-retained", "easy"),
        row("in-off", "similar"),
        row("out-flagged", easy="flagged"),
        row("out-unjudged", answer_only="not_judged"),
        row("still-out", "easy"),
    )
    after = audit(
        row("in-clear"),
        row("in-unjudged", easy="not_judged"),
        row("in-retained", easy="flagged"),
        row("in-off", similar="off"),
        row("out-flagged", "easy"),
        row("out-unjudged", "answer_only"),
        row("still-out", "similar"),
    )
    diff = diff_audits(before, after)
    result = by_id(diff.items)
    why = {item_id: (result[item_id]["change"], result[item_id]["why"]) for item_id in result}
    assert why == {
        "in-clear": ("came_in", "easy: removed → clear; similar: removed → clear"),
        "in-unjudged": ("came_in", "easy: removed → not_judged"),
        "in-retained": ("came_in", "easy: removed → flagged"),
        "in-off": ("came_in", "similar: removed → off"),
        "out-flagged": ("went_out", "easy: flagged → removed"),
        "out-unjudged": ("went_out", "answer_only: not_judged → removed"),
        "still-out": ("same", "easy: removed → clear; similar: clear → removed"),
    }
    assert diff.counts["came_in"] == 4
    assert diff.counts["went_out"] == 2
    assert diff.counts["other_rules"] == 1
    rules = diff.rules.set_index("rule")
    assert rules.loc["easy", ["removed_before", "removed_after"]].tolist() == [4, 1]
    assert rules.loc["easy", ["stopped", "started"]].tolist() == [4, 1]
    assert list(rules.index) == ["easy", "answer_only", "similar"]


def test_items_in_one_audit_only_are_added_or_gone() -> None:
    diff = diff_audits(audit(row("a"), row("old", "easy")), audit(row("a"), row("new")))
    result = by_id(diff.items)
    assert {item: result[item]["change"] for item in result} == {"new": "added", "old": "gone"}
    assert result["old"]["removed_by_before"] == "easy"
    assert diff.rules.set_index("rule").loc["easy", "stopped"] == 0


def test_renumbered_items_are_joined_by_text() -> None:
    before = audit(*(row(f"q/{n}", question=f"Text {n}?") for n in range(12)))
    inserted = [row("q/0", question="A new one?")]
    after = audit(
        *inserted,
        *(row(f"q/{n + 1}", "easy" if n == 5 else "", question=f"Text {n}?") for n in range(12)),
    )
    diff = diff_audits(before, after)
    assert diff.counts["renamed"] == 12
    assert diff.counts["added"] == 1
    assert diff.counts["changed_text"] == 0
    went_out = diff.items[diff.items["change"] == "went_out"].iloc[0]
    assert (went_out["item_id_before"], went_out["item_id_after"]) == ("q/5", "q/6")


def test_changed_texts_name_the_changed_fields() -> None:
    before = audit(
        row("question"),
        row("choices"),
        row("order", choices=["yes", "no"], answer=0),
        row("gold"),
    )
    after = audit(
        row("question", question="Reworded?"),
        row("choices", choices=["yes", "maybe"]),
        row("order", choices=["no", "yes"], answer=1),
        row("gold", answer=1),
    )
    diff = diff_audits(before, after)
    changed = {item: record["changed_fields"] for item, record in by_id(diff.items).items()}
    assert changed == {
        "question": "question",
        "choices": "choices",
        "order": "order of choices",
        "gold": "answer",
    }
    assert diff.counts["changed_text"] == 4


def test_items_with_equal_texts_are_paired_by_id_and_answer() -> None:
    before = audit(
        row("a/2", question="Same?", answer=1), row("a/1", question="Same?"), row("x", "easy")
    )
    after = audit(
        row("b/1", question="Same?", answer=1), row("b/9", "easy", question="Same?"), row("x")
    )
    items = diff_audits(before, after).items
    went_out = items[items["change"] == "went_out"].iloc[0]
    assert (went_out["item_id_before"], went_out["item_id_after"]) == ("a/1", "b/9")
    assert not items["changed_fields"].any()


def test_rules_missing_in_one_audit_are_named() -> None:
    before = audit(row("a", "similar")).drop(columns="similar")
    diff = diff_audits(before, audit(row("a")))
    assert diff.items.iloc[0]["why"] == "similar: removed → clear"
    back = diff_audits(audit(row("a")), before)
    assert back.items.iloc[0]["why"] == "similar: clear → removed"
    lacking = diff_audits(audit(row("a", "similar")), audit(row("a")).drop(columns="similar"))
    assert lacking.items.iloc[0]["why"] == "similar: removed → absent"


def test_open_ended_items_are_compared_without_choices() -> None:
    before = audit(row("a", choices=None, answer=-1), row("b", choices=[], answer=-1))
    after = audit(row("a", "easy", choices=None, answer=-1), row("b", choices=[], answer=-1))
    diff = diff_audits(before, after)
    assert diff.items["change"].tolist() == ["went_out"]
    assert diff.items["changed_fields"].tolist() == [""]


SIDES = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("xyz"), st.sampled_from(["", "easy", "similar"])),
    max_size=8,
    unique_by=lambda cells: cells[0],
)


@settings(deadline=None)
@given(SIDES, SIDES, st.integers(0, 99))
def test_every_item_is_in_one_pair_in_any_row_order(
    left: list[tuple[int, str, str]], right: list[tuple[int, str, str]], shuffle: int
) -> None:
    before, after = (
        audit(*(row(str(n), rules, question=text) for n, text, rules in side))
        for side in (left, right)
    )
    diff = diff_audits(before, after)
    n = diff.counts
    assert n["common"] + n["gone"] == len(left)
    assert n["common"] + n["added"] == len(right)
    joined = {
        kind: diff.items[diff.items["change"] == kind]
        for kind in ("came_in", "went_out", "added", "gone")
    }
    kept_after = n["kept_before"] + n["came_in"] - n["went_out"]
    kept_after += (joined["added"]["decision_after"] == "kept").sum()
    kept_after -= (joined["gone"]["decision_before"] == "kept").sum()
    assert kept_after == n["kept_after"]

    order = list(range(len(left)))
    random.Random(shuffle).shuffle(order)  # noqa: S311
    again = diff_audits(before.iloc[order], after)
    pd.testing.assert_frame_equal(again.items, diff.items)
    back = diff_audits(after, before).counts
    assert (back["came_in"], back["added"]) == (n["went_out"], n["gone"])


def test_different_settings_are_listed_if_both_are_recorded() -> None:
    before = {"seed": "0", "variant": "smart"}
    differing = differing_settings(before, {"seed": "1", "variant": "smart", "limit": "5"})
    assert differing is not None
    assert differing_settings(before, None) is None
    assert differing.to_numpy().tolist() == [["limit", "", "5"], ["seed", "0", "1"]]


def comparison(before: pd.DataFrame, after: pd.DataFrame) -> Comparison:
    side = SavedAudit(Path("a"), "v1")
    return Comparison(
        title="arc · smart",
        before=side,
        after=side._replace(version="v2"),
        diff=diff_audits(before, after),
        settings=pd.DataFrame([("seed", "0", "1")], columns=["parameter", "before", "after"]),
    )


def test_json_has_both_texts_of_every_item_that_differs() -> None:
    before = audit(row("a", "easy"), row("b", question="Old?"), row("gone"))
    after = audit(row("a"), row("b", question="New?"))
    made = json.loads(json.dumps(diff_json(comparison(before, after))))
    assert [item["change"] for item in made["items"]] == ["came_in", "gone", "same"]
    texts = [(item["question_before"], item["question_after"]) for item in made["items"]]
    assert texts[1:] == [("Question gone?", ""), ("Old?", "New?")]
    assert made["settings"] == [{"parameter": "seed", "before": "0", "after": "1"}]
    assert (made["before"], made["counts"]["kept_after"]) == ("v1", 2)


@pytest.mark.parametrize(("n", "said"), [(20, ":"), (21, " (the first 20 of 21):")])
def test_terminal_output_has_the_first_items_that_differ(n: int, said: str) -> None:
    before = audit(*(row(f"q/{k}", "easy") for k in range(n)))
    lines = terminal_lines(comparison(before, audit(*(row(f"q/{k}") for k in range(n)))))
    start = lines.index(f"items that differ{said}")
    assert lines[start + 2].split() == ["came_in", "q/0", "easy:", "removed", "→", "clear"]
    assert len(lines[start + 2 :]) == 20


def test_terminal_output_has_counts_rules_and_settings() -> None:
    lines = terminal_lines(comparison(audit(row("a", "easy")), audit(row("a"))))
    assert lines[0] == "arc · smart: v1 → v2"
    assert lines[2].startswith("Kept: 0 → 1. 1 now kept, 0 now removed")
    assert "  seed: 0 → 1" in lines


def test_unknown_settings_are_not_shown_as_equal() -> None:
    same = audit(row("a"))
    compared = comparison(same, same)
    unknown = compared._replace(settings=None)
    equal = compared._replace(settings=differing_settings({"seed": "0"}, {"seed": "0"}))
    why = "ot compared, since those of both runs are not recorded."
    assert diff_json(unknown)["settings"] is None
    assert diff_json(equal)["settings"] == []
    assert terminal_lines(unknown)[-1] == f"settings: n{why}"
    assert "settings" not in " ".join(terminal_lines(equal))


def test_settings_of_a_run_without_a_record_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = save_three(tmp_path)
    catalog = {"item_audit": {"filepath": str(runs.relative_to(tmp_path) / AUDIT)}}
    conf = {"parameters": {"data_root": "."}, "catalog": catalog}
    monkeypatch.setattr("benchwright.cli.diff.load_conf", lambda *_: conf)
    versions = ("2026-01-01", "2026-01-02")
    assert compare_saved(tmp_path, None, {}, *versions).settings is None
    recorded = iter([{"seed": "0"}, {"seed": "1"}])
    monkeypatch.setattr("benchwright.cli.diff.settings_of", lambda *_: next(recorded))
    settings = compare_saved(tmp_path, None, {}, *versions).settings
    assert settings is not None
    assert settings.to_numpy().tolist() == [["seed", "0", "1"]]
