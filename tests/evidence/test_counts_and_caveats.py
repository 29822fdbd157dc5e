"""Counts and caveats of metrics: rated models, in-sample fits, intervals of width 0."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.ire import estimate_item_parameters
from benchwright.evidence.panel import Panel
from benchwright.evidence.random_comparison import (
    compare_with_random,
    gather_subsets,
)
from benchwright.evidence.rank_agreement import compare_ranks
from benchwright.evidence.ratings import Ratings
from benchwright.evidence.scores import score_models
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.smart.wording import METRICS
from benchwright.tables.evidence import ItemParameters

NAMES, IDS = tuple(f"m{i:02d}" for i in range(14)), tuple(f"i{k:02d}" for k in range(80))


def stage(roles: tuple[str, ...]) -> tuple[ResponseMatrix, Panel, pd.DataFrame]:
    rng = np.random.default_rng(1)
    right = (rng.random((14, 80)) < np.linspace(0.1, 0.9, 14)[:, None]).astype(np.float32)
    items = pd.DataFrame(
        {
            "item_id": list(IDS),
            "subject": "s",
            "question": [f"Question {k}?" for k in range(80)],
            "passage_id": None,
        }
    )
    matrix = ResponseMatrix.of(NAMES, IDS, correct=right)
    return matrix, Panel(NAMES, roles, IDS, 80, "all", (), 80), items


def test_pearson_with_ratings_counts_rated_models() -> None:
    matrix, panel, items = stage(("held_out",) * 14)
    kept = items.iloc[:50]
    random_comparison, _ = compare_with_random(
        *(matrix, items, gather_subsets(kept, ItemParameters.empty())),
        *(score_models(matrix, items, kept, panel), panel),
        Ratings({name: i for i, name in enumerate(NAMES[:5])}, ""),
        *(EvaluationParams(random_subsets=20), 0),
    )
    counts = random_comparison.groupby("metric")["n_models"].unique()
    assert counts["arena_pearson"].tolist() == [5]
    assert counts["kendall_tau_b"].tolist() == [14]


@pytest.mark.parametrize(
    ("roles", "in_sample"),
    [
        (("filter",) * 14, True),
        (("filter", *["same_family"] * 13), True),
        (("filter",) * 11 + ("held_out",) * 3, False),
        (("filter",) * 3 + ("held_out",) * 11, True),
    ],
)
def test_fit_on_all_models_is_in_sample(roles: tuple[str, ...], in_sample: bool) -> None:
    matrix, panel, _ = stage(roles)
    _, about = estimate_item_parameters(matrix, panel)
    assert about["in_sample"] is in_sample


def test_zero_width_interval_has_a_caveat() -> None:
    matrix, _, items = stage(("held_out",) * 14)
    # Three models far apart: every resample ranks them alike.
    few = matrix.select_models(["m00", "m07", "m13"])
    panel = Panel(few.models, ("held_out",) * 3, IDS, 80, "all", (), 80)
    kept = items.iloc[:60]
    table = compare_ranks(
        *(few, items, kept, score_models(few, items, kept, panel), panel, Ratings({}, "")),
        *(EvaluationParams(bootstrap_samples=200), 0),
    )
    tau = table[(table["models"] == "all") & (table["metric"] == "kendall_tau_b")].iloc[0]
    assert tau["low_models"] == tau["high_models"] == 1
    assert "the true uncertainty is larger" in tau["reason"]


def test_every_metric_has_a_name_and_a_unit_in_the_report() -> None:
    matrix, panel, items = stage(("filter", *["held_out"] * 13))
    kept = items.iloc[:50]
    scores = score_models(matrix, items, kept, panel)
    settings = EvaluationParams(bootstrap_samples=0, random_subsets=2)
    ratings = Ratings({name: i for i, name in enumerate(NAMES)}, "")
    ranks = compare_ranks(
        *(matrix, items, kept, scores, panel, ratings, settings, 0),
    )
    random_comparison, _ = compare_with_random(
        *(matrix, items, gather_subsets(kept, ItemParameters.empty()), scores, panel),
        *(ratings, settings, 0),
    )
    assert {*ranks["metric"], *random_comparison["metric"]} - set(METRICS) == set()
