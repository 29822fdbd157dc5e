"""Speed and memory of extraction: `pytest benchmarks/bench_extraction.py`.

`python benchmarks/bench_extraction.py 100` reads the bundled documents a hundred times on one core
and prints documents and megabytes per second, the time of the bare HTML parser on the same pages in
the same run, and the peak memory. `--others FOLDER` and `--prose FOLDER` compare the speed without
and with the prefilter, on files without questions.
"""

import argparse
import html
import json
import resource
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from benchwright.methods.mmlu_cf.extraction.extract import extract, may_hold_questions, page_text
from benchwright.params.mmlu_cf import ExtractionParams
from benchwright.tables.mmlu_cf import Documents

FOLDER = Path(__file__).resolve().parents[1] / "data" / "01_raw" / "documents"
PARAMS = ExtractionParams()


def documents(times: int = 1) -> pd.DataFrame:
    """The bundled documents, so many times, each with an id of its own."""
    rows = [json.loads(line) for line in (FOLDER / "documents.jsonl").open(encoding="utf-8")]
    bundled = pd.DataFrame(rows).assign(domain="example.org")[Documents.columns()]
    copies = [bundled.assign(doc_id=bundled["doc_id"] + f"-{n}") for n in range(times)]
    return pd.concat(copies, ignore_index=True)


def html_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The HTML pages among them."""
    return frame[frame["content_type"] == "text/html"]


def extract_from(frame: pd.DataFrame) -> pa.Table:
    """Extracts the questions of a table of documents."""
    return extract(pa.Table.from_pandas(frame, preserve_index=False), PARAMS)


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
    items = benchmark(extract_from, frame)
    assert items.num_rows > 2_000
    pages = html_of(frame)
    bare = min(seconds(bare_parser, pages["text"].tolist()) for _ in range(3))
    ours = min(seconds(extract_from, pages) for _ in range(3))
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
    assert benchmark(extract_from, frame).num_rows == n


def others(folder: Path, most: int) -> pa.Table:
    """Up to so many files of a folder as documents, drawn evenly from its files sorted by name."""
    kinds = {".html": "text/html", ".md": "text/markdown", ".txt": "text/plain"}
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in kinds and file.is_file() and 500 < file.stat().st_size < 400_000
    )
    files = files[:: max(1, len(files) // most)][:most]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    columns = [
        [str(file) for file in files],
        [""] * len(files),
        [""] * len(files),
        [kinds[file.suffix] for file in files],
        texts,
    ]
    arrays = [pa.array(column, pa.large_string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=Documents.columns())


def prose(folder: Path, size: int = 6_000) -> pa.Table:
    """Long texts (`*.txt`) cut into web pages of so many characters, a paragraph per blank line."""
    pages = []
    for file in sorted(folder.glob("*.txt")):
        text = file.read_text(encoding="utf-8", errors="replace")
        for start in range(0, len(text), size):
            parts = text[start : start + size].split("\n\n")
            body = "".join(f"<p>{html.escape(part)}</p>\n" for part in parts)
            title = f"<title>{file.stem}, part {start // size}</title>"
            pages.append(f"<!doctype html><html><head>{title}</head><body>{body}</body></html>")
    n = len(pages)
    columns = [[str(i) for i in range(n)], [""] * n, [""] * n, ["text/html"] * n, pages]
    arrays = [pa.array(column, pa.large_string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=Documents.columns())


def compare_prefilter(name: str, table: pa.Table) -> None:
    """Prints documents/s of extraction without and with the prefilter, in processor seconds."""
    texts = pa.concat_arrays(table.column("text").chunks)
    megabytes = sum(len(text.encode()) for text in texts.to_pylist()) / 1e6
    started = time.process_time()
    passed = may_hold_questions(texts)
    looked = time.process_time() - started
    kept = extract(table.filter(pa.array(passed)), PARAMS).num_rows
    after = time.process_time() - started
    started = time.process_time()
    items = extract(table, PARAMS).num_rows
    before = time.process_time() - started
    n = table.num_rows
    print(
        f"{name}: {n} documents, {megabytes:.1f} MB; passed {passed.sum()} ({passed.mean():.0%}); "
        f"items {items} without the prefilter, {kept} with it; documents/s {n / before:.0f} -> "
        f"{n / after:.0f} ({before / after:.1f} times), the prefilter alone {n / looked:.0f} "
        f"({megabytes / looked:.0f} MB/s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int, nargs="?", default=50)
    parser.add_argument("--others", type=Path, nargs="*", help="folders without questions")
    parser.add_argument("--prose", type=Path, nargs="*", help="folders of long texts")
    parser.add_argument("--most", type=int, default=500, help="files of each folder")
    asked = parser.parse_args()
    if asked.others or asked.prose:
        for folder in asked.others or []:
            compare_prefilter(folder.name, others(folder, asked.most))
        for folder in asked.prose or []:
            compare_prefilter(f"{folder.name} as pages", prose(folder))
        bundled = pa.Table.from_pandas(documents(5), preserve_index=False)
        compare_prefilter("bundled documents", bundled)
        return
    frame = documents(asked.times)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = sum(len(text.encode()) for text in frame["text"]) / 1e6
    spent, items = 0.0, 0
    for start in range(0, len(frame), 1_000):
        part = frame.iloc[start : start + 1_000]
        started = time.perf_counter()
        items += extract_from(part).num_rows
        spent += time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = html_of(frame)
    bare = seconds(bare_parser, pages["text"].tolist())
    ours = seconds(extract_from, pages)
    print(f"{len(frame)} documents, {megabytes:.1f} MB, {items} items in {spent:.1f} s")
    print(f"{len(frame) / spent:.0f} documents/s, {megabytes / spent:.2f} MB/s on one core")
    print(f"HTML: {ours:.2f} s, bare parser {bare:.2f} s: {ours / bare:.1f} times")
    print(f"peak memory {peak / 1024:.0f} MiB, {(peak - base) / 1024:.0f} MiB above the start")


if __name__ == "__main__":
    main()
