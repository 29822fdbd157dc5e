"""Fixtures of the ingestion tests."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchwright.runs.project_conf import load_conf


@pytest.fixture(scope="session")
def conf_benchmark(repository: Path) -> Callable[..., dict[str, Any]]:
    """The benchmark file of a name; with `hub`, a folder is read in the place of the hub."""

    @cache
    def benchmarks(env: str | None) -> dict[str, Any]:
        return dict(load_conf(repository, env)["parameters"]["_benchmarks"])

    def read(name: str, hub: Path | None = None, env: str | None = None) -> dict[str, Any]:
        benchmark: dict[str, Any] = deepcopy(benchmarks(env)[name])
        if hub is not None:
            benchmark["sources"]["hub"]["id"] = str(hub)
        return benchmark

    return read


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what `datasets` caches inside the test."""
    import datasets

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()
