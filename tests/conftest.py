"""Fixtures shared by all tests."""

import gc
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from speed import speed_up

speed_up()
# Ray keeps the first token of a process; without one it leaves a file in the home folder.
os.environ.setdefault("RAY_AUTH_TOKEN", "0" * 64)

# `make test-long` asks for the second with --hypothesis-profile.
settings.register_profile("short", max_examples=20, deadline=None)
settings.register_profile("long", max_examples=300, deadline=None)
settings.load_profile("short")

REPOSITORY = Path(__file__).resolve().parents[1]

SHARED = {
    "tests/faults/": "one server",
    "tests/end_to_end/": "PyTorch",
    "tests/exports/test_harness_prompts.py": "PyTorch",
    "tests/hostile/": "PyTorch",
    "tests/language_models/": "PyTorch",
    "tests/methods/wicked/single_best_answer/": "PyTorch",
    "tests/pipelines/perturbation/": "PyTorch",
    "tests/pipelines/sealed_half/": "PyTorch",
    "tests/pipelines/single_best_answer/": "PyTorch",
    "tests/answers/test_lm_eval_logs.py": "PyTorch",
    "tests/scoring/": "PyTorch",
    "tests/similarity/test_item_vectors.py": "PyTorch",
    "tests/test_benchmarks.py": "PyTorch",
    "tests/methods/wicked/comparison/": "a comparison",
    "tests/methods/dele/estimation/": "simulated answers",
    "tests/reports/dele/": "a page of samplers",
    "tests/reports/mmlu_cf/": "a page of construction",
    "tests/reports/wicked/": "a page of a comparison",
}
"""Tests that share what takes long to start go to one worker, and so do those of one file."""

SLOW = ("tests/faults/", "tests/end_to_end/", "tests/determinism/", "tests/scoring/")


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
def show(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Prints a measured result after the tests, where a reader of the log looks."""
    return partial(record_property, "measured")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    metrics = [
        value
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "measured"
    ]
    if metrics:
        terminalreporter.section("measured")
        for line in metrics:
            terminalreporter.line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker whole files, and together what is named in SHARED."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return next((it for place, it in SHARED.items() if file.startswith(place)), file)

    config.option.loadscopereorder = False
    return Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:  # what takes long must not be what is left at the end
        items.sort(key=lambda item: not item.nodeid.startswith((*SLOW, *SHARED)))


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported stays: not to be visited at each collection of garbage
    paths = (str(REPOSITORY / "tests" / "as_installed"), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))  # of processes that tests start


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
