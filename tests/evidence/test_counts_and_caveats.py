"""Counts and caveats of metrics: rated models, in-sample fits, intervals of width 0."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.ire import estimate_item_parameters
from benchwright.evidence.panel import Panel

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
    return matrix, Panel(NAMES, roles, IDS, 80, "all", {}, 80), items


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
