import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchwright.core.errors import InputError
from benchwright.logs.find import find_logs, logs_in
from benchwright.logs.sample import NO_MARK, Log, Mark

EVAL = {
    "task": "exam",
    "model": "openai/gpt",
    "task_args": {"fewshot": 3},
    "packages": {"inspect_ai": "0.3.285"},
    "dataset": {"name": "exam"},
}


def sample(number: Any, answer: str | None, value: Any = "C", **other: Any) -> dict[str, Any]:
    score = {"value": value, "answer": answer, "explanation": "ANSWER"}
    return {
        "id": number,
        "epoch": 1,
        "input": f"What of {number}?",
        "choices": ["x", "y", "z"],
        "target": "B",
        "scores": {"choice": score},
        "metadata": {"item_id": f"exam/{number}"},
        "model_usage": {"m": {"input_tokens": 10, "output_tokens": 2}},
        **other,
    }


def header(accuracy: float = 0.5, scorer: str = "choice", **other: Any) -> dict[str, Any]:
    metrics = {"accuracy": {"name": "accuracy", "value": accuracy}}
    scores = [{"name": scorer, "scorer": scorer, "metrics": metrics}]
    return {"version": 2, "status": "success", "eval": EVAL, "results": {"scores": scores}} | other


def archive(path: Path, entries: Mapping[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, json.dumps(content))
    return path


def only(path: Path) -> Log:
    (log,) = logs_in(path) or []
    return log


def test_archive_and_json_file_give_the_same_samples(tmp_path: Path) -> None:
    samples = [sample("a/1", "B"), sample(2, "C", "I"), sample(3, "", "I")]
    entries = {f"samples/{s['id']}_epoch_1.json": s for s in samples}
    packed = only(archive(tmp_path / "a.eval", {"header.json": header()} | entries))
    text = json.dumps(header() | {"samples": samples}, indent=2)
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    plain = only(tmp_path / "b.json")
    assert list(packed.samples()) == list(plain.samples())
    for log in (packed, plain):
        assert (log.format, log.version, log.task, log.model) == (
            *("Inspect", "0.3.285", "exam", "openai/gpt"),
        )
        assert (log.shots, log.scores, log.notes) == (3, {Mark("", "choice"): 0.5}, ())
    first, second, third = packed.samples()
    assert (first.number, first.question, first.choices) == ("a/1", "What of a/1?", ("x", "y", "z"))
    assert (first.gold, first.chosen, first.correct) == ((1,), 1, 1.0)
    assert (second.chosen, second.correct, second.outcome) == (2, 0.0, "answered")
    assert (third.chosen, third.outcome) == (-1, "unreadable")


def test_entries_packed_with_zstandard_in_several_frames_are_read(tmp_path: Path) -> None:
    content = json.dumps(sample(1, "B") | {"pad": "é" * 5000}).encode()
    codec = pa.Codec("zstd")
    frames = b"".join(codec.compress(part).to_pybytes() for part in (content[:99], content[99:]))
    path = archive(tmp_path / "a.eval", {"header.json": header()})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as file:
        file.writestr("samples/1_epoch_1.json", frames)
    # The method in both headers of the entry is that of Zstandard.
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"PK\x01\x02")
    local = raw.index(b"PK\x03\x04", 4)
    raw[at + 10 : at + 12] = raw[local + 8 : local + 10] = (93).to_bytes(2, "little")
    path.write_bytes(bytes(raw))
    (read,) = only(path).samples()
    assert (read.number, read.chosen) == ("1", 1)


def test_killed_run_is_read_without_its_header(tmp_path: Path) -> None:
    entries = {"_journal/start.json": {"version": 2, "eval": EVAL, "plan": {}}}
    log = only(archive(tmp_path / "a", entries | {"samples/1_epoch_2.json": sample(1, "A", "I")}))
    assert (log.model, log.scores) == ("openai/gpt", {})
    assert log.notes == ("the run was killed before its end",)
    assert [s.number for s in log.samples()] == ["1"]


def test_both_shapes_of_a_sample_are_one_and_the_later_entry_counts(tmp_path: Path) -> None:
    entries = {
        "header.json": header(),
        "samples/1_epoch_1.json": sample(1, "A", "I"),
        "samples/1_epoch_1/sample.json": sample(1, "B", metadata={}),
        "samples/1_epoch_1/metadata.json": {"item_id": "mine"},
    }
    (read,) = only(archive(tmp_path / "a.eval", entries)).samples()
    assert (read.chosen, read.doc) == (1, {"item_id": "mine"})


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"scores": {}, "error": {"message": "503"}}, {"outcome": "failed"}),
        ({"invalidation": {"reason": "x"}}, {"skipped": "invalidated in the log"}),
        ({"epoch": 4}, {"repeat": 4}),
        ({"target": ["A", "C"]}, {"gold": (0, 2)}),
        ({"target": "AC"}, {"gold": (0, 2)}),
        ({"target": "y"}, {"gold": (1,)}),
        (
            {"scores": {"choice": {"value": "P", "answer": "A, C"}}},
            {"correct": 0.5, "several": (0, 2)},
        ),
        ({"scores": {"choice": {"value": 1, "answer": " y"}}}, {"correct": 1.0, "chosen": 1}),
        ({"scores": None, "score": {"value": "C", "answer": "B"}}, {"correct": 1.0, "chosen": 1}),
        ({"input": "attachment://k", "attachments": {"k": "Long?"}}, {"question": "Long?"}),
        ({"input": [{"role": "user", "content": [{"text": "Q?"}]}]}, {"question": "Q?"}),
        ({"choices": "x", "__class__": "os.system"}, {"choices": ()}),
    ],
)
def test_what_a_sample_says_is_read(
    changed: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    entries = {"header.json": header(), "samples/1_epoch_1.json": sample(1, "B") | changed}
    (read,) = only(archive(tmp_path / "a.eval", entries)).samples()
    assert {name: getattr(read, name) for name in expected} == expected


def test_score_that_is_not_a_number_is_unknown(tmp_path: Path) -> None:
    scored = sample(1, "B", float("nan"))
    (read,) = only(
        archive(tmp_path / "a.eval", {"header.json": header(), "samples/1_epoch_1.json": scored})
    ).samples()
    assert read.correct != read.correct
    assert read.chosen == 1


def test_sample_without_answer_and_score_has_failed(tmp_path: Path) -> None:
    unscored = sample(1, "", float("nan"))
    entries = {"header.json": header(), "samples/1_epoch_1.json": unscored}
    (read,) = only(archive(tmp_path / "a.eval", entries)).samples()
    assert read.outcome == "failed"


def test_mean_over_epochs_is_preferred(tmp_path: Path) -> None:
    by_mode, by_mean = (
        header(value)["results"]["scores"][0] | {"reducer": name}
        for name, value in (("mode", 0.9), ("mean", 0.6))
    )
    for scores, expected in (
        ([by_mode, by_mean], 0.6),
        ([by_mode], 0.9),
    ):
        entries = {"header.json": header(results={"scores": scores})}
        log = only(archive(tmp_path / "a.eval", entries))
        assert log.scores == {Mark("", "choice"): expected}


@pytest.mark.parametrize("reducers", [["max"], ["max", "mean"]])
def test_epochs_count_as_the_log_reduced_them(tmp_path: Path, reducers: list[str]) -> None:
    config = {"epochs": 2, "epochs_reducer": reducers}
    samples = [sample(1, "B") | {"epoch": 1}, sample(1, "C", "I") | {"epoch": 2}]
    values = [{"scorer": "choice", "reducer": "max", "samples": [{"sample_id": 1, "value": "C"}]}]
    head = header(eval=EVAL | {"config": config})
    entries = {f"samples/1_epoch_{s['epoch']}.json": s for s in samples}
    entries |= {"header.json": head, "reductions.json": values}
    plain = tmp_path / "b.json"
    plain.write_text(json.dumps(head | {"samples": samples, "reductions": values}))
    for path in (archive(tmp_path / "a.eval", entries), plain):
        marks = [read.correct for read in only(path).samples()]
        assert marks == ([1, 1] if reducers == ["max"] else [1, 0])


@pytest.mark.parametrize(
    ("evaluation", "name"),
    [
        ({"model": "hf/local", "model_args": {"model_path": "/mnt/llama-7b/"}}, "/mnt/llama-7b/"),
        ({"model": "hf/org/llama"}, "org/llama"),
        ({"model": "anthropic/claude"}, "anthropic/claude"),
        ({"model": 3}, ""),
    ],
)
def test_model_is_named_without_the_provider_of_local_weights(
    evaluation: dict[str, Any], name: str, tmp_path: Path
) -> None:
    entries = {"header.json": header(eval=EVAL | evaluation)}
    assert only(archive(tmp_path / "a.eval", entries)).model == name


def test_scorer_with_marks_is_the_main_one(tmp_path: Path) -> None:
    scores = {"confidence": {"value": 0.2}, "match": {"value": "C", "answer": "B"}}
    entries = {"header.json": header(results=None)}
    first = {"samples/1_epoch_1.json": sample(1, "B", scores=scores)}
    (read,) = only(archive(tmp_path / "a.eval", entries | first)).samples()
    assert read.correct == 1.0
    scores["match"] = {"value": 0.9}
    first = {"samples/1_epoch_1.json": sample(1, "B", scores=scores)}
    log = only(archive(tmp_path / "b.eval", entries | first))
    (read,) = log.samples()
    assert log.main == NO_MARK
    assert read.marks == {Mark("", "confidence"): 0.2, Mark("", "match"): 0.9}


def test_marks_without_the_answer_that_was_read_are_no_unreadable_answers(tmp_path: Path) -> None:
    entries = {"header.json": header(scorer="pattern")} | {
        f"samples/{n}_epoch_1.json": sample(n, "", scores={"pattern": {"value": mark}})
        for n, mark in enumerate("CI")
    }
    read = list(only(archive(tmp_path / "a.eval", entries)).samples())
    assert [(s.correct, s.chosen, s.outcome) for s in read] == [
        (1.0, -1, "answered"),
        (0.0, -1, "answered"),
    ]


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.logs.inspect_log.LARGEST_ENTRY", 1_000_000)
    big = sample(1, "B") | {"pad": "0" * 10_000_000}
    path = archive(tmp_path / "a.eval", {"header.json": header(), "samples/1_epoch_1.json": big})
    with pytest.raises(InputError, match="bytes; remove the sample"):
        only(path)


def test_real_logs_are_read(shared_data: Path) -> None:
    logs = find_logs([shared_data / "logs" / "inspect"]).logs
    right = {
        (log.task, log.model): (
            sum(s.correct for s in log.samples() if s.correct == s.correct),
            sum(s.outcome == "answered" for s in log.samples()),
            sum(1 for _ in log.samples()),
        )
        for log in logs
    }
    assert right == {
        ("inspect_evals/arc_easy", "ollama/qwen2.5:0.5b"): (1, 3, 3),
        ("popularity", "azureai/Meta-Llama-3-1-405B-Instruct-jqf"): (3, 4, 4),
        ("inspect_evals/mmlu_0_shot", "openai/gpt-4o"): (0, 1, 1),
        ("arc_challenge", "mockllm/answerer-a"): (8, 12, 12),
        ("arc_challenge", "mockllm/answerer-b"): (7, 12, 12),
        ("arc_two_epochs", "mockllm/answerer-c"): (6, 12, 12),
        ("arc_errors", "mockllm/answerer-g"): (11, 21, 24),
        ("arc_challenge", "/data/evals/smol/SmolLM2-135M-Instruct"): (0, 0, 4),
    }
