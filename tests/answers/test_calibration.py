from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchwright.answers.calibration import (
    best_options,
    fit_temperature,
    fit_temperatures,
    log_softmax,
    negative_log_likelihood,
    padded,
)
from benchwright.params.responses import ResponsesParams
from benchwright.tables.items import Demonstrations
from benchwright.tables.responses import Responses

Make = Callable[..., Any]

NONE = Responses.empty()


def softmax_answers(
    make_items: Make, make_responses: Make, *, temperature: float, n: int = 4000, style: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers of a model whose scores are right as probabilities at `temperature`."""
    rng = np.random.default_rng(7)
    names = [f"c{i:04d}" for i in range(n)]
    logits = rng.normal(scale=2.0, size=(n, 4))
    chances = np.exp(log_softmax(logits, 1.0))
    gold = [int(rng.choice(4, p=chance)) for chance in chances]
    items = make_items(*names)
    items["answer"] = gold
    items["correct_set"] = pd.Series([[g] for g in gold], dtype=object)
    divisor = [10, 10, 10, 10] if style == "cloze_bytes" else [1, 1, 1, 1]
    rows = [
        {
            "item_id": name,
            "model": "m",
            "style": style,
            "shots": 0,
            "logprobs": list(scores * temperature * divisor[0]),
            "option_bytes": divisor,
            "source": "live",
        }
        for name, scores in zip(names, logits, strict=True)
    ]
    return items, make_responses(*rows)


@pytest.mark.parametrize(
    ("style", "temperature"), [("cloze", 0.3), ("cloze", 6.0), ("cloze_bytes", 0.2)]
)
def test_fit_recovers_the_temperature_of_simulated_responses(
    make_items: Make, make_responses: Make, style: str, temperature: float
) -> None:
    items, rows = softmax_answers(
        make_items, make_responses, temperature=temperature, n=3000, style=style
    )
    table = fit_temperatures(rows, NONE, items, ResponsesParams()).set_index("configuration")
    fitted = table.loc[f"m@{style}-0"]
    assert fitted.temperature == pytest.approx(temperature, rel=0.08)
    assert fitted.n == 3000


def test_styles_that_are_not_calibrated_keep_temperature_one(
    make_items: Make, make_responses: Make
) -> None:
    items, rows = softmax_answers(
        make_items, make_responses, temperature=5.0, n=100, style="letters"
    )
    plain = fit_temperatures(rows, NONE, items, ResponsesParams()).iloc[0]
    assert (plain.temperature, plain.n) == (1.0, 100)
    asked = ResponsesParams(calibrate_styles=("letters",))
    assert fit_temperatures(rows, NONE, items, asked).temperature[0] > 3


def test_too_few_responses_keep_temperature_one(make_items: Make, make_responses: Make) -> None:
    items, rows = softmax_answers(make_items, make_responses, temperature=5.0, n=20, style="cloze")
    enough = fit_temperatures(rows, NONE, items, ResponsesParams())
    few = fit_temperatures(rows.iloc[1:], NONE, items, ResponsesParams())
    assert enough.loc[enough.configuration == "m@cloze-0", "temperature"].item() > 2
    assert few.loc[few.configuration == "m@cloze-0", "temperature"].item() == 1
    assert few.loc[few.configuration == "m@cloze-0", "n"].item() == 19


def test_only_the_question_condition_of_calibration_items_is_used(
    make_items: Make, make_responses: Make
) -> None:
    items, rows = softmax_answers(make_items, make_responses, temperature=3.0, n=60, style="cloze")
    noise = rows.assign(condition="choices_only", logprobs=[[0.0, 9.0, 0.0, 0.0]] * 60)
    others = rows.assign(item_id=[f"test{i}" for i in range(60)])
    alone = fit_temperatures(rows, NONE, items, ResponsesParams())
    among = fit_temperatures(pd.concat([noise, rows, others]), NONE, items, ResponsesParams())
    pd.testing.assert_frame_equal(alone, among)


def test_cloze_scores_give_three_configurations(make_items: Make, make_responses: Make) -> None:
    items, rows = softmax_answers(make_items, make_responses, temperature=3.0, n=60, style="cloze")
    rows["option_tokens"] = pd.Series([[2, 2, 2, 2]] * 60, dtype=object)
    table = fit_temperatures(rows, NONE, items, ResponsesParams()).set_index("configuration")
    assert list(table.index) == ["m@cloze-0", "m@cloze_bytes-0", "m@cloze_tokens-0"]
    # Halving all scores halves the temperature.
    ratio = table.temperature["m@cloze_tokens-0"] / table.temperature["m@cloze-0"]
    assert ratio == pytest.approx(0.5, rel=1e-3)


def test_live_responses_take_precedence_over_recorded_ones(
    make_items: Make, make_responses: Make
) -> None:
    items, live = softmax_answers(make_items, make_responses, temperature=3.0, n=60, style="cloze")
    recorded = live.assign(logprobs=[[5.0, 0.0, 0.0, 0.0]] * 60, source="a.parquet")
    both = fit_temperatures(live, recorded, items, ResponsesParams())
    pd.testing.assert_frame_equal(both, fit_temperatures(live, NONE, items, ResponsesParams()))


def test_without_calibration_items_every_temperature_is_one(
    make_items: Make, make_responses: Make
) -> None:
    _, rows = softmax_answers(make_items, make_responses, temperature=3.0, n=30, style="cloze")
    table = fit_temperatures(rows, NONE, Demonstrations.empty(), ResponsesParams())
    assert set(table.temperature) == {1.0}


def test_gold_of_probability_zero_keeps_the_fit_finite() -> None:
    scores = np.array([[-np.inf, 0.0]] + [[0.0, 1.0]] * 30)
    answer = np.array([0] + [1] * 30)
    temperature = fit_temperature(scores, answer)
    assert np.isfinite(negative_log_likelihood(scores, answer, temperature))
    assert 0.05 <= temperature <= 100


@given(
    st.lists(
        st.tuples(st.lists(st.floats(-50, 0), min_size=2, max_size=5), st.integers(0, 1)),
        min_size=2,
        max_size=20,
    )
)
def test_fitted_temperature_is_optimal(rows: list[tuple[list[float], int]]) -> None:
    scores = padded([scores for scores, _ in rows])
    answer = np.array([gold for _, gold in rows])
    least = negative_log_likelihood(scores, answer, fit_temperature(scores, answer))
    for other in np.geomspace(0.05, 100, 60):
        assert least <= negative_log_likelihood(scores, answer, float(other)) + 1e-4


@given(
    st.lists(st.lists(st.floats(-700, 700), min_size=1, max_size=6), min_size=1, max_size=5),
    st.floats(0.05, 100),
)
def test_probabilities_of_options_sum_to_one(rows: list[list[float]], temperature: float) -> None:
    p = np.exp(log_softmax(padded(rows), temperature))
    np.testing.assert_allclose(np.nansum(p, axis=1), 1)
    assert [int((~np.isnan(row)).sum()) for row in p] == [len(row) for row in rows]


def test_ties_choose_the_first_option_and_are_marked() -> None:
    best, tied = best_options(padded([[1.0, 3.0, 3.0], [2.0, 1.0], None, [-np.inf, 0.0]]))
    assert best.tolist() == [1, 0, -1, 1]
    assert tied.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"calibrate_styles": ("clozes",)}, "calibrate_styles"),
        ({"temprature": 1.0}, "unknown key 'temprature'"),
    ],
)
def test_invalid_settings_are_rejected(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ResponsesParams(**wrong)
