"""Metrics computed from the published accuracies in SMART, Tables 10–12."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from benchwright.statistics.rank_agreement import kendall_tau_b_rows, pearson_rows, williams_test


def printed(repository: Path, dataset: str) -> pd.DataFrame:
    tables = pd.read_csv(repository / "tests" / "data" / "smart_tables_10_11_12.csv")
    return tables[tables["benchmark"] == dataset]


@pytest.mark.parametrize(
    ("dataset", "models", "tau_b"),
    [("arc", 29, 0.962), ("mmlu", 30, 0.976), ("commonsense_qa", 30, 0.973)],
)
def test_tau_b_of_published_accuracies_is_reproduced(
    repository: Path, dataset: str, models: int, tau_b: float
) -> None:
    table = printed(repository, dataset)
    assert len(table) == models
    seen = kendall_tau_b_rows(table["full"], table[["kept"]].T)
    assert seen[0] == pytest.approx(tau_b, abs=5e-4)


@pytest.mark.parametrize(
    ("dataset", "rated", "before", "after", "p_value"),
    [
        ("arc", 15, 0.784, 0.846, 0.10),
        ("mmlu", 16, 0.765, 0.777, 0.64),
        ("commonsense_qa", 16, 0.667, 0.660, 0.62),
    ],
)
def test_correlations_with_human_ratings_do_not_change_significantly(
    repository: Path, dataset: str, rated: int, before: float, after: float, p_value: float
) -> None:
    path = repository / "conf" / "base" / "parameters" / "ratings.yml"
    (ratings,) = yaml.safe_load(path.read_text())["ratings"]["history"].values()
    table = printed(repository, dataset)
    table = table.assign(rating=table["model"].map(ratings)).dropna(subset="rating")
    full, kept, rating = table[["full", "kept", "rating"]].to_numpy(dtype=np.float64).T
    r_full, r_kept = pearson_rows(rating, np.stack([full, kept]))
    between = pearson_rows(full, kept[None])[0]
    assert len(table) == rated
    assert (r_full, r_kept) == pytest.approx((before, after), abs=5e-4)
    seen = williams_test(float(r_full), float(r_kept), float(between), rated)
    assert seen.p_value == pytest.approx(p_value, abs=5e-3)
