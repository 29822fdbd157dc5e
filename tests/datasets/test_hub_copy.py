"""Copies of hub datasets: which files a split has, and their rows as they stand."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.benchmark_source import read_copied, split_files

CARD = "---\nconfigs:\n- config_name: {}\n  data_files:\n  - split: test\n    path: {}\n---\n"


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(files: list[Path]) -> list[dict[str, object]]:
    return [dict(row) for row in read_copied(files).to_dict("records")]


def test_copies_with_equal_cards_are_separate(tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(tmp_path / name / "hub" / "test.csv", f"id,question\n01,{name}\n")
        put(tmp_path / name / "hub" / "README.md", CARD.format("default", "test.csv"))
    for name in ("a", "b"):
        files = split_files(tmp_path / name / "hub", None)
        assert rows(files["test"]) == [{"id": "01", "question": name}]
    put(tmp_path / "a" / "hub" / "test.csv", "id,question\n02,new\n")
    assert rows(split_files(tmp_path / "a" / "hub", None)["test"])[0]["question"] == "new"


def test_card_lists_the_files_of_a_configuration(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    for part in ("one/test-00000", "one/test-00001", "two/test-00000"):
        put(hub / f"{part}.jsonl", "{}\n")
    cards = [CARD.format(name, f"{name}/test-*") for name in ("one", "two")]
    put(hub / "README.md", "".join(cards).replace("---\n---\nconfigs:\n", "") + "\n# Words\n")
    assert split_files(hub, "one") == {
        "test": [hub / "one" / f"test-0000{number}.jsonl" for number in (0, 1)]
    }
    assert split_files(hub, "two") == {"test": [hub / "two" / "test-00000.jsonl"]}
    put(hub / "three" / "test-00000.parquet", "")  # which the card does not know
    with pytest.raises(InputError, match=r"'three' not found.*; a copy needs the hub's card"):
        split_files(hub, "three")


def test_splits_follow_from_names_without_a_card(tmp_path: Path) -> None:
    for name in ("test-00000-of-00002", "test-00001-of-00002", "dev-00000-of-00001"):
        put(tmp_path / "data" / f"{name}.parquet", "")
    found = split_files(tmp_path, None)
    assert [path.name for path in found["test"]] == [
        f"test-0000{number}-of-00002.parquet" for number in (0, 1)
    ]
    with pytest.raises(InputError, match="none: cannot be read"):
        split_files(tmp_path / "none", None)


def test_files_of_different_types_and_columns_are_concatenated(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["01"], "gold": [1]}), tmp_path / "a.parquet")
    files = [tmp_path / "a.parquet", put(tmp_path / "b.csv", "id,gold,more\n02,1,NA\n")]
    assert rows(files) == [
        {"id": "01", "gold": 1, "more": None},
        {"id": "02", "gold": "1", "more": "NA"},
    ]


def test_cells_are_objects(tmp_path: Path) -> None:
    read = read_copied([put(tmp_path / "a.csv", "a,b\n1,\n"), put(tmp_path / "b.csv", "a,b\n1\n")])
    expected = pd.DataFrame({"a": ["1", "1"], "b": ["", None]}, dtype=object)
    pd.testing.assert_frame_equal(read, expected)
