"""Two simultaneous runs in one project both succeed, each with its own files."""

import os
from pathlib import Path

import pandas as pd
import pytest

from faults.kill_matrix import run_of
from faults.project_runs import Server, copied, empty_root, left_in, versions_hook

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

BY_LABELS = run_of("export_perturbed", "limit=60")
WITHOUT = run_of("export_perturbed", "limit=60,perturbation.sba=none")
EXPORTS = ("/harness", "/hub")  # folders without versions: those of one of the runs


@pytest.mark.long
def test_simultaneous_runs_do_not_read_each_others_files(
    server: Server, root: Path, tmp_path: Path
) -> None:
    alone = []
    for number, words in enumerate((BY_LABELS, WITHOUT)):
        copy = copied(root, tmp_path / str(number))
        server.must(words(copy))
        alone.append(left_in(copy).newest())
    ended = server.run(BY_LABELS(root), beside=WITHOUT(root), pause=0.02)
    assert (ended["code"], ended["beside"]) == (0, 0), server.said[-2000:]
    both = left_in(root)
    assert both.hidden == []
    exported = {name for name in both.files if any(part in name for part in EXPORTS)}
    tables = [name for name in both.files if name.endswith(".parquet") and name not in exported]
    assert len(tables) > 4
    for name in tables:
        saved, expected = set(both.files[name].values()), {copy[name] for copy in alone}
        assert saved <= expected if "/latest/" in name else saved == expected, name
    for part in EXPORTS:
        names = sorted(name for name in exported if part in name)
        found = [next(iter(both.files[name].values())) for name in names]
        assert found in [[copy[name] for name in names] for copy in alone]


@pytest.mark.long
def test_simultaneous_first_runs_are_both_recorded(server: Server, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/mlflow.db"
    roots = [empty_root(tmp_path / name) for name in ("one", "two")]
    first, second = (run_of("smart", "limit=20", "--namespaces", "ingestion")(r) for r in roots)
    tracked = {"BENCHWRIGHT_MLFLOW": "on", "MLFLOW_TRACKING_URI": store}
    ended = server.run(first, beside=second, environment=tracked)
    assert (ended["code"], ended["beside"]) == (0, 0), server.said[-2000:]
    assert "could not record" not in server.said
    import sqlite3

    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        states = database.execute("select status from runs").fetchall()
    assert states == [("FINISHED",), ("FINISHED",)]


@pytest.mark.parametrize("rounds", [50])
def test_simultaneous_writers_always_leave_a_complete_export(tmp_path: Path, rounds: int) -> None:
    from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks

    folder = tmp_path / "harness"

    def write(fact: str) -> None:
        for number in range(rounds):
            HarnessTasks(path=str(folder)).save(
                HarnessExport([], {"stock": [number]}, "how", {"by": fact, "n": number})
            )

    write("nobody")
    children = []
    for name in ("one", "two"):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                write(name)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    seen = set()
    for child in children:
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            seen.add(HarnessTasks(path=str(folder)).load()["by"])
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert HarnessTasks(path=str(folder)).load()["n"] == rounds - 1
    assert [path.name for path in tmp_path.iterdir()] == ["harness"]
    assert seen


def test_run_does_not_load_what_another_run_saves_meanwhile(tmp_path: Path) -> None:
    from kedro.io import DataCatalog
    from kedro.io.core import Version
    from kedro.pipeline import Node, Pipeline

    from benchwright.datasets.atomic import ParquetTable

    def saved(version: str) -> ParquetTable:
        return ParquetTable(filepath=str(tmp_path / "t"), version=Version(None, version))

    dataset = saved("2026-01-01T00.00.00.000Z")
    catalog = DataCatalog({"t": dataset})
    pipeline = Pipeline([Node(lambda: None, None, "t", name="make")])
    given = {"pipeline": pipeline, "catalog": catalog}
    hook = versions_hook(tmp_path)
    hook.before_pipeline_run(run_params={"run_id": "2026-01-01T00.00.00.000Z"}, **given)
    dataset.save(pd.DataFrame({"a": [1]}))
    saved("2026-01-02T00.00.00.000Z").save(pd.DataFrame({"a": [2]}))
    dataset.release()
    assert dataset.load()["a"].tolist() == [1]
