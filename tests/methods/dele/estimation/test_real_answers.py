"""Real responses to GSM8K: new models similar to training models, and better ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.training import Training

pytestmark = pytest.mark.real_data
NAMES = ("mean", "p_irt", "gp_irt", "aipw", "ridge")


@pytest.fixture(scope="module")
def answers(shared_data: Path) -> Any:
    wide = pd.read_parquet(shared_data / "responses" / "leaderboard_v1_gsm8k.parquet")
    values = wide.set_index("model").to_numpy(np.float32, na_value=np.nan)
    whole = values[~np.isnan(values).any(axis=1)]
    return np.unique(whole, axis=0)[::4]


def measured(run: Any, training: Any, new: Any, subsets: int) -> dict[str, tuple[float, float]]:
    prepared = Training(training)
    truth = new.mean(axis=1, dtype=np.float64)
    estimates: dict[str, list[Estimates]] = {name: [] for name in NAMES}
    for seed in range(subsets):
        places = np.random.default_rng(seed).permutation(new.shape[1])[:100]
        for name in NAMES:
            estimates[name].append(run(name, prepared, WeightedSubset.equal(places), new))
    return {
        name: (
            float(np.mean([np.abs(each.score - truth).mean() for each in parts])),
            float(np.mean([(each.low <= truth) & (truth <= each.high) for each in parts])),
        )
        for name, parts in estimates.items()
    }


def test_errors_and_coverage_on_real_responses(
    answers: Any, run: Any, show: Callable[[str], None]
) -> None:
    held_out = np.random.default_rng(0).random(len(answers)) < 0.3
    like = measured(run, answers[~held_out], answers[held_out], 6)
    score = answers.mean(axis=1)
    weak = score <= np.quantile(score, 0.7)
    better = measured(run, answers[weak], answers[~weak], 6)
    for title, metrics in (("like", like), ("better", better)):
        for name, (error, coverage) in metrics.items():
            show(f"GSM8K, {title} models, {name}: error {error:.4f}, coverage {coverage:.3f}")
    for name in NAMES[1:]:
        assert like[name][0] < 0.95 * like["mean"][0]
        assert like[name][1] > 0.9
    assert better["aipw"][0] < 1.02 * better["mean"][0]
    assert better["aipw"][1] > 0.9
