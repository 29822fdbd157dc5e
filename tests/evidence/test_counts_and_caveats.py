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
