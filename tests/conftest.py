"""Fixtures shared by all tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# `make test-long` asks for the second with --hypothesis-profile.
settings.register_profile("short", max_examples=20, deadline=None)
settings.register_profile("long", max_examples=300, deadline=None)
settings.load_profile("short")

FIGURES = pytest.StashKey[list[str]]()

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


@pytest.fixture
def show(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Prints a measured figure after the tests, where a reader of the log looks."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    figures = config.stash.get(FIGURES, [])
    if figures:
        terminalreporter.section("measured")
        for line in figures:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def smollm2_folder(repository: Path) -> Path:
    """SmolLM2's packaged weights in Transformers' format, converted where no run has done so."""
    import yaml

    from benchwright.language_models.weights import model_source
    from benchwright.params.scoring import ModelsParams

    conf = yaml.safe_load((repository / "conf/base/parameters/models.yml").read_text())
    weights = ModelsParams.model_validate(conf["models"]).models["smollm2-135m-instruct"].weights
    assert weights is not None
    return Path(model_source(weights, "bfloat16").name_or_path)
