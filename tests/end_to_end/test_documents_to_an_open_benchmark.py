"""An open benchmark from the bundled documents, and another pipeline on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from end_to_end.saved import newest

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def made(run_project: Callable[..., Path]) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BENCHWRIGHT_SEAL_KEY", raising=False)
        return run_project(pipeline="documents", benchmark="documents", variant="documents")


def saved(data: Path, name: str) -> pd.DataFrame:
    return pd.read_parquet(newest(data, "03_primary", f"{name}.parquet", "documents"))


def lines(data: Path) -> list[dict[str, Any]]:
    text = (data / "03_primary/documents/open_benchmark.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_questions_are_in_the_benchmark_or_rejected_by_a_rule(
    made: Path,
) -> None:
    rejected = saved(made, "open_rejected_items")
    rows = lines(made)
    ids = [*rejected["item_id"], *(row["item_id"] for row in rows)]
    assert sorted(ids) == sorted(saved(made, "open_raw_items")["item_id"])
    funnel = pd.read_parquet(
        newest(made, "08_reporting", "cleaning_funnel.parquet", "documents", "documents")
    )
    counts = rejected["rule"].value_counts().to_dict()
    assert counts == {r: n for r, n in zip(funnel["rule"], funnel["rejected"], strict=True) if n}
    assert len(counts) >= 8


def test_most_questions_equal_a_manual_transcription(made: Path, repository: Path) -> None:
    labels = repository / "data/01_raw/documents/labels.jsonl"
    read = {}
    for label in map(json.loads, labels.read_text(encoding="utf-8").splitlines()):
        if label["expected"] == "extract" and len(label["choices"]) == 4:
            read[label["doc_id"], " ".join(label["question"].split())] = label
    same = 0
    for row in lines(made):
        label = read.get((row["doc_id"], " ".join(row["question"].split())))
        if label is not None:
            same += (
                label["choices"]["ABCD".index(row["answer"])] == label["choices"][label["answer"]]
            )
    assert same / len(lines(made)) > 0.95


def test_perturbed_copies_of_the_benchmark_can_be_made(
    made: Path, run_project: Callable[..., Path]
) -> None:
    run_project(
        pipeline="export_perturbed", data=made, benchmark="documents", variant="wicked", limit=25
    )
    items = saved(made, "items")
    examples = saved(made, "demonstrations")
    rows = {row["item_id"]: row for row in lines(made)}
    assert len(items) == 25
    assert set(examples["item_id"]) == {key for key, row in rows.items() if row["split"] == "dev"}
    for item in items.to_dict("records"):
        row = rows[item["item_id"]]
        assert (item["subject"], item["url"]) == (row["subject"], row["url"])
        assert item["answer_text"] == row["choices"]["ABCD".index(row["answer"])]
    perturbed_items = pd.read_parquet(
        newest(made, "04_feature", "perturbed_items.parquet", "documents", "wicked")
    )
    assert set(perturbed_items.loc[perturbed_items["role"] == "item", "item_id"]) == set(
        items["item_id"]
    )
