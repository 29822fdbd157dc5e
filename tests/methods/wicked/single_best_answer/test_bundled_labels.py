"""The bundled labels of single-best-answer items."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def labels(repository: Path) -> pd.DataFrame:
    return pd.read_csv(repository / "data/01_raw/single_best_answer/labels.csv")


def test_label_files_contain_no_text(labels: pd.DataFrame) -> None:
    assert labels.columns.tolist() == ["item_id", "benchmark", "annotator", "sba", "doubt"]
    assert set(labels["sba"]) == set(labels["doubt"]) == {0, 1}
    assert not labels.duplicated(["item_id", "annotator"]).any()
    real = labels[labels["benchmark"] != "demo"]
    assert real["item_id"].nunique() >= 400


def test_two_annotators_agree_on_most_items(
    labels: pd.DataFrame, show: Callable[[str], None]
) -> None:
    both = labels.pivot_table(index="item_id", columns="annotator", values="sba")[["a", "b"]]
    both = both.dropna()
    same = (both["a"] == both["b"]).mean()
    chance = both["a"].mean() * both["b"].mean() + (1 - both["a"].mean()) * (1 - both["b"].mean())
    kappa = (same - chance) / (1 - chance)
    show(f"single-best-answer labels: {len(both)} read twice, agreement {same:.2f}, κ {kappa:.2f}")
    assert len(both) >= 25
    assert kappa > 0.6
