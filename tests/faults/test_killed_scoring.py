"""A scoring run that is killed and restarted ends like an undisturbed one.

`BENCHWRIGHT_KILLS=20` kills it 20 times instead of three.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.datasets.score_store import ScoreStore
from benchwright.scoring.scores import collect_responses
from faults import scoring_run
from faults.tiny_llama import save_tiny_llama

KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "3"))
PAUSE = 0.06  # seconds per shard, so that kills occur anywhere in its creation

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def attempt(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run scoring once; see `scoring_run.attempt`."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "BENCHWRIGHT_CACHE": str(tmp_path_factory.mktemp("cache")),
    }
    with subprocess.Popen(
        [sys.executable, scoring_run.__file__, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as runs:

        def ask(store: Path, **how: Any) -> int:
            assert runs.stdin is not None
            assert runs.stdout is not None
            runs.stdin.write(json.dumps({"store": str(store), **how}) + "\n")
            runs.stdin.flush()
            return int(runs.stdout.readline())

        yield ask
        assert runs.stdin is not None
        runs.stdin.close()


@pytest.fixture(scope="module")
def undisturbed(attempt: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("peace") / "scores"
    assert attempt(store) == 0
    return store


def content(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


def asked(store: Path) -> Counter[tuple[str, int]]:
    """The number of times that each shard was scored, by first text and size."""
    lines = Path(f"{store}.asked").read_text().splitlines()
    return Counter(tuple(json.loads(line)) for line in lines)


def asked_again(store: Path) -> int:
    return sum(times - 1 for times in asked(store).values())


def responses(store: Path, weights: Path) -> pd.DataFrame:
    loaded = ScoreStore(str(store)).load()
    frames = scoring_run.prompts(), loaded, scoring_run.models(weights), scoring_run.SCORING
    return collect_responses(*frames).live_responses


def test_run_scores_each_prompt_once_in_shards(undisturbed: Path) -> None:
    assert 15 <= len(content(undisturbed)) <= 20
    assert sum(size for _, size in asked(undisturbed)) == len(scoring_run.prompts())
    assert asked_again(undisturbed) == 0


def test_run_killed_at_random_times_ends_with_the_same_bytes(
    attempt: Callable[..., int],
    undisturbed: Path,
    weights: Path,
    tmp_path: Path,
    show: Callable[[str], None],
) -> None:
    store = tmp_path / "scores"
    drawn = random.Random(1)  # noqa: S311
    most = max(2, 3 * len(content(undisturbed)) // (2 * (KILLS + 1)))
    kills = litter = 0
    for _ in range(KILLS):
        when = {"after": drawn.randint(0, most), "seconds": drawn.uniform(0, 1.3 * PAUSE)}
        code = attempt(store, pause=PAUSE, **when)
        if code == 0:  # the run ended before the kill
            break
        assert code == -signal.SIGKILL
        kills += 1
        litter += len(list(store.glob(".*.tmp")))
    assert kills >= min(KILLS, 3)
    assert list(store.glob("*.parquet")), "no kill occurred during the work"
    assert attempt(store) == 0
    assert content(store) == content(undisturbed), "different bytes or temporary files"
    pd.testing.assert_frame_equal(responses(store, weights), responses(undisturbed, weights))
    assert asked_again(store) <= kills
    assert set(asked(store)) == set(asked(undisturbed))
    total = sum(size * times for (_, size), times in asked(store).items())
    once = sum(size for _, size in asked(undisturbed))
    show(
        f"{kills} kills of scoring {once} prompts in {len(content(store))} shards: {total} prompts "
        f"asked, {total - once} of them twice ({asked_again(store)} shards), {litter} partial "
        "files removed, same bytes"
    )


@pytest.mark.parametrize(("ended_by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_interrupted_run_keeps_completed_shards(
    attempt: Callable[..., int], undisturbed: Path, tmp_path: Path, ended_by: int, code: int
) -> None:
    store = tmp_path / "scores"
    how = {"pause": 0.1, "after": 6, "seconds": 0.03, "ended_by": int(ended_by)}
    assert attempt(store, **how) == code
    done = {name: kept for name, kept in content(store).items() if not name.endswith(".tmp")}
    assert 5 <= len(done) < len(content(undisturbed))
    assert done.items() <= content(undisturbed).items()
    if ended_by == signal.SIGINT:
        assert len(done) == len(content(store)), "an interrupted run leaves no temporary files"
    assert attempt(store) == 0
    assert content(store) == content(undisturbed)
    assert asked_again(store) <= 1
