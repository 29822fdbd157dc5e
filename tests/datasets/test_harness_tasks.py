"""A folder of exported tasks: complete, checked, replaced as a whole."""

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml
from kedro.io import DatasetError

from benchwright.datasets.harness_tasks import (
    HarnessExport,
    HarnessFamily,
    HarnessTask,
    HarnessTasks,
)
from benchwright.exports import harness_rows
from harness_folder import folder_contents


def row(**changes: Any) -> dict[str, Any]:
    texts = ("item_id", "content_hash", "subject", "question", "answer_text")
    given = {name: f"some {name}" for name in (*texts, "description", "text", "target")}
    return {**given, "choices": ["a", "b"], "labels": ["A", "B"], "answer": 1, **changes}


def family(name: str, *rows: dict[str, Any], **config: Any) -> HarnessFamily:
    task = HarnessTask(name, {"test_split": "test", **config}, [*rows] or [row()], [row()])
    return HarnessFamily(name, None, [task], {"n_items": len(task.rows)})


def export(*families: HarnessFamily, **changes: Any) -> HarnessExport:
    reader = Path(harness_rows.__file__).read_bytes()
    given = {"readme": "how to\n", "facts": {"format": 1}, "reader": reader, **changes}
    return HarnessExport([*families] or [family("one")], **given)


def read_yaml(content: bytes) -> Any:
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: ("function", node.value))
    return yaml.load(content, Loader=Loader)  # noqa: S506


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def dataset(tmp_path: Path) -> HarnessTasks:
    return HarnessTasks(path=str(tmp_path / "deep" / "harness"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "harness"


def test_manifest_has_the_hash_of_every_other_file(dataset: HarnessTasks, folder: Path) -> None:
    dataset.save(export(family("one"), family("two")))
    manifest = dataset.load()
    files = tree(folder)
    del files["manifest.json"]
    assert manifest["files"] == {
        name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())
    }
    assert set(files) == {
        "README.md",
        *(f"{name}/read_rows.py" for name in ("one", "two")),
        *(f"{name}/{name}.yaml" for name in ("one", "two")),
        *(f"{name}/{name}.jsonl" for name in ("one", "two")),
        *(f"{name}/{name}.demonstrations.jsonl" for name in ("one", "two")),
    }
    assert manifest["families"] == {"one": {"n_items": 1}, "two": {"n_items": 1}}


@pytest.mark.parametrize("text", ["\n\n", "", " ### ", "1e5", "no", "{{x}}", "a: b", "é\u2028"])
def test_yaml_texts_round_trip(text: str) -> None:
    files = folder_contents(export(family("one", fewshot_delimiter=text)))
    config = read_yaml(files["one/one.yaml"])
    assert config["fewshot_delimiter"] == text
    assert config["custom_dataset"] == ("function", "read_rows.read_rows")
    assert config["dataset_kwargs"]["data_files"] == {
        "test": "one.jsonl",
        "dev": "one.demonstrations.jsonl",
    }


def test_group_lists_its_tasks() -> None:
    tasks = [*family("t_a").tasks, *family("t_b").tasks]
    both = HarnessFamily("t", {"task": ["t_a", "t_b"]}, tasks, {})
    files = folder_contents(export(both))
    assert read_yaml(files["t/t.yaml"]) == {"group": "t", "task": ["t_a", "t_b"]}
    assert {"t/t_a.yaml", "t/t_b.yaml"} < set(files)


def rows_read(folder: Path, **data_files: str) -> Any:
    spec = importlib.util.spec_from_file_location("copied_reader", folder / "read_rows.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.read_rows(data_files, version="1", pretrained="model")


def test_rows_keep_texts_and_types(dataset: HarnessTasks, folder: Path) -> None:
    rows = [
        row(question="2026-01-01", choices=["2026-01-02", "2026-01-03"], text="7", target="1e5"),
        row(question="null", choices=["true", "NaN"], text="a\r\nb\u2028c\x85d\n", answer=0),
        row(question="", choices=[], labels=[], answer=-1, text="{{ x }} \ud7ff \U0001f600"),
    ]
    dataset.save(export(family("one", *rows)))
    read = rows_read(folder / "one", test="one.jsonl", dev="one.demonstrations.jsonl")
    assert list(read["test"]) == [{name: given[name] for name in read["test"][0]} for given in rows]
    assert set(read["test"].features) == set(row())
    assert read["test"].features == read["dev"].features
    assert read["dev"][0] == {name: row()[name] for name in read["dev"][0]}


def test_an_export_replaces_the_earlier_one_whole_or_not_at_all(
    dataset: HarnessTasks, folder: Path
) -> None:
    dataset.save(export(family("old")))
    (folder / "old" / "__pycache__").mkdir()
    before = tree(folder)
    with pytest.raises(DatasetError, match="not JSON serializable"):
        dataset.save(export(family("new", row(answer=object()))))
    assert tree(folder) == before
    folder.rename(folder.with_name(f".{folder.name}.old"))  # as a killed run leaves it
    assert set(dataset.load()["families"]) == {"old"}
    assert [path.name for path in folder.parent.iterdir()] == ["harness"]
    dataset.save(export(family("new")))
    assert not (folder / "old").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["harness"]


def test_other_folders_are_not_replaced(dataset: HarnessTasks, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(DatasetError, match=r"not an export, since it has no manifest\.json"):
        dataset.save(export())
    assert tree(folder) == {"thesis.tex": b"years of work"}
