from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.answers.response_matrices import Matrices, build_response_matrices
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.tables.responses import Calibration, Responses

Make = Callable[..., Any]

NONE = Responses.empty()
UNIT = Calibration.empty()


def built(
    items: pd.DataFrame,
    *,
    live: pd.DataFrame = NONE,
    recorded: pd.DataFrame = NONE,
    wide: tuple[ResponseMatrix, ...] = (),
    calibration: pd.DataFrame = UNIT,
) -> Matrices:
    return build_response_matrices(live, recorded, list(wide), calibration, items)


def scored(item: str, logprobs: list[float], **more: Any) -> dict[str, Any]:
    live = {"item_id": item, "model": "m", "style": "letters", "shots": 0, "source": "live"}
    return {**live, "logprobs": logprobs, **more}


def test_log_likelihoods_become_prediction_correctness_and_probabilities(
    make_items: Make, make_responses: Make
) -> None:
    rows = make_responses(
        scored("q1", list(np.log([0.1, 0.7, 0.1, 0.1]))),
        scored("q2", list(np.log([0.6, 0.2, 0.1, 0.1]))),
    )
    matrix = built(make_items("q1", "q2"), live=rows).response_matrix
    assert matrix.models == ("m@letters-0",)
    assert matrix.prediction.tolist() == [[1, 0]]
    assert matrix.correct.tolist() == [[1, 0]]
    np.testing.assert_allclose(matrix.p_answer, [[0.7, 0.2]], rtol=1e-6)
    np.testing.assert_allclose(matrix.p_prediction, [[0.7, 0.6]], rtol=1e-6)


def test_cloze_configurations_can_predict_different_options(
    make_items: Make, make_responses: Make
) -> None:
    row = scored(
        "q1",
        [-4.0, -6.0, -9.0, -9.0],
        style="cloze",
        option_bytes=[2, 12, 6, 6],
        option_tokens=[4, 3, 1, 1],
    )
    out = built(make_items("q1"), live=make_responses(row))
    matrix = out.response_matrix
    assert matrix.models == ("m@cloze-0", "m@cloze_bytes-0", "m@cloze_tokens-0")
    assert matrix.prediction[:, 0].tolist() == [0, 1, 0]
    assert matrix.correct[:, 0].tolist() == [0, 1, 0]
    assert out.responses["style"].tolist() == ["cloze", "cloze_bytes", "cloze_tokens"]


def test_live_responses_replace_recorded_ones(make_items: Make, make_responses: Make) -> None:
    live = make_responses(scored("q1", list(np.log([0.1, 0.7, 0.1, 0.1]))))
    asked = {"model": "m", "style": "letters", "shots": 0}
    recorded = make_responses(
        {"item_id": "q1", **asked, "correct": 0, "p_answer": 0.2, "prediction": 3},
        {"item_id": "q2", **asked, "correct": 1, "p_answer": 0.9},
    )
    out = built(make_items("q1", "q2"), live=live, recorded=recorded)
    assert out.response_matrix.prediction.tolist() == [[1, -1]]
    np.testing.assert_allclose(out.response_matrix.p_answer, [[0.7, 0.9]], rtol=1e-6)
    report = out.answer_coverage.iloc[0]
    assert (report.source, report.answered) == ("both", 2)
    assert out.responses.source.tolist() == ["live", "a.parquet"]


def test_live_responses_replace_cells_of_wide_files(make_items: Make, make_responses: Make) -> None:
    live = make_responses(scored("q1", [0.0, -5.0, -5.0, -5.0]))
    wide = ResponseMatrix.of(
        ("m@letters-0",), ("q1", "q2"), correct=np.array([[1, 1]], dtype=np.float32)
    )
    out = built(make_items("q1", "q2"), live=live, wide=(wide,))
    assert out.response_matrix.correct.tolist() == [[0, 1]]
    assert out.answer_coverage.source.tolist() == ["both"]


def test_too_long_prompts_do_not_replace_recorded_responses(
    make_items: Make, make_responses: Make
) -> None:
    asked = {"model": "m", "style": "letters", "shots": 0}
    failed = {**asked, "source": "live", "extraction": "failed"}
    live = make_responses({"item_id": "q1", **failed}, {"item_id": "q2", **failed})
    recorded = make_responses({"item_id": "q1", **asked, "correct": 1, "prediction": 1})
    wide = ResponseMatrix.of(("m@letters-0",), ("q2",), correct=np.array([[0]], dtype=np.float32))
    out = built(make_items("q1", "q2", "q3"), live=live, recorded=recorded, wide=(wide,))
    np.testing.assert_array_equal(out.response_matrix.correct, [[1, 0, np.nan]])
    assert out.answer_coverage.source.tolist() == ["recorded"]
    assert out.responses[["item_id", "extraction"]].to_numpy().tolist() == [
        ["q1", "none"],
        ["q2", "failed"],
    ]


def test_models_are_sorted_and_items_keep_their_order(
    make_items: Make, make_responses: Make
) -> None:
    recorded = make_responses(
        {"item_id": "q1", "model": "z", "correct": 1},
        {"item_id": "q3", "model": "a", "correct": 1},
    )
    wide = ResponseMatrix.of(("k",), ("q3", "q2"), correct=np.array([[1, 0]], dtype=np.float32))
    matrix = built(make_items("q2", "q1", "q3"), recorded=recorded, wide=(wide,)).response_matrix
    assert matrix.models == ("a", "k", "z")
    assert matrix.item_ids == ("q2", "q1", "q3")
    nan = np.nan
    np.testing.assert_array_equal(matrix.correct, [[nan, nan, 1], [0, nan, 1], [nan, 1, nan]])


def test_ties_choose_the_first_option_and_are_counted(
    make_items: Make, make_responses: Make
) -> None:
    rows = make_responses(
        scored("q1", [-1.0, -1.0, -2.0, -2.0]), scored("q2", [-2.0, -1.0, -3.0, -2.0])
    )
    out = built(make_items("q1", "q2"), live=rows)
    assert out.response_matrix.prediction.tolist() == [[0, 1]]
    assert out.answer_coverage.exact_ties.tolist() == [1]


def test_items_may_differ_in_number_of_options(make_items: Make, make_responses: Make) -> None:
    items = make_items(two=["x", "y"], five=list("vwxyz"), open=[])
    rows = make_responses(
        scored("two", [-3.0, -1.0]),
        scored("five", [-3.0, -2.0, -2.5, -1.0, -4.0]),
        {"item_id": "open", "model": "m", "style": "letters", "shots": 0, "correct": 0.4},
    )
    matrix = built(items, live=rows[rows.source == "live"], recorded=rows[rows.source != "live"])
    seen = matrix.response_matrix
    assert seen.prediction.tolist() == [[1, 3, -1]]
    np.testing.assert_allclose(seen.correct, [[1, 0, 0.4]])
    assert seen.p_answer[0, 0] == pytest.approx(np.exp(-1) / (np.exp(-1) + np.exp(-3)))
    assert np.isnan(seen.p_answer[0, 2])


def test_results_do_not_depend_on_row_order(make_items: Make, make_responses: Make) -> None:
    rng = np.random.default_rng(3)
    rows = [
        scored(
            f"q{i}",
            list(rng.normal(size=4)),
            model=model,
            style="cloze",
            option_bytes=[3, 4, 5, 6],
            source=source,
        )
        for i in range(8)
        for model in ("m", "n")
        for source in ("live", "a.parquet")
        if not (source == "live" and i > 5)
    ]
    table = make_responses(*rows)
    items = make_items(*(f"q{i}" for i in range(8)))

    def run(order: pd.DataFrame) -> Matrices:
        is_live = order.source == "live"
        return built(items, live=order[is_live], recorded=order[~is_live])

    ordered, shuffled = run(table), run(table.sample(frac=1, random_state=5))
    for name in ("correct", "p_answer", "p_prediction", "prediction"):
        np.testing.assert_array_equal(
            getattr(ordered.response_matrix, name), getattr(shuffled.response_matrix, name)
        )
    pd.testing.assert_frame_equal(ordered.responses, shuffled.responses)
    pd.testing.assert_frame_equal(ordered.answer_coverage, shuffled.answer_coverage)


def test_responses_to_copies_are_not_in_the_matrices_of_the_originals(
    make_items: Make, make_responses: Make
) -> None:
    items = make_items("q1")
    rows = make_responses(
        scored("q1", list(np.log([0.1, 0.7, 0.1, 0.1]))),
        scored("q1", list(np.log([0.7, 0.1, 0.1, 0.1])), condition="wicked-1"),
    )
    seen = build_response_matrices(rows, NONE, [], UNIT, items)
    assert set(seen.responses["condition"]) == {"question"}
    assert set(seen.answer_coverage["condition"]) == {"question"}
