"""Answers read from files of every kind, without a benchmark; audits found by version."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_examples import row, save, save_three
from benchwright.commands.saved_results import (
    AUDIT,
    SavedAudit,
    find_audit,
    read_audit,
    read_responses,
)
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_matrix import ResponseMatrixDataset

VALUES = np.array([[1, 0, 1], [0, 0.5, np.nan]], dtype=np.float32)
MODELS, IDS = ("ann", "bob"), ("q/2", "q/9", "q/10")
INSIDE = Path("07_model_output/arc/smart") / AUDIT


def tidy() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"item_id": item, "model": model, "correct": VALUES[i, j]}
            for i, model in enumerate(MODELS)
            for j, item in enumerate(IDS)
            if not np.isnan(VALUES[i, j])
        ]
    )


def sample(doc_id: int, acc: float, **doc: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": "0" if acc else "1",
        "arguments": {
            "gen_args_0": {"arg_0": "Q", "arg_1": " A"},
            "gen_args_1": {"arg_0": "Q", "arg_1": " B"},
        },
        "resps": [[["-1.0", "False"]], [["-2.0", "False"]]],
        "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
        "filter": "none",
        "acc": acc,
    }


def log(folder: Path, task: str, model: str, *samples: dict[str, Any], time: str = "00") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stamp = f"2026-11-20T22-25-{time}.198528"
    text = "".join(json.dumps(sample) + "\n" for sample in samples)
    (folder / f"samples_{task}_{stamp}.jsonl").write_text(text)
    (folder / f"results_{stamp}.json").write_text(json.dumps({"model_name": model}))


@pytest.mark.parametrize("kind", ["tidy.csv", "tidy.parquet", "wide.csv", "across.csv.gz", "saved"])
def test_all_table_formats_give_the_same_responses(kind: str, tmp_path: Path) -> None:
    file = tmp_path / kind
    if kind == "tidy.csv":
        tidy().to_csv(file, index=False)
    elif kind == "tidy.parquet":
        tidy().to_parquet(file)
    elif kind == "wide.csv":
        frame = pd.DataFrame(VALUES.T, columns=list(MODELS))
        frame.insert(0, "item_id", IDS)
        frame.to_csv(file, index=False)
    elif kind == "across.csv.gz":
        frame = pd.DataFrame(VALUES, columns=list(IDS))
        frame.insert(0, "model", MODELS)
        frame.to_csv(file, index=False)
    else:
        file = tmp_path / "response_matrix.parquet"
        order = [2, 0, 1]
        matrix = ResponseMatrix.of(MODELS, tuple(IDS[i] for i in order), correct=VALUES[:, order])
        ResponseMatrixDataset(filepath=str(file)).save(matrix)
    result = read_responses([file])
    assert (result.models, result.item_ids, result.notes) == (MODELS, IDS, ())
    np.testing.assert_array_equal(result.correct, VALUES)


def test_items_of_logs_have_exported_ids_or_task_and_row(tmp_path: Path) -> None:
    ours = sample(0, 1.0, item_id="q/2", question="Why?", choices=["a", "b"])
    other = sample(7, 0.0, question="How?", choices={"text": ["c", "d"]})
    drawn = sample(1, 1.0, item_id="q/9", condition="wicked-1")
    log(tmp_path / "m", "arc_easy", "org/m", ours, other, drawn)
    result = read_responses([tmp_path])
    assert result.models == ("org/m",)
    assert result.item_ids == ("arc_easy/7", "q/2")
    assert result.correct.tolist() == [[0, 1]]
    assert result.items is not None
    texts = dict(zip(result.items["item_id"], result.items["question"], strict=True))
    assert texts == {"q/2": "Why?\na\nb", "arc_easy/7": "How?\nc\nd"}
    (note,) = result.notes
    assert "1 not joined, e.g. doc 1" in note


def test_first_of_duplicate_responses_counts_with_a_note(tmp_path: Path) -> None:
    log(tmp_path / "m", "t", "m", sample(0, 1.0), sample(1, 1.0), time="01")
    log(tmp_path / "m", "t", "m", sample(0, 0.0), sample(1, 1.0), time="02")
    result = read_responses([tmp_path])
    assert result.correct.tolist() == [[1, 1]]
    (note,) = result.notes
    assert "2 duplicates of an earlier file" in note
    assert "1 different in an earlier file" in note


def test_only_the_first_filter_counts(tmp_path: Path) -> None:
    again = sample(0, 0.0) | {"filter": "last_number"}
    log(tmp_path, "t", "m", sample(0, 1.0), again)
    result = read_responses([tmp_path])
    assert result.correct.tolist() == [[1]]
    assert "1 duplicates from filters other than none" in result.notes[0]


def test_duplicate_rows_of_a_table_are_reported(tmp_path: Path) -> None:
    twice = pd.concat([tidy(), tidy().iloc[:1].assign(correct=0.0)])
    twice.to_csv(tmp_path / "t.csv", index=False)
    result = read_responses([tmp_path / "t.csv"])
    np.testing.assert_array_equal(result.correct, VALUES)
    assert len(result.notes) == 1
    assert "t.csv: 1 duplicates" in result.notes[0]


def test_files_with_the_same_name_in_two_folders_are_read(tmp_path: Path) -> None:
    for name in MODELS:
        (tmp_path / name).mkdir()
        tidy().query("model == @name").to_csv(tmp_path / name / "a.csv", index=False)
    result = read_responses([tmp_path / "ann" / "a.csv", tmp_path / "bob" / "a.csv"])
    np.testing.assert_array_equal(result.correct, VALUES)


def test_tables_take_precedence_over_logs(tmp_path: Path) -> None:
    tidy().to_csv(tmp_path / "t.csv", index=False)
    log(tmp_path, "t", "ann", sample(0, 0.0, item_id="q/2"), sample(1, 1.0, item_id="q/77"))
    result = read_responses([tmp_path])
    assert result.item_ids == (*IDS, "q/77")
    assert result.correct[0].tolist() == [1, 0, 1, 1]
    assert "1 responses are in several kinds of files" in result.notes[0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "item_id,model,prediction\nq,m,A\n", "no column 'correct' or 'score'"),
        ("a.csv", "x,y\n1,2\n", "no column 'item_id' or 'model'; it has x, y"),
        ("a.csv", "item_id,m\nq,maybe\n", "expected 0–1"),
        ("a.txt", "", "unknown file type; expected one of"),
        ("b/", "", "no responses; expected"),
        ("c.csv", None, "does not exist"),
    ],
)
def test_files_without_responses_are_rejected(
    name: str, text: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    if name.endswith("/"):
        file.mkdir()
    elif text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_responses([file])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return save_three(tmp_path)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("latest", "2026-02-01"),
        ("previous", "2026-01-02"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-02T00.00.00.000Z", "2026-01-02"),
    ],
)
def test_versions_are_found_by_name(runs: Path, name: str, version: str) -> None:
    result = find_audit(name, runs / AUDIT, INSIDE)
    assert result.version.startswith(version)
    assert result.where == "arc · smart"
    assert result.coverage is not None


def test_audits_are_found_by_path(runs: Path, tmp_path: Path) -> None:
    first = runs / AUDIT / "2026-01-01T00.00.00.000Z"
    for path, version in (
        (first / AUDIT, "2026-01-01"),
        (first, "2026-01-01"),
        (runs / AUDIT, "2026-02-01"),
        (runs, "2026-02-01"),
        (tmp_path, "2026-02-01"),
    ):
        assert find_audit(str(path), Path("nowhere"), INSIDE).version.startswith(version)
    alone = tmp_path / "mine.parquet"
    (first / AUDIT).rename(alone)
    assert find_audit(str(alone), Path("nowhere"), INSIDE) == SavedAudit(alone, "", None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026-01", "matches several versions; .* has 2026-01-01T00.00.00.000Z, 2026-01-02"),
        ("2025", "is neither a version nor a path; .* has 2026-01-01"),
    ],
)
def test_unknown_audits_are_reported_with_existing_ones(
    runs: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        find_audit(name, runs / AUDIT, INSIDE)


def test_previous_needs_two_versions(tmp_path: Path) -> None:
    save(tmp_path, "v1", row("a"))
    with pytest.raises(InputError, match="has only one version, v1"):
        find_audit("previous", tmp_path / AUDIT, INSIDE)
    with pytest.raises(InputError, match="no run has saved"):
        find_audit("latest", tmp_path / "other" / AUDIT, INSIDE)


def test_other_tables_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pd.DataFrame({"item_id": ["a"], "question": ["?"]}).to_parquet(path)
    with pytest.raises(InputError, match=r"not an item audit; missing columns: subject, decision"):
        read_audit(path)
    path.write_text("item_id\n")
    with pytest.raises(InputError, match="not a valid Parquet file"):
        read_audit(path)
