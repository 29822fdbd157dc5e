"""Speed and memory of cleaning: `pytest benchmarks/bench_cleaning.py`.

`BENCHWRIGHT_CLEANING_ROWS` (numbers with commas between) replaces the default 10,000 and 100,000.
`python benchmarks/bench_cleaning.py 1000000 --dedup --to growth.jsonl` measures one size in its
own process, with its peak memory; `--engine ray --workers 2` does it on Ray, and `plot_growth.py`
draws what several such runs have written.
"""

import argparse
import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.compute.batch_engine import BatchEngine
from benchwright.methods.mmlu_cf.cleaning.clean import (
    Fingerprints,
    deduplicate,
    fingerprints,
    joined_fingerprints,
    mixed,
)
from benchwright.methods.mmlu_cf.cleaning.near_duplicates import item_shingles, last_sentence
from benchwright.methods.mmlu_cf.cleaning.rows import Cleaned, Rows, as_raw, joined
from benchwright.methods.mmlu_cf.cleaning.rules import clean_batch
from benchwright.params.mmlu_cf import BatchEngineParams, CleaningParams
from real_data import DATA, real_data

SIZES = [int(n) for n in os.environ.get("BENCHWRIGHT_CLEANING_ROWS", "10000,100000").split(",")]
BATCH = 20_000
PARAMS = CleaningParams()


class Grower:
    """Rows in the manner of web pages, made from the questions and options of MMLU and ARC.

    A row joins the halves of two questions and takes its options from four items, so that most rows
    are new. Of them, 40% get a number before the question, 30% other labels, 20% an answer in a
    sentence, 5% are copies of a row of the batch before with one letter changed, and 10% have a
    fault that some rule rejects.
    """

    def __init__(self) -> None:
        tables = [
            pq.read_table(
                real_data() / "benchmarks" / f"{name}.parquet", columns=["question", "choices"]
            )
            for name in ("mmlu", "arc")
        ]
        rows = pa.concat_tables(tables).to_pandas()
        self.words = [text.split(" ") for text in rows["question"]]
        self.choices = [list(texts) for texts in rows["choices"]]

    def batches(self, n_rows: int, size: int = BATCH) -> Iterator[pa.Table]:
        """`n_rows` rows in batches; the same ones at every call."""
        for start in range(0, n_rows, size):
            yield self.batch(start, min(size, n_rows - start))

    def batch(self, start: int, n: int) -> pa.Table:
        rng = np.random.default_rng(start)
        picks = rng.integers(0, len(self.words), (n, 6))
        style = rng.random((n, 4))
        rows = [self._row(start + i, picks[i], style[i]) for i in range(n)]
        for i in np.flatnonzero(rng.random(n) < 0.05):
            if i:
                copy = rows[rng.integers(0, i)]
                question = copy["question"]
                at = len(question) // 2
                question = f"{question[:at]}x{question[at + 1 :]}"
                rows[i] = {**copy, "item_id": rows[i]["item_id"], "question": question}
        return pa.Table.from_pylist(rows)

    def _row(self, number: int, picks: Any, style: Any) -> dict[str, Any]:
        first, second = self.words[picks[0]], self.words[picks[1]]
        question = " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])
        choices = [self.choices[pick][place] for place, pick in enumerate(picks[2:])]
        labels, answer = list("ABCD"), "ABCD"[number % 4]
        if style[0] < 0.4:
            question = f"{number % 90 + 1}. {question}"
        if style[1] < 0.15:
            labels = [f"{letter.lower()})" for letter in labels]
        elif style[1] < 0.3:
            labels, answer = list("1234"), str(number % 4 + 1)
        if style[2] < 0.2:
            answer = f"The correct answer is {answer}."
        if style[3] < 0.02:
            question = question.lower()
        elif style[3] < 0.04:
            choices = choices[:3]
        elif style[3] < 0.06:
            answer = "not given"
        elif style[3] < 0.08:
            question = f"{question[:60]}\ufffd"
        elif style[3] < 0.1:
            choices = [*choices[:3], ""]
        return {
            "item_id": f"doc-{number:09d}#1",
            "question": question,
            "choices": choices,
            "labels": labels,
            "answer": answer,
        }


class Seconds:
    """Wall and processor time of what runs inside it; they differ on a busy machine."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> "Seconds":
        self._from = time.perf_counter(), _processor()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._from[0]
        self.cpu += _processor() - self._from[1]


def _processor() -> float:
    """Processor seconds of this process and of all that it started and that are still there."""
    spent = time.process_time()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            spent += sum(child.cpu_times()[:2])
    return spent


def row_rules(batches: Iterator[pa.Table]) -> tuple[Cleaned, Seconds]:
    """The batches cleaned, and the time without that of growing them."""
    spent, parts = Seconds(), []
    for batch in batches:
        with spent:
            parts.append(clean_batch(batch, PARAMS))
    return joined(parts), spent


def bare_library(rows: pa.Table) -> float:
    """Processor seconds that rensa takes for signatures and flags, from ready shingles."""
    from rensa import RMinHash, RMinHashLSH

    near = PARAMS.near_duplicates
    shingled = [
        item_shingles(part, last_sentence(part.question))
        for part in (Rows.of(rows.slice(at, BATCH)) for at in range(0, rows.num_rows, BATCH))
    ]
    values = np.concatenate([mixed(part.values) for part in shingled])
    counts = np.concatenate([np.diff(part.offsets) for part in shingled])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    started = time.process_time()
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        values, offsets, near.permutations, near.seed
    )
    index = RMinHashLSH(near.similarity, near.permutations, near.bands)
    index.insert_matrix_and_query_duplicate_flags(matrix)
    return time.process_time() - started


def ordinary_library(rows: pa.Table) -> float:
    """Processor seconds that rensa takes from texts, with shingles as Python strings."""
    from rensa import RMinHash, RMinHashLSH

    near = PARAMS.near_duplicates
    questions, choices = (rows.column(name).to_pylist() for name in ("question", "choices"))
    started = time.process_time()
    texts = [" ".join([q, *c]).lower() for q, c in zip(questions, choices, strict=True)]
    index = RMinHashLSH(near.similarity, near.permutations, near.bands)
    for start in range(0, len(texts), BATCH):
        matrix = RMinHash.digest_matrix_from_token_sets(
            [[text[i : i + 5] for i in range(len(text))] for text in texts[start : start + BATCH]],
            near.permutations,
            near.seed,
        )
        index.insert_matrix_and_query_duplicate_flags(matrix, start)
    return time.process_time() - started


@pytest.fixture(scope="module")
def grower() -> Grower:
    if not (DATA / "benchmarks").is_dir():
        pytest.skip("no real data")
    return Grower()


@pytest.mark.parametrize("rows", SIZES)
def test_row_rules(benchmark: Any, grower: Grower, rows: int) -> None:
    batches = list(grower.batches(rows))
    cleaned = benchmark.pedantic(
        lambda: joined(clean_batch(batch, PARAMS) for batch in batches), rounds=3
    )
    assert cleaned.rows.num_rows + cleaned.rejected.num_rows == rows


@pytest.mark.parametrize("rows", SIZES)
def test_duplicates(benchmark: Any, grower: Grower, rows: int) -> None:
    cleaned, _ = row_rules(grower.batches(rows))
    left = benchmark.pedantic(lambda: deduplicate(cleaned.rows, PARAMS), rounds=1)
    bare = bare_library(as_raw(cleaned.rows))
    benchmark.extra_info["bare_library_s"] = bare
    assert left.rows.num_rows < cleaned.rows.num_rows


class Peak:
    """The largest memory of this process and those it started, in GB, looked at ten times a second.

    Memory that processes share counts for each of them.
    """

    def __enter__(self) -> "Peak":
        self.gigabytes = self.own = 0.0
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def _look(self) -> None:
        me = psutil.Process()
        while not self._done.wait(0.1):
            total = own_bytes = me.memory_info().rss
            for child in me.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += child.memory_info().rss
            self.gigabytes = max(self.gigabytes, total / 1e9)
            self.own = max(self.own, own_bytes / 1e9)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()


def rules_only(table: pa.Table) -> Iterator[Cleaned]:
    """The row rules on one batch, as a task."""
    yield clean_batch(table, PARAMS)


def prints_only(table: pa.Table) -> Iterator[Fingerprints]:
    """The fingerprints of one batch of clean rows, as a task."""
    yield fingerprints(table, PARAMS)


def measured(n_rows: int, engine: BatchEngineParams, *, dedup: bool) -> dict[str, Any]:
    """Seconds and memory of row rules, fingerprints and the search for duplicates."""
    results: dict[str, Any] = {
        "rows": n_rows,
        "engine": engine.engine,
        "workers": engine.workers,
        "load": round(os.getloadavg()[0], 1),
    }
    batches = list(Grower().batches(n_rows))
    results["rows_gb"] = round(sum(batch.nbytes for batch in batches) / 1e9, 3)
    results["start_gb"] = round(psutil.Process().memory_info().rss / 1e9, 3)

    def noted(name: str, spent: Seconds, peak: Peak) -> None:
        results[name] = {
            "wall_s": round(spent.wall, 2),
            "cpu_s": round(spent.cpu, 2),
            "peak_gb": round(peak.gigabytes, 3),
            "main_peak_gb": round(peak.own, 3),
        }

    with BatchEngine(engine, "cleaning") as workers:
        with Seconds() as spent:  # processes or a cluster, and what they import
            list(workers.over(rules_only, batches[:1] * engine.workers))
        results["start"] = {"wall_s": round(spent.wall, 2)}
        with Peak() as peak, Seconds() as spent:
            cleaned = joined(workers.over(rules_only, batches))
        noted("row_rules", spent, peak)
        if dedup:
            rows = cleaned.rows
            del batches, cleaned
            slices = [rows.slice(at, BATCH) for at in range(0, rows.num_rows, BATCH)]
            with Peak() as peak, Seconds() as spent:
                prints = joined_fingerprints(list(workers.over(prints_only, slices)))
            noted("fingerprints", spent, peak)
            with Peak() as peak, Seconds() as spent:
                left = deduplicate(rows, PARAMS, prints, workers)
            noted("pairs", spent, peak)
            kinds = left.duplicates["rule"].to_pylist()
            results["duplicates"] = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
            del left, prints
            if engine == BatchEngineParams():
                results["library_ready_cpu_s"] = round(bare_library(as_raw(rows)), 2)
                results["library_texts_cpu_s"] = round(ordinary_library(rows), 2)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, help="how many")
    parser.add_argument("--dedup", action="store_true", help="also look for duplicates")
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--to", type=Path, help="a file that a line of JSON is added to")
    asked = parser.parse_args()
    engine = BatchEngineParams(engine=asked.engine, workers=asked.workers)
    line = json.dumps(measured(asked.rows, engine, dedup=asked.dedup))
    print(line)
    if asked.to:
        with asked.to.open("a") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
