"""Speed and memory of cleaning: `pytest benchmarks/bench_cleaning.py`.

`BENCHWRIGHT_CLEANING_ROWS` (numbers with commas between) replaces the default 10,000 and 100,000.
`python benchmarks/bench_cleaning.py 1000000` measures one size in its own process, with its peak
memory; `--dedup` adds duplicates, and `--ray N` cleans with N workers of Ray.
"""

import argparse
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchwright.construction.cleaning.clean import clean_batch
from benchwright.construction.cleaning.cleaned import Cleaned, as_raw, joined
from benchwright.construction.cleaning.deduplicate import deduplicate
from benchwright.construction.cleaning.exact_duplicates import mixed
from benchwright.construction.cleaning.question_parts import last_sentence
from benchwright.construction.cleaning.rows import Rows
from benchwright.construction.cleaning.shingles import item_shingles
from benchwright.params.cleaning import CleaningParams

DATA = Path(
    os.environ.get(
        "BENCHWRIGHT_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"
    )
)
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
            pq.read_table(DATA / "benchmarks" / f"{name}.parquet", columns=["question", "choices"])
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
        self._from = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._from[0]
        self.cpu += time.process_time() - self._from[1]

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.cpu:.1f} s of processor)"


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
    found = [
        item_shingles(part, last_sentence(part.question))
        for part in (Rows.of(rows.slice(at, BATCH)) for at in range(0, rows.num_rows, BATCH))
    ]
    values = np.concatenate([mixed(one.values) for one in found])
    counts = np.concatenate([np.diff(one.offsets) for one in found])
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
    found = benchmark.pedantic(lambda: deduplicate(cleaned.rows, PARAMS), rounds=1)
    bare = bare_library(as_raw(cleaned.rows))
    benchmark.extra_info["bare_library_s"] = bare
    benchmark.extra_info["candidates"] = found.candidates
    assert found.rows.num_rows < cleaned.rows.num_rows


def _with_ray(batches: list[pa.Table], workers: int) -> tuple[Cleaned, Seconds]:
    import ray

    from benchwright.construction.cleaning.on_ray import clean_dataset

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        clean_dataset(ray.data.from_arrow(batches[:1]), PARAMS, workers)  # starts the workers
        with Seconds() as spent:
            cleaned = clean_dataset(ray.data.from_arrow(batches), PARAMS, workers)
        return cleaned, spent
    finally:
        ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, help="how many")
    parser.add_argument("--dedup", action="store_true")
    parser.add_argument("--ray", type=int, default=0)
    asked = parser.parse_args()
    grower = Grower()
    load = os.getloadavg()[0]
    if asked.ray:
        cleaned, spent = _with_ray(list(grower.batches(asked.rows)), asked.ray)
    else:
        cleaned, spent = row_rules(grower.batches(asked.rows))
    line = f"{asked.rows:,} rows: {spent}, {cleaned.rows.num_rows:,} clean"
    line += f", peak {_peak():.2f} GB, load {load:.1f}"
    print(line)
    if asked.dedup:
        with Seconds() as spent:
            found = deduplicate(cleaned.rows, PARAMS)
        peak, bare = _peak(), bare_library(as_raw(cleaned.rows))
        by_rule = pc.value_counts(found.duplicates["rule"]).to_pylist()
        print(
            f"duplicates: {spent}, {found.candidates:,} candidate pairs, {by_rule}, "
            f"library alone {bare:.1f} s from ready shingles, "
            f"{ordinary_library(cleaned.rows):.1f} s from texts, peak {peak:.2f} GB"
        )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    main()
