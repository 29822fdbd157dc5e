"""Speed of importing real recorded answers: `pytest benchmarks/bench_import.py`."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.content_hash import content_hash
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_files import ResponseFiles
from benchwright.datasets.response_matrix import ResponseMatrixDataset
from benchwright.responses.import_responses import Imported, import_responses
from benchwright.tables.items import Demonstrations, Items
from real_data import DATA


@pytest.fixture(scope="module")
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("no real data")
    return DATA


def items(data: Path, benchmark: str) -> pd.DataFrame:
    rows = pd.read_parquet(data / "benchmarks" / f"{benchmark}.parquet")
    rows = rows[rows["split"] == "test"]
    frame = pd.DataFrame({name: rows.get(name) for name in Items.columns()})
    frame["choices"] = [list(texts) for texts in rows["choices"]]
    frame["answer"] = rows["answer_index"]
    frame["correct_set"] = [[gold] for gold in rows["answer_index"]]
    frame["answer_text"] = frame["subject"] = benchmark
    frame["content_hash"] = [
        content_hash(question, texts)
        for question, texts in zip(frame["question"], frame["choices"], strict=True)
    ]
    return Items.validate(frame.reset_index(drop=True))


@pytest.mark.parametrize(
    ("benchmark_name", "file"),
    [
        ("arc", "arc_7models.parquet"),
        ("mmlu", "mmlu_7models.parquet"),
        ("mmlu", "mmlu_correct_23models.parquet"),
        ("mmlu", "mmlu_letters_10models.parquet"),
        ("mmlu", "leaderboard_v1_mmlu.parquet"),
        ("arc_challenge", "leaderboard_v1_arc_challenge.parquet"),
    ],
)
def test_import(benchmark: Any, data: Path, benchmark_name: str, file: str) -> None:
    table = items(data, benchmark_name)

    def run() -> Imported:
        files = ResponseFiles(
            benchmark={"responses": [{"file": file}]}, folder="none", mirror_root=str(data)
        ).load()
        return import_responses(files, table, Demonstrations.empty())

    report = benchmark.pedantic(run, rounds=3).import_report
    assert report["joined_by_id"].sum() == report["rows"].sum()


@pytest.mark.parametrize("action", ["save", "load"])
def test_matrix_of_5115_by_14042(benchmark: Any, tmp_path: Path, action: str) -> None:
    rng = np.random.default_rng(0)
    correct = rng.integers(0, 2, (5115, 14042), dtype=np.int8).astype(np.float32)
    correct[rng.random(correct.shape, dtype=np.float32) < 0.3] = np.nan
    names = tuple(f"model-{i}" for i in range(5115)), tuple(f"item-{i}" for i in range(14042))
    dataset = ResponseMatrixDataset(filepath=str(tmp_path / "m.parquet"))
    matrix = ResponseMatrix.of(*names, correct=correct)
    dataset.save(matrix)
    benchmark.extra_info["megabytes"] = (tmp_path / "m.parquet").stat().st_size / 1e6
    benchmark.pedantic(dataset.load if action == "load" else lambda: dataset.save(matrix), rounds=1)
