"""Folders for the Hugging Face Hub: rows, card, CSV, manifest, and what Inspect reads."""

import ast
import importlib
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from benchwright.datasets.export_folder import ExportFolder, FolderContent
from benchwright.exports.export import ExportedRun
from benchwright.exports.hub_folder import (
    card_licence,
    publish_kept_items,
    publish_perturbed_copies,
    publish_subset,
)
from benchwright.exports.inspect_tasks import inspect_module
from benchwright.params.exports import ExportsParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ScoringParams
from benchwright.tables.dele import ChosenSubset
from exports.export_examples import benchmark, item, table

ITEMS = table(
    item("colours/0"),
    item("colours/1", question='Which, "exactly"?\nThis', choices=("a,b", "=1+1", "è {x}")),
    item("colours/2", answer=2),
)
RULES = pd.DataFrame(
    {
        "rule": ["easy", "similar", "duplicate"],
        "removed": [1, 0, 1],
        "share_removed": [1 / 3, 0, 1 / 3],
    }
)


def run(**changes: Any) -> ExportedRun:
    return ExportedRun(benchmark(**changes), ScoringParams(), ExportsParams(), "smart", None, 0)


def saved(content: FolderContent, folder: Path) -> Path:
    dataset = ExportFolder(path=str(folder))
    dataset.save(content)
    assert dataset.load()["files"].keys() == content.files.keys()
    return folder


def kept(**changes: Any) -> FolderContent:
    return publish_kept_items(ITEMS, ITEMS.iloc[:2], RULES, run(**changes))


def card_of(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---")[1])


def test_the_hub_library_loads_each_configuration(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = saved(kept(), tmp_path / "hub")
    cache = str(tmp_path / "cache")
    rows = datasets.load_dataset(str(folder), "smart", split="test", cache_dir=cache)
    assert rows["item_id"] == ["colours/0", "colours/1"]
    assert rows["choices"] == list(map(list, ITEMS["choices"][:2]))
    assert rows["answer"] == ITEMS["answer"][:2].tolist()


def test_card_names_licence_source_and_what_rules_removed(tmp_path: Path) -> None:
    folder = saved(kept(licence="CC-BY-SA-4.0", citation="Written by hand."), tmp_path / "hub")
    assert card_of(folder)["license"] == "cc-by-sa-4.0"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "2 of 3 items" in text
    assert "| easy | 1 | 33.3% |" in text
    assert "| similar |" not in text
    assert "Written by hand." in text


def test_canary_is_in_the_card_the_rows_and_the_manifest(tmp_path: Path) -> None:
    folder = saved(kept(), tmp_path / "hub")
    canary = json.loads((folder / "manifest.json").read_text())["canary"]
    assert canary.startswith("colours canary ")
    assert canary in (folder / "README.md").read_text(encoding="utf-8")
    assert set(pd.read_parquet(folder / "smart.parquet")["canary"]) == {canary}
    others = publish_kept_items(ITEMS, ITEMS, RULES, run())
    assert others.facts["canary"] != canary


def test_tags_of_kept_items_are_published(tmp_path: Path) -> None:
    tagged = ITEMS.assign(tags=["", "retained_easy", ""])
    content = publish_kept_items(tagged, tagged, RULES, run())
    folder = saved(content, tmp_path / "hub")
    published = pd.read_parquet(folder / "smart.parquet")
    assert published["tags"].tolist() == ["", "retained_easy", ""]


def test_each_perturbed_copy_is_a_configuration_without_demonstrations(tmp_path: Path) -> None:
    copies = pd.concat(
        [
            ITEMS.assign(condition=f"wicked-{n}", role=["item", "item", "demonstration"])
            for n in (10, 2)
        ]
    )
    content = publish_perturbed_copies(copies, PerturbationParams(), run())
    folder = saved(content, tmp_path / "hub")
    named = [each["config_name"] for each in card_of(folder)["configs"]]
    assert named == ["wicked-2", "wicked-10"]
    for name in named:
        rows = pd.read_parquet(folder / f"{name}.parquet")
        assert rows["item_id"].tolist() == ["colours/0", "colours/1"]
        assert set(rows["condition"]) == {name}


def test_subset_has_its_weights_and_order(tmp_path: Path) -> None:
    chosen = ChosenSubset.from_rows(
        [("colours/2", 0, 0.7, math.nan), ("colours/0", 1, 0.3, math.nan)]
    )
    content = publish_subset(ITEMS, chosen, {"told_apart": "Pairs of models …"}, run())
    rows = pd.read_parquet(saved(content, tmp_path / "hub") / "subset.parquet")
    assert rows[["item_id", "weight"]].to_numpy().tolist() == [
        ["colours/2", 0.7],
        ["colours/0", 0.3],
    ]


@pytest.mark.parametrize(
    ("licence", "lines"),
    [
        ("MIT", "license: mit"),
        ("CC-BY-NC-4.0", "license: cc-by-nc-4.0"),
        ("House rules: # 1", 'license: other\nlicense_name: "house rules: # 1"'),
    ],
)
def test_unknown_licences_are_other_with_their_name(licence: str, lines: str) -> None:
    assert card_licence(licence) == lines


OPEN = table(
    *(item(f"sums/{n}", question=f"{n} + 1?", choices=(), answer_text=f"{n + 1}") for n in (0, 1))
)


def copies() -> FolderContent:
    names = ("wicked-10", "wicked-2")
    rows = pd.concat([ITEMS.assign(condition=name, role="item") for name in names])
    return publish_perturbed_copies(rows, PerturbationParams(), run())


def subset() -> FolderContent:
    chosen = ChosenSubset.from_rows(
        [("colours/2", 0, 0.7, math.nan), ("colours/0", 1, 0.3, math.nan)]
    )
    return publish_subset(ITEMS, chosen, {"told_apart": "Pairs of models …"}, run())


def open_ended() -> FolderContent:
    return publish_kept_items(OPEN, OPEN, RULES, run())


FOLDERS = {"kept": kept, "copies": copies, "subset": subset, "open": open_ended}


@pytest.fixture(params=FOLDERS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    saved = tmp_path / "owner" / "name"
    ExportFolder(path=str(saved)).save(FOLDERS[request.param]())
    return saved


def rows_of(folder: Path) -> dict[str, pd.DataFrame]:
    return {file.stem: pd.read_parquet(file) for file in folder.glob("*.parquet")}


def joined(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what joins an answer to its item."""
    names = ["item_id", "content_hash", "condition", "subject", "weight"]
    return rows[[name for name in names if name in rows]].to_dict("records")


def test_samples_of_inspect_have_the_letter_and_what_joins_them(folder: Path) -> None:
    for name, rows in rows_of(folder).items():
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        samples = [json.loads(line) for line in lines]
        assert [sample["metadata"] for sample in samples] == joined(rows)
        assert [sample["input"] for sample in samples] == rows["question"].tolist()
        for sample, row in zip(samples, rows.itertuples(), strict=True):
            chosen = dict(zip("ABCD", sample.get("choices", ()), strict=False))
            assert chosen.get(sample["target"], sample["target"]) == row.answer_text


def test_eval_yaml_has_a_task_for_each_configuration(folder: Path) -> None:
    evaluation = yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))
    assert evaluation["evaluation_framework"] == "inspect-ai"
    tasks = {task["config"]: task["field_spec"] for task in evaluation["tasks"]}
    assert tasks.keys() == rows_of(folder).keys()
    for name, rows in rows_of(folder).items():
        named = {value for value in tasks[name].values() if isinstance(value, str)}
        assert named | set(tasks[name]["metadata"]) <= set(rows.columns)
        assert ("weight" in tasks[name]["metadata"]) == ("weight" in rows)


def test_any_title_gives_a_module_of_python() -> None:
    module = inspect_module({"smart": 'C:\\Users """ \\'}, open_ended=False).decode()
    (function,) = [n for n in ast.parse(module).body if getattr(n, "name", "") == "smart"]
    assert ast.get_docstring(function) == "C:\\Users ''' \\."


def test_inspect_reads_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.syspath_prepend(folder)
    module = importlib.reload(importlib.import_module("inspect_tasks"))
    for name, rows in rows_of(folder).items():
        samples = getattr(module, name.replace("-", "_"))().dataset
        assert [sample.metadata for sample in samples] == joined(rows)
        assert [sample.choices or [] for sample in samples] == list(map(list, rows["choices"]))
