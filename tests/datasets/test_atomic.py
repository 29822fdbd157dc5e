"""A write that fails leaves what was there."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from kedro.io import DatasetError
from kedro.io.core import Version

from benchwright.core.errors import one_line
from benchwright.datasets.atomic import JsonDocument, ParquetTable


def test_failed_saves_keep_the_old_table(tmp_path: Path) -> None:
    dataset = ParquetTable(filepath=str(tmp_path / "t.parquet"))
    table = pd.DataFrame({"a": ["None", "NA", "01"]})
    dataset.save(table)
    with pytest.raises(DatasetError):
        dataset.save(pd.DataFrame({"a": [object()]}))  # not a Parquet type
    pd.testing.assert_frame_equal(dataset.load(), table)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("kind", [ParquetTable, JsonDocument])
def test_incomplete_tables_are_reported_in_one_line(tmp_path: Path, kind: type) -> None:
    content = pd.DataFrame({"a": [1]}) if kind is ParquetTable else {"a": 1}
    path = tmp_path / "saved"
    dataset = kind(filepath=str(path))
    dataset.save(content)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatasetError) as raised:
        dataset.load()
    said = one_line(raised.value) or ""
    assert said.startswith(f"{path}: cannot be read: ")
    assert said.endswith("; remove it, or run again what made it")


def test_versions_are_separate_and_datasets_can_be_pickled(tmp_path: Path) -> None:
    for version in ("2026-01-01T00.00.00.000Z", "2026-01-02T00.00.00.000Z"):
        dataset = JsonDocument(filepath=str(tmp_path / "m.json"), version=Version(None, version))
        pickle.loads(pickle.dumps(dataset)).save({"version": version})  # noqa: S301
    latest = JsonDocument(filepath=str(tmp_path / "m.json"), version=Version(None, None))
    assert latest.load() == {"version": "2026-01-02T00.00.00.000Z"}


def test_text_is_utf_8_in_an_ascii_locale(tmp_path: Path) -> None:
    text = "π é — ≤ İı\r\n"
    code = (
        "import sys; from benchwright.datasets.atomic import TextFile\n"
        f"dataset = TextFile(filepath=sys.argv[1]); dataset.save({text!a})\n"
        f"assert dataset.load() == {text!a}"
    )
    ascii_alone = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "r.html")],
        env={**os.environ, **ascii_alone},
        check=True,
    )
    assert (tmp_path / "r.html").read_bytes() == text.encode("utf-8")
