"""`benchwright read --make-benchmark`: a benchmark made of logs, or of a table of questions."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.answers.read_logs import ReadLogs, write_answers
from benchwright.core.atomic_files import folder_aside, written_aside
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.verbatim import listed, read_errors, read_verbatim, table_kind
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_fields import gold_form
from benchwright.ingestion.source_rows import map_source_rows, say_rejected
from benchwright.logs.find import is_log
from benchwright.params.benchmark import OPTIONAL_COLUMNS, BenchmarkParams, FieldMapping
from benchwright.runs.project_conf import load_conf

_FIRST_LINE = "# Made by `benchwright read --make-benchmark`."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_YAML_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


class Made(NamedTuple):
    """The files of a benchmark, and a line per reason why questions or columns are left out."""

    files: list[Path]
    left_out: list[str]


def make_benchmark(
    name: str, read: ReadLogs, project: Path, env: str | None, *, update: bool = False
) -> Made:
    """Write a benchmark of the questions in logs, with the answers to them.

    With `update`, a benchmark of this name that was made in this way is replaced.

    Questions without options or without a known gold answer are left out. Several right options
    stay several.

    Raises:
        InputError: the name is taken or invalid, no question has options and a gold answer, or
            none of the questions was answered.
    """
    ids_of: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item_id, log_and_reason in read.left_out.items():
        ids_of[log_and_reason].append(item_id)
    left_out = [
        f"left out: {len(ids)} of {log}: {why}, e.g. {ids[0]}"
        for (log, why), ids in sorted(ids_of.items())
    ]
    items = read.items[~read.items["item_id"].isin(read.left_out) & (read.items["answer"] >= 0)]
    if items.empty:
        why = "; ".join(left_out)
        raise InputError(
            f"--make-benchmark: no question has options and a known gold answer; {why}"
        )
    answers = read.answers[read.answers["item_id"].isin(items["item_id"])]
    if answers.empty:
        details = "; ".join(filter(None, read.report["detail"]))
        raise InputError(f"--make-benchmark: no question has an answer; {details}")
    tools = sorted({file.log.format for file in read.files.values() if file.log is not None})
    several = items["correct_set"].map(len).max() > 1
    columns = ("item_id", "subject", "question", "choices")

    def fill(folder: Path) -> None:
        (folder / "responses").mkdir()
        with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
            for item in items.to_dict("records"):
                row = {name: item[name] for name in columns}
                row["answer"] = LETTERS[int(item["answer"])]
                if several:
                    options = range(len(item["choices"]))
                    row["answer"] = [int(option in item["correct_set"]) for option in options]
                file.write(json.dumps(row) + "\n")
        write_answers(read._replace(answers=answers), folder / "responses" / "answers.parquet")

    fields = {
        "item_id": "item_id",
        "subject": "subject",
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"column": "answer", "form": "multi_hot" if several else "letter"},
    }
    settings = _settings(name, f"logs of {', '.join(tools)}", "items.jsonl", fields)
    return Made(_write(settings, project, env, fill, update=update), left_out)


def make_benchmark_of_table(
    name: str, file: Path, project: Path, env: str | None, *, update: bool = False
) -> Made | None:
    """Write a benchmark of a table of questions, None if the file is no such table.

    It has the columns question, answer (a letter, a number from 0 or 1, or the text of the option),
    and choices, A, B, … or option_a, option_b, …; item_id and `OPTIONAL_COLUMNS` are optional.

    Raises:
        InputError: the name is taken, a column is missing, no row is valid, or answers are unclear.
    """
    if not file.is_file() or not table_kind(file) or is_log(file):
        return None
    table = read_verbatim(file)
    lettered = [letter for letter in LETTERS if letter in table]
    lettered = lettered or sorted(n for n in map(str, table) if re.fullmatch("option_[A-Za-z]", n))
    lacking = {"question", "answer", "choices"}.difference(table, ["choices"] * bool(lettered))
    if len(lacking) == 3 or (lacking and "model" in table):
        return None  # a table of answers, or a packed log
    if lacking:
        why = f"{file}: no column {', '.join(map(repr, sorted(lacking)))}; it has {listed(table)}"
        raise InputError(
            f"{why}; a table of questions has question, answer, and choices or A, B, …"
        )
    choices = table["choices"] if "choices" in table else table[lettered].to_numpy()
    form = gold_form(table["answer"], choices)
    names = ("item_id", "question", *OPTIONAL_COLUMNS)
    fields: dict[str, Any] = {name: name for name in names if name in table}
    apart = {"columns": lettered, "drop_empty_tail": True}  # questions may have fewer options
    fields["choices"] = {"column": "choices"} if "choices" in table else apart
    fields["gold"] = {"column": "answer", "form": form}
    settings = _settings(name, file.name, file.name, fields)
    source = BenchmarkSource(benchmark=settings, raw_folder=str(file.parent.absolute()))
    benchmark = BenchmarkParams.model_validate(settings)
    with read_errors(file):
        rejected = map_source_rows(source.load(), benchmark, None, 0).rejected_items
    left_out = []
    if len(rejected):
        lost = f"{file}: left out: {len(rejected):,} of {len(table):,} rows: "
        left_out = [lost + say_rejected(rejected)]
    if unused := [*table.columns.difference([*FieldMapping(**fields).columns()], sort=False)]:
        left_out.append(f"{file}: columns not used: {listed(unused)}")
    files = _write(settings, project, env, lambda folder: shutil.copy(file, folder), update=update)
    return Made(files, left_out)


def _settings(name: str, citation: str, file: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "title": name,
        "licence": "unknown",
        "citation": citation,
        "sources": {"local": {"file": file, "all_rows": "test", "fields": dict(fields)}},
        "splits": {"evaluation": ["test"]},
        "scoring": {
            "mode": "imported",
            # There are no demonstrations.
            "configurations": ["smollm2-135m-instruct@cloze-0", "gemma-3-270m@cloze-0"],
        },
    }


def _write(
    settings: dict[str, Any],
    project: Path,
    env: str | None,
    fill: Callable[[Path], Any],
    *,
    update: bool,
) -> list[Path]:
    """Write the file in conf/ and the folder of data, which `fill` fills; return all files."""
    import yaml

    name = settings["name"]
    conf = project / "conf" / "local" / "parameters" / "benchmarks" / f"{name}.yml"
    parameters = load_conf(project, env, {})["parameters"]
    folder = project / str(parameters["data_root"]) / "01_raw" / name
    made_before = conf.is_file() and conf.read_text("utf-8").startswith(_FIRST_LINE)
    taken = [f"{path} exists" for path in (conf, folder) if path.exists()]
    alike = (each for each in parameters["_benchmarks"] if each.casefold() == name.casefold())
    taken += [f"there is a benchmark {each}" for each in alike]
    if taken and not (update and made_before):
        hint = "--update replaces it" if made_before else "choose another name"
        raise InputError(f"--make-benchmark {name}: {taken[0]}; {hint}")
    text = yaml.safe_dump({"_benchmarks": {name: settings}}, sort_keys=False, allow_unicode=True)
    with folder_aside(folder) as new:
        new.mkdir(parents=True, exist_ok=True)
        fill(new)
        # First, so that --update mends what a killed command has left.
        with written_aside(conf) as aside:
            aside.write_text(f"{_FIRST_LINE}\n{text}", encoding="utf-8")
        if update:
            shutil.rmtree(folder, ignore_errors=True)
    return [*sorted(path for path in folder.rglob("*") if path.is_file()), conf]


def check_name(name: str) -> None:
    """Raise InputError unless a name can stand in conf/, in a path and in `--params`."""
    if not _NAME.fullmatch(name) or name.casefold() in _YAML_WORDS:
        raise InputError(
            f"--make-benchmark {name}: use a letter, then letters, digits and underscores, at "
            "most 60, and no word of YAML such as null or yes"
        )
