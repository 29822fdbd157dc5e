"""Secrets of the environment do not appear in results, logs or MLflow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = "c0ffee-not-to-be-seen-c0ffee"


@pytest.mark.long
def test_no_file_or_log_of_a_run_contains_a_key(repository: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "01_raw").symlink_to(repository / "data" / "01_raw")
    (tmp_path / "mlflow").mkdir()
    names = ("BENCHWRIGHT_SEAL_KEY", "OPENAI_API_KEY", "HF_TOKEN", "MLFLOW_TRACKING_PASSWORD")
    environment = os.environ | dict.fromkeys(names, HIDDEN)
    environment["MLFLOW_TRACKING_URI"] = f"sqlite:///{tmp_path / 'mlflow' / 'mlflow.db'}"
    environment.pop("BENCHWRIGHT_MLFLOW", None)
    params = f"data_root={data},score=imported,variant=no_similar,limit=40"
    done = subprocess.run(
        [sys.executable, "-m", "benchwright", "--params", params],
        check=True,
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "MLflow run" in done.stdout + done.stderr
    assert HIDDEN not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 30
    for path in written:
        assert HIDDEN.encode() not in path.read_bytes(), path
