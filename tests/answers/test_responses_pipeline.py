import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner, ThreadRunner

from benchwright.params.responses import ResponsesParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.responses import create_pipeline
from benchwright.tables.responses import (
    AnswerCoverage,
    Calibration,
    ImportReport,
    Models,
    Responses,
)

Make = Callable[..., Any]
OUTPUTS = {
    "imported_responses": Responses,
    "import_report": ImportReport,
    "calibration": Calibration,
    "responses": Responses,
    "answer_coverage": AnswerCoverage,
    "models_table": Models,
}
MATRICES = ("response_matrix", "choices_only_matrix")


def catalog(folder: Path, make_items: Make, make_responses: Make) -> DataCatalog:
    """Three files as a user drops them, and one live model."""
    names = [f"q{i}" for i in range(4)]
    spare = [f"c{i}" for i in range(25)]
    folder.mkdir(parents=True)
    pd.DataFrame({"item_id": names, "model": "org/llama-3-8b", "correct": [1, 0, 1, 1]}).to_csv(
        folder / "tidy.csv", index=False
    )
    pd.DataFrame({"model": ["a", "b"], **{name: [1, 0] for name in names}}).to_parquet(
        folder / "wide.parquet"
    )
    blind = {"item_id": "q0", "model": "org/llama-3-8b", "prediction": "B"}
    (folder / "blind.jsonl").write_text(json.dumps(blind) + "\n", encoding="utf-8")
    live = make_responses(
        *(
            {
                "item_id": name,
                "condition": condition,
                "model": "tiny",
                "style": "cloze",
                "shots": 3,
                "logprobs": [-9.0, -5.0 - i % 3, -6.0, -9.0],
                "option_bytes": [4, 4, 4, 4],
                "source": "live",
            }
            for condition in ("question", "choices_only")
            for i, name in enumerate(names + spare)
        )
    )
    kept = {
        **dict.fromkeys(OUTPUTS, "benchwright.datasets.atomic.ParquetTable"),
        **dict.fromkeys(MATRICES, "benchwright.datasets.response_matrix.ResponseMatrixDataset"),
    }
    out = DataCatalog.from_config(
        {
            "response_files": {
                "type": "benchwright.datasets.response_files.ResponseFiles",
                "benchmark": {"responses": [{"file": "blind.jsonl", "condition": "choices_only"}]},
                "folder": str(folder),
            },
            **{
                name: {"type": kind, "filepath": str(folder.parent / f"{name}.parquet")}
                for name, kind in kept.items()
            },
        }
    )
    given = {
        "items": make_items(*names),
        "calibration_items": make_items(*spare),
        "live_responses": live,
        "params:responses": ResponsesParams(),
        "params:models": ModelsParams(),
        "params:scoring": ScoringParams(),
        "params:filter_models": {"choose": "strongest", "count": 2, "distinct": "none"},
    }
    for name, value in given.items():
        out[name] = MemoryDataset(value)
    return out


@pytest.mark.parametrize("runner", [SequentialRunner, ThreadRunner])
def test_recorded_and_live_responses_are_combined(
    tmp_path: Path, make_items: Make, make_responses: Make, runner: type
) -> None:
    data = catalog(tmp_path / "responses", make_items, make_responses)
    runner().run(create_pipeline(), data)

    matrix = data.load("response_matrix")
    assert matrix.models == ("a", "b", "org/llama-3-8b", "tiny@cloze-3", "tiny@cloze_bytes-3")
    assert matrix.correct.sum(axis=1).tolist() == [4, 0, 3, 3, 3]
    blind = data.load("choices_only_matrix")
    assert blind.models == ("org/llama-3-8b", "tiny@cloze-3", "tiny@cloze_bytes-3")
    assert blind.answered().sum(axis=1).tolist() == [1, 4, 4]

    assert data.load("import_report").file.tolist() == ["blind.jsonl", "tidy.csv", "wide.parquet"]
    assert data.load("calibration").n.tolist() == [25, 25]
    models = data.load("models_table")
    assert models.model.tolist() == ["a", "b", "org/llama-3-8b", "tiny"]
    assert models.family.tolist() == ["a", "b", "llama-3", "tiny"]
    assert data.load("chosen_filter_models") == ["a", "org/llama-3-8b"]
    for name, table in OUTPUTS.items():
        assert list(data.load(name).columns) == table.columns()
