"""Runs found again: one run's versions of all datasets; runs with a limit or a seed apart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog
from kedro.io.core import Version
from kedro.pipeline import Node, Pipeline

from benchwright.core.errors import InputError
from benchwright.datasets.atomic import JsonDocument, ParquetTable
from benchwright.hooks.results import LATEST, copy_to_latest, saved_files
from benchwright.runs.project_conf import load_conf
from benchwright.runs.saved_runs import ListedRun, find_run, list_runs
from faults.project_runs import version_hooks

JANUARY, FEBRUARY, MARCH = (f"2026-{month:02}-01T00.00.00.000Z" for month in (1, 2, 3))
Save = Callable[..., None]


THRESHOLD, MODELS = "similarity_threshold", "chosen_filter_models"


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Save datasets with the version as content, as runs of the demo do."""

    def of_run(version: str, *names: str, folder: str = "smart") -> None:
        for name in names:
            path = tmp_path / "07_model_output/demo" / folder / f"{name}.json"
            dataset = JsonDocument(filepath=str(path), version=Version(None, version))
            dataset.save({"version": version})

    return of_run


def test_all_datasets_are_read_from_one_run(repository: Path, tmp_path: Path, save: Save) -> None:
    save(JANUARY, THRESHOLD, MODELS)
    save(FEBRUARY, THRESHOLD, MODELS)
    save(MARCH, THRESHOLD)
    given = {"variant": "smart", "data_root": str(tmp_path)}
    run = find_run(repository, [THRESHOLD, MODELS], given)
    assert str(run) == f"demo · smart · {FEBRUARY}"
    assert [run.load(name)["version"] for name in (THRESHOLD, MODELS)] == [FEBRUARY, FEBRUARY]
    assert find_run(repository, [THRESHOLD], given).version == MARCH
    with pytest.raises(InputError, match=f"{FEBRUARY} has not saved item_audit"):
        run.load("item_audit")


def test_runs_with_a_limit_or_seed_are_read_only_on_request(
    repository: Path, tmp_path: Path, save: Save
) -> None:
    save(FEBRUARY, THRESHOLD, folder="smart/limit50-seed1")
    save(JANUARY, THRESHOLD, folder="no_similar")
    save(MARCH, THRESHOLD, folder="smart/limit50")
    root = {"data_root": str(tmp_path)}
    assert find_run(repository, [THRESHOLD], root).variant == "no_similar"
    limited = find_run(repository, [THRESHOLD], {**root, "limit": 50, "seed": 1})
    assert str(limited) == f"demo · smart · limit50-seed1 · {FEBRUARY}"
    message = (
        "no run of benchmark 'demo', variant 'smart' has saved similarity_threshold; it has runs "
        "of: no_similar, smart/limit50, smart/limit50-seed1"
    )
    with pytest.raises(InputError, match=message):
        find_run(repository, [THRESHOLD], {**root, "variant": "smart"})
    assert list_runs(tmp_path) == [
        ListedRun("demo", "no_similar", None, 0, JANUARY, 1, "finished"),
        ListedRun("demo", "smart", 50, 0, MARCH, 1, "finished"),
        ListedRun("demo", "smart", 50, 1, FEBRUARY, 1, "finished"),
    ]


def test_runs_with_a_limit_or_seed_save_apart(repository: Path) -> None:
    full = load_conf(repository)["catalog"]
    apart = load_conf(repository, params={"limit": 50, "seed": 1})["catalog"]
    by_run = {name for name, entry in full.items() if entry.get("versioned")}
    by_run |= {"harness_tasks", "harness_subset", "harness_perturbed_tasks", "hub_{content}"}
    for name, entry in full.items():
        places = [entry.get(key) for key in ("filepath", "path", "folder") if entry.get(key)]
        there = [apart[name].get(key) for key in ("filepath", "path", "folder") if entry.get(key)]
        if name in by_run:
            places = [
                f"{place.rpartition('/')[0]}/limit50-seed1/{Path(place).name}" for place in places
            ]
        assert there == places, name


def test_a_pipeline_reads_one_run_and_stages_the_newest_tables(
    tmp_path: Path, save: Save, caplog: pytest.LogCaptureFixture
) -> None:
    save(JANUARY, "a", "b")
    save(FEBRUARY, "b")
    pipeline = Pipeline([Node(lambda a, b: None, ["a", "b"], None, name="use")])
    folder = tmp_path / "07_model_output/demo/smart"

    def read(run_id: str, **options: Any) -> list[str]:
        catalog = DataCatalog(
            {
                name: JsonDocument(
                    filepath=str(folder / f"{name}.json"), version=Version(None, MARCH)
                )
                for name in "ab"
            }
        )
        given = {"run_id": run_id, **options}
        record, versions = version_hooks(tmp_path)
        versions.before_pipeline_run(given, pipeline, catalog)
        record.before_pipeline_run(given, pipeline, catalog)
        return [catalog.load(name)["version"] for name in "ab"]

    assert read(FEBRUARY) == [JANUARY, JANUARY]
    assert read(MARCH, from_nodes=["use"]) == [JANUARY, FEBRUARY]
    assert f"reads datasets of different runs: a ({JANUARY}), b ({FEBRUARY})" in caplog.text


def test_latest_has_the_newest_recorded_tables(tmp_path: Path) -> None:
    for version in (FEBRUARY, MARCH):
        recorded, other = (
            ParquetTable(
                filepath=str(tmp_path / name),
                version=Version(version, version),
                metadata={"mlflow": "artifact"} if name == "t" else None,
            )
            for name in ("t", "other")
        )
        for dataset in (recorded, other):
            dataset.save(pd.DataFrame({"version": [version]}))
        catalog = DataCatalog({"t": recorded, "other": other})
        files = {
            name: copy_to_latest(catalog.get(name), file)
            for name, file in saved_files(catalog, ["t", "other"]).items()
        }
    (latest,) = (tmp_path / LATEST).iterdir()
    assert pd.read_parquet(latest)["version"].item() == MARCH
    assert files == {"t": latest, "other": tmp_path / "other" / MARCH / "other"}
