"""Speed and memory of extraction: `pytest benchmarks/bench_extraction.py`.

`python benchmarks/bench_extraction.py 100` reads the bundled documents a hundred times on one core
and prints documents and megabytes per second, the time of the bare HTML parser on the same pages in
the same run, and the peak memory.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.construction.extraction.extract import extract
from benchwright.construction.extraction.page_text import page_text
from benchwright.params.collection import ExtractionParams
from benchwright.tables import Documents

FOLDER = Path(__file__).resolve().parents[1] / "data" / "01_raw" / "documents"
PARAMS = ExtractionParams()


def documents(times: int = 1) -> pd.DataFrame:
    """The bundled documents, so many times, each with an id of its own."""
    rows = [json.loads(line) for line in (FOLDER / "documents.jsonl").open(encoding="utf-8")]
    one = pd.DataFrame(rows).assign(domain="example.org")[Documents.columns()]
    copies = [one.assign(doc_id=one["doc_id"] + f"-{n}") for n in range(times)]
    return pd.concat(copies, ignore_index=True)


def html_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The HTML pages among them."""
    return frame[frame["content_type"] == "text/html"]


def bare_parser(texts: list[str]) -> int:
    """Parses and walks the pages, without reading anything; the number of nodes."""
    from selectolax.lexbor import LexborHTMLParser

    return sum(
        1
        for text in texts
        for _ in LexborHTMLParser(text).root.traverse(include_text=True)  # type: ignore[union-attr]
    )


def seconds(call: Any, *args: Any) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    call(*args)
    return time.perf_counter() - started


def test_extraction(benchmark: Any) -> None:
    frame = documents(5)
    items = benchmark(extract, frame, PARAMS)
    assert items.num_rows > 2_000
    pages = html_of(frame)
    bare = min(seconds(bare_parser, pages["text"].tolist()) for _ in range(3))
    ours = min(seconds(extract, pages, PARAMS) for _ in range(3))
    lines = min(
        seconds(lambda: [page_text(text, "text/html") for text in pages["text"]]) for _ in range(3)
    )
    benchmark.extra_info["html_to_bare_parser"] = round(ours / bare, 1)
    benchmark.extra_info["lines_to_bare_parser"] = round(lines / bare, 1)


@pytest.mark.parametrize("n", [1_000, 4_000])
def test_cost_of_a_long_page(benchmark: Any, n: int) -> None:
    page = "".join(
        f"{i}) What is {i}?\na) one\nb) two\nc) three\nd) four\n" for i in range(1, n + 1)
    )
    page += "Answers\n" + "".join(f"{i}. a\n" for i in range(1, n + 1))
    frame = pd.DataFrame([["d", "", "", "text/plain", page]], columns=Documents.columns())
    assert benchmark(extract, frame, PARAMS).num_rows == n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int, nargs="?", default=50)
    frame = documents(parser.parse_args().times)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = sum(len(text.encode()) for text in frame["text"]) / 1e6
    spent, items = 0.0, 0
    for start in range(0, len(frame), 1_000):
        part = frame.iloc[start : start + 1_000]
        started = time.perf_counter()
        items += extract(part, PARAMS).num_rows
        spent += time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = html_of(frame)
    bare = seconds(bare_parser, pages["text"].tolist())
    ours = seconds(extract, pages, PARAMS)
    print(f"{len(frame)} documents, {megabytes:.1f} MB, {items} items in {spent:.1f} s")
    print(f"{len(frame) / spent:.0f} documents/s, {megabytes / spent:.2f} MB/s on one core")
    print(f"HTML: {ours:.2f} s, bare parser {bare:.2f} s: {ours / bare:.1f} times")
    print(f"peak memory {peak / 1024:.0f} MiB, {(peak - base) / 1024:.0f} MiB above the start")


if __name__ == "__main__":
    main()
