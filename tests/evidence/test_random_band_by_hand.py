"""The random band: its draws, and the rows that tables and the report show."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.evidence.random_comparison import compare_with_random
from benchwright.evidence.ratings import Ratings
from benchwright.evidence.scores import score_models
from benchwright.params.evaluation import EvaluationParams

MODELS, IDS = tuple(f"m{i:02d}" for i in range(12)), tuple(f"i{k:03d}" for k in range(90))
PANEL_IDS = IDS[:60]
"""Thirty items are not judged: nobody answered them."""


def answered() -> ResponseMatrix:
    rng = np.random.default_rng(3)
    right = (rng.random((12, 90)) < np.linspace(0.3, 0.9, 12)[:, None]).astype(np.float32)
    right[:, 60:] = np.nan
    return ResponseMatrix.of(MODELS, IDS, correct=right)


@pytest.fixture(scope="module")
def judged() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A panel with 24 of 60 items kept; 54 of all 90 items are kept."""
    matrix = answered()
    items = pd.DataFrame(
        {
            "item_id": list(IDS),
            "subject": [f"s{k % 3}" for k in range(90)],
            "question": [f"Question {k}?" for k in range(90)],
            "passage_id": None,
        }
    )
    kept = pd.DataFrame({"item_id": [*IDS[:24], *IDS[60:]]})
    panel = Panel(MODELS, ("held_out",) * 12, PANEL_IDS, 60, "judged", {}, 90)
    return compare_with_random(
        matrix,
        items,
        {"kept": kept["item_id"].tolist()},
        score_models(matrix, items, kept, panel),
        panel,
        Ratings({model: (7 * i) % 12 for i, model in enumerate(MODELS)}, ""),
        EvaluationParams(random_subsets=400),
        0,
    )


def row(table: pd.DataFrame, metric: str, random: str = "plain") -> pd.Series:
    rows = table[
        (table["metric"] == metric) & (table["models"] == "all") & (table["random"] == random)
    ]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize("random", ["plain", "stratified"])
def test_subsets_have_the_size_of_the_kept_items_of_the_panel(
    judged: tuple[pd.DataFrame, pd.DataFrame], random: str
) -> None:
    table, draws = judged
    assert set(table["n_items"]) == {24}
    assert set(table["n_full"]) == {60}
    values = draws[
        (draws["metric"] == "signed_shift")
        & (draws["models"] == "all")
        & (draws["random"] == random)
    ]
    # 24 of 60 items of twelve models: the mean shift is a whole number of answers per subset.
    correct = answered().correct[:, :60].astype(float)
    sums = (values["value"].to_numpy() / 100 + correct.mean()) * 24 * 12
    np.testing.assert_allclose(sums, np.round(sums), atol=1e-6)
    # The spread of means of draws without replacement from these 60 items.
    per_item = correct.mean(axis=0)
    expected = 100 * np.sqrt(per_item.var(ddof=1) / 24 * (1 - 24 / 60))
    assert values["value"].std() == pytest.approx(expected, rel=0.15)


def test_band_is_the_middle_95_percent_of_the_saved_draws(
    judged: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    table, draws = judged
    for metric in ("kendall_tau_b", "spread_top", "signed_shift"):
        for random in ("plain", "stratified"):
            seen = row(table, metric, random)
            values = np.sort(
                draws.loc[
                    (draws["metric"] == metric)
                    & (draws["models"] == "all")
                    & (draws["random"] == random),
                    "value",
                ]
            )
            assert len(values) == 400
            # 2.5% of 400 draws are 10: the bounds lie between the tenth and the eleventh.
            assert values[9] <= seen["random_low"] <= values[10]
            assert values[-11] <= seen["random_high"] <= values[-10]


def test_pearson_with_ratings_uses_scores_on_the_subset(
    judged: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    seen = row(judged[0], "arena_pearson")
    ratings = np.array([(7 * i) % 12 for i in range(12)])
    correct = answered().correct.astype(float)
    on_kept = np.corrcoef(ratings, correct[:, :24].mean(axis=1))[0, 1]
    on_all = np.corrcoef(ratings, correct[:, :60].mean(axis=1))[0, 1]
    assert abs(on_kept - on_all) > 0.01
    assert seen["value"] == pytest.approx(on_kept)
    assert seen["full"] == pytest.approx(on_all)
    assert seen["random_low"] < seen["random_high"]
