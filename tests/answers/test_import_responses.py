from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answers.imported_rows import import_as_rows
from benchwright.answers.import_responses import Imported, import_responses
from benchwright.answers.loaded_file import LoadedFile
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.responses import ResponseFileParams
from benchwright.params.scoring import ScoringParams
from benchwright.tables.items import Demonstrations
from few_examples import few_examples

Make = Callable[..., Any]


def imported(
    items: pd.DataFrame, *files: LoadedFile, calibration: pd.DataFrame | None = None
) -> Imported:
    spare = Demonstrations.empty() if calibration is None else calibration
    return import_as_rows({file.name: file for file in files}, items, spare)


def counts(result: Imported, row: int = 0) -> dict[str, int]:
    """The counts of one file that are not 0."""
    seen = (
        result.import_report.iloc[row]
        .drop(["file", "layout", "detail", "accuracy", "log_score"])
        .to_dict()
    )
    return {name: int(count) for name, count in seen.items() if count}


def cell(matrix: ResponseMatrix, field: str, model: str, item: str) -> float:
    values = getattr(matrix, field)
    return float(values[matrix.models.index(model), matrix.item_ids.index(item)])


# --- tidy files ------------------------------------------------------------------------------


def test_rows_join_by_id_and_keep_their_values(make_items: Make, make_file: Make) -> None:
    file = make_file(
        {
            "item_id": ["q2", "q1", "q1"],
            "model": ["m", "m", "n"],
            "correct": [True, False, True],
            "p_answer": [0.75, None, 0.5],
        }
    )
    result = imported(make_items("q1", "q2"), file)
    rows = result.imported_responses
    assert rows[["model", "item_id", "correct"]].to_numpy().tolist() == [
        ["m", "q1", 0],
        ["m", "q2", 1],
        ["n", "q1", 1],
    ]
    assert np.isnan(rows.p_answer[0])
    assert rows.p_answer[1:].tolist() == [0.75, 0.5]
    assert set(rows.source) == {"a.parquet"}
    assert counts(result) == {"models": 2, "rows": 3, "joined_by_id": 3}
    assert result.import_report.detail[0] == ""


def test_text_takes_precedence_over_id(make_items: Make, make_file: Make) -> None:
    items = make_items("q1", "q2")
    choices = items.choices.tolist()
    file = make_file(
        {
            "item_id": ["q1", "q1", "q1", "old-7", "q2"],
            "model": ["m", "o", "n", "m", "n"],
            "correct": [1, 0, 1, 1, 0],
            "question": ["What of q1?", None, "What of q2?", "What of q2?", "Something else?"],
            "choices": [choices[0], None, choices[1], choices[1], choices[1]],
        }
    )
    result = imported(items, file)
    joined = result.imported_responses[["model", "item_id"]].to_numpy().tolist()
    assert joined == [["m", "q1"], ["m", "q2"], ["n", "q2"], ["o", "q1"]]
    assert counts(result) == {
        "models": 3, "rows": 5, "joined_by_id": 2, "joined_by_hash": 2, "not_joined": 1
    }  # fmt: skip
    assert "1 not joined, e.g. q2 × n" in result.import_report.detail[0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_rows_with_the_id_take_precedence_over_rows_joined_by_text(
    make_items: Make, make_file: Make, order: list[int]
) -> None:
    items = make_items("q1", "q2")
    texts = items.content_hash.tolist()
    # q1 was recorded under two other names too, which this run does not have; so was q2.
    rows = [("q1", 1, texts[0]), ("twin-1", 0, texts[0])]
    rows += [("twin-3", 0, texts[1]), ("twin-2", 1, texts[1])]
    rows = [rows[place] for place in order]
    ids, correct, hashes = (list(column) for column in zip(*rows, strict=True))
    file = make_file(
        {"item_id": ids, "model": ["m"] * 4, "correct": correct, "content_hash": hashes}
    )
    result = imported(items, file)
    assert result.imported_responses.correct.tolist() == [1, 1]
    assert counts(result) == {
        "models": 1, "rows": 4, "joined_by_id": 1, "joined_by_hash": 1, "doubled": 2,
        "contradicting": 2
    }  # fmt: skip


def test_files_without_ids_join_by_question(make_items: Make, make_file: Make) -> None:
    file = make_file({"question": ["What of q2?"], "model": ["m"], "correct": [1]})
    result = imported(make_items("q1", "q2"), file)
    assert result.imported_responses.item_id.tolist() == ["q2"]
    assert counts(result)["joined_by_hash"] == 1


def test_ambiguous_texts_are_not_joined(make_items: Make, make_file: Make) -> None:
    items = make_items("q1", "q2")
    items["question"], items["content_hash"] = "Same?", content_hash("Same?", ["a", "b"])
    file = make_file(
        {
            "item_id": ["q2", "elsewhere"],
            "model": ["m", "m"],
            "correct": [1, 1],
            "question": ["Same?", "Same?"],
            "choices": [["a", "b"], ["a", "b"]],
        }
    )
    result = imported(items, file)
    assert result.imported_responses.item_id.tolist() == ["q2"]
    assert counts(result)["not_joined"] == 1


def test_first_row_with_a_key_counts(make_items: Make, make_file: Make) -> None:
    file = make_file(
        {
            "item_id": ["q1", "q1", "q1", "q2", "q2"],
            "model": ["m"] * 5,
            "correct": [1, 1, 0, 0, 1],
            "shots": [0, 0, 0, 0, 5],  # five shots are another configuration
            "style": ["cloze"] * 5,
        }
    )
    result = imported(make_items("q1", "q2"), file)
    assert result.imported_responses.correct.tolist() == [1, 0, 1]
    assert counts(result) == {
        "models": 1, "rows": 5, "joined_by_id": 3, "doubled": 2, "contradicting": 1
    }  # fmt: skip
    assert (
        "1 duplicates with a different response (the first counts), e.g. q1 × m"
        in (result.import_report.detail[0])
    )


@pytest.mark.parametrize(
    ("row", "contradicts"),
    [
        ({"correct": 1, "prediction": "A"}, True),
        ({"correct": 0, "prediction": "B"}, True),
        ({"correct": 1, "prediction": "B"}, False),
        ({"correct": 0.5, "prediction": "A"}, False),
        ({"correct": 1, "logprobs": [-1.0, -2.0, -3.0, -3.0]}, True),
        ({"correct": 0, "logprobs": [-2.0, -1.0, -3.0, -3.0]}, True),
        ({"correct": 0, "logprobs": [-1.0, -1.0, -3.0, -3.0]}, False),  # a tie may go either way
        ({"correct": 1, "logprobs": [-2.0, -1.0, -3.0, -3.0]}, False),
        ({"prediction": 0, "logprobs": [-2.0, -1.0, -3.0, -3.0]}, True),
    ],
)
def test_rows_inconsistent_with_the_gold_are_counted_and_kept(
    make_items: Make, make_file: Make, row: dict[str, Any], contradicts: bool
) -> None:
    sound = {"item_id": "q2", "model": "m", "correct": 1}
    report = {"item_id": "q1", "model": "m", "correct": None, **row}
    file = make_file({name: [sound.get(name), report[name]] for name in report})
    result = imported(make_items("q1", "q2"), file)
    assert counts(result).get("contradicting", 0) == int(contradicts)
    assert len(result.imported_responses) == 2
    assert (
        "inconsistent with the gold, e.g. q1 × m" in result.import_report.detail[0]
    ) == contradicts


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"correct": None}, "no response"),
        ({"correct": 1, "p_answer": 1.2}, "p_answer outside 0–1"),
        ({"correct": 1, "p_answer": -0.1}, "p_answer outside 0–1"),
        ({"correct": 1, "shots": -3}, "invalid shots"),
        ({"correct": 1, "style": "letter"}, "unknown style"),
        ({"correct": 1, "model": ""}, "missing model"),
        ({"correct": 1, "logprobs": [-1.0, -2.0]}, "logprobs not one per option"),
        ({"correct": 1, "logprobs": [-1.0, -2.0, float("nan"), 0.0]}, "logprobs not finite"),
        ({"correct": 1, "option_bytes": [1.0, 0.0, 1.0, 1.0]}, "option_bytes below 1"),
        ({"correct": 1, "shots": float("inf")}, "invalid shots"),
        ({"correct": 1, "shots": 1e30}, "invalid shots"),
        ({"correct": 1, "logprobs": "[" * 100_000}, "logprobs unreadable"),
        ({"correct": 1, "logprobs": f"[{'9' * 400}, 0, 0, 0]"}, "logprobs not finite"),
        ({"correct": 1, "logprobs": '["a", 0, 0, 0]'}, "logprobs unreadable"),
        (
            {"correct": 1, "style": "cloze_bytes", "logprobs": [-1.0, -2.0, -3.0, -4.0]},
            "style cloze_bytes without option_bytes",
        ),
    ],
)
def test_invalid_rows_are_dropped_and_reported(
    make_items: Make, make_file: Make, bad: dict[str, Any], message: str
) -> None:
    good = {"item_id": "q2", "model": "m", "correct": 1}
    rows = [good, {"item_id": "q1", "model": "m", **bad}]
    names = {name for row in rows for name in row}
    file = make_file({name: [row.get(name) for row in rows] for name in names})
    result = imported(make_items("q1", "q2"), file)
    assert result.imported_responses.item_id.tolist() == ["q2"]
    assert counts(result)["dropped"] == 1
    assert f"1 dropped ({message}), e.g. q1 × " in result.import_report.detail[0]


def test_probabilities_rounded_above_one_are_clipped(make_items: Make, make_file: Make) -> None:
    p = np.array([1.0000001], dtype=np.float32)
    file = make_file({"item_id": ["q1"], "model": ["m"], "correct": [1], "p_answer": p})
    assert imported(make_items("q1"), file).imported_responses.p_answer.tolist() == [1.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"item_id": ["q1"], "correct": [1]}, "needs a column 'model'"),
        (
            {"model": ["m"], "correct": [1]},
            "column 'item_id', 'content_hash' or 'question'",
        ),
        ({"item_id": ["q1"], "model": ["m"]}, "needs a column 'correct', 'score', "),
        ({"item_id": ["q1"], "model": ["m"], "correct": [None]}, "row 1: no response"),
        ({"item_id": ["q1"], "model": ["m"], "correct": ["yes"]}, "correct unreadable"),
        ({"item_id": ["q1"], "model": ["m"], "correct": [57.3]}, "e.g. --scale 0:100"),
        (
            {"item_id": [1.5], "model": ["m"], "correct": [1]},
            "column 'item_id': expected text, got type double",
        ),
        (
            {"item_id": [["q1"]], "model": ["m"], "correct": [1]},
            "column 'item_id': expected text, got type",
        ),
    ],
)
def test_invalid_tidy_files_are_rejected_by_name(
    make_items: Make, make_file: Make, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        imported(make_items("q1"), make_file(columns, layout="tidy"))
    assert str(error.value).startswith("a.parquet")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_column_that_occurs_twice_is_refused(make_items: Make, make_file: Make) -> None:
    names = ["item_id", "model", "correct", "correct"]
    table = pa.Table.from_arrays([pa.array(["q1"]), pa.array(["m"]), *[pa.array([1])] * 2], names)
    with pytest.raises(InputError, match=r"^a.parquet: column 'correct' is not unique"):
        imported(make_items("q1"), make_file(table))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"itemid": ["q1"], "model": ["m"], "correct": [1]}, "it has itemid, .*; rename 'itemid'"),
        ({"item_id": ["q1"], "Model": ["m"], "correct": [1]}, "column 'model'; .* rename 'Model'"),
        ({"item_id": ["q1"], "llm": ["m"], "prediction": ["A"]}, "column 'model'; it has [^;]*$"),
    ],
)
def test_a_tidy_file_with_a_misspelt_column_is_not_taken_for_a_wide_one(
    make_items: Make, make_file: Make, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        imported(make_items("q1"), make_file(columns))


def test_columns_can_be_renamed(make_items: Make, make_file: Make) -> None:
    columns = {"doc": ["q1"], "llm": ["m"], "acc": [1]}
    naming = {"item_id": "doc", "model": "llm", "correct": "acc"}
    result = imported(make_items("q1"), make_file(columns, columns=naming))
    assert result.imported_responses.model.tolist() == ["m"]
    with pytest.raises(InputError, match=r"no column 'accuracy' \(configured for correct\)"):
        imported(make_items("q1"), make_file(columns, columns={**naming, "correct": "accuracy"}))


def test_csv_and_parquet_give_the_same_result(make_items: Make, make_file: Make) -> None:
    columns = {
        "item_id": ["q1", "q2", "01"],
        "model": ["None", "None", "NA"],
        "correct": [True, False, None],
        "prediction": ["B", "0", "3"],
        "p_answer": [0.5, None, 0.1],
        "logprobs": [[-1.0, -0.5, -2.0, -3.0], None, None],
        "shots": [5, 0, None],
    }
    texts = {name: [None if v is None else str(v) for v in vs] for name, vs in columns.items()}
    texts["correct"] = ["True", "0.0", "NaN"]
    items = make_items("q1", "q2", "01")
    csv = imported(items, make_file({n: pa.array(v, pa.string()) for n, v in texts.items()}))
    pd.testing.assert_frame_equal(
        csv.imported_responses, imported(items, make_file(columns)).imported_responses
    )
    assert csv.imported_responses.model.tolist() == ["NA", "None", "None"]


def test_open_ended_items_take_scores(make_items: Make, make_file: Make) -> None:
    file = make_file({"item_id": ["g1"], "model": ["m"], "score": [0.8]})
    rows = imported(make_items(g1=[]), file).imported_responses
    assert rows.correct.tolist() == pytest.approx([0.8])


def test_prediction_is_scored_with_the_gold(make_items: Make, make_file: Make) -> None:
    file = make_file({"item_id": ["q1", "q2"], "model": ["m", "m"], "prediction": ["b", "C"]})
    rows = imported(make_items("q1", "q2"), file).imported_responses
    assert rows.prediction.tolist() == [1, 2]
    assert rows.correct.tolist() == [1, 0]


def test_each_of_several_right_options_is_correct(make_items: Make, make_file: Make) -> None:
    items = make_items("q1")
    items["correct_set"] = pd.Series([[1, 3]], dtype=object)
    file = make_file({"item_id": ["q1", "q1"], "model": ["m", "n"], "prediction": ["D", "A"]})
    assert imported(items, file).imported_responses.correct.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("named", "correct", "counted"),
    [
        # q1 has the right options 1 and 3, q2 the option 1
        ([("q1", "BD"), ("q2", "B"), ("q1", "B")], [1, 1, 0], {"several": 1}),
        ([("q1", "d, b"), ("q2", "A, B"), ("q1", "[1, 3]")], [1, 0, 1], {"several": 3}),
        ([("q1", "ABD"), ("q1", "C"), ("q1", "BE")], [0, 0, 0], {"several": 1, "unreadable": 1}),
        ([("q1", "B"), ("q1", "D"), ("q2", "AB")], [1, 1, 0], {"several": 1}),  # one suffices
    ],
)
@pytest.mark.parametrize("stored", ["text", "list"])
def test_several_options_are_right_if_they_are_exactly_the_right_ones(
    make_items: Make, make_file: Make, named: Any, correct: Any, counted: Any, stored: str
) -> None:
    items = make_items("q1", "q2")
    items["correct_set"] = pd.Series([[1, 3], [1]], dtype=object)
    item_ids, cells = zip(*named, strict=True)
    if stored == "list":
        cells = tuple([part for part in cell if part.isalpha()] or [1, 3] for cell in cells)
        cells = tuple(["B", "D"] if cell == [1, 3] else cell for cell in cells)
    file = make_file({"item_id": item_ids, "model": list("mno"), "prediction": cells})
    result = imported(items, file)
    rows = result.imported_responses.sort_values("model")
    assert rows.correct.tolist() == correct
    assert rows.prediction.min() == -1
    assert counts(result) == {"models": 3, "rows": 3, "joined_by_id": 3, **counted}
    assert "answers with several options, e.g. q" in result.import_report.detail[0]


def test_a_mark_beside_several_options_counts(make_items: Make, make_file: Make) -> None:
    cells = {"item_id": ["q1", "q2"], "model": ["m", "m"]}
    file = make_file(cells | {"prediction": ["A, B", "C, D"], "correct": [0.5, 1.0]})
    result = imported(make_items("q1", "q2"), file)
    assert result.imported_responses.correct.tolist() == [0.5, 1.0]
    assert "1 inconsistent with the gold, e.g. q2" in result.import_report.detail[0]


def test_wide_cells_may_name_several_options(make_items: Make, make_file: Make) -> None:
    items = make_items("q1", "q2")
    items["correct_set"] = pd.Series([[1, 3], [1]], dtype=object)
    file = make_file({"item_id": ["q1", "q2"], "m": ["BD", "B"], "n": ["B", None]})
    (matrix,) = imported(items, file).wide_matrices
    np.testing.assert_array_equal(matrix.correct, [[1, 1], [0, np.nan]])


def test_a_run_without_any_answer_from_the_hub_ends(make_items: Make, make_file: Make) -> None:
    entry = ResponseFileParams(file="a*", hub="boards/{model}", models=("o/m",))
    absent = LoadedFile(entry, None, problem="boards/o__m: no network")
    items, spare = make_items("q1"), Demonstrations.empty()
    with pytest.raises(InputError, match=r"no answers from the hub \(boards/o__m: no network\)"):
        import_responses({"a": absent}, items, spare)
    live = ScoringParams(mode="live", configurations=("m@cloze-0",))
    assert import_responses({"a": absent}, items, spare, scoring=live).wide_matrices == []
    one = make_file({"item_id": ["q1"], "model": ["m"], "correct": [1]})
    report = import_responses({"a": absent, one.name: one}, items, spare).import_report
    assert report.detail[0] == "boards/o__m: no network"


def test_later_files_only_fill_in_missing_values(make_items: Make, make_file: Make) -> None:
    first = make_file({"item_id": ["q1", "q2"], "model": ["m", "m"], "correct": [1, 0]})
    second = make_file(
        {
            "item_id": ["q1", "q2", "q3"],
            "model": ["m", "m", "m"],
            "prediction": ["B", "B", "B"],  # q2: right, though the first file says wrong
            "p_prediction": [0.9, 0.9, 0.9],
        },
        name="b.parquet",
    )
    result = imported(make_items("q1", "q2", "q3"), first, second)
    rows = result.imported_responses
    assert rows.prediction.tolist() == [1, -1, 1]
    assert rows.correct.tolist() == [1, 0, 1]
    assert rows.p_prediction.tolist() == pytest.approx([0.9, np.nan, 0.9], nan_ok=True)
    assert counts(result, 1) == {"models": 1, "rows": 3, "joined_by_id": 3, "contradicting": 1}


def test_later_rows_add_log_likelihoods(make_items: Make, make_file: Make) -> None:
    asked = {"item_id": ["q1"], "model": ["m"]}
    logprobs = [[-2.0, -1.0, -3.0, -3.0]]
    first, second = make_file({**asked, "correct": [1]}), {**asked, "logprobs": logprobs}
    result = imported(make_items("q1"), first, make_file(second, name="b.parquet"))
    row = result.imported_responses.iloc[0]
    assert (row.correct, row.logprobs, row.source) == (1, logprobs[0], "a.parquet")
    assert counts(result, 1) == {"models": 1, "rows": 1, "joined_by_id": 1}


# --- wide files ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["item_id", "question_number"])
@pytest.mark.parametrize("transposed", [False, True])
def test_orientations_of_wide_files_are_equivalent(
    make_items: Make, make_file: Make, key: str, transposed: bool
) -> None:
    if transposed:
        name, renamed = ("model", {}) if key == "item_id" else ("llm", {"model": "llm"})
        cells = {name: ["m", "n"], "q2": [1, None], "q1": [0, 1], "gone": [1, 1]}
    else:
        renamed = {} if key == "item_id" else {"item_id": key}
        cells = {key: ["q2", "q1", "gone"], "m": [1, 0, 1], "n": [None, 1, 1]}
    file = make_file(cells, layout="wide", columns=renamed)
    result = imported(make_items("q1", "q2", "q3"), file)
    (matrix,) = result.wide_matrices
    assert matrix.models == ("m", "n")
    assert matrix.item_ids == ("q1", "q2")
    np.testing.assert_array_equal(matrix.correct, [[0, 1], [1, np.nan]])
    assert counts(result) == {"models": 2, "rows": 5, "joined_by_id": 3, "not_joined": 2}
    assert "2 not joined, e.g. gone × m, gone × n" in result.import_report.detail[0]


def test_letters_become_predictions_scored_with_the_gold(make_items: Make, make_file: Make) -> None:
    file = make_file(
        {"item_id": ["q1", "q2", "q3"], "m": ["(B)", "a.", None], "n": ["E", "C)", "?"]}
    )
    result = imported(make_items("q1", "q2", "q3"), file)
    (matrix,) = result.wide_matrices  # a model with an answer that cannot be read stays in rows
    assert (matrix.models, matrix.prediction.tolist()) == (("m",), [[1, 0]])
    np.testing.assert_array_equal(matrix.correct, [[1, 0]])
    rows = result.imported_responses.query("model == 'n'")
    assert rows[["prediction", "correct"]].to_numpy().tolist() == [[-1, 0], [2, 0], [-1, 0]]
    assert rows.extraction.tolist() == ["failed", "none", "failed"]
    assert counts(result)["unreadable"] == 2
    assert result.import_report.detail[0] == (
        "1 unreadable, counted as wrong (expected a letter), e.g. row 3, column 'n': '?'; "
        "1 wrong (an option that the item does not have), e.g. q1 × n"
    )


@pytest.mark.parametrize(
    ("cells", "correct", "extraction"),
    [
        ({"correct": "[invalid]"}, 0, "failed"),
        ({"prediction": 4}, 0, "failed"),
        ({"prediction": "1.5"}, 0, "failed"),
        ({"correct": 1, "prediction": "E"}, 1, "none"),
        ({"correct": 1, "prediction": "?"}, 1, "none"),
    ],
)
def test_what_cannot_be_read_is_wrong_unless_another_column_says_more(
    make_items: Make, make_file: Make, cells: dict[str, Any], correct: float, extraction: str
) -> None:
    rows = [{"item_id": "q2", "model": "m", "correct": 1}, {"item_id": "q1", "model": "m", **cells}]
    names = {name for row in rows for name in row}
    file = make_file(
        {name: [str(row[name]) if name in row else None for row in rows] for name in names}
    )
    result = imported(make_items("q1", "q2"), file)
    first = result.imported_responses.iloc[0]
    assert (first.item_id, first.correct, first.extraction) == ("q1", correct, extraction)
    assert counts(result).get("unreadable", 0) == (extraction == "failed")


def test_scores_are_on_the_scale_of_their_file(make_items: Make, make_file: Make) -> None:
    cells = {"item_id": ["q1", "q2"], "model": ["m", "m"], "score": [1.0, 4.0]}
    file = make_file(cells, scale=(1, 5))
    assert imported(make_items("q1", "q2"), file).imported_responses.correct.tolist() == [0, 0.75]
    for wrong in (5.1, float("inf"), -1.0):
        with pytest.raises(InputError, match=r"1 of 2 scores are outside 1–5, e.g. "):
            imported(make_items("q1"), make_file(cells | {"score": [wrong, 1.0]}, scale=(1, 5)))


def test_first_cell_of_repeated_models_or_items_counts(make_items: Make, make_file: Make) -> None:
    table = pa.Table.from_arrays(
        [pa.array(["q1", "q2", "q1"]), *(pa.array(v) for v in ([1, None, 0], [0, 1, None]))],
        names=["item_id", "m", "m"],
    )
    result = imported(make_items("q1", "q2"), make_file(table))
    (matrix,) = result.wide_matrices
    np.testing.assert_array_equal(matrix.correct, [[1, 1]])
    assert counts(result) == {
        "models": 1, "rows": 4, "joined_by_id": 2, "doubled": 2, "contradicting": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"item_id": ["q1"], "m": [1], "subject": ["math"]}, "column 'subject': expected 0–1"),
        ({"id": ["x1"], "m": [1]}, "no column 'item_id' or 'model'; it has id, m"),
        ({"item_id": ["q1"], "m": [None]}, "no cell has a response"),
        ({"item_id": ["q1"], "m": [57.3]}, "1 of 1 scores are outside 0–1, e.g. 57.3 (q1 × m)"),
        ({"item_id": ["q1", None], "m": [1, 1]}, "row 2: the item id is missing"),
    ],
)
def test_invalid_wide_files_are_rejected_by_name(
    make_items: Make, make_file: Make, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        imported(make_items("q1"), make_file(columns))
    assert str(error.value).startswith("a.parquet")
    assert message in str(error.value)


def test_style_and_shots_of_a_wide_file_are_configurable(make_items: Make, make_file: Make) -> None:
    file = make_file(
        {"item_id": ["q1"], "org/m": [1]}, style="letters", shots=5, condition="choices_only"
    )
    (matrix,) = imported(make_items("q1"), file).wide_matrices
    assert matrix.models == ("org/m@letters-5",)
    assert matrix.condition == "choices_only"


def test_letters_and_correctness_of_one_model_complete_each_other(
    make_items: Make, make_file: Make
) -> None:
    right = make_file({"item_id": ["q1", "q2", "q3"], "m": [1, 0, 0], "n": [1, 1, 1]})
    letters = make_file(
        {"item_id": ["q1", "q2", "q3"], "m": ["B", "B", None]}, name="letters.parquet"
    )
    for files in ((right, letters), (letters, right)):
        result = imported(make_items("q1", "q2", "q3"), *files)
        (matrix,) = result.wide_matrices
        assert matrix.models == ("m", "n")
        assert cell(matrix, "prediction", "m", "q1") == 1
        assert cell(matrix, "correct", "m", "q1") == 1
        assert cell(matrix, "correct", "m", "q3") == 0  # no letter is no right answer either
        first_says_wrong = files[0] is right
        assert cell(matrix, "correct", "m", "q2") == (0 if first_says_wrong else 1)
        assert cell(matrix, "prediction", "m", "q2") == (-1 if first_says_wrong else 1)
        assert counts(result, 1)["contradicting"] == 1
        assert "doubled" not in counts(result, 1)


def test_wide_files_that_share_a_model_are_merged(make_items: Make, make_file: Make) -> None:
    first = make_file({"item_id": ["q1", "q2"], "m": [1, None]})
    second = make_file({"model": ["m", "n"], "q1": [0, 1], "q2": [1, 1]}, name="b.parquet")
    result = imported(make_items("q1", "q2"), first, second)
    (matrix,) = result.wide_matrices
    np.testing.assert_array_equal(matrix.correct, [[1, 1], [1, 1]])
    assert counts(result, 1) == {
        "models": 2, "rows": 4, "joined_by_id": 3, "doubled": 1, "contradicting": 1
    }  # fmt: skip
    assert "1 different in an earlier file, e.g. q1 × m" in result.import_report.detail[1]


def test_tidy_and_wide_rows_of_a_model_are_compared(make_items: Make, make_file: Make) -> None:
    items = make_items(*(f"q{i}" for i in range(30)))
    names = items.item_id.tolist()
    wide = make_file({"item_id": names, "m": [1] * 30})
    tidy = make_file(
        {"item_id": names, "model": ["m"] * 30, "correct": [0] * 10 + [1] * 20}, name="tidy.parquet"
    )
    result = imported(items, wide, tidy)
    assert counts(result, 0) == {"models": 1, "rows": 30, "joined_by_id": 30}
    assert counts(result, 1) == {"models": 1, "rows": 30, "doubled": 30, "contradicting": 10}
    assert "10 different in an earlier file" in result.import_report.detail[1]


def test_calibration_items_join_but_are_not_in_the_matrix(
    make_items: Make, make_file: Make
) -> None:
    file = make_file({"model": ["m"], "c1": [1], "q1": [0]})
    result = imported(make_items("q1"), file, calibration=make_items("c1"))
    (matrix,) = result.wide_matrices
    assert matrix.item_ids == ("q1",)
    assert counts(result) == {"models": 1, "rows": 2, "joined_by_id": 2}


# --- properties ------------------------------------------------------------------------------

ROW = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(["q1", "q2", "q3", "c1", "gone"]),
        "model": st.sampled_from(["m", "n"]),
        "correct": st.sampled_from([0.0, 1.0, 0.5, None]),
        "prediction": st.sampled_from(["A", "B", "E", None]),
        "p_answer": st.sampled_from([0.2, 0.9, 1.5, None]),
        "shots": st.sampled_from([-1, 0]),
        "style": st.sampled_from(["cloze", ""]),
    }
)


def _usable(row: dict[str, Any]) -> bool:
    return row["correct"] in (0.0, 1.0, 0.5) and row["prediction"] != "E" and row["p_answer"] != 1.5


_WRONG = {"item_id": "q1", "model": "n", "correct": 0.0, "prediction": None, "p_answer": None}
_WRONG |= {"shots": 0, "style": ""}
_SILENT = {"correct": None, "prediction": None, "p_answer": 0.2}


@given(st.lists(ROW, min_size=1).filter(lambda rows: any(map(_usable, rows))))
@example([_WRONG | {"model": "m"}, _WRONG, _WRONG | _SILENT])
@few_examples
def test_every_row_has_exactly_one_outcome(
    make_items: Make, make_file: Make, rows: list[dict[str, Any]]
) -> None:
    file = make_file(pa.Table.from_pylist(rows))
    result = imported(make_items("q1", "q2", "q3"), file, calibration=make_items("c1"))
    report = result.import_report.iloc[0]
    parts = ["joined_by_id", "joined_by_hash", "not_joined", "doubled", "dropped"]
    assert report["rows"] == len(rows) == report[parts].sum()
    assert len(result.imported_responses) == report.joined_by_id + report.joined_by_hash
    assert report.contradicting <= report.joined_by_id + report.doubled
    key = ["item_id", "condition", "style", "shots", "model"]
    assert not result.imported_responses.duplicated(key).any()


def _first_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per key: which of two comes first is the one thing that order decides."""
    keys = ("item_id", "model", "shots", "style")
    return list({tuple(row[name] for name in keys): row for row in rows}.values())


@given(st.data())
@few_examples
def test_results_do_not_depend_on_row_order(
    make_items: Make, make_file: Make, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(ROW, min_size=1).map(_first_rows).filter(
        lambda rows: any(map(_usable, rows))
    ))  # fmt: skip
    shuffled = data.draw(st.permutations(rows))
    items, spare = make_items("q1", "q2", "q3"), make_items("c1")
    names = [make_file(pa.Table.from_pylist(order)) for order in (rows, shuffled)]
    first, second = (imported(items, file, calibration=spare) for file in names)
    pd.testing.assert_frame_equal(first.imported_responses, second.imported_responses)
    pd.testing.assert_frame_equal(first.import_report, second.import_report)
