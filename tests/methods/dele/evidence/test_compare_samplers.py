"""Comparison of samplers with random subsets, and correction for multiple tests."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.dele.estimation.errors import advise
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.evidence.estimates import measure_estimates
from benchwright.methods.dele.evidence.rate_curves import (
    smallest_rate,
    summarise_samplers,
    trace_curves,
)
from benchwright.methods.dele.evidence.sampler_results import (
    compare_samplers,
    compare_with_random,
)
from benchwright.methods.dele.evidence.sampler_results import tested_panels as panels_to_test
from benchwright.statistics.percentile import holm
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_panels,
    make_study,
)

STUDY = make_study()
PANELS = STUDY.panels


@pytest.fixture(scope="module")
def judged() -> tuple[pd.DataFrame, pd.DataFrame]:
    return compare_samplers(STUDY)


def test_held_out_responses_do_not_affect_the_items(
    judged: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """What held-out models answer may change their results, never the items chosen."""
    other = PANELS.correct.copy()
    places = PANELS.groups["held_out"]
    other[places] = 1 - other[places]
    again, _ = compare_samplers(make_study(PANELS._replace(correct=other)))
    results = [
        table[table["panel"] == "selection"].reset_index(drop=True) for table in (judged[0], again)
    ]
    pd.testing.assert_frame_equal(*results)


def test_samplers_are_tested_against_random_subsets(
    judged: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    table = compare_with_random(judged[0], STUDY)
    assert set(table["panel"]) == {"held_out", "forward"}
    assert table.loc[table["sampler"] == "random", "p"].isna().all()
    assert (table["random_subsets"] >= 1000).all()
    for _, group in table.groupby(["panel", "metric"]):
        tested = group[group["sampler"] != "random"]
        assert len(tested) == 4 * 2  # samplers × rates are one family
        assert tested["p_holm"].to_numpy() == pytest.approx(holm(tested["p"].to_numpy()))
    sure = table["p_holm"] <= 0.05
    assert (table["verdict"] != "no difference shown").eq(sure).all()
    # Harder items shift all scores, and that is found out.
    shifted = table.query("sampler == 'share_wrong' and metric == 'mean_absolute_error'")
    assert (shifted["verdict"] == "worse").any()
    assert (shifted["better_by"] < 0).all()
    alone = compare_with_random(judged[0].query("sampler == 'random'"), STUDY)
    assert set(alone["verdict"]) == {"no difference shown"}


def test_in_sample_panel_is_tested_only_without_held_out_models() -> None:
    assert panels_to_test(PANELS) == ["held_out", "forward"]
    few = make_panels(make_answers(models=4))
    assert few.main == "all"
    assert panels_to_test(few) == ["all"]


def test_smallest_rate_suffices_at_all_higher_rates() -> None:
    by_rate = pd.Series([0.95, 0.85, 0.91, 0.97], index=[5.0, 10.0, 20.0, 50.0])
    assert smallest_rate(by_rate, 0.9) == 20
    assert smallest_rate(by_rate, 0.8) == 5
    assert np.isnan(smallest_rate(by_rate, 0.99))
    assert np.isnan(smallest_rate(by_rate * np.nan, 0.1))


def test_summary_has_items_and_tokens(judged: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    curves = trace_curves(judged[0])
    table = summarise_samplers(curves, STUDY)
    assert set(table["panel"]) == {"held_out"}
    assert (table["rate"] == 10).all()
    row = table.query("panel == 'held_out' and sampler == 'random'").iloc[0]
    of_random = judged[0].query("panel == 'held_out' and sampler == 'random' and rate == 10")
    assert row["spearman"] == pytest.approx(of_random["spearman"].mean())
    assert row["spearman_sd"] == pytest.approx(of_random["spearman"].std())
    texts = [f"{text}\none\ntwo\nthree\nfour" for text in STUDY.plain.texts]
    assert row["tokens_in_all"] == pytest.approx(sum(map(len, texts)) / 4)
    known = table.dropna(subset=["tokens_for_spearman"])
    assert (known["tokens_for_spearman"] <= known["tokens_in_all"] + 1e-9).all()


def test_estimates_are_measured_on_models_that_did_not_train() -> None:
    table = measure_estimates(STUDY)
    assert set(table["estimator"]) == set(ESTIMATORS)
    assert set(table["panel"]) == {"held_out", "forward"}
    assert (table["size"] == 15).all()  # a quarter of 60
    mean = table.query("estimator == 'mean' and subset == 'random' and panel == 'held_out'").iloc[0]
    assert 0.02 < mean["mean_absolute_error"] < 0.15
    assert mean["coverage"] > 0.8
    assert mean["n_train"] + mean["n_models"] == 24
    assert (mean["effective_by_error"], mean["effective_by_width"]) == (1, 1)
    assert set(table.query("subset == 'unequal'")["estimator"]) == {"mean", "aipw"}
    wider = table.query("subset == 'random'").dropna(subset=["width"])
    both = wider.merge(wider.query("estimator == 'mean'"), on="panel", suffixes=("", "_mean"))
    expected = (both["width_mean"] / both["width"]) ** 2
    assert both["effective_by_width"].to_numpy() == pytest.approx(expected.to_numpy())


def errors(ridge: float, coverage: float) -> pd.DataFrame:
    """Errors on two panels, with the tau-b of ridge and the coverage of AIPW on the stronger."""
    rows = [
        ("random", "mean", "held_out", 0.95, 0.7, 1.0),
        ("random", "mean", "forward", 0.95, 0.6, 1.0),
        ("random", "ridge", "held_out", 0.95, 0.8, 3.0),
        ("random", "ridge", "forward", 0.95, ridge, 3.0),
        ("unequal", "aipw", "held_out", 0.95, 0.7, 3.0),
        ("unequal", "aipw", "forward", coverage, 0.5, 2.0),
    ]
    columns = ["subset", "estimator", "panel", "coverage", "tau_b", "effective_by_error"]
    return pd.DataFrame(rows, columns=columns).assign(reason="")


@pytest.mark.parametrize(("ridge", "ranks"), [(0.63, "ridge"), (0.61, "mean")])
@pytest.mark.parametrize(
    ("coverage", "scores"),
    [(0.94, "aipw of unequal items, each worth 2.0"), (0.92, "mean of random items, each worth 1")],
)
def test_advice_needs_a_gain_and_coverage_on_every_panel(
    ridge: float, ranks: str, coverage: float, scores: str
) -> None:
    said = advise(errors(ridge, coverage))
    assert said.startswith(f"To rank models, use {ranks} of the same random items, tau-b: ")
    assert f"To score one, use {scores}" in said


def test_unequal_draws_that_were_made_at_random_are_not_advised() -> None:
    table = errors(0.6, 0.94)
    table.loc[table["subset"] == "unequal", "reason"] = "random: too few models"
    assert "use mean of random items" in advise(table)


@pytest.mark.parametrize("unknown", ["coverage", "tau_b"])
def test_there_is_no_advice_without_intervals_or_ranks(unknown: str) -> None:
    assert advise(errors(0.6, 0.94).assign(**{unknown: np.nan})) == ""
