"""The newest saved version of a table, and closed items."""

from pathlib import Path

import pandas as pd
import pytest
from kedro.io import DatasetError

from benchwright.datasets.saved_tables import LastSavedTable, SavedAssignments


def save(folder: Path, version: str, table: pd.DataFrame) -> Path:
    file = folder / version / folder.name
    file.parent.mkdir(parents=True)
    table.to_parquet(file)
    return file


def test_newest_version_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "choice.parquet"
    for version, winner in (("2026-02-01T00", "new"), ("2026-01-01T00", "old")):
        save(folder, version, pd.DataFrame({"split": [-1], "winner": [winner], "more": [1]}))
    loaded = LastSavedTable(folder=str(folder), columns=["split", "winner"]).load()
    assert loaded.to_dict("records") == [{"split": -1, "winner": "new"}]


def test_missing_versions_give_no_rows(tmp_path: Path) -> None:
    loaded = LastSavedTable(folder=str(tmp_path / "none"), columns=["a", "b"]).load()
    assert list(loaded.columns) == ["a", "b"]
    assert loaded.empty


def test_broken_versions_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "choice.parquet"
    file = save(folder, "1", pd.DataFrame({"a": [1]}))
    with pytest.raises(DatasetError, match=r"choice\.parquet: no column 'winner'"):
        LastSavedTable(folder=str(folder), columns=["winner"]).load()
    file.write_bytes(b"torn")
    with pytest.raises(DatasetError, match=r"remove this version"):
        LastSavedTable(folder=str(folder), columns=["a"]).load()


def test_closed_items_of_every_limit_and_seed_are_found(tmp_path: Path) -> None:
    name = "public_split_assignment.parquet"
    for part, ids in (("", ["b", "c"]), ("seed1", ["a"]), ("limit5-seed2", ["c"])):
        file = tmp_path / part / name / "2026" / name
        file.parent.mkdir(parents=True)
        halves = ["test"] * len(ids)
        pd.DataFrame({"item_id": [*ids, "open"], "half": [*halves, "validation"]}).to_parquet(file)
    assert SavedAssignments(folder=str(tmp_path)).load() == ["a", "b", "c"]
