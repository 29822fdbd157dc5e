"""A user's table that a parameter names."""

import re
from pathlib import Path

import pandas as pd
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError, one_line
from benchwright.datasets.optional_table import NamedTable

COLUMNS = ["item_id", "model"]


def table(path: Path | None) -> NamedTable:
    return NamedTable(
        filepath=None if path is None else str(path), columns=COLUMNS, named_by="part.file"
    )


def test_missing_name_gives_a_table_without_rows() -> None:
    read = table(None).load()
    assert list(read.columns) == COLUMNS
    assert read.empty


def test_csv_cells_are_verbatim_and_other_columns_ignored(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\ufeffmore,model,item_id\n1,NA,007\n2,,x#1\n", encoding="utf-8")
    assert table(file).load().to_numpy().tolist() == [["007", "NA"], ["x#1", ""]]


def test_parquet_is_read_by_its_suffix(tmp_path: Path) -> None:
    file = tmp_path / "a.PARQUET"
    pd.DataFrame({"model": ["m"], "item_id": ["x#1"], "more": [1]}).to_parquet(file)
    assert table(file).load().to_numpy().tolist() == [["x#1", "m"]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, r"part.file: .*absent.csv is missing"),
        ("torn.parquet", "PAR1", r"part.file: .*torn.parquet: cannot be read"),
        (
            "other.csv",
            "item_id,modell\nx,y\n",
            "no column 'model'; it needs item_id",
        ),
        ("empty.csv", "item_id,model\n", "no rows; remove part.file"),
        ("nothing.csv", "", r"nothing.csv: no column 'item_id'"),
        ("more.csv", "item_id,model\nx,y,z\n", r"more.csv: line 2: 3 cells for 2 columns"),
    ],
)
def test_invalid_files_are_reported_in_one_line(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises((InputError, DatasetError)) as caught:
        table(tmp_path / name).load()
    assert re.search(message, str(one_line(caught.value)))
