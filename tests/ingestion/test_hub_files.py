"""Logs in datasets of the hub: the newest run counts; copies and the cache need no network."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.response_files import ResponseFiles
from benchwright.ingestion.hub_files import HubFiles, newest

PATTERN = "details_harness|arc:challenge|25_*"
NEW, OLD = "2024-04-20T10-00-00.5", "2023-07-20T10:00:00.5"
ENTRY = {"hub": "boards/details_{model}", "file": PATTERN, "models": ["a/one", "b/two@v2"]}


def write_log(dataset: Path, time: str) -> Path:
    row = {"example": "Question: Hot?\nAnswer:", "full_prompt": "", "choices": ["ice", "fire"]}
    row |= {"gold_index": 1, "predictions": [-2.0, -1.0], "metrics": {"acc": 1.0}}
    path = dataset / time / f"details_harness|arc:challenge|25_{time}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row]), path)
    general = {"model_name": "made/elsewhere", "model_sha": "abc"}
    results = json.dumps({"config_general": general, "results": {"harness|arc:challenge|25": {}}})
    (dataset / f"results_{time}.json").write_text(results)
    return path


def cached(home: Path, dataset: str, commit: str, branch: str) -> Path:
    """The folder of a commit in the hub's cache."""
    of_dataset = home / f"datasets--{dataset.replace('/', '--')}"
    (of_dataset / "refs").mkdir(parents=True)
    (of_dataset / "refs" / branch).write_text(commit)
    return of_dataset / "snapshots" / commit


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, which cannot be reached."""

    def away(*_: Any, **__: Any) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", away)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_newest_run_of_each_task_counts_with_its_results() -> None:
    names = [
        "2023-07-20T10:00:00.5/details_arc_2023-07-20T10:00:00.5.parquet",
        "2023-07-20T09-59-59/details_arc_2023-07-20T09-59-59.parquet",
        "2023-07-20T09-59-59/details_gsm_2023-07-20T09-59-59.parquet",
        "results_2023-07-20T10:00:00.5.json",
        "results_2022-01-01T00-00-00.json",
        "README.md",
    ]
    assert newest(names, "details_arc_*") == [names[0], names[3]]
    assert newest(names, "details_*") == [names[2], names[0], names[3]]
    assert newest(names, "samples_*") == []


def test_a_copy_is_read_and_a_model_without_one_is_left_out(tmp_path: Path) -> None:
    dataset = tmp_path / "boards" / "details_a__one"
    write_log(dataset, OLD)
    path = write_log(dataset, NEW)
    benchmark = {"responses": [ENTRY]}
    files = ResponseFiles(benchmark=benchmark, folder="none", mirror_root=str(tmp_path)).load()
    one, two = files.values()
    assert one.log is not None
    assert one.log.files == (path, dataset / f"results_{NEW}.json")
    assert (one.name, one.spec.model, one.spec.shots) == (f"a/one/{path.name}", "a/one", 25)
    assert two.spec.model == "b/two"
    assert two.problem.startswith(f"boards/details_b__two: no file {PATTERN} in {tmp_path}")


def test_without_a_network_the_cache_is_read(hub_cache: Path) -> None:
    path = write_log(cached(hub_cache, "boards/details_a__one", "c" * 40, "main"), NEW)
    hub = HubFiles()
    assert hub.find("boards/details_a__one", "main", PATTERN) == [path]
    with pytest.raises(InputError, match=r"^boards/details_b__two: .*(cache|offline)"):
        hub.find("boards/details_b__two", "v2", PATTERN)


def test_a_dataset_that_the_hub_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from httpx2 import Request, Response
    from huggingface_hub.errors import GatedRepoError

    def refused(*_: Any, **__: Any) -> None:
        response = Response(403, request=Request("GET", "https://hub"))
        raise GatedRepoError("Access to dataset is restricted.\nLog in.", response=response)

    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", refused)
    with pytest.raises(InputError, match=r"^boards/x: .*Access to dataset is restricted"):
        HubFiles().find("boards/x", "main", PATTERN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": []}, "hub and models are only given together"),
        ({"hub": None}, "hub and models are only given together"),
        ({"hub": "boards/details"}, "should match pattern"),
    ],
)
def test_an_invalid_entry_is_refused(change: dict[str, Any], message: str) -> None:
    benchmark = {"responses": [ENTRY | change]}
    with pytest.raises(DatasetError, match=message):
        ResponseFiles(benchmark=benchmark, folder="none").load()
