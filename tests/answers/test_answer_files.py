"""Files beside good ones: read as answers, in the way of a verdict, or without effect."""

import bz2
import gzip
import json
import lzma
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import benchwright as bw
from answers.lm_eval_examples import results, scored, write_log
from benchwright.cli import cli
from benchwright.core.errors import InputError
from benchwright.logs.find import find_logs

N = 400
GOOD = (np.arange(N) % 5 > 0).astype(int)
BAD = (np.arange(N) % 3 > 0).astype(int)
TABLE = pd.DataFrame({"item_id": [f"q{n}" for n in range(N)], "model": "new", "correct": BAD})
CSV = TABLE.to_csv(index=False).encode()
Put = Callable[[Path], object]


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def sides(folder: Path) -> tuple[Path, Path]:
    """Folders of two sides whose answers are the same."""
    for side in ("a", "b"):
        (folder / side).mkdir()
        table = TABLE.assign(model="old", correct=GOOD)
        table.to_csv(folder / side / "good.csv", index=False)
    return folder / "a", folder / "b"


def gate(folder: Path) -> Result:
    return run("gate", folder / "a", folder / "b", "--margin", 0.02)


def put(name: str, content: bytes | str) -> Put:
    plain = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(plain)


def archive(name: str, **members: bytes) -> Put:
    def write(folder: Path) -> None:
        with zipfile.ZipFile(folder / name, "w") as file:
            for member, content in members.items():
                file.writestr(member.replace("_", "."), content)

    return write


def zstandard(folder: Path) -> None:
    with pa.CompressedOutputStream(str(folder / "new.csv.zst"), "zstd") as file:
        file.write(CSV)


def arrow_stream(folder: Path) -> None:
    table = pa.Table.from_pandas(TABLE)
    with pa.ipc.new_stream(str(folder / "new.arrow"), table.schema) as file:
        file.write_table(table)


def packed_parquet(folder: Path) -> None:
    (folder / "new.parquet.gz").write_bytes(gzip.compress(TABLE.to_parquet()))


READ: dict[str, Put] = {
    "tsv": put("new.tsv", TABLE.to_csv(index=False, sep="\t")),
    "capitals": put("new.CSV", CSV),
    "a list of objects": put("new.json", TABLE.to_json(orient="records")),
    "objects in lines": put("new.json", TABLE.to_json(orient="records", lines=True)),
    "ndjson": put("new.ndjson", TABLE.to_json(orient="records", lines=True)),
    "bz2": put("new.csv.bz2", bz2.compress(CSV)),
    "xz": put("new.csv.XZ", lzma.compress(CSV)),
    "zst": zstandard,
    "zip": archive("new.zip", x_csv=CSV, README_md=b"notes", __MACOSX=b""),
    "parquet.gz": packed_parquet,
    "feather": lambda folder: TABLE.to_feather(folder / "new.feather"),
    "arrow file": lambda folder: TABLE.to_feather(folder / "new.arrow"),
    "arrow stream": arrow_stream,
}


@pytest.mark.parametrize("kind", READ)
def test_tables_of_any_kind_are_read(tmp_path: Path, kind: str) -> None:
    _, b = sides(tmp_path)
    READ[kind](b)
    done = run("gate", f"{b}:old", f"{b}:new", "--margin", 0.02)
    assert done.exit_code == 1, done.output
    assert f"items: {N} answered by both" in done.output
    assert "B: new (b), 66.50%" in done.output
    assert gate(tmp_path).output.startswith("benchwright: b has 2 models")


def linked(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "new.csv").write_bytes(CSV)
    (folder / "new").symlink_to(outside)


def linked_file(folder: Path) -> None:
    (folder.parent / "new.csv").write_bytes(CSV)
    (folder / "new.csv").symlink_to(folder.parent / "new.csv")


def hidden(folder: Path) -> None:
    (folder / "new" / ".old" / ".older").mkdir(parents=True)
    (folder / "new" / ".old" / ".older" / "new.csv").write_bytes(CSV)


def many_places(folder: Path) -> None:
    (folder / ".many").mkdir()
    for number in range(1_001):
        (folder / ".many" / f"{number}.txt").touch()


def listening(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "new.sock"))


LINK = "new: a link out of the folder"
BLOCKING: dict[str, tuple[Put, str]] = {
    "broken csv": (put("new.csv", CSV + b'x,"'), f"new.csv: line {N + 2}: unexpected end"),
    "broken list": (put("new.json", TABLE.to_json(orient="records")[:99]), "new.json: cannot be"),
    "broken parquet": (put("new.parquet", b"PAR1"), "new.parquet: cannot be read"),
    "cut gzip": (put("new.csv.gz", gzip.compress(CSV)[:-9]), "new.csv.gz: cannot be read: "),
    "no log": (put("new.eval", b"PK\x03\x04"), "new.eval: no log of Inspect that can be read"),
    "no rows": (put("new.csv", "item_id,model,correct\n"), "new.csv: no rows"),
    "UTF-16": (put("new.csv", CSV.decode().encode("utf-16")), "new.csv: the file is UTF-16"),
    "semicolons": (put("new.csv", CSV.replace(b",", b";")), "not separated by commas"),
    "object of columns": (put("new.json", TABLE.to_json()), "new.json: an object of columns"),
    "pointer": (put("new.csv", "version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
    "several in one": (archive("new.zip", x_csv=CSV, y_csv=CSV), "an archive of 2 files of rows"),
    "broken zip": (put("new.zip", b"PK"), "new.zip: cannot be read: File is not a zip file"),
    "another archive": (put("new.7z", b"7z"), "new.7z: .7z files are not read; unpack it"),
    "pickle": (put("new.pkl", b"x"), "new.pkl: .pkl files are not read"),
    "packed archive": (put("new.tar.gz", gzip.compress(b"x")), "new.tar.gz: .tar files are not"),
    "another name": (put("new.txt", CSV), "new.txt: a table by its content, not by its name"),
    "Parquet of another name": (put("new.data", TABLE.to_parquet()), "a table by its content"),
    "linked folder": (linked, LINK),
    "linked file": (linked_file, "new.csv: a link out of the folder"),
    "link to nothing": (lambda f: (f / "new.csv").symlink_to(f / "gone.csv"), "new.csv: a link"),
    "link to itself": (lambda f: (f / "new.csv").symlink_to(f / "new.csv"), "new.csv: a link"),
    "hidden folder": (hidden, ".old: hidden"),
    "hidden file": (put(".new.csv", CSV), ".new.csv: hidden"),
    "hidden folder of many files": (many_places, ".many: hidden"),
    "pipe": (lambda folder: os.mkfifo(folder / "new.csv"), "new.csv: neither a file nor a folder"),
    "socket": (listening, "new.sock: neither a file nor a folder"),
}


@pytest.mark.parametrize("kind", BLOCKING)
def test_what_may_hold_answers_and_is_not_read_is_named_first(tmp_path: Path, kind: str) -> None:
    a, b = sides(tmp_path)
    write, said = BLOCKING[kind]
    write(b)
    done = gate(tmp_path)
    assert done.exit_code == 3, done.output
    assert said in done.output
    assert done.output.endswith("; nothing is decided on a part of the files\n")
    assert done.output.count("\n") == 1
    compared = run("compare", a, b, "--out", tmp_path / "compared.json")
    assert compared.exit_code == 0
    [unread] = json.loads((tmp_path / "compared.json").read_text())["unread_files"]
    assert f"not read: {unread}" == compared.output.splitlines()[0]
    assert compared.output.startswith(f"not read: {b}")
    assert said in compared.output.splitlines()[0]
    assert compared.output.count(said) == 1


def test_a_file_whose_reading_fails_is_one_line() -> None:
    done = run("gate", "/proc/self/mem", "/proc/self/mem", "--margin", 0.1)
    assert done.output == "benchwright: /proc/self/mem: cannot be read: Input/output error\n"
    read = run("read", "/proc/self/task")
    assert (read.exit_code, read.output.count("\n")) == (3, 1)
    unread = find_logs([Path("/proc/self/task")]).unusable
    assert unread
    assert all(why.startswith("/proc/self/task/") for _, why in unread)


def test_a_folder_that_cannot_be_entered_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = run("read", tmp_path / "pipe")
    assert done.output == f"benchwright: {tmp_path}/pipe: cannot be read: Not a directory\n"


def git(folder: Path) -> None:
    for name in (".git", ".ipynb_checkpoints", "__pycache__"):
        (folder / name).mkdir()
        (folder / name / "new.csv").write_bytes(CSV)
    put("._new.csv", CSV)(folder)


def linked_inside(folder: Path) -> None:
    (folder / "run").mkdir()
    (folder / "latest").symlink_to("run")
    (folder / "up").symlink_to(folder)


def linked_settings(folder: Path) -> None:
    (folder.parent / "data").mkdir()
    (folder.parent / "data" / "a.yaml").write_text("a: 1")
    (folder.parent / "data" / "back").symlink_to(folder)
    (folder / "data").symlink_to(folder.parent / "data")


SETTINGS = json.dumps({"results": {"mmlu": 0.8}, "model": "new", "score": 0.8}, indent=1)
HARMLESS: dict[str, tuple[Put, str]] = {
    "nothing": (lambda folder: None, ""),
    "empty": (put("_errors.jsonl", ""), "b/_errors.jsonl"),
    "empty Parquet": (put("new.parquet", ""), "b/new.parquet"),
    "text": (put("README.md", "# Notes, item_id"), "b/README.md"),
    "settings": (put("settings.json", SETTINGS), "b/settings.json"),
    "broken settings": (put("settings.json", SETTINGS[:-9]), "b/settings.json"),
    "broken table of others": (put("times.csv", "time,step\n1,2,3\n"), "b/times.csv"),
    "table without rows": (put("errors.csv", "time,error\n"), "b/errors.csv"),
    "questions": (put("questions.json", '[{"question": "Q?", "answer": "A"}]'), "b/questions.json"),
    "wide means": (put("means.csv", "model,mmlu,arc\nnew,80%,.7\n"), "b/means.csv"),
    "tidy means": (put("means.csv", "model,task,score\nnew,mmlu,.8\n"), "b/means.csv"),
    "packed text": (put("run.log.gz", gzip.compress(b"text")), "b/run.log.gz"),
    "broken packed text": (put("run.log.gz", b"text"), "b/run.log.gz"),
    "plots": (archive("plots.zip", a_png=b"x", b_png=b"y"), "b/plots.zip"),
    "link to no table": (lambda f: (f / "debug.log").symlink_to(f / "gone"), "b/debug.log"),
    "link to no answers": (linked_settings, "b/data"),
    "folders of tools": (git, ""),
    "hidden settings": (put(".env", "A=1"), ""),
    "links within": (linked_inside, ""),
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_holds_no_answers_costs_a_line(tmp_path: Path, kind: str) -> None:
    _, b = sides(tmp_path)
    write, named = HARMLESS[kind]
    write(b)
    done = gate(tmp_path)
    assert done.exit_code == 0, done.output
    assert f"items: {N} answered by both" in done.output
    said = [line for line in done.output.splitlines() if "no answers" in line]
    assert said == ([f"note: not read, and no answers: {named} (1 file)"] if named else [])


def test_a_written_file_beside_a_link_to_nothing_is_no_input(tmp_path: Path) -> None:
    a, b = sides(tmp_path)
    (b / "new.csv").symlink_to(tmp_path / "gone.csv")
    (b / "made.json").touch()
    done = run("compare", a, b, "--out", b / "made.json")
    assert done.exit_code == 0, done.output
    assert json.loads((b / "made.json").read_text())["items"] == N


def test_other_files_are_named_up_to_five(tmp_path: Path) -> None:
    _, b = sides(tmp_path)
    for number in range(7):
        (b / f"{number}.txt").touch()
    said = (
        "note: not read, and no answers: b/0.txt, b/1.txt, b/2.txt, b/3.txt, b/4.txt, … (7 files)"
    )
    assert said in gate(tmp_path).output.splitlines()


def test_means_are_answers_where_there_is_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a" / "means.csv"
    file.parent.mkdir()
    file.write_text("model,mmlu,arc\nx,.8,.7\ny,.7,.7\n")
    done = run("compare", f"{file.parent}:x", f"{file.parent}:y")
    assert "items: 2 answered by both" in done.output
    marks = "model," + ",".join(TABLE["item_id"]) + "\nnew" + ",1" * N + "\n"
    (file.parent / "marks.csv").write_text(marks)  # whole answers, in the same layout
    done = run("compare", f"{file.parent}:new", f"{file.parent}:new")
    assert f"items: {N} answered by both" in done.output


def log(folder: Path, model: str, right: int) -> Path:
    rows = []
    for number in range(20):
        doc = {"question": f"Q{number}?", "choices": ["x", "y"], "gold": 0}
        values = [-1.0, -2.0] if number < right else [-2.0, -1.0]
        rows.append(scored(number, doc, [" x", " y"], values, 0))
    return write_log(folder, rows, task="quiz", beside=results("quiz", model=model))


def test_files_of_a_tool_beside_its_logs_have_no_effect(tmp_path: Path) -> None:
    for side in ("a", "b"):
        log(tmp_path / side, "org/m", 15)
        (tmp_path / side / "summary.csv").write_text("model,quiz\norg/m,.75\n")
        (tmp_path / side / "_errors.jsonl").touch()
    done = run("gate", tmp_path / "a", tmp_path / "b", "--margin", 0.15)
    assert done.exit_code == 0, done.output
    assert "20 items by text" in done.output
    assert done.output.count("not read, and no answers: ") == 1
    assert "(4 files)" in done.output


def test_packed_logs_are_read_if_they_name_their_model(tmp_path: Path) -> None:
    plain = log(tmp_path / "a", "org/m", 15)
    packed = tmp_path / "b" / "new.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    done = run("gate", tmp_path / "a", packed, "--margin", 0.1)
    assert done.exit_code == 3
    assert f"{packed}: a log without its model; unpack it beside the run's results" in done.output


def test_read_lists_what_was_not_read(tmp_path: Path) -> None:
    log(tmp_path, "org/m", 15)
    (tmp_path / "new.7z").write_bytes(b"7z")
    (tmp_path / "notes.txt").touch()
    done = run("read", tmp_path)
    assert done.exit_code == 3
    assert f"{tmp_path}/new.7z: .7z files are not read" in done.output
    assert f"not read, and no answers: {tmp_path.name}/notes.txt (1 file)" in done.output


def test_files_that_are_named_must_have_answers(tmp_path: Path) -> None:
    for name, content, said in (
        ("a.json", SETTINGS, "a.json: one object; expected a log, or a list of rows"),
        ("a.csv", "", "a.csv: no rows"),
        ("a.csv", "x\n1\n", "no column 'item_id' or 'model'; it has x"),
        ("a.json", '[{"item_id": [1], "correct": 1}]', "a.json, column 'item_id': expected text"),
    ):
        (tmp_path / name).write_text(content)
        done = run("compare", tmp_path / name, tmp_path / name)
        assert done.exit_code == 3
        assert said in done.output
        assert done.output.count("\n") == 1


def test_names_that_no_file_can_have_are_one_line(tmp_path: Path) -> None:
    _, b = sides(tmp_path)
    name = "x" * 300
    both = (b, b, "--margin", 0.1)
    for words in (
        ("gate", name, name, "--margin", 0.1),
        ("read", name),
        ("gate", *both, "--subset", name),
        ("gate", *both, "--items", f"{name}.csv"),
        ("gate", *both, "--items", f"{name}.zip"),
    ):
        done = run(*words)
        assert (done.exit_code, done.output.count("\n")) == (3, 1), done.output
        assert done.output.startswith(("benchwright: x", "benchwright: --subset: x"))


@pytest.mark.parametrize(
    "given", [{"item_id": ["q0"]}, np.ones(3), [1], [], {}, b"a", ["a.csv", "b.csv"]]
)
def test_values_that_are_no_answers_are_named(given: object) -> None:
    for call in (
        lambda: bw.compare(TABLE, given),
        lambda: bw.gate(given, TABLE, 0.1),
        lambda: bw.estimate(given, TABLE),
    ):
        with pytest.raises(InputError, match=r"expected|no rows"):
            call()
