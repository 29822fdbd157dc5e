import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from benchwright.answers.read_answers import read_answers
from benchwright.answers.read_logs import BenchmarkItems, read_logs, summary_lines
from benchwright.cli import cli
from benchwright.cli.make_benchmark import check_name, make_benchmark, make_benchmark_of_table
from benchwright.core.errors import InputError
from benchwright.params.benchmark import ChoicesField, FieldMapping, GoldField
from logs.test_inspect_log import archive, header, sample


def inspect_log(folder: Path, model: str, answers: str, **other: Any) -> Path:
    """A log of Inspect with an answer of a model per sample."""
    evaluation = header()["eval"] | {"model": model}
    entries = {"header.json": header(eval=evaluation, **other)}
    for number, answer in enumerate(answers):
        mark = "C" if answer == "B" else "I"
        entries[f"samples/{number}_epoch_1.json"] = sample(number, answer.strip(), mark)
    folder.mkdir(parents=True, exist_ok=True)
    return archive(folder / f"{model.replace('/', '_')}.eval", entries)


def harness_log(folder: Path, model: str, answers: str) -> Path:
    """A log of lm-evaluation-harness to the same questions, options in another order."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, answer in enumerate(answers):
        doc = {"question": f"What of {number}?", "choices": ["z", "y", "x"]}
        scores = [[-1.0 if letter == answer else -2.0, False] for letter in "ABC"]
        line = {
            "doc_id": 9 - number,
            "doc": doc,
            "target": "1",
            "arguments": [["Q", f" {letter}"] for letter in "ABC"],
            "resps": [[score] for score in scores],
            "acc": float(answer == "B"),
        }
        lines.append(json.dumps(line))
    path = folder / "samples_exam_2026-11-20T22-25-57.jsonl"
    path.write_text("\n".join(lines))
    (folder / "results_2026-11-20T22-25-57.json").write_text(json.dumps({"model_name": model}))
    return path


def test_logs_of_two_tools_are_joined_by_text(tmp_path: Path) -> None:
    inspect_log(tmp_path / "a" / "deep", "org/m", "BC ")
    harness_log(tmp_path / "b", "org/m", "BAB")
    (tmp_path / "notes.txt").write_text("nothing")
    found = read_logs([tmp_path])
    assert len(found.items) == 3
    rows = found.answers.sort_values(["model", "item_id"])
    assert rows["model"].unique().tolist() == [
        "org/m (Inspect)",
        "org/m (lm-evaluation-harness)",
    ]
    assert rows["prediction"].tolist() == [1, 2, -1, -1, -1, -1]
    assert rows["extraction"].tolist() == ["ok", "ok", "failed", "none", "none", "none"]
    # Log-likelihoods are in the order of the item's options, x, y, z.
    assert [list(scores) for scores in rows["logprobs"][3:]] == [
        [-2, -1, -2],
        [-2, -2, -1],
        [-2, -1, -2],
    ]
    lines = summary_lines(found)
    assert lines[1].split()[:4] == ["Inspect", "0.3.285", "exam", "org/m"]
    assert lines[1].split()[-2:] == ["0.3333", "0.5000"]
    assert "choice of the log is 0.5000, the mean of its 3 marks 0.3333" in "\n".join(lines)
    assert lines[-1].startswith("not read, and no answers: ")
    assert lines[-1].endswith("notes.txt (1 file)")


def test_log_that_contradicts_its_gold_has_one_accuracy(tmp_path: Path) -> None:
    entries = {f"samples/{n}_epoch_1.json": sample(n, "B", "I") | {"target": "y"} for n in range(4)}
    archive(tmp_path / "a.eval", {"header.json": header(0.0)} | entries)
    line = read_logs([tmp_path]).report.iloc[0]
    assert (line["accuracy"], line["log_score"], line["contradicting"]) == (0.0, 0.0, 0)
    known = read_answers([tmp_path])
    assert known.correct.mean() == line["accuracy"]
    assert known.notes[0] == (
        "a.eval: 4 of 4 answers are marked otherwise than options and golds read here: 0.0% are "
        "right by the marks, 100.0% by this reading; the marks count"
    )


def test_tidy_tables_beside_logs_are_read_and_other_tables_are_not(tmp_path: Path) -> None:
    inspect_log(tmp_path, "org/m", "BC ")
    rows = pd.DataFrame({"item_id": ["exam/0", "exam/9"], "model": "n", "correct": [1, 0]})
    rows.to_csv(tmp_path / "answers.csv", index=False)
    pd.DataFrame({"dataset": ["exam"], "version": ["x"]}).to_csv(tmp_path / "summary.csv")
    found = read_logs([tmp_path])
    report = found.report.set_index("layout")
    assert report.loc["tidy", ["joined_by_id", "not_joined"]].tolist() == [1, 1]
    assert [path.name for path in found.others] == ["summary.csv"]


def test_nothing_recognised_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing")
    with pytest.raises(InputError, match="no log was recognised"):
        read_logs([tmp_path])


def test_a_benchmark_is_made_of_logs_once(tmp_path: Path, repository: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(repository / "conf", project / "conf")
    inspect_log(tmp_path / "logs", "org/m", "BC ")
    found = read_logs([tmp_path / "logs"])
    (items, answers, conf), left_out = make_benchmark("mine", found, project, None)
    assert left_out == []
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    assert [row["item_id"] for row in rows] == ["exam/0", "exam/1", "exam/2"]
    assert rows[0]["choices"] == ["x", "y", "z"]
    assert rows[0]["answer"] == "B"
    assert pd.read_parquet(answers)["prediction"].tolist() == [1, 2, pd.NA]
    assert yaml.safe_load(conf.read_text())["_benchmarks"]["mine"]["citation"] == "logs of Inspect"
    with pytest.raises(InputError, match="exists; --update replaces it"):
        make_benchmark("mine", found, project, None)
    inspect_log(tmp_path / "logs", "org/m", "BCA")
    again = read_logs([tmp_path / "logs"])
    (_, answers, _), _ = make_benchmark("mine", again, project, None, update=True)
    assert pd.read_parquet(answers)["prediction"].tolist() == [1, 2, 0]
    conf.write_text("_benchmarks: {}\n")  # of a user
    with pytest.raises(InputError, match="exists; choose another name"):
        make_benchmark("mine", again, project, None, update=True)
    for name in ("../mine", "1a", "a-b", "Null", "on", "a" * 61):
        with pytest.raises(InputError, match="use a letter, then letters, digits and underscores"):
            check_name(name)
    with pytest.raises(InputError, match="there is a benchmark arc;"):
        make_benchmark("ARC", found, project, None)


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        ("BA", "letter"),
        ("ba", "letter"),
        ("10", "index"),
        ("31", "number"),
        ("yx", "text"),
        ("1A", "text"),
        ("79", "text"),
    ],
)
def test_a_table_of_questions_becomes_a_benchmark(
    tmp_path: Path, repository: Path, answers: str, form: str
) -> None:
    project = tmp_path / "project"
    shutil.copytree(repository / "conf", project / "conf")
    file = tmp_path / "questions.csv"
    rows = [f"Which is {n}?,x,{answers[n] if answers in ('1A', '79') else 'y'},z," for n in (0, 1)]
    rows[0] = rows[0].replace(",1,", ",y,") if answers == "yx" else rows[0]
    rows += ["Which is 2?,x,x,z,"]  # two options are equal
    lines = [row + answers[n % 2] for n, row in enumerate(rows)]
    file.write_text("\n".join(["question,A,B,C,answer", *lines]))
    made = make_benchmark_of_table("mine", file, project, None)
    assert made is not None
    settings = yaml.safe_load(made.files[-1].read_text())["_benchmarks"]["mine"]
    assert settings["sources"]["local"]["fields"]["gold"]["form"] == form
    assert all(name.endswith("@cloze-0") for name in settings["scoring"]["configurations"])
    assert [path.name for path in made.files] == ["questions.csv", "mine.yml"]
    file.write_text("question,A,B,C,answer\n1?,x,y,z,(A)\n2?,x,y,z,B.\n3?,x,y,z,unknown\n")
    made = make_benchmark_of_table("letters", file, project, None)
    assert made is not None
    [left_out] = made.left_out
    said = f"{file}: left out: 1 of 3 rows: unreadable_gold (1); row 3: gold is 'unknown'"
    assert left_out.startswith(said)
    file.write_text("question,A,B,C,answer\n1?,x,y,z,D\n2?,x,y,z,E\n")
    with pytest.raises(InputError, match=r"\.csv: .* rejected by gold_out_of_range \(2\); row 1: "):
        make_benchmark_of_table("other", file, project, None)
    file.write_text("question,A,B,C,answer\nWhich?,x,y,z,1\nWhich?,x,y,z,2\n")
    with pytest.raises(InputError, match="'1' is 'y' as index, 'x' as number"):
        make_benchmark_of_table("other", file, project, None)
    file.write_text("question,A,B,C,answer\nWhich?,3,2,1,1\nWhich?,3,2,1,3\n")
    with pytest.raises(InputError, match="'1' is '3' as number, '1' as text"):
        make_benchmark_of_table("other", file, project, None)
    rows = "Which?,Text.,x,y,z,,B\nTrue?,Text.,yes,no,,,A\n"  # the second has two options
    file.write_text("question,passage,option_a,option_b,option_c,note,answer\n" + rows)
    made = make_benchmark_of_table("options", file, project, None)
    assert made is not None
    assert made.left_out == [f"{file}: columns not used: note"]
    fields = yaml.safe_load(made.files[-1].read_text())["_benchmarks"]["options"]["sources"]
    assert fields["local"]["fields"]["passage"] == "passage"
    lettered = ["option_a", "option_b", "option_c"]
    assert fields["local"]["fields"]["choices"] == {"columns": lettered, "drop_empty_tail": True}
    file.write_text("question,options,answer_index\nWhich?,xy,1\n")
    with pytest.raises(
        InputError, match=r"no column 'answer', 'choices'; it has question, options"
    ):
        make_benchmark_of_table("other", file, project, None)
    file.write_text("item_id,model,correct\nq,m,1\n")
    assert make_benchmark_of_table("other", file, project, None) is None


@pytest.mark.parametrize("name", ["questions.CSV", "questions.csv.bz2", "questions.feather"])
def test_a_table_of_questions_may_be_of_every_kind(
    tmp_path: Path, repository: Path, name: str
) -> None:
    project = tmp_path / "project"
    shutil.copytree(repository / "conf", project / "conf")
    table = pd.DataFrame({"question": ["1?", "2?"], "A": "x", "B": "y", "answer": ["A", "B"]})
    file = tmp_path / name
    if name.endswith(".feather"):
        table.to_feather(file)
    else:
        table.to_csv(file, index=False)
    made = make_benchmark_of_table("mine", file, project, None)
    assert made is not None
    assert made.files[0].name == name


def test_a_packed_log_is_no_table_of_questions(tmp_path: Path) -> None:
    file = tmp_path / "samples_arc_2026-01-01T00-00-00.jsonl.gz"
    with gzip.open(file, "wt") as lines:
        lines.write('{"doc_id": 0, "doc": {}, "target": "A", "arguments": []}\n')
    assert make_benchmark_of_table("mine", file, tmp_path, None) is None


def test_update_mends_a_benchmark_whose_maker_was_killed(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    shutil.copytree(repository / "conf", project / "conf")
    inspect_log(tmp_path / "logs", "org/m", "BC ")
    found = read_logs([tmp_path / "logs"])
    replaced: list[Path] = []

    def replace(path: Path, target: Path) -> None:
        if len(replaced) == 2:  # answers, and one of the file in conf/ and the folder
            raise KeyboardInterrupt
        replaced.append(target)
        shutil.move(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        make_benchmark("mine", found, project, None)
    monkeypatch.undo()
    with pytest.raises(InputError, match="--update replaces it"):
        make_benchmark("mine", found, project, None)
    assert len(make_benchmark("mine", found, project, None, update=True).files) == 3


def test_a_benchmark_keeps_several_right_options_and_names_what_it_leaves_out(
    tmp_path: Path, repository: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(repository / "conf", project / "conf")
    samples = [
        sample(0, "C", target=["A", "C"]),
        sample(1, "B", target="none"),
        sample(2, "B", choices=[f"option {n}" for n in range(27)]),
    ]
    entries = {f"samples/{n}_epoch_1.json": each for n, each in enumerate(samples)}
    log = archive(tmp_path / "a.eval", {"header.json": header(), **entries})
    found = read_logs([log])
    files, left_out = make_benchmark("several", found, project, None)
    (row,) = map(json.loads, files[0].read_text().splitlines())
    assert row["answer"] == [1, 0, 1]
    assert left_out == [
        f"left out: 1 of {log}: more than 26 options, e.g. exam/2",
        f"left out: 1 of {log}: no known gold answer, e.g. exam/1",
    ]


def test_a_benchmark_needs_answers(tmp_path: Path, repository: Path) -> None:
    unscored = {"samples/0_epoch_1.json": sample(0, "B", scores={})}
    log = archive(tmp_path / "a.eval", {"header.json": header(), **unscored})
    with pytest.raises(InputError, match=r"no question has an answer; 1 failed .not scored: run"):
        make_benchmark("mine", read_logs([log]), repository, None)


def test_an_unusable_file_costs_a_line_and_the_exit_code(tmp_path: Path) -> None:
    inspect_log(tmp_path, "org/m", "BC ")
    torn = json.dumps(header() | {"samples": [sample(0, "B")]})[:-9]
    (tmp_path / "torn.json").write_text(torn)
    # A listing of logs has the keys of a log, but not of its top object.
    (tmp_path / "logs.json").write_text(json.dumps({"a.eval": header()}))
    result = CliRunner().invoke(cli, ["read", str(tmp_path)])
    assert result.exit_code == 3
    assert "torn.json: samples 1: the text ends early" in result.output
    assert "org/m" in result.output
    assert "logs.json" in result.output.splitlines()[-1]


def test_rows_are_read_with_the_mappings_and_the_subject_of_the_task(tmp_path: Path) -> None:
    path = harness_log(tmp_path, "org/m", "BB")
    path = path.rename(path.with_name(path.name.replace("exam", "exam_day_trips")))
    subjects = ["trips", "day trips"]
    items = read_logs([path]).items.iloc[[0, 0]].assign(item_id=subjects, subject=subjects)
    row = json.loads(path.read_text().splitlines()[0])
    row["doc"] = {"stem": row["doc"]["question"], "answers": row["doc"]["choices"]}
    path.write_text(json.dumps(row))
    mapping = FieldMapping(
        question="stem", choices=ChoicesField(column="answers"), gold=GoldField(form="first")
    )
    found = read_logs([path], BenchmarkItems(items, (mapping,)))
    assert found.answers["item_id"].tolist() == ["day trips"]


def test_command_prints_a_line_per_log(tmp_path: Path) -> None:
    inspect_log(tmp_path, "org/m", "BC ")
    result = CliRunner().invoke(cli, ["read", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].startswith("format")
    assert "org/m" in result.output.splitlines()[1]
    result = CliRunner().invoke(cli, ["read", str(tmp_path / "none")])
    assert result.exit_code == 3
    assert "does not exist" in result.output


def test_answers_are_written_in_the_format_of_the_name(tmp_path: Path) -> None:
    inspect_log(tmp_path, "org/m", "BC ")
    outs = [tmp_path / f"a.{kind}" for kind in ("parquet", "csv", "jsonl")]
    done = [CliRunner().invoke(cli, ["read", str(tmp_path), f"--out={out}"]) for out in outs]
    assert [each.exit_code for each in done] == [0, 0, 3]
    assert "a.jsonl: the name must end in .parquet or .csv" in done[2].output
    assert len({str(read_answers([out]).correct) for out in outs[:2]}) == 1


def test_every_real_log_is_read_in_one_go(shared_data: Path) -> None:
    found = read_logs([shared_data / "logs"])
    joined = found.report["joined_by_hash"] + found.report["joined_by_id"]
    doubled, dropped = found.report["doubled"], found.report["dropped"]
    lost = doubled + dropped + found.report["failed"]
    assert (joined + lost == found.report["rows"]).all(), summary_lines(found)


def test_logs_join_to_a_benchmark_whose_questions_are_elsewhere(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    folder = tmp_path / "mirror" / "benchmarks"
    folder.mkdir(parents=True)
    questions = pd.DataFrame({"question": [f"What of {n}?" for n in range(3)]})
    questions["choices"] = [["x", "y", "z"]] * 3
    given = {"item_id": ["a", "b", "c"], "split": "test", "answer_index": 1, "source_id": "r"}
    questions.assign(**given).to_parquet(folder / "arc_challenge.parquet")
    harness_log(tmp_path / "logs", "org/m", "BAB")
    command = ["read", str(tmp_path / "logs"), "--benchmark", "arc_challenge", "--env", "evidence"]
    read = CliRunner().invoke(cli, [*command, "--mirror-root", str(tmp_path / "mirror")])
    assert read.exit_code == 0, read.output
    assert read.output.split("\n")[1].split()[6:9] == ["3", "3", "0"]  # samples, joined, not
