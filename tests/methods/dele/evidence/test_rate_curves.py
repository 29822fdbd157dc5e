"""Curves of the chosen sampler on held-out models, and curves inside each subject."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.dele.evidence.choice import choose_samplers, gains_over_splits
from benchwright.methods.dele.evidence.rate_curves import trace_chosen, trace_subjects
from benchwright.methods.dele.evidence.sampler_results import compare_samplers
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.params.sampling import SamplingParams
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_params,
    make_study,
)

STUDY = make_study()
NO_CHOICES = pd.DataFrame(columns=["split", "subject", "winner"])
WHOLE = {"chosen", "random"}


@pytest.fixture(scope="module")
def choice() -> pd.DataFrame:
    results = compare_samplers(STUDY)[0]
    return choose_samplers(results, STUDY)


@pytest.fixture(scope="module")
def curves(choice: pd.DataFrame) -> pd.DataFrame:
    return trace_chosen(choice, NO_CHOICES, STUDY)


def test_gains_equal_differences_between_curves(choice: pd.DataFrame, curves: pd.DataFrame) -> None:
    """The draws are those of the choice, so the curves reproduce its gains."""
    spearman = curves[(curves["metric"] == "spearman") & curves["rate"].between(10, 50)]
    mean = spearman.groupby("line")["mean"].mean()
    gains = gains_over_splits(choice)
    assert mean["chosen"] - mean["random"] == pytest.approx(gains.held_out)


def test_every_line_has_every_rate_and_a_random_band(curves: pd.DataFrame) -> None:
    assert set(curves["line"]) == WHOLE
    assert len(curves) == 2 * 4 * 7  # lines, rates, metrics
    assert (curves["splits"] == 3).all()
    bands = ["random_low", "random_median", "random_high"]
    assert len(curves[["rate", "metric", *bands]].drop_duplicates()) == 4 * 7
    assert (curves["random_low"] <= curves["random_median"]).all()
    assert (curves["random_median"] <= curves["random_high"]).all()
    whole = curves[(curves["rate"] == 100) & (curves["metric"] == "tau_b")]
    assert whole["mean"].tolist() == pytest.approx([1] * 2)


def test_splits_without_a_winner_are_left_out(choice: pd.DataFrame) -> None:
    some = choice.assign(winner=choice["winner"].where(choice["split"] != 1, ""))
    assert (trace_chosen(some, NO_CHOICES, STUDY)["splits"] == 2).all()
    none = choice[choice["split"] == -1]
    assert trace_chosen(none, NO_CHOICES, STUDY).empty


EVIDENCE = {"at_rates": (10.0, 25.0), "subject_items": 15}
PARAMS = make_params(samplers="random+balanced+word_length+anchor_points", evidence=EVIDENCE)


def uneven(params: SamplingParams = PARAMS) -> SamplingStudy:
    """Return a study with 45 easy items of one subject and 15 hard items of another."""
    answers = make_answers()
    answers[:, 45:] *= np.random.default_rng(1).random((24, 15)) < 0.3
    items = make_items().assign(subject=["large"] * 45 + ["small"] * 15)
    return make_study(make_panels(answers, params, items=items), params, items)


@pytest.fixture(scope="module")
def subjects() -> pd.DataFrame:
    return trace_subjects(uneven())


def test_subject_equals_a_benchmark_of_its_items(subjects: pd.DataFrame) -> None:
    """A study of the same items and all models has the same results."""
    answers = make_answers()[:, :45]
    items = make_items(45).assign(subject="large")
    results, _ = compare_samplers(
        make_study(make_panels(answers, PARAMS, items=items), PARAMS, items)
    )
    of_sampler = results[(results["panel"] == "all") & (results["sampler"] == "word_length")]
    rows = subjects[(subjects["subject"] == "large") & (subjects["sampler"] == "word_length")]
    for metric in ("spearman", "mean_absolute_error"):
        means = rows[rows["metric"] == metric].set_index("rate")["mean"]
        pd.testing.assert_series_equal(
            means, of_sampler.groupby("rate")[metric].mean(), check_names=False
        )


def test_subject_curves_omit_samplers_that_read_responses(subjects: pd.DataFrame) -> None:
    counts = subjects.drop_duplicates("subject").set_index("subject")["n_items"]
    assert counts.to_dict() == {"large": 45, "small": 15}
    assert set(subjects["sampler"]) == {"random", "balanced", "word_length"}
    assert (subjects["n_models"] == 24).all()
    inside = subjects[(subjects["sampler"] == "random") & (subjects["metric"] == "wasserstein")]
    assert inside["mean"].between(inside["random_low"] - 1e-9, inside["random_high"] + 1e-9).all()
    large = make_params(evidence={**EVIDENCE, "subject_items": 16})
    assert set(trace_subjects(uneven(large))["subject"]) == {"large"}
