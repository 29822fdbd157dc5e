"""Time and memory of reading logs: invented answers of five models to MMLU in three formats.

    python benchmarks/bench_logs.py [--models 5]

writes the answers as logs of Inspect (samples of about 8 KB, most of it events), as details of
lighteval 0.11 (the question stands inside the prompt) and as tidy Parquet, reads and joins each in
a process of its own, and prints seconds, peak memory and the ratio to tidy Parquet.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench_import import items
from benchwright.datasets.response_files import ResponseFiles
from benchwright.responses.import_responses import join_responses
from benchwright.responses.item_index import ResponseIndex
from real_data import DATA, real_data

LETTERS = "ABCD"
FORMATS = ("tidy Parquet", "Inspect", "lighteval")
SAMPLE_BYTES = 8000
TIME = "2026-01-02T03-04-05.6"


def write_inspect(folder: Path, name: str, table: pd.DataFrame, logprobs: np.ndarray) -> None:
    evaluation = {"task": "mmlu", "model": f"invented/{name}", "dataset": {"name": "mmlu"}}
    header = {"version": 2, "status": "success", "eval": evaluation, "plan": {}}
    questions, golds = table["question"].tolist(), table["answer"].tolist()
    with zipfile.ZipFile(
        folder / f"{name}.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as log:
        log.writestr("_journal/start.json", json.dumps(header))
        for row, chosen in enumerate(logprobs.argmax(axis=1).tolist()):
            events, size = [], 0
            while size < SAMPLE_BYTES - 1000:  # of the text of other questions
                content = questions[(row * 31 + len(events) * 7919) % len(questions)]
                events.append({"event": "model", "uuid": f"{row}-{len(events)}", "text": content})
                size += len(content) + 60
            mark = "C" if chosen == golds[row] else "I"
            score = {"value": mark, "answer": LETTERS[chosen], "explanation": LETTERS[chosen]}
            sample = {
                "id": row + 1,
                "epoch": 1,
                "input": questions[row],
                "choices": list(table["choices"].iloc[row]),
                "target": [LETTERS[golds[row]]],
                "scores": {"choice": score},
                "model_usage": {name: {"input_tokens": 100, "output_tokens": 1}},
                "events": events,
            }
            log.writestr(f"samples/{row + 1}_epoch_1.json", json.dumps(sample))
        log.writestr("header.json", json.dumps(header))


def write_lighteval(folder: Path, name: str, table: pd.DataFrame, logprobs: np.ndarray) -> None:
    rows = []
    chosen = logprobs.argmax(axis=1)
    for row, (question, options, gold) in enumerate(
        zip(table["question"], table["choices"], table["answer"], strict=True)
    ):
        listed = "\n".join(f"{a}. {text}" for a, text in zip(LETTERS, options, strict=False))
        intro = "The following are multiple choice questions (with answers)."
        letters = [f" {letter}" for letter in LETTERS[: len(options)]]
        doc = {"query": f"{intro}\n\nQuestion: {question}\n{listed}\nAnswer:", "choices": letters}
        doc |= {"gold_index": [gold], "id": str(row), "task_name": "mmlu|0", "fewshot_samples": []}
        response = {"logprobs": logprobs[row].tolist(), "text": [], "input_tokens": [[7] * 100]}
        metric = {"acc": float(chosen[row] == gold)}
        rows.append({"doc": doc, "metric": metric, "model_response": response})
    place = folder / "details" / "invented" / name / TIME
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), place / f"details_mmlu|0_{TIME}.parquet")


def write_tidy(folder: Path, name: str, table: pd.DataFrame, logprobs: np.ndarray) -> None:
    columns = {
        "item_id": table["item_id"].tolist(),
        "content_hash": table["content_hash"].tolist(),
        "model": [name] * len(table),
        "logprobs": logprobs.tolist(),
    }
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


WRITERS = dict(zip(FORMATS, (write_tidy, write_inspect, write_lighteval), strict=True))


def peak_memory() -> float:
    """Return the peak of this process in MB; `ru_maxrss` would include that of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def measure(folder: str, data: Path) -> dict[str, float]:
    """Read and join the files of a folder; return seconds, and MB before and at the peak."""
    index = ResponseIndex(items(data, "mmlu"))
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    rows, _, report = join_responses(ResponseFiles(benchmark={}, folder=folder).load(), index)
    return {
        "answers": int(report["rows"].sum()),
        "joined": len(rows),
        "seconds": time.perf_counter() - wall,
        "processor": time.process_time() - cpu,
        "before": before,
        "peak": peak_memory(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="folder of real data")
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--measure", help="a folder of logs; measured in this process")
    args = parser.parse_args()
    data = real_data(args.data)
    if args.measure:
        print(json.dumps(measure(args.measure, data)))
        return
    table = items(data, "mmlu")
    first = None
    print(
        "| format | MB of files | answers | joined | seconds | processor seconds | × tidy Parquet "
        "| MB before | peak MB |"
    )
    print("|---|" + "---:|" * 8)
    for kind in FORMATS:
        with tempfile.TemporaryDirectory() as name:
            drawn = np.random.default_rng(0)
            for model in range(args.models):
                logprobs = np.round(np.log(drawn.dirichlet(np.ones(4), len(table))), 4)
                WRITERS[kind](Path(name), f"model-{model}", table, logprobs)
            size = sum(f.stat().st_size for f in Path(name).rglob("*") if f.is_file()) / 1e6
            command = [sys.executable, __file__, str(data), "--measure", name]
            done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - this script
            found = json.loads(done.stdout)
        first = first or found["processor"]
        print(
            f"| {kind} | {size:.0f} | {found['answers']:,} | {found['joined']:,} "
            f"| {found['seconds']:.1f} | {found['processor']:.1f} "
            f"| {found['processor'] / first:.1f} | {found['before']:.0f} | {found['peak']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
