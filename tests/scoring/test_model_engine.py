"""Models in Ray actors answer as a local model, even if actors fail."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.protocol import Answers, Batch, PromptText
from benchwright.params.scoring import ModelParams, PathWeights, RayParams, ScoringParams
from benchwright.scoring.model_engine import (
    answer_batches,
    answer_on_ray,
    check_resources,
    for_actors,
)
from faults.tiny_llama import save_tiny_llama

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*")


def scoring(**changes: Any) -> ScoringParams:
    given = {"dtype": "float32", "device": "cpu", "batch_tokens": 256, **changes}
    return ScoringParams.model_validate(given)


def local(path: Path | str) -> ModelParams:
    return ModelParams.model_validate(
        {"weights": {"path": str(path)}, "family": "f", "context": 512}
    )


def some_batches(count: int = 3, size: int = 4) -> list[Batch]:
    """Prompts of different lengths, one in each batch beyond the context."""
    return [
        Batch(
            None,
            tuple(
                PromptText(
                    "The following are questions about science.\n\n" * 4,
                    f"Question {number} {i}: which of these is a planet?" * (i + 1) + "\nAnswer:",
                    (" apple", " iron", " Mars, because it is" if i else " Venus" * 500),
                )
                for i in range(size)
            ),
        )
        for number in range(count)
    ]


def test_actors_get_absolute_paths_and_resolved_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(save_tiny_llama(tmp_path / "tiny").parent)
    model, asked = for_actors(local("tiny"), scoring(dtype="auto"))
    assert isinstance(model.weights, PathWeights)
    assert model.weights.path == str(tmp_path / "tiny")
    assert "auto" not in (model.dtype, asked.dtype, asked.device)


def test_actors_need_the_device_of_this_process() -> None:
    model, asked = local("/nowhere"), scoring(ray={"gpus_per_actor": 1})
    assert list(answer_on_ray("m", model, asked, [], print)) == []
    with pytest.raises(InputError, match="gpus_per_actor is 1, but models run on cpu"):
        next(answer_on_ray("m", model, asked, some_batches(), print))


def test_missing_ray_and_an_unreachable_cluster_are_reported_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    model = local(save_tiny_llama(tmp_path))
    asked = scoring(ray={"address": "127.0.0.1:9"})
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9.*ray start --head"):
        next(answer_on_ray("m", model, asked, some_batches(), print))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "ray", None)
        with pytest.raises(InputError, match=r"pip install 'benchwright\[ray\]'"):
            next(answer_on_ray("m", model, asked, some_batches(), print))


def test_actors_beyond_the_resources_are_reported() -> None:
    params = RayParams(actors=3, cpus_per_actor=2, gpus_per_actor=0.5)
    check_resources(params, {"CPU": 6, "GPU": 1.5})
    for resource in ("CPU", "GPU"):
        with pytest.raises(InputError, match=f"3 actors of .* {resource}s each need"):
            check_resources(params, {"CPU": 6, "GPU": 1.5, resource: 1})


@pytest.fixture
def ray_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of Ray's logs and sockets, with a short path."""
    pytest.importorskip("ray")
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    yield folder
    shutil.rmtree(folder)


def actors() -> set[psutil.Process]:
    """The processes of Ray's actors that hold a model."""
    result = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "Answerer" in process.cmdline()[0]:
                result.add(process)
        except (psutil.Error, IndexError):
            continue
    return result


@pytest.mark.long
def test_killed_actors_do_not_change_results(ray_folder: Path, tmp_path: Path) -> None:
    import ray
    import torch

    model, batches = local(save_tiny_llama(tmp_path)), some_batches(40, 12)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    wanted = dict(answer_batches("m", model, scoring(), batches, lambda _: None))
    torch.set_num_threads(threads)
    asked = scoring(engine="ray", ray={"actors": 2})
    reported: list[int] = []
    answered: list[tuple[int, Answers]] = []
    killed: set[psutil.Process] = set()
    later: set[psutil.Process] = set()
    for pair in answer_batches("m", model, asked, batches, reported.append):
        answered.append(pair)
        if not killed:
            killed = actors()
            for process in killed:
                process.kill()
        elif not later - killed:
            later |= actors()
    assert killed, "no actor was killed"
    assert later - killed, "no actor was started again: all was answered before the kill"
    assert len(answered) == len(batches)
    assert dict(answered) == wanted
    assert sum(reported) == sum(len(batch.prompts) for batch in batches)
    assert not ray.is_initialized(), "what was started for the run must be stopped after it"
    assert not actors()


@pytest.mark.long
def test_a_cluster_that_was_there_before_is_not_stopped(ray_folder: Path, tmp_path: Path) -> None:
    import ray

    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address="local", num_cpus=2, **quiet)
    asked = scoring(engine="ray", ray={"actors": 2, "cpus_per_actor": 0.5})
    model = local(save_tiny_llama(tmp_path))
    assert len(list(answer_batches("m", model, asked, some_batches(), lambda _: None))) == 3
    for _ in range(100):
        if not actors():
            break
        time.sleep(0.1)
    assert not actors(), "actors live on after the run"
    assert ray.is_initialized()
    ray.shutdown()
