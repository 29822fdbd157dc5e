"""DELE on the demo with recorded answers: tables, a subset and a report, without model calls."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from end_to_end.saved import newest

SAMPLING = {
    "samplers": "random+stratified+word_length+kmeans_tfidf+irt_clusters",
    "rates": [5, 10, 25, 50, 100],
    "repeats": 2,
    "clustering": {"k": 4},
    "adaptive": {"splits": 2},
    "evidence": {"estimate_subsets": 2},
    "export": {"sampler": "irt_clusters", "size": 30},
}


@pytest.fixture(scope="module")
def dele(run_project: Callable[..., Path]) -> Path:
    return run_project(
        pipeline="dele", benchmark="demo", variant="dele", limit=80, sampling=SAMPLING
    )


def saved(data: Path, name: str, layer: str = "08_reporting") -> Path:
    return newest(data, layer, name, "demo", "dele")


def table(data: Path, name: str) -> pd.DataFrame:
    return pd.read_parquet(saved(data, f"{name}.parquet"))


def test_subset_agrees_with_the_tables(dele: Path) -> None:
    subset = table(dele, "chosen_subset")
    items = pd.read_parquet(newest(dele, "03_primary", "items.parquet", "demo", "dele"))
    assert len(subset) == 30
    assert subset["weight"].sum() == pytest.approx(1)
    assert items["item_id"].iloc[subset["position"]].tolist() == subset["item_id"].tolist()


def test_metrics_of_random_samplers_lie_in_the_random_band(dele: Path) -> None:
    curves = table(dele, "sampling_curves")
    of_random = curves.query("sampler == 'random' and panel == 'all' and metric == 'wasserstein'")
    assert of_random["rate"].tolist() == [5, 10, 25, 50, 100]
    inside = of_random["mean"].between(
        of_random["random_low"] - 1e-9, of_random["random_high"] + 1e-9
    )
    assert inside.all()
    against = table(dele, "sampling_against_random")
    assert set(against["sampler"]) == set(SAMPLING["samplers"].split("+"))
    assert set(against["rate"]) == {5, 10, 25}


def test_other_tables_are_written_and_no_model_was_called(dele: Path) -> None:
    assert not (dele / "06_models").exists()
    assert len(table(dele, "estimate_errors")) > 0
    assert set(table(dele, "sampler_choice")["split"]) == {-1, 0, 1}
    assert set(table(dele, "chosen_curves")["splits"]) == {2}
    metrics = json.loads(saved(dele, "sampling_metrics.json").read_text())
    assert metrics["n_chosen_items"] == 30


def test_page_agrees_with_the_tables(dele: Path) -> None:
    page = saved(dele, "sampling_report.html").read_text()
    against = table(dele, "sampling_against_random")
    of_random = against.query("sampler == 'random' and panel == 'held_out' and metric == 'tau_b'")
    row = of_random[of_random["rate"] == 10].iloc[0]
    n = json.loads(saved(dele, "sampling_metrics.json").read_text())["n_items"]
    assert f"{row['n_models']} held-out configurations of 2 models better than random" in page
    said = f"{row['size']} of {n:g} items (10%) has Kendall tau-b {row['random_median']:.3f}"
    assert said in page
