"""Prompts per second and peak memory of several ways to score the same prompts, in turn.

python benchmarks/bench_engines.py --model FOLDER --items 500 --styles letters cloze --rounds 3

`--model` is a packaged model's name or a folder in Transformers' format. Ways: `one_by_one`
(Transformers, one joint text per forward pass), `transformers` and `vllm` (this project's backends)
and `lm_eval` (lm-evaluation-harness with its backend hf). Each runs in a process of its own, on a
GPU if there is one, and its memory with that of its children is watched; loading and warming up are
not timed. Log-likelihoods are compared with those of the first way. What is not installed is left
out; vLLM may live in an environment of its own (`make vllm`).

Printed are prompts per second, their ratio to the first way's, and prompts per processor second.
With several rounds the median ratio of each way follows. A processor without instructions for
bfloat16 needs `--dtype float32`, or takes ten times as long.

Items are drawn from MMLU's test items in the folder of real benchmarks (BENCHWRIGHT_SHARED_DATA).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from real_data import real_data

REPOSITORY = Path(__file__).resolve().parents[1]
WAYS = {  # and the packages that each needs
    "one_by_one": (),
    "transformers": (),
    "lm_eval": ("lm_eval",),
    "vllm": ("vllm",),
}
CONTEXT = 4096
NOT_INSTALLED = 3
LOADED = ExitStack()  # keeps the model from warming up to the end


def mmlu_prompts(items: int, shots: int, style: str, seed: int) -> list[list[Any]]:
    """Prompts as JSON rows: prefix, text, continuations."""
    import pandas as pd

    from benchwright.params.benchmark import PromptParams
    from benchwright.scoring.rendering import (
        Question,
        continuations,
        render_demonstration,
        render_prompt,
    )

    rows = pd.read_parquet(real_data() / "benchmarks/mmlu.parquet")
    test = rows[rows["split"] == "test"]
    test = test.iloc[sorted(np.random.default_rng(seed).permutation(len(test))[:items])]

    def questions(table: pd.DataFrame) -> list[Question]:
        columns = ("item_id", "subject", "question", "choices", "answer_index")
        return [
            Question(item, subject, text, tuple(choices), int(gold), item)
            for item, subject, text, choices, gold in zip(
                *(table[name] for name in columns), strict=True
            )
        ]

    words = PromptParams()
    shown: dict[str, list[str]] = {}
    for question in questions(rows[rows["split"] == "dev"]):
        text = render_demonstration(question, style, "question", words, True)
        shown.setdefault(question.subject, []).append(text)
    return [
        [
            *render_prompt(q, shown.get(q.subject, [])[:shots], style, "question", words),
            continuations(q, style, True),
        ]
        for q in questions(test)
    ]


Run = Callable[[Sequence[Any]], list[Any]]


def device() -> Any:
    from benchwright.language_models.weights import resolve_device

    return resolve_device("auto")


def score_one_by_one(folder: str, dtype: str) -> Run:
    from benchwright.language_models.hf_transformers import TransformersModel
    from benchwright.language_models.weights import ModelSource

    model = TransformersModel.load(ModelSource(folder), dtype, device(), CONTEXT)
    model.shares = False
    return lambda asked: [score.logprobs for score in model.score(asked)]


def of_backend(folder: str, dtype: str, backend: str) -> Run:
    """Return this project's backend, in this process; a prefix is not divided."""
    from benchwright.language_models.loading import load_model
    from benchwright.language_models.protocol import Batch, ask
    from benchwright.params.scoring import ModelParams, ScoringParams

    model = ModelParams.model_validate(
        {"backend": backend, "weights": {"path": folder}, "family": "any", "context": CONTEXT}
    )
    scoring = ScoringParams(dtype=dtype)
    loaded = LOADED.enter_context(closing(load_model("model", model, scoring)))

    def run(asked: Sequence[Any]) -> list[Any]:
        by_prefix: dict[str, list[int]] = {}
        for i, prompt in enumerate(asked):
            by_prefix.setdefault(prompt.prefix, []).append(i)
        parts = list(by_prefix.values())
        batches = [Batch(None, tuple(asked[i] for i in part)) for part in parts]
        out: list[Any] = [None] * len(asked)
        for number, answers in ask(loaded, batches, lambda _: None):
            for i, score in zip(parts[number], answers, strict=True):
                out[i] = score.logprobs
        return out

    return run


def score_transformers(folder: str, dtype: str) -> Run:
    return of_backend(folder, dtype, "transformers")


def score_vllm(folder: str, dtype: str) -> Run:
    return of_backend(folder, dtype, "vllm")


def of_harness(model: Any) -> Run:
    from lm_eval.api.instance import Instance

    def run(asked: Sequence[Any]) -> list[Any]:
        requests = [
            Instance("loglikelihood", {}, (prompt.prefix + prompt.text, continuation), n)
            for prompt in asked
            for n, continuation in enumerate(prompt.continuations)
        ]
        values = iter(model.loglikelihood(requests, disable_tqdm=True))
        return [[next(values)[0] for _ in prompt.continuations] for prompt in asked]

    return run


def score_lm_eval(folder: str, dtype: str) -> Run:
    from lm_eval.models.huggingface import HFLM

    # On a processor nothing stops `auto` before memory is gone: it is given a ceiling.
    most = 8 if device() == "cpu" else 64
    model = HFLM(
        pretrained=folder,
        dtype=dtype,
        batch_size="auto",
        max_batch_size=most,
        max_length=CONTEXT,
        device=device(),
    )
    return of_harness(model)


def worker(way: str, folder: str, dtype: str, file: Path, out: Path) -> None:
    """Score the prompts of a file; write seconds and log-likelihoods."""
    from benchwright.language_models.protocol import PromptText

    if missing := [name for name in WAYS.get(way, ()) if find_spec(name) is None]:
        print(f"not installed: {' and '.join(missing)}")
        sys.exit(NOT_INSTALLED)
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "4")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    rows = json.loads(file.read_text())
    asked = [PromptText(prefix, text, tuple(scored)) for prefix, text, scored in rows]
    with LOADED:
        run = globals()[f"score_{way}"](folder, dtype)
        # A prefix of its own: warming up must not put the others' prefixes into a cache.
        warm = [p._replace(prefix="Warming up." + p.prefix[:300]) for p in asked[:4]]
        run(warm)
        values, scoring = spent(run, asked)
    out.write_text(json.dumps({**scoring, "logprobs": values}))


def spent(run: Run, asked: Sequence[Any]) -> tuple[list[Any], dict[str, float]]:
    """The log-likelihoods, and the seconds that they took by the clock and of the processor."""
    start, worked = time.perf_counter(), processor_seconds()
    values = run(asked)
    return values, {
        "seconds": time.perf_counter() - start,
        "processor": processor_seconds() - worked,
    }


def processor_seconds() -> float:
    """What this process and its children have computed so far."""
    import psutil

    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return sum(used.user + used.system for used in times)


def watched(command: list[str]) -> tuple[int, float, str]:
    """Run a command; its exit code, the peak memory of its process tree in GiB, and its words."""
    import psutil

    started = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=REPOSITORY
    )
    peak, words = 0, []

    def read() -> None:
        words.extend(started.stdout or ())

    reader = threading.Thread(target=read)
    reader.start()
    parent = psutil.Process(started.pid)
    while started.poll() is None:
        try:
            tree = [parent, *parent.children(recursive=True)]
            peak = max(peak, sum(p.memory_info().rss for p in tree))
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.2)
    reader.join()
    return started.returncode, peak / 2**30, "".join(words)


def converted(name: str) -> str:
    """A folder, or that of a packaged model's weights in Transformers' format."""
    import yaml

    from benchwright.language_models.weights import model_source
    from benchwright.params.scoring import ModelsParams

    if Path(name).is_dir():
        return str(Path(name).absolute())
    conf = yaml.safe_load((REPOSITORY / "conf/base/parameters/models.yml").read_text())
    weights = ModelsParams.model_validate(conf["models"]).models[name].weights
    assert weights is not None
    return model_source(weights, "bfloat16").name_or_path


def largest_difference(values: Sequence[Any], plain: Sequence[Any]) -> tuple[float, int]:
    """The largest difference of an option, and the number of prompts that both have scored.

    A prompt that is longer than the model's context has None.
    """
    both = [pair for pair in zip(values, plain, strict=True) if all(pair)]
    apart = [np.abs(np.subtract(*pair)).max() for pair in both]
    return float(max(apart, default=0)), len(both)


class Measured(NamedTuple):
    rate: float  # prompts per second
    per_processor_second: float
    memory: float  # GiB
    values: list[Any]  # of each prompt


def measure(way: str, folder: str, dtype: str, rows: Sequence[Any]) -> Measured | str:
    """What `way` took for the prompts, or why it did not run."""
    own = os.environ.get("BENCHWRIGHT_VLLM_PYTHON", str(REPOSITORY / ".venv-vllm/bin/python"))
    python = own if "vllm" in WAYS.get(way, ()) and Path(own).exists() else sys.executable
    with tempfile.TemporaryDirectory() as temporary:
        file, out = Path(temporary) / "prompts.json", Path(temporary) / "out.json"
        file.write_text(json.dumps(rows))
        command = [python, __file__, "--worker", way, folder, dtype, str(file), str(out)]
        code, memory, words = watched(command)
        last = (words.strip().splitlines() or [""])[-1]
        if code:
            return last if code == NOT_INSTALLED else f"failed: {last}"
        found = json.loads(out.read_text())
    return Measured(
        len(rows) / found["seconds"],
        len(rows) / max(found["processor"], 1e-9),
        memory,
        found["logprobs"],
    )


def compare(given: argparse.Namespace, folder: str, style: str) -> None:
    """Measure all ways in turn, `--rounds` times, and print a line for each."""
    rows = mmlu_prompts(given.items, given.shots, style, given.seed)
    print(f"{given.model}, {len(rows)} prompts with {len({r[0] for r in rows})} prefixes, {style}")
    left = list(given.ways)
    ratios: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        first: Measured | None = None
        for way in list(left):
            measured = measure(way, folder, given.dtype, rows)
            if isinstance(measured, str):
                print(f"{way:12} {measured}", flush=True)
                left.remove(way)
                continue
            rate, work, memory, values = measured
            first = first or measured
            apart, both = largest_difference(values, first.values)
            ratios.setdefault(way, []).append(rate / first.rate)
            print(
                f"{way:12} {rate:8.2f}/s {ratios[way][-1]:6.2f}×  "
                f"{work:7.2f} per processor second  memory {memory:5.2f} GiB  "
                f"largest difference {apart:.3f} over {both}",
                flush=True,
            )
    for way, seen in ratios.items():
        if given.rounds > 1:
            print(f"{way:12} {np.median(seen):.2f}× ({min(seen):.2f} to {max(seen):.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=5, metavar=("WAY", "FOLDER", "DTYPE", "PROMPTS", "OUT"))
    parser.add_argument("--model", default="smollm2-135m-instruct", help="a name or a folder")
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--styles", nargs="+", default=["letters"], choices=["letters", "cloze"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.worker:
        way, folder, dtype, file, out = given.worker
        worker(way, folder, dtype, Path(file), Path(out))
        return
    real_data()
    folder = converted(given.model)
    for style in given.styles:
        compare(given, folder, style)


if __name__ == "__main__":
    main()
