"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the project."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmarks and answers; tests that need it are skipped without it."""
    folder = Path(os.environ.get("BENCHWRIGHT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "benchmarks").is_dir():
        pytest.skip(f"no real data at {folder} (set BENCHWRIGHT_SHARED_DATA to its folder)")
    return folder
