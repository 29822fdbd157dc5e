"""The forking server and the data folder of the fault tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.project_runs import KEY, Server, empty_root, forking_server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
        with forking_server(tmp_path_factory.mktemp("logs")) as made:
            yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return empty_root(tmp_path / "data")
