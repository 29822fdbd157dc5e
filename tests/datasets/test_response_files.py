import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog, DatasetError

from benchwright.datasets.response_files import LoadedFile, ResponseFiles
from benchwright.errors import InputError


def load(folder: Path, *named: dict[str, Any], mirror: str = "") -> dict[str, LoadedFile]:
    return ResponseFiles(
        benchmark={"responses": list(named)}, folder=str(folder), mirror_root=mirror
    ).load()


def cause(error: pytest.ExceptionInfo[DatasetError]) -> str:
    assert isinstance(error.value.__cause__, InputError)
    message = str(error.value.__cause__)
    assert "\n" not in message
    return message


def test_texts_of_a_csv_stay_as_they_are_written(tmp_path: Path) -> None:
    rows = "item_id,model,correct\nNone,NA,1\n01,TRUE,\n1e3,null,nan\n"
    (tmp_path / "a.csv").write_text(rows, encoding="utf-8")
    table = load(tmp_path)["a.csv"].table
    assert table is not None
    assert table["item_id"].to_pylist() == ["None", "01", "1e3"]
    assert table["model"].to_pylist() == ["NA", "TRUE", "null"]
    assert table["correct"].to_pylist() == ["1", None, "nan"]


def test_a_csv_may_start_with_a_byte_order_mark_be_gzipped_and_hold_line_breaks(
    tmp_path: Path,
) -> None:
    rows = '\ufeffitem_id,model,question\nq1,é,"two\nlines, and a comma"\n'
    with gzip.open(tmp_path / "a.csv.gz", "wt", encoding="utf-8") as file:
        file.write(rows)
    table = load(tmp_path)["a.csv.gz"].table
    assert table is not None
    assert table.to_pylist() == [
        {"item_id": "q1", "model": "é", "question": "two\nlines, and a comma"}
    ]


def test_json_lines_keep_types_and_mixed_columns_become_text(tmp_path: Path) -> None:
    lines = [
        {"item_id": "2024-01-01", "logprobs": [-1.5, -2], "prediction": "B"},
        {"item_id": "01", "prediction": 1, "new": True},
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    table = load(tmp_path)["a.jsonl"].table
    assert table is not None
    assert table.to_pylist() == [
        {"item_id": "2024-01-01", "logprobs": [-1.5, -2.0], "prediction": "B", "new": None},
        {"item_id": "01", "logprobs": None, "prediction": "1", "new": True},
    ]


def test_named_files_come_first_then_the_others_by_name(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "z.csv", "notes.txt", ".hidden.csv", "x.pkl"):
        (tmp_path / name).write_text("item_id,model\nq,m\n", encoding="utf-8")
    assert list(load(tmp_path, {"file": "z.csv"})) == ["z.csv", "a.csv", "b.csv"]


def test_the_folder_comes_before_the_mirror(tmp_path: Path) -> None:
    folder, mirror = tmp_path / "own", tmp_path / "mirror"
    for place, item in ((folder, "own"), (mirror / "responses", "mirrored")):
        place.mkdir(parents=True)
        (place / "a.csv").write_text(f"item_id,model\n{item},m\n", encoding="utf-8")
    (mirror / "responses" / "unnamed.csv").write_text("item_id,model\nq,m\n", encoding="utf-8")
    own = load(folder, {"file": "a.csv"}, mirror=str(mirror))
    mirrored = load(tmp_path / "absent", {"file": "a.csv"}, mirror=str(mirror))
    assert own["a.csv"].table["item_id"].to_pylist() == ["own"]
    assert list(mirrored) == ["a.csv"]
    assert mirrored["a.csv"].table["item_id"].to_pylist() == ["mirrored"]


def test_a_named_file_that_is_absent_is_only_an_error_where_a_mirror_should_have_it(
    tmp_path: Path,
) -> None:
    file = load(tmp_path, {"file": "a.parquet"})["a.parquet"]
    assert file.table is None
    assert file.looked_in == (str(tmp_path),)
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": "a.parquet"}, mirror=str(tmp_path / "mirror"))
    assert "a.parquet is neither in" in cause(error)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"file": "../../secret.csv"}, "responses[0].file: Value error, '../../secret.csv' must"),
        ({"file": "a.pkl"}, "must end in .parquet"),
        ({"file": "a.csv", "style": "letter"}, "responses[0].style"),
        ({"file": "a.csv", "columns": {"p_gold": "p"}}, "responses[0].columns.p_gold"),
        ({"file": "a.csv", "sytle": "cloze"}, "responses[0].sytle: Extra inputs"),
        ("a.csv", "responses[0]: Input should be a valid dictionary"),
    ],
)
def test_a_wrong_entry_is_told_in_one_line(tmp_path: Path, entry: Any, told: str) -> None:
    with pytest.raises(DatasetError) as error:
        load(tmp_path, entry)
    assert told in cause(error)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.parquet", b"PAR1 torn", "a.parquet: cannot be read"),
        ("a.csv", b"item_id,model\nq1\n", "a.csv: cannot be read"),
        ("a.csv", b"item_id,model\nq\xff,m\n", "a.csv: cannot be read"),
        ("a.csv", b"item_id,model\n", "a.csv: has no rows"),
        ("a.csv", b"", "a.csv: cannot be read"),
        ("a.csv.gz", b"item_id,model\nq,m\n", "a.csv.gz: cannot be read"),
        ("a.jsonl", b'{"item_id": "q1"}\n{"item_id": ', "line 2 is not JSON"),
        ("a.jsonl", b"[" * 100_000, "line 1 is not JSON"),
        ("a.jsonl", b"[1, 2]\n", "line 1 is '[1, 2]'; an object is accepted"),
        ("a.jsonl", b"\n", "a.jsonl: has no rows"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError) as error:
        load(tmp_path)
    assert told in cause(error)


def test_a_file_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": "a.csv"}, {"file": "a.csv", "style": "cloze"})
    assert "named twice" in cause(error)


def test_it_is_read_from_a_catalog_survives_pickling_and_refuses_to_be_written(
    tmp_path: Path,
) -> None:
    pd.DataFrame({"item_id": ["q"], "model": ["m"]}).to_parquet(tmp_path / "a.parquet")
    catalog = DataCatalog.from_config(
        {
            "response_files": {
                "type": "benchwright.datasets.response_files.ResponseFiles",
                "benchmark": {"responses": [{"file": "a.parquet", "shots": 5}]},
                "folder": str(tmp_path),
                "mirror_root": "",
                "metadata": {"kedro-viz": {"layer": "raw"}},
            }
        }
    )
    files = pickle.loads(pickle.dumps(catalog.load("response_files")))  # noqa: S301
    assert files["a.parquet"].spec.shots == 5
    assert files["a.parquet"].table.to_pylist() == [{"item_id": "q", "model": "m"}]
    with pytest.raises(DatasetError, match="only read"):
        catalog.save("response_files", {})
