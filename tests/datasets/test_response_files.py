import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from kedro.io import DatasetError

from answers.lm_eval_examples import (
    TIME,
    real_benchmark,
    results,
    scored,
    write_log,
    wrote,
)
from benchwright.answers.loaded_file import LoadedFile, log_file, told_apart
from benchwright.core.errors import InputError
from benchwright.datasets.response_files import ResponseFiles
from benchwright.logs.sample import Log, Mark, Sample
from benchwright.params.responses import ResponseFileParams

A, B = " A", " B"


def load(folder: Path, *named: dict[str, Any], mirror: str = "") -> dict[str, LoadedFile]:
    return ResponseFiles(
        benchmark={"responses": list(named)}, folder=str(folder), mirror_root=mirror
    ).load()


def cause(error: pytest.ExceptionInfo[DatasetError]) -> str:
    assert isinstance(error.value.__cause__, InputError)
    message = str(error.value.__cause__)
    assert "\n" not in message
    return message


def test_csv_texts_are_verbatim(tmp_path: Path) -> None:
    rows = '\ufeffitem_id,model,correct\nNone,NA,1\n01,TRUE,\n1e3,"two\nlines, é",nan\n'
    with gzip.open(tmp_path / "a.csv.gz", "wt", encoding="utf-8") as file:
        file.write(rows)
    table = load(tmp_path)["a.csv.gz"].table
    assert table is not None
    assert table["item_id"].to_pylist() == ["None", "01", "1e3"]
    assert table["model"].to_pylist() == ["NA", "TRUE", "two\nlines, é"]
    assert table["correct"].to_pylist() == ["1", None, "nan"]


def test_json_lines_keep_types_and_mixed_columns_become_text(tmp_path: Path) -> None:
    lines = [
        {"item_id": "2024-01-01", "logprobs": [-1.5, -2], "prediction": "B"},
        {"item_id": "01", "prediction": 1, "new": True},
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    table = load(tmp_path)["a.jsonl"].table
    assert table is not None
    assert table.to_pylist() == [
        {"item_id": "2024-01-01", "logprobs": [-1.5, -2.0], "prediction": "B", "new": None},
        {"item_id": "01", "logprobs": None, "prediction": "1", "new": True},
    ]


def test_folder_takes_precedence_over_the_mirror(tmp_path: Path) -> None:
    folder, mirror = tmp_path / "own", tmp_path / "mirror"
    for place, item in ((folder, "own"), (mirror / "responses", "mirrored")):
        place.mkdir(parents=True)
        (place / "a.csv").write_text(f"item_id,model\n{item},m\n", encoding="utf-8")
    (mirror / "responses" / "unnamed.csv").write_text("item_id,model\nq,m\n", encoding="utf-8")
    loaded = load(folder, {"file": "a.csv"}, mirror=str(mirror))
    mirrored = load(tmp_path / "absent", {"file": "a.csv"}, mirror=str(mirror))
    assert loaded["a.csv"].table["item_id"].to_pylist() == ["own"]
    assert list(mirrored) == ["a.csv"]
    assert mirrored["a.csv"].table["item_id"].to_pylist() == ["mirrored"]


def test_missing_configured_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": "a.parquet"}, mirror=str(tmp_path / "mirror"))
    mirrored = tmp_path / "mirror" / "responses"
    assert f"a.parquet is not in {tmp_path} and not in {mirrored}" in cause(error)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"file": "../../secret.csv"}, "responses[0].file: '../../secret.csv' must"),
        ({"file": "a.csv", "sytle": "cloze"}, "responses[0]: unknown key 'sytle'; "),
        ({"file": "m/samples_t_x.jsonl", "layout": "log"}, "file name without folders"),
        ({"file": "a.csv", "layout": "tidy", "model": "m"}, "model is only for layout log"),
        ("a.csv", "responses[0]: Input should be a valid dictionary"),
    ],
)
def test_invalid_entries_are_reported_in_one_line(tmp_path: Path, entry: Any, message: str) -> None:
    with pytest.raises(DatasetError) as error:
        load(tmp_path, entry)
    assert message in cause(error)
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": "a.csv"}, {"file": "a.csv", "style": "cloze"})
    assert "listed more than once" in cause(error)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"PAR1 torn", "a.parquet: cannot be read"),
        ("a.csv", b'item_id,model\nq1,"m\n', "a.csv: line 2: unexpected end of data"),
        ("a.csv", b"item_id,model\nq\xff,m\n", "a.csv: line 2: not valid UTF-8"),
        ("a.csv", b"item_id,model\n", "a.csv: no rows"),
        ("a.jsonl", b"[" * 100_000, "a.jsonl: cannot be read"),
    ],
)
def test_unreadable_files_are_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (file,) = load(tmp_path).values()
    assert message in file.problem
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": name})
    assert message in cause(error)


# --- logs of samples of lm-eval ------------------------------------------------------------------


def sample(**other: Any) -> dict[str, Any]:
    return scored(0, {"question": "é?"}, [A, B], [-1.5, -2], 0, **other)


def test_logs_in_subfolders_have_model_and_shots(tmp_path: Path) -> None:
    write_log(tmp_path / "org__model-7b", [sample()], "arc_easy", results("arc_easy", shots=3))
    write_log(tmp_path / "run" / "x", [sample()], "t", results("t", model="other", shots=0))
    for name in ("b.csv", "notes.txt", ".hidden.csv", "x.pkl"):
        (tmp_path / name).write_text("item_id,model\nq,m\n", encoding="utf-8")
    (tmp_path / "run" / "unread.csv").write_text("no table", encoding="utf-8")
    files = load(tmp_path)
    unread = {name for name, file in files.items() if file.problem}
    assert unread == {".hidden.csv", "notes.txt", "x.pkl"}
    files = {name: file for name, file in files.items() if name not in unread}
    assert {name: (f.spec.layout, f.spec.model, f.spec.shots) for name, f in files.items()} == {
        "b.csv": ("auto", None, -1),
        f"org__model-7b/samples_arc_easy_{TIME}.jsonl": ("log", "org/model-7b", 3),
        f"run/x/samples_t_{TIME}.jsonl": ("log", "other", 0),
    }
    assert list(files) == sorted(files)
    (log,) = (f.log for name, f in files.items() if name.startswith("org"))
    assert log is not None
    assert list(log.samples()) == [
        Sample(
            "0",
            doc={"question": "é?"},
            target="0",
            continuations=(A, B),
            logprobs=(-1.5, -2),
            marks={Mark("acc", "none"): 1},
        )
    ]


def test_log_in_the_folder_is_recognised_by_its_keys(tmp_path: Path) -> None:
    write_log(tmp_path, [sample()], "t").rename(tmp_path / "mine.jsonl")
    sources = real_benchmark("arc")["sources"]
    entry = {"file": "mine.jsonl", "model": "m"}
    benchmark = {"responses": [entry], "sources": sources}
    file = ResponseFiles(benchmark=benchmark, folder=str(tmp_path)).load()["mine.jsonl"]
    assert (file.spec.layout, file.spec.model, file.spec.shots) == ("log", "m", -1)
    gold = [(m.gold.column, m.choices and m.choices.column) for m in file.mappings]
    assert gold == [("answerKey", "choices.text")]
    tidy = load(tmp_path, {"file": "mine.jsonl", "layout": "tidy"})["mine.jsonl"]
    assert tidy.table is not None
    assert "doc_hash" in tidy.table.column_names


def test_log_without_results_is_named_after_its_folder(tmp_path: Path) -> None:
    write_log(tmp_path / "org__model", [sample()], beside={})
    (file,) = load(tmp_path).values()
    assert (file.spec.model, file.spec.shots) == ("org/model", -1)
    write_log(tmp_path, [sample()], beside={})
    problems = [file.problem for file in load(tmp_path).values() if file.problem]
    assert problems[0].startswith(f"{tmp_path}/samples_task_{TIME}.jsonl: unknown model; keep")


@pytest.mark.parametrize(
    ("say", "model", "shots"),
    [
        (results("a_task"), "org/model-7b", 5),
        (results("a_task", model="/mnt/models/llama-7b/"), "llama-7b", 5),
        (results("a_task", model="C:\\models\\llama-7b"), "llama-7b", 5),
        ({"config": {"model_args": "dtype=float,pretrained=org/m,peft=org/p"}}, "org/p", -1),
        ({"config": {"model_args": {"model": "gpt"}}, "n-shot": {"other": 3}}, "gpt", -1),
        ({"configs": {"a_task": {"num_fewshot": 2}}}, "m", 2),
    ],
)
def test_model_and_shots_are_read_from_results_of_several_versions(
    tmp_path: Path, say: dict[str, Any], model: str, shots: int
) -> None:
    write_log(tmp_path / "m", [sample()], "a_task", say)
    (file,) = load(tmp_path).values()
    assert (file.spec.model, file.spec.shots) == (model, shots)


def test_renamed_results_are_found_by_time(tmp_path: Path) -> None:
    write_log(tmp_path, [sample()])
    (tmp_path / f"results_{TIME}.json").rename(tmp_path / f"mine_{TIME}.json")
    (file,) = load(tmp_path).values()
    assert (file.spec.model, file.spec.shots) == ("org/model-7b", 5)
    write_log(tmp_path, [sample()], beside=results("task", model="usual"))
    (file,) = load(tmp_path).values()
    assert file.spec.model == "usual"


def test_only_needed_fields_of_a_sample_are_kept(tmp_path: Path) -> None:
    sure = ["Once " * 1000 + end for end in ("trophy", "case")]
    again = sample(contexts=["Q:", "Q:"])
    again["arguments"] |= {
        "gen_args_2": {"arg_0": "", "arg_1": A},
        "gen_args_3": {"arg_0": "", "arg_1": B},
    }
    again["filtered_resps"] = [*again["filtered_resps"], ["-7.0", "False"], ["-8.0", "False"]]
    many = scored(3, {}, [f" {i}" for i in range(12)], range(0, -12, -1), 0)
    many["arguments"] = dict(sorted(many["arguments"].items()))  # gen_args_10 after gen_args_1
    plain = scored(4, {}, [A, B], [-1, -2], 0, acc=True)
    plain["arguments"] = [["Q:", A], ["Q:", B]]
    plain["resps"] = [[[-1.0, False]], [[-2.0, False]]]
    del plain["filtered_resps"]
    rolling = scored(5, {}, [], [], 0, arguments={"gen_args_0": {"arg_0": "a text"}})
    rows = [
        again,
        scored(1, {}, [" fits."] * 2, [-1, -2], "fits.", contexts=sure),
        wrote(2, {}, "\ud800", True, by="strict"),
        many,
        plain,
        rolling,
    ]
    folder = tmp_path / "m"
    folder.mkdir()
    lines = "\n".join(json.dumps(row) for row in rows)  # lone surrogates as JSON escapes
    (folder / "samples_t.jsonl").write_text(lines, encoding="utf-8")
    (file,) = load(tmp_path).values()
    assert file.log is not None
    seen = list(file.log.samples())
    assert (seen[0].continuations, seen[0].logprobs) == ((A, B), (-1.5, -2))
    assert [end[-6:] for end in seen[1].contexts or ()] == ["trophy", "e case"]
    assert max(map(len, seen[1].contexts or ())) <= 2000
    assert (seen[2].continuations, seen[2].logprobs) == (None, None)
    assert seen[2].marks == {Mark("exact_match", "strict"): 1}
    assert seen[3].continuations == tuple(f" {i}" for i in range(12))
    assert (seen[4].logprobs, seen[4].marks) == ((-1, -2), {Mark("acc", "none"): 1})
    assert seen[5].continuations is None
    assert [row.contexts is None for row in seen] == [True, False, True, True, True, True]


def broken(key: str, value: Any) -> str:
    return json.dumps(sample() | {key: value})


GOOD = json.dumps(sample()) + "\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD * 2 + GOOD[:80], "line 3: not valid JSON"),
        (GOOD + "\n[1]\n", "line 3: expected an object, got [1]"),
        (GOOD + '{"doc_id": 1}', "line 2: no field 'filtered_resps'"),
        (GOOD + broken("doc_id", "7"), "line 2: doc_id: expected an integer, got '7'"),
        (GOOD + broken("filtered_resps", [["-1", "True"]]), "expected 2 responses"),
        (
            GOOD + broken("filtered_resps", [["x", "True"], []]),
            "response: expected a log-likelihood and a boolean",
        ),
        (GOOD + '{"doc": "\xff"}', "line 2: not valid JSON"),
    ],
)
def test_invalid_logs_are_reported_with_the_line(
    tmp_path: Path, content: str, message: str
) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "samples_t.jsonl").write_bytes(content.encode("latin-1"))
    (file,) = load(tmp_path).values()
    assert file.log is not None
    with pytest.raises(InputError) as error:
        list(file.log.samples())
    assert f"{folder}/samples_t.jsonl: " in str(error.value)
    assert message in str(error.value)


def test_files_in_subfolders_that_are_no_logs_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_log(tmp_path / "m", [sample()])
    (tmp_path / "m" / "samples_torn.jsonl").write_text('{"doc_', encoding="utf-8")
    load(tmp_path)
    assert "not recognised as logs: m/samples_torn.jsonl" in caplog.text


@pytest.mark.parametrize("say", ["{torn", "[1]"])
def test_invalid_results_are_named(tmp_path: Path, say: str) -> None:
    write_log(tmp_path / "m", [sample()])
    (tmp_path / "m" / f"results_{TIME}.json").write_text(say, encoding="utf-8")
    (file,) = load(tmp_path).values()
    assert f"results_{TIME}.json: " in file.problem


def test_model_and_sources_are_validated_for_logs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"item_id": "q", "model": "m"}\n', encoding="utf-8")
    with pytest.raises(DatasetError) as error:
        load(tmp_path, {"file": "a.jsonl", "model": "m"})
    assert "a.jsonl is not a log" in cause(error)
    write_log(tmp_path, [sample()])
    with pytest.raises(DatasetError) as error:
        ResponseFiles(benchmark={"sources": {"hub": {}}}, folder=str(tmp_path)).load()
    assert "sources.hub.fields: Field required" in cause(error)


def test_models_of_several_tools_or_revisions_are_told_apart() -> None:
    def named(model: str, tool: str, revision: str = "") -> LoadedFile:
        log = Log((Path("a.json"),), tool, lambda: iter(()), model=model, revision=revision)
        return log_file(log, ResponseFileParams(file="a.json"))

    files = [named("m", "HELM"), named("m", "Inspect"), named("n", "HELM", "1" * 40)]
    files += [named("n", "HELM", "2" * 40), named("n", "HELM"), named("o", "HELM", "main")]
    result = told_apart(files)
    assert [file.spec.model for file in result] == [
        *("m (HELM)", "m (Inspect)", f"n ({'1' * 12})", f"n ({'2' * 12})", "n", "o"),
    ]
    assert [file.name for file in result] == ["a.json", *(f"a.json #{n}" for n in range(2, 7))]
