"""Values that a tool never writes are refused in one line that names the file, or are counted."""

import copy
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import InputError
from benchwright.logs.find import LINKED, find_logs, is_log, logs_in
from benchwright.logs.options import MOST_SEVERAL
from benchwright.logs.sample import Sample

ODD: tuple[Any, ...] = (
    *(None, True, -1, 1e999, math.nan, 10**30, 10**400, 0.5, "", "\ud800", "9" * 60, "[redacted]"),
    *("a\nb", [], {}, [[]], {"__class__": "os.system"}, [None, "a", 1], "A"),
)
TIME = "2026-01-02T03-04-05.6"

Place = tuple[str | int, ...]


def helm_run(folder: Path) -> dict[str, Any]:
    option = {"output": {"text": "fire"}, "tags": ["correct"]}
    asked = {"input": {"text": "Which?"}, "references": [option, option], "id": "id1"}
    tokens = [{"text": " fire", "logprob": -1.0}]
    result = {"success": True, "completions": [{"text": "A", "tokens": tokens}]}
    request = {"instance": asked, "train_trial_index": 0, "result": result}
    joint = {**request, "output_mapping": {"A": "fire", "B": "ice"}}
    separate = {**request, "reference_index": 0, "request_mode": "original"}
    stat = {"name": {"name": "exact_match", "split": "test"}, "mean": 1.0}
    adapter = {"method": "multiple_choice_joint", "model": "m", "max_train_instances": 5}
    row = {"instance_id": "id1", "train_trial_index": 0}
    return {
        "run_spec.json": {"name": "toy:a=b,model=m", "adapter_spec": adapter},
        "scenario_state.json": {"request_states": [joint, separate]},
        "per_instance_stats.json": [{**row, "stats": [stat]}],
        "stats.json": [stat],
        "display_predictions.json": [{**row, "mapped_output": "fire"}],
    }


def opencompass_run(folder: Path) -> dict[str, Any]:
    label = {"testing input": "Which?\nfire", "prompt": "Which?\nfire", "PPL": 1.0}
    scored = {"origin_prompt": "Which?\nfire", "label: A": label, "prediction": "A", "gold": "A"}
    turns = [{"role": "HUMAN", "prompt": "Which?"}]
    written = {"origin_prompt": turns, "prediction": "A", "gold": "A"}
    detail = {"pred": "A", "refr": "A", "is_correct": True}
    details = {"type": "GEN", "0": detail, "1": {"predictions": ["A"], "references": ["A"]}}
    return {
        "predictions/m/toy.json": {"0": scored, "1": written},
        "results/m/toy.json": {"accuracy": 50.0, "details": details},
    }


def lighteval_run(folder: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"example": "Which?", "full_prompt": "Which?", "choices": ["ice", "fire"]}
    row |= {"gold_index": [1], "predictions": [-2.0, -1.0], "metrics": {"acc": 1.0}}
    place = folder / "details" / "m" / TIME
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([row]), place / f"details_toy|0_{TIME}.parquet")
    general = {"model_name": "m", "model_sha": "abc", "model_config": {"revision": "main"}}
    results = {"config_general": general, "results": {"toy|0": {"acc": 1.0}}}
    return {f"results/m/results_{TIME}.json": results}


def inspect_run(folder: Path) -> dict[str, Any]:
    score = {"value": "C", "answer": "B", "explanation": "B", "history": []}
    usage = {"m": {"input_tokens": 10, "output_tokens": 2}}
    asked = [{"role": "user", "content": [{"type": "text", "text": "Which?"}]}]
    sample = {"id": 1, "epoch": 1, "input": asked, "choices": ["ice", "fire"], "target": ["B"]}
    sample |= {"scores": {"choice": score}, "metadata": {"item_id": "a"}, "model_usage": usage}
    metrics = {"accuracy": {"name": "accuracy", "value": 1.0}}
    results = {"scores": [{"name": "choice", "scorer": "choice", "metrics": metrics}]}
    arguments = {"model_path": "models/m"}
    evaluation = {"task": "toy", "model": "hf/local", "model_args": arguments}
    evaluation |= {"task_args": {"fewshot": 3}, "packages": {"inspect_ai": "0.3.285"}}
    header = {"version": 2, "status": "success", "eval": evaluation, "plan": {}}
    return {"toy.json": header | {"results": results, "samples": [sample]}}


def every_eval_ever_run(folder: Path) -> dict[str, Any]:
    asked = {"raw": "Which?", "reference": ["fire"], "choices": ["ice", "fire"]}
    row = {
        "schema_version": "0.3.0",
        "evaluation_id": "toy/m/1",
        "model_id": "m",
        "evaluation_name": "toy",
        "evaluation_result_id": "acc",
        "sample_id": "1",
        "interaction_type": "single_turn",
        "input": asked,
        "output": {"raw": ["fire"]},
        "answer_attribution": [{"extracted_value": "fire", "is_terminal": True}],
        "evaluation": {"score": 1.0, "is_correct": True},
        "token_usage": {"input_tokens": 1},
        "metadata": {"epoch": "1"},
        "error": None,
    }
    config = {"additional_details": {"num_fewshot": "3"}}
    result = {
        "evaluation_result_id": "acc",
        "evaluation_name": "toy",
        "generation_config": config,
        "metric_config": {"metric_name": "acc"},
        "score_details": {"score": 1.0},
    }
    model = {"additional_details": {"revision": "main"}}
    aggregate = {"evaluation_results": [result], "model_info": model, "eval_library": {"name": "x"}}
    return {"0a_samples.jsonl": row, "0a.json": aggregate}


def lm_eval_run(folder: Path) -> dict[str, Any]:
    requests = {f"gen_args_{i}": {"arg_0": "Which?", "arg_1": t} for i, t in enumerate("ab")}
    row = {
        "doc_id": 0,
        "doc": {"question": "Which?", "choices": ["a", "b"]},
        "target": "1",
        "arguments": requests,
        "resps": [[["-2.0", "False"]], [["-1.0", "True"]]],
        "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]],
        "filter": "none",
        "acc": 1.0,
    }
    config = {"model": "hf", "model_args": {"pretrained": "org/m"}, "model_sha": "abc"}
    results = {
        "results": {"toy": {"acc,none": 1.0}},
        "n-shot": {"toy": 3},
        "config": config,
        "configs": {"toy": {"num_fewshot": 3}},
        "lm_eval_version": "0.4.13",
    }
    return {f"samples_toy_{TIME}.jsonl": row, f"results_{TIME}.json": results}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place in a document below its root."""
    if place:
        yield place
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from places(value[key], (*place, key))


def changed(document: Any, place: Place, value: Any) -> Any:
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, document in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))


def is_sound(sample: Sample) -> bool:
    texts = (sample.number, sample.question, sample.prompt, sample.target, *sample.choices)
    "".join(texts).encode()
    known = sample.logprobs is None or all(isinstance(v, float) for v in sample.logprobs)
    most = len(sample.choices) or MOST_SEVERAL
    within = max(sample.several, default=sample.chosen) < most
    return known and within and 1 <= sample.repeat < 2**40


def all_samples(path: Path) -> list[Sample]:
    """Every sample of a file or folder that is a log."""
    logs = logs_in(path)
    assert logs is not None
    assert all(isinstance(score, float) for log in logs for score in log.scores.values())
    return [sample for log in logs for sample in log.samples()]


def refusal(path: Path) -> str:
    """The message with which a log is refused, "" if it is read as sound samples."""
    try:
        samples = all_samples(path)
    except InputError as error:
        return str(error)
    assert all(map(is_sound, samples))
    return ""


def is_named(message: str, folder: Path) -> bool:
    return not message or (str(folder) in message and "\n" not in message)


RUNS = (
    *(helm_run, opencompass_run, lighteval_run),
    *(inspect_run, every_eval_ever_run, lm_eval_run),
)


def main_path(folder: Path) -> Path:
    """The path that is a log."""
    inside = [path for path in (folder, *folder.rglob("*")) if not path.match("results/**")]
    return next(p for p in inside if is_log(p))


@pytest.mark.parametrize("run", RUNS)
def test_any_odd_value_is_refused_or_counted(
    tmp_path: Path, run: Callable[[Path], dict[str, Any]]
) -> None:
    files = run(tmp_path)
    write(tmp_path, files)
    path = main_path(tmp_path)
    assert any(sample.outcome == "answered" for sample in all_samples(path))
    for name, document in files.items():
        for number, place in enumerate(places(document)):
            for value in ODD[number % 2 :: 2]:
                write(tmp_path, {name: changed(document, place, value)})
                if is_log(path):
                    assert is_named(refusal(path), tmp_path)
        write(tmp_path, {name: document})


@pytest.mark.parametrize("run", RUNS)
def test_a_file_that_is_cut_is_refused_with_its_name(
    tmp_path: Path, run: Callable[[Path], dict[str, Any]]
) -> None:
    files = run(tmp_path)
    write(tmp_path, files)
    path = main_path(tmp_path)
    for name, document in files.items():
        text = json.dumps(document)
        (tmp_path / name).write_text(text[:-2])
        assert str(tmp_path / name) in refusal(path)
        (tmp_path / name).write_text(text)


def test_nothing_in_a_configuration_is_executed(tmp_path: Path) -> None:
    write(tmp_path, opencompass_run(tmp_path))
    trace = tmp_path / "trace"
    config = tmp_path / "configs" / "run.py"
    config.parent.mkdir()
    config.write_text(
        f"open({str(trace)!r}, 'w')\ndatasets=[dict(abbr='toy', ice_num=3)]\nraise SystemExit"
    )
    (log,) = find_logs([tmp_path]).logs
    assert (len(list(log.samples())), log.shots) == (2, 3)
    assert not trace.exists()


def test_columns_of_other_types_are_refused_or_counted(tmp_path: Path) -> None:
    lighteval_run(tmp_path)
    (path,) = tmp_path.rglob("*.parquet")
    row = pq.read_table(path).to_pylist()[0]
    assert is_log(path)
    for name in row:
        for value in ODD:
            try:
                pq.write_table(pa.Table.from_pylist([{**row, name: value}]), path)
            except (pa.ArrowException, UnicodeEncodeError, OverflowError):
                continue  # Parquet does not have it
            if is_log(path):
                assert is_named(refusal(path), tmp_path)


def packed(folder: Path, extra: dict[str, str], name: str = "toy.eval") -> Path:
    """An archive of Inspect with one sample, and entries as they are."""
    document = inspect_run(folder)["toy.json"]
    (sample,) = document.pop("samples")
    entries = {"header.json": document, "samples/1_epoch_1.json": sample}
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, json.dumps(content))
        for entry, text in extra.items():
            archive.writestr(entry, text)
    return path


def test_entries_that_leave_the_folder_are_not_written(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    sample = inspect_run(tmp_path)["toy.json"]["samples"][0]
    names = ("../../out_epoch_1.json", "samples/../../../out_epoch_1.json", "/out_epoch_1.json")
    path = packed(inside, {name: json.dumps(sample) for name in names})
    assert refusal(path) == ""
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "{", "\ud800", "", '"' + "a" * 10**6]
)
def test_a_sample_that_is_no_sample_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    content = text.encode("utf-8", "surrogatepass").decode("latin-1")
    message = refusal(packed(tmp_path, {"samples/2\n_epoch_1.json": content}))
    assert str(tmp_path) in message
    assert "\n" not in message
    assert len(message) < 600


def test_an_encrypted_sample_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, {})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rfind(signature) + offset] |= 1
    path.write_bytes(content)
    assert "is encrypted" in refusal(path)


def test_an_archive_cut_or_changed_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, {})
    content = path.read_bytes()
    for at in range(5, len(content), 41):
        damaged = (content[:at], content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        for broken in damaged:
            path.write_bytes(broken)
            if is_log(path):
                assert is_named(refusal(path), tmp_path)


@pytest.mark.parametrize("run", [inspect_run, every_eval_ever_run, lm_eval_run, opencompass_run])
@pytest.mark.parametrize("nested", ["[", '{"a":'])
def test_json_nested_too_deeply_is_refused_with_its_file(
    tmp_path: Path, run: Callable[[Path], dict[str, Any]], nested: str
) -> None:
    files = run(tmp_path)
    write(tmp_path, files)
    path = main_path(tmp_path)
    for name, document in files.items():
        text = json.dumps(document)
        (tmp_path / name).write_text(text[:-1] + ', "deep": ' + nested * 100_000)
        message = refusal(path) if is_log(path) else ""
        assert is_named(message, tmp_path)
        assert (str(tmp_path / name) in message) or not is_log(path)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize("cell", ["(" * 100_000, "[" * 5000 + "]" * 5000, "9" * 5000, "-" * 9000])
def test_python_literals_that_are_nested_or_huge_are_no_answers(tmp_path: Path, cell: str) -> None:
    row = {"example": "Which?", "full_prompt": "Which?", "choices": "['a', 'b']"}
    row |= {"gold_index": cell, "predictions": cell, "metrics": cell}
    path = tmp_path / f"details_toy|0_{TIME}.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    assert [sample.outcome for sample in all_samples(path)] == ["failed"]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    path = packed(outside, {})
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "toy.eval").symlink_to(path)
    (inside / "self").symlink_to(inside, target_is_directory=True)
    (inside / "gone.eval").symlink_to(inside / "nothing")
    os.mkfifo(inside / "pipe.eval")
    found = find_logs([inside])
    assert (found.logs, found.others) == ([], [])
    pipe = inside / "pipe.eval"
    assert found.unusable == [(pipe, f"{pipe}: neither a file nor a folder")]
    linked = [inside / "folder", inside / "gone.eval", inside / "toy.eval"]
    assert found.passed_by == [(path, LINKED) for path in linked]
