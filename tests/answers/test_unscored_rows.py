"""Answers without log-likelihoods are kept as matrices, and nothing else changes by that."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from answers.imported_rows import import_as_rows
from benchwright.answers.import_responses import import_responses
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.response_matrices import build_response_matrices
from benchwright.tables.responses import Calibration, Responses
from few_examples import few_examples

Make = Callable[..., Any]
SCORES = [-1.0, -2.0, -3.0, -4.0]
EMPTY = Responses.empty()
NOTHING = Calibration.empty()
ITEMS = ["q1", "q2", "q3", "c1"]
FIELDS = ("correct", "p_answer", "p_prediction", "prediction")


def test_models_without_log_likelihoods_become_a_matrix(make_items: Make, make_file: Make) -> None:
    file = make_file(
        {
            "item_id": ["q1", "q2", "q1", "q2", "c1"],
            "model": ["plain", "plain", "scored", "scored", "plain"],
            "style": ["letters"] * 5,
            "shots": [5] * 5,
            "correct": [1.0, None, 1.0, 0.0, 1.0],
            "prediction": [None, "B", None, None, None],
            "p_answer": [0.8, None, None, 0.1, None],
            "logprobs": [None, None, [-2.0, -1.0, -3.0, -4.0], None, None],
        }
    )
    out = import_responses({file.name: file}, make_items("q1", "q2", "q3"), make_items("c1"))
    # A row without log-likelihoods stays where the model's other rows have them.
    assert out.imported_responses[["model", "item_id"]].to_numpy().tolist() == [
        ["scored", "q1"],
        ["scored", "q2"],
    ]
    (matrix,) = out.wide_matrices
    assert (matrix.models, matrix.item_ids) == (("plain@letters-5",), ("q1", "q2"))
    assert matrix.correct.tolist() == [[1, 1]]  # q2's from its option
    assert matrix.prediction.tolist() == [[-1, 1]]
    np.testing.assert_allclose(matrix.p_answer, [[0.8, np.nan]])
    assert np.isnan(matrix.p_prediction).all()


def test_models_with_calibration_items_only_are_in_no_matrix(
    make_items: Make, make_file: Make
) -> None:
    file = make_file({"item_id": ["c1"], "model": ["m"], "correct": [1]})
    out = import_responses({file.name: file}, make_items("q1"), make_items("c1"))
    assert out.wide_matrices == []
    assert out.imported_responses.empty
    assert out.import_report.joined_by_id.tolist() == [1]


def test_first_style_of_a_configuration_counts(make_items: Make, make_file: Make) -> None:
    rows = {"item_id": ["q1", "q1"], "model": ["m", "m"], "style": ["letters", "cloze"]}
    file = make_file({**rows, "shots": [-1, -1], "correct": [0, 1]})
    out = import_responses({file.name: file}, make_items("q1"), make_items().head(0))
    (matrix,) = out.wide_matrices
    assert (matrix.models, matrix.correct.tolist()) == (("m",), [[1]])


ROW = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(ITEMS),
        "model": st.sampled_from(["m", "n", "o"]),
        "correct": st.sampled_from([0.0, 1.0, 0.5, None]),
        "prediction": st.sampled_from(["A", "B", "C", None]),
        "p_answer": st.sampled_from([0.2, 0.75, None]),
        "shots": st.sampled_from([-1, 0]),
        "style": st.sampled_from(["cloze", "cloze_bytes", ""]),
        "condition": st.sampled_from(["question", "choices_only"]),
        "logprobs": st.sampled_from([None, None, SCORES]),
        "option_bytes": st.just([3.0, 4.0, 5.0, 6.0]),
    }
)
LIVE = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(ITEMS[:3]),
        "model": st.sampled_from(["m", "n"]),
        "style": st.just("cloze"),
        "shots": st.just(0),
        "condition": st.sampled_from(["question", "choices_only"]),
        "logprobs": st.sampled_from([None, SCORES]),
        "source": st.just("live"),
    }
)


def _usable(row: dict[str, Any]) -> bool:
    return any(row[name] is not None for name in ("correct", "prediction", "logprobs"))


def _one_each(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return list({tuple(row[name] for name in names): row for row in rows}.values())


@given(
    st.lists(ROW.filter(_usable), min_size=1, max_size=14),
    st.lists(ROW.filter(_usable), max_size=6),
    st.lists(LIVE, max_size=6),
    st.sampled_from([None, ["A", "B"], [1, 0]]),
)
@few_examples
def test_matrices_and_coverage_equal_those_of_all_rows(
    make_items: Make,
    make_file: Make,
    make_responses: Make,
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    live: list[dict[str, Any]],
    wide: list[Any] | None,
) -> None:
    items, spare = make_items("q1", "q2", "q3"), make_items("c1")
    files: dict[str, LoadedFile] = {
        "a.parquet": make_file(pa.Table.from_pylist(first), name="a.parquet")
    }
    if second:
        files["b.parquet"] = make_file(pa.Table.from_pylist(second), name="b.parquet")
    if wide:
        files["w.parquet"] = make_file({"item_id": ["q1", "q2"], "m": wide}, name="w.parquet")
    asked = make_responses(*_one_each(live, "item_id", "model", "condition")) if live else EMPTY
    packed, rows = (read(files, items, spare) for read in (import_responses, import_as_rows))
    pd.testing.assert_frame_equal(packed.import_report, rows.import_report)
    with_all_rows, other = (
        build_response_matrices(
            asked, result.imported_responses, result.wide_matrices, NOTHING, items
        )
        for result in (packed, rows)
    )
    for name in ("response_matrix", "choices_only_matrix"):
        now, then = getattr(with_all_rows, name), getattr(other, name)
        assert now.models == then.models
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(now, field), getattr(then, field), field)
    pd.testing.assert_frame_equal(
        with_all_rows.answer_coverage, other.answer_coverage, check_exact=False, atol=1e-6
    )
