"""A sweep of two seeds on the demo: one summary, one MLflow parent run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from benchwright.cli import cli

pytestmark = [pytest.mark.live, pytest.mark.long]

# The recorded answers of the demo cover its filter models: nothing is scored.
CHEAP = "scoring.mode=imported,evaluation.random_subsets=20,evaluation.bootstrap_samples=20"

PARTS = ("", "seed1/")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def patched(repository: Path, store: Path) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        patch.delenv("BENCHWRIGHT_MLFLOW", raising=False)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{store}/mlflow.db")
        yield patch


@pytest.fixture(scope="module")
def swept(repository: Path, store: Path, patched: pytest.MonkeyPatch) -> Result:
    (store / "01_raw").symlink_to(repository / "data" / "01_raw")
    params = f"data_root={store},{CHEAP}"
    words = ["sweep", "--variants", "no_similar", "--seeds", "0,1", "--params", params]
    return CliRunner().invoke(cli, words)


@pytest.fixture(scope="module")
def summary(swept: Result, store: Path) -> pd.DataFrame:
    assert swept.exit_code == 0, swept.output
    (folder,) = (store / "08_reporting" / "sweeps").iterdir()
    return pd.read_csv(folder / "summary.csv")


def test_summary_has_the_metrics_of_each_run(summary: pd.DataFrame, store: Path) -> None:
    assert summary[["benchmark", "variant", "seed", "status"]].to_numpy().tolist() == [
        ["demo", "no_similar", 0, "done"],
        ["demo", "no_similar", 1, "done"],
    ]
    for row in summary.to_dict("records"):
        place = f"{PARTS[row['seed']]}kept_items.parquet/{row['version']}/kept_items.parquet"
        kept = pd.read_parquet(store / "07_model_output/demo/no_similar" / place)
        assert row["n_kept"] == len(kept)
        assert row["share_removed"] == pytest.approx(1 - len(kept) / row["n_items"])
        assert Path(row["report"]).is_file()
    assert summary["share_removed.duplicate"].gt(0).all()
    assert "share_removed.similar" not in summary.columns  # the variant switches it off


def test_page_links_both_reports(summary: pd.DataFrame, store: Path) -> None:
    (page,) = (store / "08_reporting" / "sweeps").glob("*/summary.html")
    text = page.read_text(encoding="utf-8")
    for part, version in zip(PARTS, summary["version"], strict=True):
        link = f"../../demo/no_similar/{part}report.html/{version}/report.html"
        assert f'href="{link}"' in text
        assert (page.parent / link).is_file()


def retained(store: Path, version: str) -> set[str]:
    (path,) = store.glob(f"07_model_output/demo/no_similar/**/item_audit.parquet/{version}/*")
    audit = pd.read_parquet(path)
    return set(audit.loc[audit["tags"].str.contains("retained_easy"), "item_id"])


def test_easy_items_that_stay_depend_on_the_seed(
    summary: pd.DataFrame, store: Path, patched: pytest.MonkeyPatch
) -> None:
    first, second = (retained(store, version) for version in summary["version"])
    assert len(first) == len(second)
    assert first != second

    words = ["diff", *summary["version"], "--variant", "no_similar", "--data-root", str(store)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "seed: 0 → 1" in done.output
    items = pd.read_csv(next(store.glob("08_reporting/demo/no_similar/diffs/*/diff.items.csv")))
    assert set(items["item_id"]) <= first ^ second
    stays = items.loc[items["change"] == "came_in", "why"]
    assert (stays == "easy still applies, but the item stays").all()


def test_both_runs_are_children_of_the_sweep_run(
    summary: pd.DataFrame, store: Path, patched: pytest.MonkeyPatch
) -> None:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{store}/mlflow.db")
    (experiment,) = [e for e in client.search_experiments() if e.name == "benchwright"]
    runs: list[Any] = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if run.info.run_name.startswith("sweep smart")]
    children = [
        run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id
    ]
    assert {run.data.params["seed"] for run in children} == {"0", "1"}
    assert {run.data.tags["save_version"] for run in children} == set(summary["version"])
    mean = pytest.approx(summary["share_removed"].mean(), abs=5e-5)
    assert parent.data.metrics["share_removed"] == mean
    assert "no_similar" in parent.data.tags["mlflow.note.content"]
    saved = {item.path for item in client.list_artifacts(parent.info.run_id)}
    assert saved == {"summary.csv", "summary.html"}
    assert len({run.info.run_name for run in children}) == 2
    for run in children:
        assert set(run.data.params) & {"checking", "sampling.rates", "perturbation"} == set()
        assert 8 <= len(run.data.metrics) <= 14
        assert "Ranking of 49 configurations of 3 models" in run.data.tags["mlflow.note.content"]
    kept = {run.data.params["seed"]: run.data.metrics["n_kept"] for run in children}
    by_row = zip(summary["seed"], summary["n_kept"], strict=True)
    assert kept == {str(seed): n for seed, n in by_row}
