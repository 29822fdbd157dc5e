"""What Inspect and the Hub find in a folder for the Hub."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from benchwright.datasets.export_folder import ExportFolder, FolderContent
from benchwright.exports.hub_folder import (
    publish_kept_items,
    publish_perturbed_copies,
    publish_subset,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.dele import ChosenSubset
from exports.export_examples import benchmark, item, table

ITEMS = table(
    item("colours/0", explanation="Seen."),
    item("colours/1", question='Which, "exactly"?\nThis', choices=("a,b", "=1+1", "è {x}")),
    item("colours/2", answer=3),
)
OPEN = table(
    *(item(f"sums/{n}", question=f"{n} + 1?", choices=(), answer_text=f"{n + 1}") for n in (0, 1))
)
RULES = pd.DataFrame({"rule": ["easy"], "removed": [0], "share_removed": [0.0]})
RUN: dict[str, Any] = {"variant": "smart", "limit": None, "seed": 0}


def kept(items: pd.DataFrame = ITEMS, **changes: Any) -> FolderContent:
    return publish_kept_items(items, items, RULES, benchmark(**changes), **RUN)


def copies() -> FolderContent:
    names = ("wicked-10", "wicked-2")
    rows = pd.concat([ITEMS.assign(condition=name, role="item") for name in names])
    return publish_perturbed_copies(rows, PerturbationParams(), benchmark(), **RUN)


def subset() -> FolderContent:
    chosen = ChosenSubset.from_rows(
        [("colours/2", 0, 0.7, math.nan), ("colours/0", 1, 0.3, math.nan)]
    )
    return publish_subset(ITEMS, chosen, {"told_apart": "Pairs of models …"}, benchmark(), **RUN)


FOLDERS = {"kept": kept, "copies": copies, "subset": subset, "open": lambda: kept(OPEN)}


@pytest.fixture(params=FOLDERS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    saved = tmp_path / "owner" / "name"
    ExportFolder(path=str(saved)).save(FOLDERS[request.param]())
    return saved


def read(folder: Path, name: str) -> Any:
    return yaml.safe_load((folder / name).read_text(encoding="utf-8"))


def rows_of(folder: Path) -> dict[str, pd.DataFrame]:
    return {file.stem: pd.read_parquet(file) for file in folder.glob("*.parquet")}


def joined(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what joins an answer to its item."""
    names = ["item_id", "content_hash", "condition", "subject", "weight"]
    return rows[[name for name in names if name in rows]].to_dict("records")


def test_eval_yaml_has_a_task_for_each_configuration(folder: Path) -> None:
    evaluation = read(folder, "eval.yaml")
    assert evaluation["evaluation_framework"] == "inspect-ai"
    tasks = {task["config"]: task for task in evaluation["tasks"]}
    assert len({task["id"] for task in evaluation["tasks"]}) == len(tasks)
    for name, rows in rows_of(folder).items():
        fields = tasks.pop(name)["field_spec"]
        named = {value for value in fields.values() if isinstance(value, str)}
        assert named | set(fields["metadata"]) <= set(rows.columns)
        assert {"item_id", "content_hash"} <= set(fields["metadata"])
        assert ("weight" in fields["metadata"]) == ("weight" in rows)
    assert not tasks


def test_samples_of_inspect_have_the_letter_and_what_joins_them(folder: Path) -> None:
    for name, rows in rows_of(folder).items():
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        samples = [json.loads(line) for line in lines]
        assert [sample["metadata"] for sample in samples] == joined(rows)
        assert [sample["input"] for sample in samples] == rows["question"].tolist()
        for sample, row in zip(samples, rows.itertuples(), strict=True):
            chosen = dict(zip("ABCD", sample.get("choices", ()), strict=False))
            assert chosen.get(sample["target"], sample["target"]) == row.answer_text


def test_inspect_reads_the_folder_and_the_repository(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai._eval.task.hf import task_create_from_hf

    monkeypatch.chdir(folder.parents[1])
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "cache"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(folder.parent / "datasets"))
    monkeypatch.setattr(
        "huggingface_hub.hf_hub_download", lambda repo_id, filename, **_: f"{repo_id}/{filename}"
    )
    monkeypatch.syspath_prepend(folder)
    module = importlib.reload(importlib.import_module("inspect_tasks"))
    tables = rows_of(folder)
    for task in task_create_from_hf("hf/owner/name"):
        name = task.name.split("/")[3] if len(tables) > 1 else next(iter(tables))
        rows = tables[name]
        local = getattr(module, name.replace("-", "_"))()
        for dataset in (task.dataset, local.dataset):
            assert [sample.metadata for sample in dataset] == joined(rows)
            assert [sample.choices or [] for sample in dataset] == list(map(list, rows["choices"]))
        assert [s.target for s in task.dataset] == [s.target for s in local.dataset]
        assert [s.input for s in task.dataset] == [s.input for s in local.dataset]
