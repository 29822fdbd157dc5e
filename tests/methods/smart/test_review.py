import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.smart import review
from benchwright.methods.smart.review import (
    make_review_sheet,
    read_reviews,
)
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.evidence import SuspectItems
from benchwright.tables.smart import ReviewSheet

N = 40
IDS = [f"q/{i}" for i in range(N)]
EASY = set(IDS[:20])
COPIES = {"q/30"}
SIMILAR = {"q/35", "q/1"}


def items() -> pd.DataFrame:
    rows = [
        (item, f"subject {i % 3}", f"=Question {i}?", [f"yes {i}", "no"], i % 2, "no")
        for i, item in enumerate(IDS)
    ]
    rows[3] = ("q/3", "maths", "How many?", [], -1, "42")
    columns = ["item_id", "subject", "question", "choices", "answer", "answer_text"]
    return pd.DataFrame(rows, columns=columns)


def verdicts() -> pd.DataFrame:
    rows = []
    for item in IDS:
        rows += [
            (item, "easy", item in EASY, "all right"),
            (item, "suspect_label", False, "all wrong"),
            (item, "duplicate", item in COPIES, "copy of q/31"),
            (item, "similar", item in SIMILAR, "removed, one of 3"),
        ]
    return pd.DataFrame(rows, columns=["item_id", "rule", "removed", "detail"])


GROUPS = pd.DataFrame(
    [
        ("d", "q/30", "duplicate", False),
        ("d", "q/31", "duplicate", True),
        ("s", "q/1", "similar", False),
        ("s", "q/35", "similar", False),
        ("s", "q/36", "similar", True),
    ],
    columns=["group_id", "item_id", "kind", "kept"],
)


SUSPECTS = SuspectItems.from_rows(
    [
        (1, "q/20", "maths", 5, 1.0, 0.8, 1),
        (2, "q/4", "maths", 5, 0.9, None, -1),
        (3, "q/3", "maths", 1, 0.2, None, -1),
    ]
)


def sheet(seed: int = 0) -> pd.DataFrame:
    return make_review_sheet(items(), verdicts(), GROUPS, SUSPECTS, seed)


def row_of(table: pd.DataFrame, rule: str, item: str) -> pd.Series:
    return table[(table["rule"] == rule) & (table["item_id"] == item)].iloc[0]


def test_removed_items_are_listed_under_their_rule() -> None:
    table = sheet()
    assert table.columns.tolist() == ReviewSheet.columns()
    by_rule = {rule: set(rows["item_id"]) for rule, rows in table.groupby("rule")}
    assert by_rule == {
        "easy": EASY,
        "duplicate": COPIES,
        "similar": SIMILAR,
        "suspect_items": {"q/20", "q/4", "q/3"},
    }
    by_rule_order = ["easy", "duplicate", "similar"]
    assert table["rule"].drop_duplicates().tolist() == [*by_rule_order, "suspect_items"]
    assert set(table["verdict"]) == set(table["note"]) == {""}


def test_rows_have_all_that_a_reviewer_needs() -> None:
    row = row_of(sheet(), "easy", "q/4")
    assert row["question"] == "=Question 4?"
    assert row["choices"] == "A. yes 4\nB. no"
    assert row["answer"] == "A. yes 4"
    assert row["reason"] == "all right"
    assert row["neighbour"] == ""
    assert row_of(sheet(), "easy", "q/3")["answer"] == "42"


def test_suspect_items_are_listed_as_ranked_with_what_most_chose() -> None:
    table = sheet()[lambda t: t["rule"] == "suspect_items"]
    assert table["item_id"].tolist() == ["q/20", "q/4", "q/3"]
    assert table["reason"].tolist()[:2] == [
        "100% wrong, most often B (5 answers, each family once)",
        "90% wrong (5 answers, each family once)",
    ]


def test_neighbour_is_the_kept_one_of_the_group() -> None:
    assert row_of(sheet(), "duplicate", "q/30")["neighbour"] == "=Question 31?\nA. yes 31\nB. no"
    assert row_of(sheet(), "similar", "q/35")["neighbour"].startswith("=Question 36?")


def test_draw_is_limited_a_prefix_and_depends_only_on_the_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def easy(n: int, seed: int = 0) -> list[str]:
        monkeypatch.setattr(review, "_ITEMS_PER_RULE", n)
        table = sheet(seed)
        assert (table["rule"] == "suspect_items").sum() == min(n, 3)
        return table[table["rule"] == "easy"]["item_id"].tolist()

    five, ten = easy(5), easy(10)
    assert ten[:5] == five
    assert len(set(ten)) == 10
    assert easy(5, seed=1) != five


def filled(*rows: tuple[str, str, object]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["item_id", "rule", "verdict"])


def test_agreement_is_computed_per_rule_with_interval() -> None:
    table = read_reviews(
        filled(
            ("q/35", "similar", "agree"),
            ("q/0", "easy", "agree"),
            ("q/0", "Easy", " Y "),
            ("q/1", "easy", "BORDERLINE"),
            ("q/2", "easy", 0.0),
            ("q/3", "easy", "agree"),
            ("q/4", "easy", ""),
        ),
        verdicts(),
        SUSPECTS,
    )
    assert table["rule"].tolist() == ["easy", "similar"]
    easy = table.iloc[0]
    assert easy[["reviewed", "agree", "borderline", "disagree"]].tolist() == [4, 2, 1, 1]
    assert easy["share_agree"] == pytest.approx(0.5)
    assert (easy["low"], easy["high"]) == pytest.approx(wilson_interval(2, 4)[1:3])


def test_share_of_suspects_found_wrong_is_the_precision_of_the_ranking(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = [(item, "suspect_items", word) for item, word in (("q/20", "y"), ("q/4", "n"))]
    unranked = ("q/39", "suspect_items", "y")
    table = read_reviews(filled(*rows, unranked), verdicts(), SUSPECTS).set_index("rule")
    assert table.loc["suspect_items", ["reviewed", "agree"]].tolist() == [2, 1]
    assert table.loc["suspect_items", "low"] == pytest.approx(wilson_interval(1, 2).low)
    assert table.index.tolist() == ["suspect_items"]
    assert "1 judgements are about items not removed here" in caplog.text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q/0", "easy", "agree"), ("q/1", "easy", "perhaps")], "row 3: item_id 'q/1', rule 'ea"),
        ([("", "easy", "agree")], "row 2: item_id '', rule 'easy', verdict 'agree'; a verdict is"),
        ([("q/0", "", "agree")], "row 2: item_id 'q/0', rule ''"),
        (
            [("q/0", "easy", "y"), ("q/1", "easy", ""), ("q/0", "easy", "n")],
            "row 4: 'q/0' under easy contradicts an earlier row",
        ),
    ],
)
def test_error_names_the_unreadable_row(rows: list[tuple[str, str, object]], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_reviews(filled(*rows), verdicts(), SUSPECTS)
    assert str(error.value).startswith(f"review_sheet.csv, {message}")
