"""Score two hundred prompts into a store, for tests that interrupt it.

As a script (`python scoring_run.py WEIGHTS`) it reads the arguments of a run, a JSON object per
line, and writes its exit code. Each run is a process forked after the imports, which takes a second
instead of ten.
"""

import functools
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.core import atomic_files
from benchwright.datasets.score_store import ScoreStore
from benchwright.language_models.hf_transformers import TransformersModel
from benchwright.language_models.protocol import PromptText
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.scores import score_prompts
from benchwright.tables.items import Demonstrations, Items

SUBJECTS = ("physics", "botany", "history", "grammar", "cooking")
PER_SUBJECT = 40
SCORING = ScoringParams(
    mode="live",
    configurations=("tiny@cloze-0",),
    dtype="float32",
    device="cpu",
    batch_tokens=512,
    shard_size=10,
)

BENCHMARK = BenchmarkParams.model_validate(
    {
        "name": "small",
        "title": "Small",
        "licence": "CC0-1.0",
        "citation": "none",
        "url": "https://example.org",
        "splits": {"evaluation": ["test"]},
        "sources": {
            "local": {
                "file": "x.parquet",
                "all_rows": "test",
                "fields": {
                    "question": "question",
                    "choices": {"column": "choices"},
                    "gold": {"form": "index", "column": "answer"},
                },
            }
        },
    }
)


def models(weights: Path) -> ModelsParams:
    """The model."""
    entry = {"weights": {"path": str(weights)}, "family": "tiny", "context": 2048}
    return ModelsParams.model_validate({"models": {"tiny": entry}})


@functools.cache
def prompts() -> pd.DataFrame:
    """200 prompts of five subjects, in about 20 shards."""
    rows = []
    for subject, number in itertools.product(SUBJECTS, range(PER_SUBJECT)):
        values = {
            "item_id": f"{subject}/{number}",
            "split": "test",
            "subject": subject,
            "question": f"Which of these is number {number}?" + " And why?" * (number % 7),
            "choices": ["lemon", "copper or iron", f"{number}", "none of these"],
            "answer": number % 4,
            "answer_text": "",
            "correct_set": [number % 4],
            "content_hash": f"{subject}{number}",
        }
        rows.append(tuple(values.get(name) for name in Items.columns()))
    return build_prompts(
        items=Items.from_rows(rows),
        demonstrations=Demonstrations.empty(),
        calibration_items=Demonstrations.empty(),
        ingestion=BENCHMARK,
        scoring=SCORING,
        models=models(Path("not-loaded")),
        filter_models=(),
        seed=0,
    )


def run(weights: Path, store: Path, asked: Path, pause: float) -> None:
    """Score what the store lacks, with a delay of `pause` seconds per shard, half of it in writing.

    `asked` gets a line for each scored shard: its first text and its size.
    """
    slow_down(asked, pause)
    for shard in score_prompts(prompts(), ScoreStore(str(store)).load(), models(weights), SCORING):
        ScoreStore(str(store)).save(shard)


def slow_down(asked: Path, pause: float) -> None:
    """Delay model calls and the renaming of files, and record the calls."""
    score_batches, fsync = TransformersModel.score_batches, os.fsync

    def noted(batches: Iterable[Sequence[PromptText]]) -> Iterator[Sequence[PromptText]]:
        for batch in batches:
            with asked.open("a") as log:
                log.write(json.dumps([batch[0].prefix + batch[0].text, len(batch)]) + "\n")
            time.sleep(pause / 2)
            yield batch

    def slowly(descriptor: int) -> None:
        fsync(descriptor)
        time.sleep(pause / 2)

    def noting(self: TransformersModel, batches: Any, progress: Any) -> Any:
        return score_batches(self, noted(batches), progress)

    TransformersModel.score_batches = noting
    atomic_files.os.fsync = slowly


def attempt(
    weights: Path,
    store: str,
    pause: float = 0.0,
    after: int | None = None,
    seconds: float = 0.0,
    ended_by: int = signal.SIGKILL,
) -> int:
    """Run once in a separate process and record the model calls in `<store>.asked`.

    With `after`, the process gets a signal `seconds` after the model was called for that many
    shards.

    Returns:
        The exit code, or minus the signal that ended the process.
    """
    asked = Path(f"{store}.asked")
    asked.touch()
    wanted = lines(asked) + (after or 0)
    child = os.fork()
    if child == 0:
        # A background process may ignore the interrupt from its start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = 1
        try:
            run(weights, Path(store), asked, pause)
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            if code == 1:
                sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            os._exit(code)
    if after is not None:
        while lines(asked) < wanted and running(child):
            time.sleep(0.002)
        time.sleep(seconds)
        os.kill(child, ended_by)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def running(child: int) -> bool:
    """Return whether the process runs; its exit code stays available."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


if __name__ == "__main__":
    import torch
    import transformers.models.llama.modeling_llama  # noqa: F401

    torch.set_num_threads(1)
    prompts()
    for line in sys.stdin:
        print(attempt(Path(sys.argv[1]), **json.loads(line)), flush=True)  # noqa: T201
