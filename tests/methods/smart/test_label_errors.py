import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.smart.label_errors import (
    rate_label_errors,
)
from benchwright.tables.items import KnownLabelErrors

IDS = [f"q{i}" for i in range(10)]
RANKED = pd.DataFrame({"item_id": IDS})
KNOWN = KnownLabelErrors.empty()
REMOVED_BY = {"q0": "easy", "q1": "easy", "q2": "easy,similar", "q3": "similar"}
SUSPECT = {"q4": "flagged", "q5": "flagged", "q9": "not_judged"}


def audit() -> pd.DataFrame:
    by = [REMOVED_BY.get(item, "") for item in IDS]
    decision = ["removed" if rules else "kept" for rules in by]
    return pd.DataFrame({"item_id": IDS, "decision": decision, "removed_by": by})


def verdicts() -> pd.DataFrame:
    rows = []
    for item in IDS:
        rules = REMOVED_BY.get(item, "").split(",")
        rows += [
            (item, rule, "flagged" if rule in rules else "clear") for rule in ("easy", "similar")
        ]
        rows.append((item, "suspect_label", SUSPECT.get(item, "clear")))
    return pd.DataFrame(rows, columns=["item_id", "rule", "state"])


def file_of(*rows: tuple[object, ...], columns: str = "item_id wrong") -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns.split(), dtype="object")


def rates(errors: pd.DataFrame, ranked: pd.DataFrame = RANKED) -> pd.DataFrame:
    return rate_label_errors(ranked, audit(), verdicts(), errors, KNOWN)


def counts(table: pd.DataFrame) -> dict[str, tuple[int, int]]:
    return {row.items: (row.checked, row.wrong) for row in table.itertuples(index=False)}  # type: ignore[misc]


WRONG = {"q2", "q4", "q6", "q9"}
CHECKED = file_of(*((item, str(int(item in WRONG))) for item in IDS if item != "q8"))


def test_wrong_labels_are_counted_among_kept_and_removed_items_and_per_rule() -> None:
    assert counts(rates(CHECKED)) == {
        "all": (9, 4),
        "kept": (5, 3),
        "removed": (4, 1),
        "removed by easy": (3, 1),
        "removed by similar": (2, 1),
        "suspect_label": (2, 1),
        "not suspect_label": (6, 2),
    }


def test_errors_that_the_source_knows_are_counted_and_a_file_takes_precedence() -> None:
    kinds = [
        (item, "wrong_groundtruth" if item in WRONG else " OK") for item in IDS if item != "q8"
    ]
    known = pd.DataFrame(kinds, columns=["item_id", "kind"])
    none = file_of(columns="item_id wrong")
    table = rate_label_errors(RANKED, audit(), verdicts(), none, known)
    pd.testing.assert_frame_equal(table, rates(CHECKED))
    corrected = rate_label_errors(RANKED, audit(), verdicts(), file_of(("q2", "0")), known)
    assert counts(corrected)["removed"] == (4, 0)
    assert counts(corrected)["kept"] == (5, 3)


@pytest.mark.parametrize(("ranked", "sets"), [(50, []), (51, ["50 most suspect"])])
def test_most_suspect_items_are_a_set_where_there_are_more_of_them(
    ranked: int, sets: list[str]
) -> None:
    table = rates(CHECKED, pd.DataFrame({"item_id": [f"q{i}" for i in range(ranked)]}))
    assert [name for name in table["items"] if name.endswith("most suspect")] == sets


def test_error_types_replace_a_missing_wrong_column() -> None:
    kinds = file_of(("q4", "ok"), ("q5", "OK"), ("q6", "wrong_groundtruth"), columns="item_id kind")
    assert counts(rates(kinds))["kept"] == (3, 1)
    both = file_of(
        ("q4", "", "no_correct_answer"), ("q5", "0", "bad_clarity"), ("", "", ""),
        columns="item_id wrong kind",
    )  # fmt: skip
    assert counts(rates(both))["kept"] == (2, 1)


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (file_of(("q1", "0"), ("q2", "maybe")), "row 3: item_id 'q2', wrong 'maybe', kind ''; a"),
        (file_of(("", "1")), "row 2: item_id '', wrong '1'"),
        (
            file_of(("q1",), columns="item_id"),
            "row 2: item_id 'q1', wrong '', kind ''; a row needs",
        ),
        (file_of(("q1", "0"), ("q1", "1")), "row 3: 'q1' contradicts an earlier row"),
    ],
)
def test_error_names_the_unreadable_row(errors: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError) as error:
        rates(errors)
    assert str(error.value).startswith(f"label_errors.csv, {message}")
