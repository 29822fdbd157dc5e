"""Answers in the format of Every Eval Ever: the closed schema, and reading them again."""

import hashlib
import json
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.answers.read_logs import BenchmarkItems, read_logs
from benchwright.cli.export_answers import export_answers
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.export_folder import ExportFolder
from benchwright.exports.every_eval_ever import (
    AnsweredCondition,
    AnsweredRun,
    ModelIdentity,
    write_answers,
)
from benchwright.logs.find import find_logs
from benchwright.tables.responses import Generations
from exports.export_examples import benchmark, item, table

ITEMS = table(
    item("colours/0"),
    item("colours/1", question="Which one,\u2028\x85 exactly?", choices=("a,b", "=1+1", "è")),
    item("colours/2", answer=2),
    item("colours/3", choices=("D", "C", "B", "A")),
)
OPEN = table(item("sums/0", question="1 + 1 =", choices=(), answer=-1, answer_text="2"))
COPY = table(item("colours/0", choices=("None of the above", "blue", "red"), answer=0))
SCORED, WRITTEN, IMPORTED = "org/m@letters-5", "m:1@generate-0", "other"
RUN = AnsweredRun(
    benchmark(),
    {"variant": "smart", "seed": "0"},
    1_700_000_000,
    "A laboratory",
    {"m:1": ModelIdentity("m:1", "Some Lab"), "org/m": ModelIdentity("org/m", "org", "abc")},
)


def matrix(items: pd.DataFrame, condition: str, **rows: Any) -> ResponseMatrix:
    """A matrix of (correct, prediction) by configuration."""
    values = np.array(list(rows.values()), dtype=float)
    return ResponseMatrix.of(
        tuple(rows),
        tuple(items["item_id"]),
        correct=values[:, :, 0].astype(np.float32),
        prediction=values[:, :, 1].astype(np.int16),
        condition=condition,
    )


NONE = (np.nan, -1)
CONDITIONS = [
    AnsweredCondition(
        matrix(
            ITEMS,
            "question",
            **{
                SCORED: [(1, 1), (0, 0), NONE, (0, 3)],
                WRITTEN: [(0, -1), (1, 1), (1, 2), NONE],
                IMPORTED: [(1, -1), (0, -1), (1, -1), (0, -1)],
                "silent": [NONE] * 4,
            },
        ),
        ITEMS,
    ),
    AnsweredCondition(
        matrix(ITEMS, "wicked-3", **{SCORED: [(1, 0), NONE, NONE, NONE]}),
        COPY,
    ),
]


def responses() -> pd.DataFrame:
    scored = {"configuration": SCORED, "condition": "question", "item_id": ITEMS["item_id"]}
    return pd.DataFrame(
        {
            **scored,
            "prompt_tokens": [80, 81, 82, -1],
            "generated_tokens": 0,
            "logprobs": [[-1.0, -2.0]] * 4,
            "source": "live",
        }
    )


def generations() -> pd.DataFrame:
    asked = {"model": "m:1", "style": "generate", "shots": 0, "condition": "question"}
    answers = {"item_id": ["colours/0", "colours/1"], "text": ["I do not know.", "So it is (B)."]}
    other = {"sample": 0, "finish": "stop", "rule": "stated", "prompt_id": ""}
    return pd.DataFrame({**asked, **answers, "extracted": [None, "B"], **other})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    exported = ExportFolder(path=str(tmp_path / "answers"))
    exported.save(write_answers(CONDITIONS, responses(), generations(), RUN))
    assert exported.load()["answers"] == {WRITTEN: 3, SCORED: 4, IMPORTED: 4}
    return tmp_path / "answers"


def pairs(folder: Path) -> dict[str, tuple[Path, dict[str, Any], list[dict[str, Any]]]]:
    """Path and content of each aggregate, and its samples, by the name of the model."""
    found = {}
    for path in sorted(folder.rglob("data/*/*/*/*.json")):
        aggregate = json.loads(path.read_text(encoding="ascii"))
        lines = path.with_name(f"{path.stem}_samples.jsonl").read_text("ascii").splitlines()
        found[aggregate["model_info"]["name"]] = path, aggregate, [json.loads(x) for x in lines]
    return found


def test_each_configuration_is_filed_under_its_model(folder: Path) -> None:
    folders = {name: path.parent for name, (path, _, _) in pairs(folder).items()}
    assert {name: path.relative_to(folder).as_posix() for name, path in folders.items()} == {
        "org/m": "data/colours/org/m",
        "m:1": "data/colours/Some Lab/m_1",
        "other": "data/colours/unknown/other",
    }


def test_the_aggregate_refers_to_its_samples(folder: Path) -> None:
    for path, aggregate, rows in pairs(folder).values():
        assert uuid.UUID(path.stem).version == 4
        samples = path.with_name(f"{path.stem}_samples.jsonl")
        detail = aggregate["detailed_evaluation_results"]
        assert detail["file_path"] == samples.relative_to(folder).as_posix()
        assert detail["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
        assert detail["total_rows"] == len(rows)
        assert {row["evaluation_id"] for row in rows} == {aggregate["evaluation_id"]}
        assert {row["model_id"] for row in rows} == {aggregate["model_info"]["id"]}
        named = {result["evaluation_result_id"] for result in aggregate["evaluation_results"]}
        assert {row["evaluation_result_id"] for row in rows} == named
        details = aggregate["model_info"]["additional_details"]
        assert {"deployment_type", "model_availability"} <= details.keys()


def test_scores_are_those_of_the_answered_items(folder: Path) -> None:
    _, aggregate, _ = pairs(folder)["org/m"]
    original, copy = aggregate["evaluation_results"]
    assert original["evaluation_name"] == "colours"
    assert original["score_details"]["score"] == pytest.approx(1 / 3)
    assert original["score_details"]["details"] == {"unanswered": "1"}
    assert (copy["evaluation_name"], copy["score_details"]["score"]) == ("colours/wicked-3", 1.0)
    assert copy["score_details"]["details"] == {"unanswered": "0"}  # of the copy's own items


ROW: dict[str, Any] = {
    **dict.fromkeys(["schema_version", "evaluation_id", "model_id", "evaluation_name"], str),
    **dict.fromkeys(["evaluation_result_id", "sample_id", "sample_hash", "interaction_type"], str),
    **dict.fromkeys(["input", "output", "evaluation", "metadata"], dict),
    "answer_attribution": list,
    "token_usage": (dict, type(None)),
}


def test_samples_have_the_fields_of_the_closed_schema(folder: Path) -> None:
    for _, _, rows in pairs(folder).values():
        for row in rows:
            assert row.keys() == ROW.keys()
            assert all(isinstance(row[name], kind) for name, kind in ROW.items())
            assert row["schema_version"] == "0.3.0"
            assert row["interaction_type"] == "single_turn"
            assert isinstance(row["input"]["raw"], str)
            for texts in (row["input"]["reference"], row["output"]["raw"]):
                assert all(isinstance(text, str) for text in texts)
            assert isinstance(row["evaluation"]["score"], float)
            assert isinstance(row["evaluation"]["is_correct"], bool)
            assert all(isinstance(value, str) for value in row["metadata"].values())
            usage = row["token_usage"]
            assert usage is None or min(usage.values()) >= 0


def test_what_was_written_and_what_was_read_of_it(folder: Path) -> None:
    _, _, (unread, read, chosen) = pairs(folder)["m:1"]
    assert (unread["output"]["raw"], unread["answer_attribution"]) == (["I do not know."], [])
    assert unread["evaluation"] == {"score": 0.0, "is_correct": False}
    assert read["output"]["raw"] == ["So it is (B)."]
    assert read["answer_attribution"][0]["extracted_value"] == "B"
    assert chosen["output"]["raw"] == ["C"]
    _, _, rows = pairs(folder)["other"]
    assert all(row["output"]["raw"] == row["answer_attribution"] == [] for row in rows)


def test_the_same_answers_give_the_same_files() -> None:
    first, second = (write_answers(CONDITIONS, responses(), generations(), RUN) for _ in range(2))
    assert {name: b"".join(pieces) for name, pieces in first.files.items()} == {
        name: b"".join(pieces) for name, pieces in second.files.items()
    }


def test_answers_read_again_are_the_same_item_by_item(folder: Path) -> None:
    read = read_logs([folder], BenchmarkItems(ITEMS))
    original = CONDITIONS[0].matrix
    rows = {(row["model"], row["item_id"]): row for row in read.answers.to_dict("records")}
    assert {model for model, _ in rows} == {"org/m", "m:1", "other"}
    assert len(rows) == np.isfinite(original.correct).sum()
    for model, name in (("org/m", SCORED), ("m:1", WRITTEN), ("other", IMPORTED)):
        row = original.models.index(name)
        for column, item_id in enumerate(original.item_ids):
            if np.isnan(original.correct[row, column]):
                assert (model, item_id) not in rows
                continue
            answer = rows[model, item_id]
            assert answer["correct"] == original.correct[row, column]
            assert answer["prediction"] == original.prediction[row, column]
    joined = read.report[read.report["joined_by_id"] > 0]
    assert len(joined) == 3
    assert joined["accuracy"].tolist() == pytest.approx(joined["log_score"].tolist())


def test_configurations_and_copies_are_told_apart_when_read_again(folder: Path) -> None:
    logs = {(log.model, log.task): log for log in find_logs([folder]).logs}
    scored = logs["org/m", "colours"]
    assert (scored.style, scored.shots, scored.revision) == ("letters", 5, "abc")
    assert list(scored.scores.values()) == [pytest.approx(1 / 3)]
    (sample,) = logs["org/m", "colours/wicked-3"].samples()
    assert sample.doc is not None
    assert (sample.doc["condition"], sample.chosen) == ("wicked-3", 0)
    report = read_logs([folder], BenchmarkItems(ITEMS)).report
    assert report["unreadable"].sum() == 1


def test_open_ended_answers_are_texts(tmp_path: Path) -> None:
    answers = matrix(OPEN, "question", **{WRITTEN: [(1, -1)]})
    texts = generations().iloc[:1].assign(item_id="sums/0", text="It is 2.", extracted="2")
    content = write_answers([AnsweredCondition(answers, OPEN)], responses()[:0], texts, RUN)
    ExportFolder(path=str(tmp_path / "open")).save(content)
    _, _, (row,) = pairs(tmp_path / "open")["m:1"]
    assert row["input"] == {"raw": "1 + 1 =", "reference": ["2"], "choices": None}
    assert row["answer_attribution"][0]["extracted_value"] == "2"
    (log,) = find_logs([tmp_path / "open"]).logs
    (sample,) = log.samples()
    assert (sample.outcome, sample.correct, sample.target) == ("answered", 1.0, "2")


def test_hidden_questions_stay_hidden() -> None:
    answers = matrix(ITEMS, "choices_only", **{SCORED: [(1, 0)] * 4})
    content = write_answers(
        [AnsweredCondition(answers, ITEMS)], responses()[:0], Generations.empty(), RUN
    )
    text = b"".join(content.files[next(name for name in content.files if "samples" in name)])
    assert all(json.loads(line)["input"]["raw"] == "" for line in text.splitlines())


def test_without_a_saved_run_the_pipeline_is_named(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"has saved items and response_matrix.*--pipeline answers"
    ):
        export_answers(tmp_path / "out", repository, None, {"data_root": str(tmp_path)}, "")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_the_tool_itself_accepts_every_file(folder: Path) -> None:
    tool = shutil.which("every_eval_ever")
    if tool is None:
        pytest.skip("every_eval_ever is not installed (Python 3.12 and later)")
    shutil.rmtree(folder / "data" / "colours" / "unknown")  # a warning: no known developer
    command = [tool, "validate", "data/*/*/*/*"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "4 passed" in ran.stdout
