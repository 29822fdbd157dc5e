"""Decompression bombs and false sizes cost neither memory nor time."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core import verbatim
from benchwright.core.errors import InputError
from benchwright.core.verbatim import read_parquet
from hostile.bounded_reading import MEMORY_KIB, packed, parquet_bomb, whole
from hostile.readers import READERS

SCRIPT = Path(__file__).with_name("bounded_reading.py")


def run(lies: int, total: int) -> dict[str, dict[str, object]]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(lies), str(total)],
        capture_output=True,
        text=True,
        check=True,
        timeout=540,
    )
    return dict(json.loads(done.stdout))


@pytest.mark.long
def test_bombs_and_false_sizes_are_refused_within_two_gigabytes() -> None:
    summary = run(600, 1_000_000_000)
    assert summary["bombs"] == {}
    assert set(summary["lies"]) == {"read", "refused"}, summary["lies"]
    assert int(str(summary["memory"])) < MEMORY_KIB, summary["memory"]


@pytest.mark.parametrize("name", ["rows as CSV, packed", "answers as CSV, packed"])
def test_a_packed_file_is_read_up_to_a_limit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbatim, "SLACK", 1_000)
    path = tmp_path / READERS[name][0]
    path.write_bytes(packed(b"item_id,model,correct,id\n", 5_000_000))
    with pytest.raises(Exception, match=r"more than [0-9,]+ bytes uncompressed"):
        READERS[name][1](path)


def test_a_table_is_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbatim, "TABLE_SLACK", 1_000_000)
    monkeypatch.setattr(verbatim, "_BATCH_ROWS", 4)
    path = tmp_path / "bomb.parquet"
    path.write_bytes(parquet_bomb())
    with pytest.raises(InputError, match=r"bomb\.parquet: more than [0-9,]+ bytes"):
        read_parquet(path)


def test_a_dictionary_counts_by_its_rows(tmp_path: Path) -> None:
    rows = pa.array([0, 1, 0] * 100, pa.int32())
    named = pa.DictionaryArray.from_arrays(rows, pa.array(["x" * 1_000, "y"]))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": named}), path)
    read = read_parquet(path)
    assert pa.types.is_string(read.schema.field("text").type)
    assert read.nbytes > 200 * 1_000
    assert read.column("text").to_pylist() == named.to_pylist()


def test_complete_files_are_read_completely(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(whole("rows as Parquet", tmp_path))
    assert read_parquet(path).num_rows == 8
    assert read_parquet(path, ["model", "id"]).column_names == ["model", "id"]
    with pytest.raises(InputError, match=r"a\.parquet: no column 'none'"):
        read_parquet(path, ["none"])
