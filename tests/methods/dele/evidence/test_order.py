"""The order of pairs of models on subsets, and the sentence on the exported one."""

import numpy as np
import pandas as pd

from benchwright.evidence.told_apart import not_told_apart
from benchwright.methods.dele.evidence.order import describe_subset, trace_order
from benchwright.reports.dele.page import show_sampling_order
from benchwright.reports.dele.plots.order_curves import plot_order_curves
from benchwright.tables.dele import ChosenSubset, OrderCurves
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_panels,
    make_params,
    make_study,
)

PARAMS = make_params(samplers="random+word_length+anchor_points")
STUDY = make_study(make_panels(params=PARAMS), PARAMS)
CHOICE = pd.DataFrame({"split": [0, -1], "winner": ["anchor_points", "word_length"]})


def test_random_and_the_chosen_sampler_have_curves_at_the_rates_of_the_tests() -> None:
    curves = trace_order(CHOICE, STUDY)
    found = set(map(tuple, curves[["sampler", "rate"]].drop_duplicates().to_numpy()))
    assert found == {(name, rate) for name in ("random", "word_length") for rate in (10.0, 25.0)}
    for _, own in curves.groupby(["sampler", "rate"]):
        assert own["right"].is_monotonic_increasing
        assert own["gap"].is_monotonic_increasing
    random = curves[curves["sampler"] == "random"].drop_duplicates("rate").set_index("rate")
    assert random.loc[25.0, "least"] < random.loc[10.0, "least"]
    assert (random["n_models"] == len(STUDY.panels.groups["held_out"])).all()


def test_page_shows_the_least_gap_and_the_sentence() -> None:
    section = show_sampling_order(trace_order(CHOICE, STUDY), {"told_apart": "Pairs …"})
    assert section["told_apart"] == "Pairs …"
    assert [row["sampler"] for row in section["order"]] == ["random", "word_length"] * 2
    assert all(row["at_5"].endswith("%") for row in section["order"])


def test_plot_has_a_line_per_sampler_and_rate() -> None:
    chart = plot_order_curves(trace_order(CHOICE, STUDY))
    assert [trace.line.dash for trace in chart.data] == ["solid", "solid", "dash", "dash"]
    assert "Too few" in str(plot_order_curves(OrderCurves.empty()).layout.annotations)


def chosen(n: int, weights: list[float] | None = None) -> pd.DataFrame:
    weighed = weights or [1 / n] * n
    return ChosenSubset.from_rows([(f"i{k:03d}", k, w, np.nan) for k, w in enumerate(weighed)])


def test_more_items_tell_closer_models_apart() -> None:
    few, many = (describe_subset(chosen(n), STUDY)["told_apart"] for n in (10, 40))
    gaps = [float(said.split("than ")[1].split(" points")[0]) for said in (few, many)]
    assert gaps[0] > gaps[1] > 0
    assert describe_subset(chosen(60), STUDY) == {"told_apart": ""}  # all items
    assert describe_subset(chosen(3, [0.5, 0.3, 0.2]), STUDY) == {"told_apart": ""}


def test_sentence_is_empty_without_a_gap() -> None:
    assert not_told_apart(float("nan")) == ""
    assert not_told_apart(2.34).startswith("Pairs of models closer than 2.3 points")


def test_two_models_have_no_curve() -> None:
    params = make_params(samplers="random")
    study = make_study(make_panels(make_answers(models=2), params), params)
    assert trace_order(CHOICE, study).empty
    assert np.isfinite(len(trace_order(CHOICE, study).columns))
