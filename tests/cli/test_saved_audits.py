"""Audits found by version or path."""

from pathlib import Path

import pandas as pd
import pytest

from audit_examples import row, save, save_three
from benchwright.cli.diff import AUDIT, SavedAudit, find_audit, read_audit
from benchwright.core.errors import InputError


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return save_three(tmp_path)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("latest", "2026-02-01"),
        ("previous", "2026-01-02"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-02T00.00.00.000Z", "2026-01-02"),
    ],
)
def test_versions_are_found_by_name(runs: Path, name: str, version: str) -> None:
    result = find_audit(name, runs / AUDIT)
    assert result.version.startswith(version)
    assert result.where == "arc · smart"


def test_audits_are_found_by_path(runs: Path, tmp_path: Path) -> None:
    first = runs / AUDIT / "2026-01-01T00.00.00.000Z"
    for path, version in (
        (first / AUDIT, "2026-01-01"),
        (first, "2026-01-01"),
        (runs, "2026-02-01"),
    ):
        assert find_audit(str(path), Path("nowhere")).version.startswith(version)
    alone = tmp_path / "mine.parquet"
    (first / AUDIT).rename(alone)
    assert find_audit(str(alone), Path("nowhere")) == SavedAudit(alone, "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026-01", "matches several versions; .* has 2026-01-01T00.00.00.000Z, 2026-01-02"),
        ("2025", "is neither a version nor a path; .* has 2026-01-01"),
    ],
)
def test_unknown_audits_are_reported_with_existing_ones(
    runs: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        find_audit(name, runs / AUDIT)


def test_previous_needs_two_versions(tmp_path: Path) -> None:
    save(tmp_path, "v1", row("a"))
    with pytest.raises(InputError, match="has one run of the two to compare"):
        find_audit("previous", tmp_path / AUDIT)
    with pytest.raises(InputError, match="has no run of the two to compare; make one"):
        find_audit("latest", tmp_path / "other" / AUDIT)


def test_other_tables_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pd.DataFrame({"item_id": ["a"], "question": ["?"]}).to_parquet(path)
    with pytest.raises(InputError, match=r"not an item audit; missing columns: subject, decision"):
        read_audit(path)
    path.write_text("item_id\n")
    with pytest.raises(InputError, match="not a valid Parquet file"):
        read_audit(path)
