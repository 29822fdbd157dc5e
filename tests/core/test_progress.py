"""Lines of finished stages, and progress bars."""

import io
import logging
from collections.abc import Iterator

import pytest
from kedro.pipeline import Node, Pipeline
from kedro.runner import SequentialRunner

from benchwright.core import progress
from benchwright.core.kedro_logs import RUNNER_LOGGERS
from benchwright.core.progress import progress_bar, stage_log


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _kedro_loggers(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.INFO, "kedro.runner")
    yield
    for name in RUNNER_LOGGERS:
        logging.getLogger(name).filters.clear()


def fail(value: int) -> int:
    raise ValueError(value)


def run(*names: str, last: object = abs) -> None:
    """Run a chain of nodes with these names; the last one calls `last`."""
    from kedro.io import DataCatalog, MemoryDataset

    nodes = [
        Node(abs if place + 1 < len(names) else last, f"d{place}", f"d{place + 1}", name=name)
        for place, name in enumerate(names)
    ]
    stage_log.start(names)
    SequentialRunner().run(Pipeline(nodes), DataCatalog({"d0": MemoryDataset(1)}))


def test_each_stage_is_logged_once_when_its_last_node_is_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run("a_one", "b_one", "a_two.plots")
    assert [record.getMessage() for record in caplog.records] == [
        "a_one is done (1 of 3 steps)",
        "b_one is done (2 of 3 steps)",
        "a_two is done (3 of 3 steps)",
    ]
    caplog.clear()
    stage_log.start(["a.one", "b.one", "a.two"])
    for name in ("a.one", "b.one", "a.two"):
        logging.getLogger(RUNNER_LOGGERS[0]).info("Completed node: %s", name)
    assert [record.getMessage() for record in caplog.records] == [
        "b is done (2 of 3 steps)",
        "a is done (3 of 3 steps)",
    ]


def test_the_option_that_resumes_a_failed_run_is_kept_for_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ValueError, match="1"):
        run("a", "b", last=fail)
    assert [option.partition(" ")[0] for option in stage_log.resume_options] == ["--from-nodes"]
    with pytest.raises(ValueError, match="1"):
        run("a", last=fail)
    assert stage_log.resume_options == []
    assert "resume" not in caplog.text
    assert "No nodes ran" not in caplog.text


def test_a_bar_in_a_file_is_a_plain_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    with progress_bar("scoring", "prompt", 5, 4) as bar:
        bar.update(1)
        bar.refresh()
    assert capfd.readouterr().err.splitlines() == [
        "scoring: 4 of 5 prompts after 00:00",
        "scoring: 5 of 5 prompts after 00:00, about 00:00 left",
    ]


def test_a_bar_of_quick_work_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar("extract", "document") as bar:
        bar.update(3)
    assert capfd.readouterr().err == ""
