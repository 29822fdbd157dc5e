"""Details of lighteval, and of the first Open LLM Leaderboard, whose Parquet files it wrote."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.verbatim import BROKEN, opened_parquet
from benchwright.logs.json_files import read_json
from benchwright.logs.json_values import (
    as_count,
    as_list,
    as_literal,
    as_number,
    as_object,
    as_text,
)
from benchwright.logs.opened_file import OpenedFile
from benchwright.logs.options import are_letters, chosen_options
from benchwright.logs.sample import (
    Log,
    Mark,
    Sample,
    Settings,
    digest_of,
    sampling_of,
    setting_text,
)

NAME = "lighteval"
LEADERBOARD = "Open LLM Leaderboard v1"

_NESTED = (
    "doc.query",
    "doc.choices",
    "doc.gold_index",
    "doc.id",
    "doc.task_name",
    "metric",
    "model_response.logprobs",
    "model_response.text",
)
_SHOTS = "doc.fewshot_samples.list.element.query"
_MARKS = ("acc", "em", "exact_match", "extractive_match", "qem", "pqem", "mc1", "acc_norm")
"""Metrics of single answers, the preferred first: `acc` marks what the log-likelihoods choose."""
_OF_SEVERAL = ("avg@", "pass@", "maj@")
"""Beginnings of metrics of all answers to a prompt."""
_FLAT = (
    "query",
    "example",
    "full_prompt",
    "choices",
    "gold",
    "gold_index",
    "predictions",
    "metrics",
    "num_asked_few_shots",
    "num_effective_few_shots",
    *_MARKS,
)
_TEXTS = ("example", "full_prompt", "query")
_NAME = re.compile(
    r"details_(?P<task>.+?)(\|(?P<shots>\d+))?_(?P<time>\d{4}-\d\d-\d\dT[-:\d]+(\.\d+)?)"
)
_BATCH_ROWS = 128  # small, since each row may be a megabyte
_SHOTS_OF_NAME = re.compile(r"\|\d+$")
_LEADERBOARD_FOLDER = re.compile(r"details_(?P<org>.+?)__(?P<model>.+)")


class _Layout(NamedTuple):
    """What the columns of a file show."""

    nested: bool  # lighteval 0.11 and later
    written: bool  # 0.7 and earlier: cells are Python literals
    columns: list[str]
    mark: str = ""  # the metric that marks answers


def recognises(file: OpenedFile) -> bool:
    """Return whether a file is a Parquet file with the columns of one of the layouts."""
    if not file.head.startswith(b"PAR1"):
        return False
    try:
        with opened_parquet(file.path, file.stream) as table:
            return _layout(table.schema_arrow) is not None
    except BROKEN:
        return False


def _layout(schema: Any) -> _Layout | None:
    import pyarrow as pa

    names = set(schema.names)
    if {"doc", "metric", "model_response"} <= names:
        return _Layout(True, False, list(_NESTED))
    if not ({"predictions", "choices", "full_prompt"} <= names and names & {"metrics", *_MARKS}):
        return None
    kind = schema.field("predictions").type
    written = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return _Layout(False, written, [name for name in _FLAT if name in names])


def read(file: OpenedFile) -> list[Log]:
    """Return the log of one file; model, revision and score are those of the results file.

    Raises:
        InputError: the file, or the results file, is broken.
    """
    path = file.path
    with opened_parquet(path, file.stream) as table:
        layout = _layout(table.schema_arrow)
        if layout is None:
            raise InputError(f"{path}: not the columns of lighteval's details")
        columns = [*layout.columns, _SHOTS] if layout.nested else layout.columns
        first = next(_rows(table, layout, columns), {})
    named = _NAME.match(path.name)
    name, shots = _task_and_shots(first, layout, named)
    metrics = list(_metrics(first, layout))
    only = metrics[0] if len(metrics) == 1 else ""
    counted = [mark for mark in _MARKS if mark in metrics]
    counted += [metric for metric in metrics if metric.startswith(_OF_SEVERAL)]
    layout = layout._replace(mark=counted[0] if counted else only)
    results_file = _results_file(path, named["time"]) if named is not None else None
    results = {} if results_file is None else as_object(read_json(results_file))
    general = as_object(results.get("config_general"))
    of_task = _config_of(results, name)
    scores = as_object(as_object(results.get("results", results)).get(name))
    score = as_number(scores.get(layout.mark))
    revision = general.get("model_sha") or as_object(general.get("model_config")).get("revision")
    flat = not layout.nested and "metrics" not in layout.columns
    leaderboard = flat or path.name.startswith("details_harness|")
    return [
        Log(
            files=(path,) if results_file is None else (path, results_file),
            format=LEADERBOARD if leaderboard else NAME,
            samples=partial(_samples, path, layout),
            task=_SHOTS_OF_NAME.sub("", name),
            model=as_text(general.get("model_name")) or _model(path),
            revision=as_text(revision),
            style="cloze_bytes" if layout.mark == "acc_norm" else "",
            shots=shots,
            scores={} if math.isnan(score) else {Mark(layout.mark): score},
            main=Mark(layout.mark),
            directions=_directions(of_task),
            settings=Settings() if results_file is None else _settings(results, of_task, name),
        )
    ]


def _task_and_shots(
    first: Mapping[str, Any], layout: _Layout, named: re.Match[str] | None
) -> tuple[str, int]:
    """Return the task as the log names it, with its demonstrations, and their number or −1."""
    doc = as_object(first.get("doc"))
    name = as_text(doc.get("task_name"))
    if layout.nested:
        asked = [len(as_list(doc.get("fewshot_samples"))) if first else -1]
    else:
        asked = [as_count(first.get(f"num_{which}_few_shots")) for which in ("effective", "asked")]
    if named is not None:
        name = name or "|".join(filter(None, (named["task"], named["shots"])))
        asked.append(as_count(named["shots"]))
    return name, next((number for number in asked if number >= 0), -1)


def _config_of(results: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the configuration of a task, which some versions name without demonstrations."""
    configs = as_object(results.get("config_tasks"))
    return as_object(configs.get(name, configs.get(_SHOTS_OF_NAME.sub("", name))))


def _directions(of_task: Mapping[str, Any]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for metric in map(as_object, as_list(of_task.get("metrics", of_task.get("metric")))):
        better = metric.get("higher_is_better")
        if isinstance(better, bool):
            found[as_text(metric.get("metric_name"))] = better
    return found


def _settings(results: Mapping[str, Any], of_task: Mapping[str, Any], name: str) -> Settings:
    """Return how a task was asked, as the results file says."""
    general = as_object(results.get("config_general"))
    model = as_object(general.get("model_config"))
    parameters = model.get("generation_parameters", general.get("generation_parameters"))
    version = as_object(results.get("versions")).get(name, of_task.get("version"))
    limit = general.get("max_samples")
    chats = (
        model.get("use_chat_template"),
        general.get("use_chat_template"),
        model.get("override_chat_template"),
    )
    asked = sampling_of(as_object(parameters))
    instruction = None
    if "system_prompt" in model:
        instruction = as_text(model["system_prompt"])
    return Settings(
        task_version=setting_text(version),
        dataset_revision=as_text(of_task.get("hf_revision")) or None,
        template=digest_of(of_task.get("prompt_function")),
        instruction=instruction,
        chat_template=next((chat for chat in chats if isinstance(chat, bool)), None),
        sampling={**sampling_of({"max_tokens": of_task.get("generation_size")}), **asked},
        limit=None if limit is None else str(limit),
    )


def _metrics(row: Mapping[str, Any], layout: _Layout) -> Mapping[str, Any]:
    name = "metric" if layout.nested else "metrics"
    if name in layout.columns:
        return as_object(row.get(name))
    return {mark: row[mark] for mark in _MARKS if mark in row}


def _results_file(path: Path, time: str) -> Path | None:
    """Return the results file of the same time: beside the details, or in `results/<model>/`."""
    folders = [path.parent, path.parent.parent]
    for parent in path.parents[:6]:
        if parent.name == "details":
            model = path.parent.parent.relative_to(parent)
            folders.append(parent.parent / "results" / model)
    times = dict.fromkeys((time, time.replace(":", "-")))
    files = (folder / f"results_{name}.json" for folder in folders for name in times)
    return next((file for file in files if file.is_file()), None)


def _model(path: Path) -> str:
    """Return the model that the folders name, "" if there is none."""
    for parent in path.parents[:4]:
        if named := _LEADERBOARD_FOLDER.fullmatch(parent.name):
            return f"{named['org']}/{named['model']}"
        if parent.name == "details":
            return path.parent.parent.relative_to(parent).as_posix().removeprefix(".")
    return ""


def _rows(file: Any, layout: _Layout, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
        for row in batch.to_pylist():
            for name in row.keys() - _TEXTS if layout.written else ():
                row[name] = as_literal(row[name]) if isinstance(row[name], str) else row[name]
            yield row


def _samples(path: Path, layout: _Layout) -> Iterator[Sample]:
    answers = _nested_answer if layout.nested else _flat_answer
    with opened_parquet(path) as file:
        for number, row in enumerate(_rows(file, layout, layout.columns)):
            sample, values = answers(row, number)
            named = _metrics(row, layout).items()
            marks = {Mark(name): as_number(v) for name, v in named if not isinstance(v, list)}
            correct = marks.get(Mark(layout.mark), math.nan)
            sample = sample._replace(correct=correct, marks=marks)
            if values and all(isinstance(value, str) for value in values):
                yield from _written(sample, values)
            else:
                yield _scored(sample, values, layout.mark)


def _nested_answer(row: Mapping[str, Any], number: int) -> tuple[Sample, list[Any]]:
    doc, response = as_object(row.get("doc")), as_object(row.get("model_response"))
    sample = Sample(
        number=as_text(doc.get("id")) or str(number),
        prompt=as_text(doc.get("query")),
        choices=tuple(map(as_text, as_list(doc.get("choices")))),
        gold=_positions(doc.get("gold_index")),
    )
    return sample, as_list(response.get("logprobs")) or as_list(response.get("text"))


def _flat_answer(row: Mapping[str, Any], number: int) -> tuple[Sample, list[Any]]:
    query, example, whole = (as_text(row.get(n)) for n in ("query", "example", "full_prompt"))
    # In 2023, `example` may be the row's native id.
    rendered = example if example and whole.endswith(example.splitlines()[-1]) else ""
    sample = Sample(
        number=str(number),
        prompt=query or rendered or whole,
        choices=tuple(map(as_text, as_list(row.get("choices")))),
        gold=_positions(row.get("gold_index", row.get("gold"))),
    )
    return sample, as_list(row.get("predictions"))


def _positions(value: object) -> tuple[int, ...]:
    positions = [as_count(each) for each in (as_list(value) or [value])]
    return tuple(position for position in positions if position >= 0)


def _scored(sample: Sample, values: Sequence[Any], mark: str) -> Sample:
    """Return a sample with log-likelihoods; the chosen option is the first most likely one."""
    pairs = (value[0] if as_list(value) else value for value in values)  # or (value, greedy)
    logprobs = tuple(map(as_number, pairs))
    if not logprobs or any(math.isnan(value) for value in logprobs):
        return _options(sample)._replace(outcome="failed", correct=math.nan, marks={})
    if mark == "mc1" or len(logprobs) != len(sample.choices):
        return sample._replace(choices=(), gold=())  # `choices` are those of several metrics
    right = [sample.choices[gold] for gold in sample.gold if gold < len(sample.choices)]
    in_context = bool(right) and sample.prompt.endswith(right[0])  # WinoGrande; the rest follows
    return _options(sample)._replace(
        chosen=logprobs.index(max(logprobs)) if mark in ("acc", "") else -1,
        continuations=("",) * len(logprobs) if in_context else sample.choices,
        contexts=sample.choices if in_context else None,
        logprobs=logprobs,
    )


def _written(sample: Sample, texts: Sequence[str]) -> Iterator[Sample]:
    """Yield a sample for each written answer; a mark of several is of none of them."""
    if len(texts) > 1 and any(mark.metric.startswith(_OF_SEVERAL) for mark in sample.marks):
        yield _options(sample)._replace(choices=(), gold=())
        return
    target = sample.choices[sample.gold[0]] if sample.gold[:1] < (len(sample.choices),) else ""
    if len(sample.choices) == 1:  # the right answer alone
        sample = sample._replace(choices=(), gold=(), target=target)
    for repeat, text in enumerate(texts, start=1):
        named = chosen_options(text, sample.choices, len(LETTERS))
        yield _options(sample.choosing(named))._replace(
            repeat=repeat,
            outcome="answered" if text.strip() else "unreadable",
            text=text,
            correct=sample.correct if len(texts) == 1 else math.nan,
            marks=sample.marks if len(texts) == 1 else {},
            skipped="" if len(texts) == 1 or sample.choices else "one mark for several answers",
        )


def _options(sample: Sample) -> Sample:
    """Return a sample without letters as options, and without the space before texts."""
    if are_letters(sample.choices):
        return sample._replace(choices=())
    return sample._replace(choices=tuple(text.removeprefix(" ") for text in sample.choices))
