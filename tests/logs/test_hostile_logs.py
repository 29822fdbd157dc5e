"""Values that a tool never writes are refused in one line that names the file, or are counted."""

import copy
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core import verbatim
from benchwright.core.errors import InputError
from benchwright.logs.find import find_logs, reader_of
from benchwright.logs.sample import Sample

ODD: tuple[Any, ...] = (
    *(None, True, -1, 1e999, math.nan, 10**30, 0.5, "", "\ud800", "9" * 60, "[redacted]"),
    *([], {}, [[]], {"__class__": "os.system"}, [None, "a", 1], "A"),
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
    marked = math.isnan(sample.correct) or 0 <= sample.correct <= 1
    known = sample.logprobs is None or not any(map(math.isnan, sample.logprobs))
    within = sample.chosen < len(sample.choices) if sample.choices else sample.chosen >= -1
    return marked and known and within and 1 <= sample.repeat < 2**40


def all_samples(path: Path) -> list[Sample]:
    """Every sample of a file or folder that is a log."""
    reader = reader_of(path)
    assert reader is not None
    logs = reader.read(path)
    assert all(log.score is None or 0 <= log.score <= 1 for log in logs)
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


RUNS = (helm_run, opencompass_run, lighteval_run)


def main_path(folder: Path) -> Path:
    """The path that is a log."""
    inside = [path for path in (folder, *folder.rglob("*")) if not path.match("results/**")]
    return next(p for p in inside if reader_of(p) is not None)


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
                if reader_of(path) is not None:
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


def test_a_parquet_file_that_expands_too_far_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lighteval_run(tmp_path)
    (path,) = tmp_path.rglob("*.parquet")
    row = pq.read_table(path).to_pylist()[0] | {"full_prompt": "a" * 100_000}
    pq.write_table(pa.Table.from_pylist([row] * 200), path)
    monkeypatch.setattr(verbatim, "TABLE_SLACK", 1 << 20)
    assert ".parquet: more than " in refusal(path)


def test_columns_of_other_types_are_refused_or_counted(tmp_path: Path) -> None:
    lighteval_run(tmp_path)
    (path,) = tmp_path.rglob("*.parquet")
    row = pq.read_table(path).to_pylist()[0]
    assert reader_of(path) is not None
    for name in row:
        for value in ODD:
            try:
                pq.write_table(pa.Table.from_pylist([{**row, name: value}]), path)
            except (pa.ArrowException, UnicodeEncodeError, OverflowError):
                continue  # Parquet does not have it
            if reader_of(path) is not None:
                assert is_named(refusal(path), tmp_path)
