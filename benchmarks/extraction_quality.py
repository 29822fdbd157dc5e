"""Precision and recall of extraction on real items rendered in twelve layouts.

    python benchmarks/extraction_quality.py <folder with mmlu.parquet and arc.parquet>

The layouts were written by somebody else and set aside until the extractor was done. The first
metrics are in docs/reference/collection.md. Later metrics are not blind: what the first showed
was mended.
"""

import argparse
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from benchwright.methods.mmlu_cf.extraction.extract import extract
from benchwright.methods.mmlu_cf.extraction.measure import Share, measure
from benchwright.params.mmlu_cf import ExtractionParams
from extraction_layouts import LAYOUTS, render, sample_items, split_items
from real_data import real_data

_GAP = re.compile(r"<br\s*/?>|\s+")


def _flat(text: str) -> str:
    return _GAP.sub(" ", text).strip()


def quality(items: pd.DataFrame, layout: str, seed: int = 0) -> dict[str, Share] | None:
    """How well the items come back from one layout; None where nothing is found.

    Passage and question are joined, since the items have no passages of their own.
    """
    documents, labels = render(items, layout, seed)
    pages = pd.DataFrame([asdict(document) for document in documents])
    pages["domain"] = pages["url"].str.extract(r"//([^/]+)")
    columns = ["doc_id", "url", "domain", "content_type", "text"]
    table = pa.Table.from_pandas(pages[columns], preserve_index=False)
    raw = extract(table, ExtractionParams())
    rows: list[dict[str, Any]] = raw.to_pylist()
    if not rows:
        return None
    for row in rows:
        row["question"] = _flat(f"{row['passage'] or ''} {row['question']}")
        row["choices"] = [_flat(choice) for choice in row["choices"]]
        row["passage"] = None
    wanted = [asdict(label) for label in labels]
    for label in wanted:
        label["question"] = _flat(label["question"])
        label["choices"] = [_flat(choice) for choice in label["choices"]]
    return measure(pa.Table.from_pylist(rows, schema=raw.schema), wanted)[1]


def main() -> None:
    """Print a line for each layout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of mmlu.parquet and arc.parquet")
    parser.add_argument("--items", type=int, default=2000)
    given = parser.parse_args()
    parts = split_items(sample_items(real_data(given.root), given.items, 0))
    for layout in LAYOUTS:
        shares = quality(parts[layout], layout)
        if shares is None:
            print(f"{layout:20} nothing found of {len(parts[layout])}")
            continue
        recall, precision, answers = (shares[key] for key in ("recall", "precision", "answers"))
        print(
            f"{layout:20} recall {recall.hits}/{recall.of} [{recall.low:.3f}, {recall.high:.3f}]  "
            f"precision {precision.hits}/{precision.of}  "
            f"wrong answers {answers.of - answers.hits}"
        )


if __name__ == "__main__":
    main()
