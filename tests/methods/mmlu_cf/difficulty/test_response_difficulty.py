"""Responses of models as difficulty, and counts of levels after each step."""

import logging

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import level_shares
from benchwright.methods.mmlu_cf.difficulty.rating import compare_ratings, count_levels
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import (
    matrix_of_responses,
    responses_of_file,
)
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from benchwright.tables.mmlu_cf import ItemDifficulty

IDS = ["d#1", "d#2", "e#1"]


def answer_rows(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["item_id", "model", "correct"])


def test_numbers_and_words_are_read_and_spaces_do_not_matter() -> None:
    table = answer_rows(
        ("d#1 ", "m", "1"), ("d#2", " m", "FALSE"), ("e#1", "m", 0.25), ("d#1", "n", True)
    )
    read = responses_of_file(table, IDS)
    assert read.to_numpy().tolist() == [
        ["d#1", "m", 1.0],
        ["d#2", "m", 0.0],
        ["e#1", "m", 0.25],
        ["d#1", "n", 1.0],
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("d#1", "m", 1), ("d#2", "m", "yes")],
            "row 2: correct is 'yes'; enter 0–1, true or false",
        ),
        ([("d#1", "m", 1.5)], "row 1: correct is 1.5"),
        ([("d#1", "m", None)], "row 1: correct is None"),
        ([("d#1", "m", -0.1)], "row 1: correct is -0.1"),
        ([("d#1", "m", 1), (" ", "m", 1)], "row 2: item_id is ' '; enter a name"),
        ([("d#1", "", 1)], "row 1: model is ''"),
        (
            [("d#1", "m", 1), ("d#1", "m ", 0)],
            "row 2: item_id is 'd#1'; the model has another answer",
        ),
        ([("x", "m", 1), ("a", "m", 1)], "2 of 2 items are not among the 3 clean .*first: 'a'"),
    ],
)
def test_invalid_rows_are_reported_in_one_line(
    rows: list[tuple[object, ...]], message: str
) -> None:
    with pytest.raises(InputError, match=f"^difficulty.answers_file.*{message}"):
        responses_of_file(answer_rows(*rows), IDS)


def test_answers_to_unknown_items_are_ignored_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = answer_rows(("x#9", "m", 1), ("d#1", "m", 0), ("w#9", "n", 1), ("w#9", "m", 1))
    with caplog.at_level(logging.WARNING):
        read = responses_of_file(rows, IDS)
    assert read["item_id"].tolist() == ["d#1"]
    (record,) = caplog.records
    assert "2 of 3 items are not among the 3 clean questions and are ignored: w#9" in (
        record.getMessage()
    )


def test_the_matrix_joins_both_sources_with_missing_values() -> None:
    matrix = matrix_of_responses(
        answer_rows(("d#1", "file", 1.0), ("e#1", "file", 0.0)),
        answer_rows(("d#2", "asked@cloze-0", 1.0), ("d#1", "asked@cloze-0", np.nan)),
        IDS[::-1],
    )
    assert matrix.models == ("asked@cloze-0", "file")
    assert matrix.item_ids == ("d#1", "d#2", "e#1")
    expected = [[np.nan, 1, np.nan], [1, np.nan, 0]]
    np.testing.assert_array_equal(matrix.correct, np.array(expected, np.float32))
    assert matrix_of_responses(answer_rows(), answer_rows(), IDS).models == ()


def test_a_model_in_both_sources_is_refused() -> None:
    answers = answer_rows(("d#1", "m", 1.0))
    with pytest.raises(InputError, match=r"answers of 'm'; remove one"):
        matrix_of_responses(answers, answers, IDS)


def test_levels_of_each_pool_are_counted_with_the_target() -> None:
    levels = pd.Series([6.0, 6.0, 9.0, np.nan])
    params = SamplingByDifficultyParams(mean=5, sd=2)
    difficulty = pd.DataFrame({"item_id": list("abcd"), "level": levels})
    sampled_items = difficulty[["item_id"]][:2]
    rest = (sampled_items, ItemDifficulty.empty())
    table = count_levels(difficulty, sampled_items, *rest, params)
    assert list(table.columns) == ["pool", "level", "n", "share", "expected"]
    assert table["level"].tolist() == [*range(-1, 10)] * 3
    rated = table[table["pool"] == "rated"].set_index("level")
    assert rated["n"].to_dict() == {**dict.fromkeys(range(-1, 10), 0), -1: 1, 6: 2, 9: 1}
    assert rated["share"][6] == 0.5
    assert rated["expected"].isna().all()
    sampled = table[table["pool"] == "sampled"].set_index("level")
    assert sampled["share"][6] == 1
    assert sampled["expected"][range(10)].to_numpy() == pytest.approx(level_shares(5, 2))
    assert np.isnan(sampled["expected"][-1])


def in_documents(documents: dict[str, str | None]) -> pd.DataFrame:
    return pd.DataFrame({"item_id": list(documents), "doc_id": list(documents.values())})


def levels_of(**ratings: float) -> pd.DataFrame:
    return ItemDifficulty.from_rows(
        [
            (item_id, value, float(np.rint(value)), "judges", 1, value, value, "")
            if not np.isnan(value)
            else (item_id, None, None, "not_judged", 0, None, None, "no reply")
            for item_id, value in ratings.items()
        ]
    )


def test_ratings_before_and_after_are_paired() -> None:
    before = levels_of(a=5, b=5, c=7, d=2, e=np.nan, f=9)
    after = levels_of(d=2, c=7, b=8, a=6, e=3, g=1)
    shift = compare_ratings(before, after, in_documents(dict.fromkeys("abcdeg")))
    assert (shift["n"], shift["of"]) == (4, 6)
    assert (shift["before"], shift["after"], shift["shift"]) == (4.75, 5.75, 1.0)
    # Paired t interval of 1, 3, 0, 0: 1 ± 3.182446 · √2 / 2.
    assert shift["low"] == pytest.approx(1 - 3.182446 * 2**0.5 / 2, abs=1e-5)
    assert shift["high"] == pytest.approx(1 + 3.182446 * 2**0.5 / 2, abs=1e-5)
    assert (shift["same"], shift["harder"], shift["easier"]) == (0.5, 0.5, 0.0)
    assert shift["same_low"] == pytest.approx(0.150036, abs=1e-5)  # Wilson, 2 of 4
    assert shift["reason"] == ""


def test_questions_of_one_page_form_a_cluster() -> None:
    before, after = levels_of(a=5, b=5, c=7, d=2), levels_of(a=6, b=6, c=7, d=2)
    pages = in_documents({"a": "p", "b": "p", "c": "q", "d": "q"})
    together = compare_ratings(before, after, pages)
    apart = compare_ratings(before, after, in_documents(dict.fromkeys("abcd")))
    assert together["shift"] == apart["shift"] == 0.5
    assert together["high"] - together["low"] > 2 * (apart["high"] - apart["low"])
    alone = compare_ratings(before, after, in_documents(dict.fromkeys("abcd", "p")))
    assert alone["low"] is None
    assert "one cluster" in alone["reason"]


def test_only_ratings_of_judges_are_compared() -> None:
    from_answers = levels_of(a=5).assign(source="responses")
    shift = compare_ratings(from_answers, levels_of(a=6), in_documents({"a": "p"}))
    assert (shift["n"], shift["shift"]) == (0, None)
    assert shift["reason"] == "no question was rated both before and after the rules"
    nothing = compare_ratings(levels_of(a=1), ItemDifficulty.empty(), in_documents({}))
    assert (nothing["n"], nothing["of"]) == (0, 0)
