"""Copies of hub datasets: which files a split has, and their rows as they stand."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import InputError
from benchwright.core.verbatim import joined, verbatim_table
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
    assert split_files(hub, "three") == {"test": [hub / "three" / "test-00000.parquet"]}


def test_splits_follow_from_names_without_a_card(tmp_path: Path) -> None:
    for name in ("test-00000-of-00002", "test-00001-of-00002", "dev/0000"):
        put(tmp_path / "data" / f"{name}.parquet", "")
    data = tmp_path / "data"
    assert split_files(tmp_path, None) == {
        "dev": [data / "dev" / "0000.parquet"],
        "test": [data / f"test-0000{number}-of-00002.parquet" for number in (0, 1)],
    }
    with pytest.raises(InputError, match="no folder 'x'; it has data"):
        split_files(tmp_path, "x")


LISTS = {
    "a list": '[{"id": "01", "n": 1}, {"id": "02"}]',
    "a list over lines": '\n [{"id": "01",\n "n": 1}, {"id":\n "02"}]\n',
    "lines": '{"id": "01", "n": 1}\n{"id": "02"}\n',
}


@pytest.mark.parametrize("name", LISTS)
def test_json_may_be_a_list_or_lines(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / "test.json", LISTS[name])
    assert rows([path]) == [{"id": "01", "n": 1}, {"id": "02", "n": None}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1}, 2]', "entry 1: expected an object, got 2"),
        ('[{"id": 1}', "cannot be read: Expecting"),
        ("[" * 100_000, "invalid JSON: nested too deeply"),
        ("[]\n", "line 1: expected an object, got '[]'"),
    ],
)
def test_json_without_rows_is_rejected(tmp_path: Path, content: str, message: str) -> None:
    path = put(tmp_path / "test.json", content)
    with pytest.raises(InputError, match=r"test\.json: ") as caught:
        read_copied([path])
    assert message in str(caught.value)


def test_files_of_different_types_and_columns_are_concatenated(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["01"], "gold": [1]}), tmp_path / "a.parquet")
    files = [tmp_path / "a.parquet", put(tmp_path / "b.csv", "id,gold,more\n02,1,NA\n")]
    assert rows(files) == [
        {"id": "01", "gold": 1, "more": None},
        {"id": "02", "gold": "1", "more": "NA"},
    ]


def test_no_files_give_a_table_without_rows() -> None:
    assert joined([]).empty
    assert joined([verbatim_table({"a": []}), verbatim_table({"b": []})]).columns.tolist() == [
        "a",
        "b",
    ]


def test_hub_cache_may_link_to_its_blobs(tmp_path: Path) -> None:
    blob = put(tmp_path / "datasets--x" / "blobs" / "0a1b", json.dumps({"id": "01"}) + "\n")
    snapshot = tmp_path / "datasets--x" / "snapshots" / "f00"
    put(snapshot / "README.md", CARD.format("default", "test.jsonl"))
    (snapshot / "test.jsonl").symlink_to(Path("..") / ".." / "blobs" / "0a1b")
    assert rows(split_files(snapshot, None)["test"]) == [{"id": "01"}]
    plain = tmp_path / "datasets--x" / "copies" / "f00"
    put(plain / "README.md", CARD.format("default", "test.jsonl"))
    (plain / "test.jsonl").symlink_to(blob)
    with pytest.raises(InputError, match="outside the copy"):
        split_files(plain, None)


def test_copy_may_be_a_link(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "test.jsonl", '{"id": "01"}\n')
    put(tmp_path / "elsewhere" / "README.md", CARD.format("default", "test.jsonl"))
    (tmp_path / "hub").symlink_to(tmp_path / "elsewhere")
    assert rows(split_files(tmp_path / "hub", None)["test"]) == [{"id": "01"}]


def test_cells_are_objects(tmp_path: Path) -> None:
    read = read_copied([put(tmp_path / "a.csv", "a,b\n1,\n"), put(tmp_path / "b.csv", "a,b\n1\n")])
    expected = pd.DataFrame({"a": ["1", "1"], "b": ["", None]}, dtype=object)
    pd.testing.assert_frame_equal(read, expected)
