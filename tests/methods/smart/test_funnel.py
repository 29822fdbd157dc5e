"""The funnel from source rows to kept items."""

import pandas as pd

from benchwright.methods.smart.audit import count_funnel
from benchwright.tables.items import RejectedItems
from benchwright.tables.smart import RuleCoverage, Verdicts

RULES = ("anomalous", "easy", "similar")


def items_of(ids: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"item_id": ids})


def rejected_rows(n: int) -> pd.DataFrame:
    return RejectedItems.from_rows([(i, "choices", "", "{}") for i in range(1, n + 1)])


def verdicts_of(removed: dict[str, set[str]]) -> pd.DataFrame:
    """Verdicts of rules that remove the given items."""
    return Verdicts.from_rows(
        [
            (item, rule, "flagged" if rule in rules else "clear", rule in rules, None, "")
            for item, rules in removed.items()
            for rule in RULES
        ]
    )


def coverage() -> pd.DataFrame:
    return RuleCoverage.from_rows([(rule, "ran", 1, 0, 0, 0, 0, 0.0, "") for rule in RULES])


def test_items_count_at_the_first_rule_that_removes_them() -> None:
    removed = {"a": {"similar", "easy"}, "b": {"similar"}, "c": set(), "d": {"easy"}}
    funnel = count_funnel(
        rejected_rows(2), items_of(list("abcd")), verdicts_of(removed), coverage(), items_of(["c"])
    )
    steps = [tuple(row) for row in funnel.itertuples(index=False)]
    assert steps == [
        ("source rows", "start", 0, 6),
        ("malformed", "removed", 2, 4),
        ("anomalous", "removed", 0, 4),
        ("easy", "removed", 2, 2),
        ("similar", "removed", 1, 1),
        ("kept", "end", 0, 1),
    ]


def test_with_a_limit_rejected_rows_are_no_step() -> None:
    removed = {"a": {"easy"}, "b": set()}
    items, kept = items_of(["a", "b"]), items_of(["b"])
    funnel = count_funnel(rejected_rows(3), items, verdicts_of(removed), coverage(), kept, limit=2)
    assert funnel["step"].tolist()[0] == "items"
    assert "malformed" not in funnel["step"].tolist()
    assert funnel["left"].iloc[[0, -1]].tolist() == [2, 1]
