"""Private names of Kedro and fsspec that the package relies on."""

import ast
import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from kedro.config import OmegaConfigLoader
from kedro.framework.cli.project import run
from kedro.io import Version

from benchwright.core.kedro_internals import (
    LocalFile,
    folder_of_versions,
    loaded_from,
    no_telemetry_outside_projects,
    read_version,
)
from benchwright.core.kedro_logs import kedro_errors_once
from benchwright.datasets.atomic import ParquetTable


class Bytes(LocalFile[bytes]):
    """A minimal dataset of a local file."""

    def load(self) -> bytes:
        return self.load_path().read_bytes()

    def save(self, data: bytes) -> None:
        self.save_path().parent.mkdir(parents=True)
        self.save_path().write_bytes(data)


PARQUET = ParquetTable(filepath="table.parquet", version=Version(None, "one"))
FILE = Bytes(filepath="file", version=Version(None, "one"))
OWN = "datasets of ours do not find the file of a version"
RESULTS = "a run does not say where its results are, and MLflow lacks its files"


@pytest.mark.parametrize(
    ("owner", "name", "breaks"),
    [
        (FILE, "_get_load_path", OWN),
        (FILE, "_get_save_path", OWN),
        (FILE, "_filepath", "datasets of ours do not describe themselves"),
        (FILE, "_version", "datasets of ours do not describe themselves"),
        (PARQUET, "_get_load_path", RESULTS),
        (PARQUET, "_filepath", "what killed runs left is not cleared away"),
        (PARQUET, "_version", "a run may read what another one saved at the same time"),
        (OmegaConfigLoader, "_read_raw_config", "no benchmark of conf/local is found"),
    ],
)
def test_kedro_has_the_private_name(owner: Any, name: str, breaks: str) -> None:
    assert hasattr(owner, name), f"{type(owner).__name__}.{name} is gone: {breaks}"


def test_no_other_module_uses_private_names(repository: Path) -> None:
    private = {"_fs", "_protocol", "_filepath", "_version", "_get_load_path", "_get_save_path"}
    private |= {"_exists_function", "_clear_version_cache", "_runtime_params", "_hook_manager"}
    using = {
        path.name
        for path in (repository / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in private
    }
    assert using == {"kedro_internals.py"}


@pytest.mark.parametrize("name", ["kedro.pipeline.node", "kedro.validation.parameter_validator"])
def test_errors_that_kedro_raises_are_not_logged_too(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert find_spec(name), f"{name} is gone: what goes wrong is told twice"
    with kedro_errors_once():
        logging.getLogger(name).error("raised as well")
    assert caplog.records == []
    logging.getLogger(name).error("by itself")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("name", ["params", "env", "pipelines"])
def test_kedro_run_has_the_option(name: str) -> None:
    assert any(option.name == name for option in run.params)


def test_run_loads_the_version_that_it_saves(tmp_path: Path) -> None:
    def saved_as(version: str) -> Bytes:
        return Bytes(filepath=str(tmp_path / "file"), version=Version(None, version))

    saved_as("one").save(b"one")
    saved_as("two").save(b"two")
    assert loaded_from(saved_as("one")) == tmp_path / "file" / "two" / "file"
    mine = saved_as("one")
    read_version(mine)
    assert loaded_from(mine) == tmp_path / "file" / "one" / "file"
    assert folder_of_versions(mine) == tmp_path / "file"
    assert mine.load() == b"one"


def test_run_loads_the_given_version_unless_one_is_pinned(tmp_path: Path) -> None:
    for version in ("one", "two"):
        Bytes(filepath=str(tmp_path / "file"), version=Version(None, version)).save(
            version.encode()
        )
    new, pinned = (Version(load, "three") for load in (None, "two"))
    for version, expected in ((new, b"one"), (pinned, b"two")):
        dataset = Bytes(filepath=str(tmp_path / "file"), version=version)
        read_version(dataset, "one")
        assert dataset.load() == expected


def test_kedro_sends_nothing_outside_a_project(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.chdir(repository)
    no_telemetry_outside_projects()
    assert os.environ == {}
    monkeypatch.chdir(tmp_path)
    no_telemetry_outside_projects()
    assert os.environ == {"KEDRO_DISABLE_TELEMETRY": "true"}
