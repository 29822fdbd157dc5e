"""Curves of the chosen sampler on held-out models."""

import pandas as pd
import pytest

from benchwright.methods.dele.evidence.choice import choose_samplers, gains_over_splits
from benchwright.methods.dele.evidence.rate_curves import trace_chosen
from benchwright.methods.dele.evidence.sampler_results import compare_samplers
from methods.dele.evidence.sampling_examples import (
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
