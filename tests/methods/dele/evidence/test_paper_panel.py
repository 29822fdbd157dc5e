"""The paper's panel on the items that its models answered."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchwright.methods.dele.evidence import panels
from benchwright.methods.dele.evidence.panels import answered_by_all, choose_paper_panel
from benchwright.methods.dele.evidence.sampler_results import compare_samplers
from benchwright.methods.dele.evidence.sampler_summary import compare_on_paper_panel
from benchwright.params.scoring import ModelsParams
from methods.dele.evidence.sampling_examples import (
    NO_SCORES,
    make_answers,
    make_items,
    make_matrix,
    make_panels,
    make_params,
    make_study,
)

PARAMS = make_params()
SCORES = pd.DataFrame({"name": [f"m{row:02d}" for row in range(24)], "avg": np.arange(24.0)})


@pytest.fixture(autouse=True)
def small_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "PAPER_STEP", 2)
    monkeypatch.setattr(panels, "PAPER_MODELS", 8)


def gappy() -> np.ndarray:
    answers = make_answers()
    answers[[19, 21, 23], 10:] = np.nan  # few items
    answers[[1, 3], 40:] = np.nan
    answers[5] = np.nan  # nothing
    return answers


@given(hnp.arrays(bool, st.tuples(st.integers(1, 8), st.integers(0, 9))), st.integers(min_value=1))
def test_chosen_matrix_is_complete_and_largest(answered: np.ndarray, least: int) -> None:
    panel = answered_by_all(answered, least)
    assert answered[np.ix_(panel.models, panel.items)].all()
    having = int(answered.any(axis=1).sum())
    assert len(panel.models) >= min(least, having)
    order = sorted(range(len(answered)), key=lambda row: (-answered[row].sum(), row))
    sizes = [
        k * int(answered[order[:k]].all(axis=0).sum())
        for k in range(max(min(least, having), 1), having + 1)
    ]
    assert len(panel.models) * len(panel.items) == max(sizes, default=0)


def test_models_with_few_responses_are_dropped() -> None:
    panel = choose_paper_panel(make_matrix(gappy()), make_items(), SCORES)
    # Every second from the best: m23, m21 … m01. m05 has nothing, three have 10 of 60 items.
    assert panel.models == ("m01", "m03", "m07", "m09", "m11", "m13", "m15", "m17")
    assert panel.item_ids == tuple(f"i{n:03d}" for n in range(40))
    assert (panel.left_out, panel.all_items) == (3, 60)
    assert np.array_equal(panel.correct[0], gappy()[1, :40])
    assert panel.main == "paper_partial"


def test_fewer_models_can_share_more_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "PAPER_MODELS", 3)
    panel = choose_paper_panel(make_matrix(gappy()), make_items(), SCORES)
    # 6 models × 60 items are more answers than 8 × 40 or 11 × 10.
    assert (len(panel.models), len(panel.item_ids)) == (6, 60)


def test_panel_equals_a_benchmark_of_its_models_and_items() -> None:
    """A study of the same models and items has the same results."""
    panel = choose_paper_panel(make_matrix(gappy()), make_items(), SCORES)
    summary = compare_on_paper_panel(make_items(), panel, {}, PARAMS, ModelsParams(), 0)
    results, _ = compare_samplers(make_study(make_panels(panel.correct, PARAMS), PARAMS))
    own = results[(results["panel"] == "all") & (results["rate"] == PARAMS.evidence.main_rate)]
    expected = own.groupby("sampler")["spearman"].mean()
    means = summary.set_index("sampler")["spearman"].sort_index()
    pd.testing.assert_series_equal(means, expected, check_names=False)


def test_panel_can_be_empty() -> None:
    for answers, scores in (
        (make_answers(), NO_SCORES),
        (np.full((24, 60), np.nan, np.float32), SCORES),
    ):
        panel = choose_paper_panel(make_matrix(answers), make_items(), scores)
        assert (panel.models, panel.item_ids) == ((), ())
        summary = compare_on_paper_panel(make_items(), panel, {}, PARAMS, ModelsParams(), 0)
        assert summary.empty
