"""A sweep of two seeds on the demo: one summary, one MLflow parent run."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.cli import cli

pytestmark = [pytest.mark.live, pytest.mark.long]

# The recorded answers of the demo cover its filter models: nothing is scored.
CHEAP = "scoring.mode=imported,evaluation.random_subsets=20,evaluation.bootstrap_samples=20"


def test_a_sweep_has_a_summary_a_page_and_a_parent_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.delenv("BENCHWRIGHT_MLFLOW", raising=False)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    (tmp_path / "01_raw").symlink_to(repository / "data" / "01_raw")
    params = f"data_root={tmp_path},{CHEAP}"
    words = ["sweep", "--variants", "no_similar", "--seeds", "0,1", "--params", params]
    swept = CliRunner().invoke(cli, words)
    assert swept.exit_code == 0, swept.output

    (folder,) = (tmp_path / "08_reporting" / "sweeps").iterdir()
    summary = pd.read_csv(folder / "summary.csv")
    page = (folder / "summary.html").read_text(encoding="utf-8")
    assert summary[["benchmark", "variant", "seed", "status"]].to_numpy().tolist() == [
        ["demo", "no_similar", 0, "done"],
        ["demo", "no_similar", 1, "done"],
    ]
    for part, row in zip(("", "seed1/"), summary.to_dict("records"), strict=True):
        version = row["version"]
        place = f"{part}kept_items.parquet/{version}/kept_items.parquet"
        kept = pd.read_parquet(tmp_path / "07_model_output/demo/no_similar" / place)
        assert row["n_kept"] == len(kept)
        assert row["share_removed"] == pytest.approx(1 - len(kept) / row["n_items"])
        link = f"../../demo/no_similar/{part}report.html/{version}/report.html"
        assert f'href="{link}"' in page
        assert (folder / link).is_file()
    assert summary["share_removed.duplicate"].gt(0).all()
    assert "share_removed.similar" not in summary.columns  # the variant switches it off
    check_runs(uri, summary)


def check_runs(uri: str, summary: pd.DataFrame) -> None:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    (experiment,) = [e for e in client.search_experiments() if e.name == "benchwright"]
    runs: list[Any] = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if run.info.run_name.startswith("sweep smart")]
    children = [
        run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id
    ]
    kept = {run.data.params["seed"]: run.data.metrics["n_kept"] for run in children}
    assert kept == {"0": summary["n_kept"][0], "1": summary["n_kept"][1]}
    assert {run.data.tags["save_version"] for run in children} == set(summary["version"])
    mean = pytest.approx(summary["share_removed"].mean(), abs=5e-5)
    assert parent.data.metrics["share_removed"] == mean
    assert "no_similar" in parent.data.tags["mlflow.note.content"]
    saved = {item.path for item in client.list_artifacts(parent.info.run_id)}
    assert saved == {"summary.csv", "summary.html"}
    for run in children:
        assert set(run.data.params) & {"checking", "sampling.rates", "perturbation"} == set()
        assert 8 <= len(run.data.metrics) <= 14
        assert "Ranking of 49 configurations of 3 models" in run.data.tags["mlflow.note.content"]
