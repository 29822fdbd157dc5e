"""Plans for estimated scores: fewer items where other models' responses predict."""

import numpy as np

from benchwright.methods.dele.planning.plan import Responses, Wanted, make_plan
from benchwright.methods.dele.planning.predicted_scores import FEWEST_MODELS


def alike(m: int, n: int, slope: float) -> np.ndarray:
    """Responses of models whose items differ in difficulty by `slope` standard deviations."""
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 0.7, (m, 1)) - slope * rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-logits))).astype(np.float32)


def test_predictable_items_need_fewer_responses() -> None:
    correct = alike(60, 400, 3.0)
    [mean, estimated] = [
        row
        for row in make_plan(Responses(correct, np.arange(400)), Wanted((0.03,))).rows
        if (row.whose, row.target) == ("median model", "benchmark")
    ]
    assert (mean.sampler, mean.estimator, estimated.estimator) == ("random", "mean", "aipw")
    assert estimated.items < 0.7 * mean.items
    assert estimated.value <= 0.03
    assert "cover 9" in estimated.reason


def test_there_is_no_row_without_a_gain_or_with_few_models() -> None:
    noise = np.random.default_rng(1).integers(0, 2, (40, 200)).astype(np.float32)
    for correct in (noise, alike(FEWEST_MODELS - 1, 200, 3.0)):
        rows = make_plan(Responses(correct, np.arange(200)), Wanted((0.03,))).rows
        assert {row.estimator for row in rows} == {"mean"}
