"""Samples of Every Eval Ever, which converts the logs of other tools (schemas 0.0.1 to 0.3.0).

A line of `<uuid>_samples.jsonl` is one sample under one metric (`instance_level_eval.schema.json`).
The aggregate `<uuid>.json` beside it has the tool and the scores.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.core.configuration import STYLES
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.printable import ascii_surrogates
from benchwright.logs.json_files import File, json_lines, members
from benchwright.logs.json_values import as_count, as_list, as_number, as_object, as_text
from benchwright.logs.opened_file import OpenedFile, path_of
from benchwright.logs.options import (
    are_letters,
    chosen_options,
    letter_position,
    several_letters,
)
from benchwright.logs.sample import (
    Log,
    Mark,
    Sample,
    Settings,
    digest_of,
    instruction_of,
    sampling_of,
    solver_steps,
    template_of,
)

NAME = "Every Eval Ever"

_SIGNS = (b'"schema_version"', b'"evaluation_id"', b'"interaction_type"')
_SUFFIX = "_samples.jsonl"
_METRICS = ("acc", "exact_match", "choice", "accuracy", "acc_norm")
"""Parts of the names of results, the preferred first."""
_LETTERED = ("inspect", "benchwright")
"""Tools whose samples have the question alone, and letters as answers."""

Row = Mapping[str, Any]
_Counts = Counter[str]
"""`samples` under one metric, `positive` ones, which are marked as right at least in part, and
`agreeing` ones, whose answer is the right option."""


def recognises(file: OpenedFile) -> bool:
    """Return whether the first line of a file is a sample of Every Eval Ever."""
    line = file.head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    if not line.startswith(b"{") or not all(sign in line for sign in _SIGNS):
        return False
    try:
        return "evaluation_id" in json.loads(line)
    except (ValueError, RecursionError):  # cut at the end of the head, or broken
        return True


def read(file: OpenedFile) -> list[Log]:
    """Return a log for each model and evaluation in a file of samples.

    Raises:
        InputError: the file or its aggregate is not valid JSON; the message names the line.
    """
    companions, aggregate = _aggregate(file.path)
    evaluations: dict[tuple[str, str], dict[str, _Counts]] = {}
    version = ""
    for row in _rows(file):
        results = evaluations.setdefault(_evaluation(row), {})
        sample = _sample(row, _tool(row, aggregate))
        results.setdefault(_result(row), Counter()).update(
            samples=1,
            positive=sample.correct > 0,
            agreeing=sample.chosen >= 0 and sample.chosen in sample.gold,
        )
        version = version or as_text(row.get("schema_version")).rpartition("_")[2]
    files = (file.path, *companions)
    return [_log(files, aggregate, version, *item) for item in evaluations.items()]


def _log(
    files: tuple[Path, ...],
    aggregate: Row,
    version: str,
    evaluation: tuple[str, str],
    results: dict[str, _Counts],
) -> Log:
    """Return the log of one model and evaluation, under the metric that counts."""
    model, task = evaluation
    stated = _stated(aggregate, task)
    names = _counted(results)
    counts = [results[name] for name in names]
    # Samples without a metric: the aggregate may have one.
    stated_names = _counted(stated)[:1] if names == [""] else names
    scores = {name: _accuracy(stated[name]) for name in stated_names if name in stated}
    weights = [results[name]["samples"] if name in results else 1 for name in scores]
    score = float(np.average(list(scores.values()), weights=weights)) if scores else math.nan
    first = next(iter(stated_names), "")
    mark = Mark(first if len(stated_names) == 1 else _parts(first)[0])
    # Converters mark every sample as wrong where they find no metric.
    contradicted = score > 0 or any(result["agreeing"] for result in counts)
    marked = any(result["positive"] for result in counts) or not contradicted
    descending = [
        as_object(stated[name].get("metric_config")).get("lower_is_better") for name in scores
    ]
    directions = {mark.metric: True not in descending} if {True, False} & {*descending} else {}
    settings = [_details(result, "generation_config") for result in stated.values()]
    styles = {as_text(setting.get("style")) for setting in settings}
    return Log(
        files=files,
        format=NAME,
        samples=partial(_samples, files[0], aggregate, evaluation, names, marked),
        version=version,
        task=task,
        model=model,
        revision=as_text(_details(aggregate, "model_info").get("revision")),
        style=styles.pop() if len(styles) == 1 and styles <= {*STYLES} else "",
        shots=max((as_count(setting.get("num_fewshot")) for setting in settings), default=-1),
        scores={} if math.isnan(score) else {mark: score},
        directions=directions,
        settings=_settings(stated.values()),
    )


def _settings(results: Collection[Row]) -> Settings:
    """Return how the questions were asked, as the results of an evaluation say."""
    first = next(iter(results), {})
    asked = as_object(as_object(first.get("generation_config")).get("generation_args"))
    samples = as_count(as_object(first.get("source_data")).get("samples_number"))
    steps = solver_steps(_steps(asked))
    template = template_of(steps)
    if prompt := asked.get("prompt_template"):
        template = digest_of(prompt, template)
    return Settings(
        template=template,
        instruction=instruction_of(steps),
        sampling=sampling_of(asked),
        samples=samples if samples >= 0 and "limit" not in asked else None,
    )


def _steps(asked: Row) -> list[Any]:
    """Return the steps of a plan, each of which the converter of Inspect writes as JSON text."""
    steps: list[Any] = []
    for step in as_list(as_object(asked.get("eval_plan")).get("steps")):
        try:
            steps.append(json.loads(step) if isinstance(step, str) else step)
        except (ValueError, RecursionError):
            steps.append({"solver": step})
    return steps


def _samples(
    path: Path, aggregate: Row, evaluation: tuple[str, str], names: Sequence[str], marked: bool
) -> Iterator[Sample]:
    seen: Counter[tuple[str, int]] = Counter()
    for row in _rows(path):
        result = _result(row)
        if _evaluation(row) != evaluation or result not in names:
            continue
        sample = _sample(row, _tool(row, aggregate))
        if not marked:
            sample = sample._replace(correct=math.nan)
        key = sample.number, sample.repeat
        yield _repeated(sample, result, seen[key])
        seen[key] += 1


def _repeated(sample: Sample, result: str, before: int) -> Sample:
    """Return a sample that follows others of the same name, as the repeat that it is.

    Trials and perturbations of HELM share names, and the mark of one of them is given to all. Its
    separate method has a sample per option.
    """
    _, _, perturbation = _parts(result)
    if perturbation:
        return sample._replace(skipped=f"perturbation {perturbation}")
    if not before:
        return sample
    per_trial = len(sample.choices) if _ends_with_option(sample) else 1
    if before % per_trial:
        return sample._replace(skipped="another option of the same sample")
    return sample._replace(repeat=1 + before // per_trial, correct=math.nan)


def _sample(row: Row, tool: str) -> Sample:
    source, metadata = as_object(row.get("input")), as_object(row.get("metadata"))
    raw, choices = ascii_surrogates(as_text(source.get("raw"))), _texts(source.get("choices"))
    references, answer = _texts(source.get("reference")), _answer(row)
    named = [_gold(text, choices, tool) for text in references]
    gold: tuple[int, ...] = sum(named, ()) if all(named) else ()
    lettered = are_letters(choices) or (not choices and bool(gold))
    alone = bool(source.get("formatted")) or (tool in _LETTERED and bool(choices))
    sample = Sample(
        number=ascii_surrogates(as_text(row.get("sample_id"))),
        question=raw if alone else "",
        prompt="" if alone else raw,
        choices=() if lettered else choices,
        gold=gold,
        doc=metadata or None,
        repeat=max(1, as_count(metadata.get("epoch"))),
        target="" if gold else next(iter(references), ""),
        correct=_mark(row, metadata),
    ).choosing(_named(answer or "", choices, tool))
    silent = answer is None and not row.get("messages") and tool != "benchwright"
    if row.get("error") or silent:
        return sample.choosing(())._replace(outcome="failed", correct=math.nan)
    if _parts(_result(row))[0] == "acc_norm" and not lettered:
        return sample.choosing(())  # the answer is that of `acc`
    if sample.names_option or _ends_with_option(sample):
        return sample
    blank = answer == "" and bool(sample.choices or sample.gold)
    return sample._replace(outcome="unreadable" if blank else "answered", text=answer or "")


def _ends_with_option(sample: Sample) -> bool:
    """Return whether the prompt ends with an option, as in HELM's separate method."""
    ends = tuple(choice.strip() for choice in sample.choices)
    return (
        not sample.names_option and all(ends) and sample.prompt.rstrip().endswith(ends or ("\0",))
    )


def _answer(row: Row) -> str | None:
    """Return what was extracted from the answer, else the answer; None if there is neither."""
    raw = _texts(as_object(row.get("output")).get("raw"))
    attributions = [as_object(each) for each in as_list(row.get("answer_attribution"))]
    if not raw:
        return None
    extracted = attributions[-1].get("extracted_value") if attributions else raw[0]
    return ascii_surrogates(as_text(extracted)).strip()


def _named(text: str, choices: tuple[str, ...], tool: str) -> tuple[int, ...]:
    """Return the options that a text names, or letters if there are no options."""
    if not choices:
        several = tuple(sorted(several_letters(text)))
        letter = LETTERS.find(text) if len(text) == 1 else -1
        return several or ((letter,) if letter >= 0 else ())
    if tool == "lm_eval" and 0 <= as_count(text) < len(choices) and text not in choices:
        return (as_count(text),)
    letter = letter_position(text, len(choices)) if tool in _LETTERED else -1
    return (letter,) if letter >= 0 else chosen_options(text, choices)


def _gold(text: str, choices: tuple[str, ...], tool: str) -> tuple[int, ...]:
    named = _named(text, choices, tool)
    if tool == "lm_eval" and as_count(text) >= 0:  # an index that may also be another's text
        return named if named == (as_count(text),) else ()
    return named


def _mark(row: Row, metadata: Row) -> float:
    if metadata.get("lm_eval_metrics") == "{}":
        return math.nan
    evaluation = as_object(row.get("evaluation", row.get("metrics")))
    score = as_number(evaluation.get("score"))
    if math.isnan(score):
        return as_number(evaluation.get("is_correct"))
    # Each of several epochs is given their mean.
    return score if score in (0, 1) or "epoch" not in metadata else math.nan


def _counted(results: Iterable[str]) -> list[str]:
    """Return the results of the metric that counts: several only if they are of several splits."""
    names = list(results)
    for metric in _METRICS:
        splits = [name for name in names if _parts(name)[0] == metric]
        if splits:
            return splits[:1] if metric == "choice" else splits
        if scorers := [name for name in names if _parts(name)[1] == metric]:
            return scorers[:1]
    return names[:1]


def _stated(aggregate: Row, task: str) -> dict[str, Row]:
    """Return the aggregate's results for an evaluation, by their names."""
    results = [as_object(each) for each in as_list(aggregate.get("evaluation_results"))]
    of_task = [result for result in results if result.get("evaluation_name") == task]
    named: dict[str, Row] = {}
    for result in of_task or results[: len(results) == 1]:
        metric = as_object(result.get("metric_config")).get("metric_name")
        named[as_text(result.get("evaluation_result_id") or metric)] = result
    return named


def _accuracy(result: Row) -> float:
    score = as_number(as_object(result.get("score_details")).get("score"))
    unit = as_object(result.get("metric_config")).get("metric_unit")
    return score / 100 if unit == "percent" else score


def _details(owner: Row, section: str) -> Row:
    return as_object(as_object(owner.get(section)).get("additional_details"))


def _evaluation(row: Row) -> tuple[str, str]:
    """Return model and evaluation of a row."""
    model, task = as_text(row.get("model_id")), as_text(row.get("evaluation_name"))
    return ascii_surrogates(model), ascii_surrogates(task)


def _result(row: Row) -> str:
    return as_text(row.get("evaluation_result_id"))


def _parts(result: str) -> tuple[str, str, str]:
    """Return metric, split and perturbation of HELM, or scorer and metric of Inspect."""
    metric, split, perturbation, *_ = [*result.split(":"), "", "", ""]
    return metric, split, perturbation


def _tool(row: Row, aggregate: Row) -> str:
    """Return the tool whose log was converted, "" if it has no peculiarities."""
    name = as_text(as_object(aggregate.get("eval_library")).get("name")).lower()
    metadata = as_object(row.get("metadata"))
    if "item_id" in metadata and "content_hash" in metadata:
        return "benchwright"
    if name.startswith(("lm_eval", "lm-eval")) or "doc_hash" in metadata:
        return "lm_eval"
    return "inspect" if name.startswith("inspect") or "epoch" in metadata else ""


def _aggregate(path: Path) -> tuple[list[Path], Row]:
    """Return the aggregate beside a file of samples, if there is one."""
    companion = path.with_name(f"{path.name.removesuffix(_SUFFIX)}.json")
    if not path.name.endswith(_SUFFIX) or not companion.is_file():
        return [], {}
    return [companion], dict(members(companion))


def _rows(file: File) -> Iterator[Row]:
    for number, row in json_lines(file):
        if not isinstance(row, dict):
            where = f"{path_of(file)}: line {number}"
            raise InputError(f"{where}: expected an object; convert the log again")
        yield row


def _texts(value: object) -> tuple[str, ...]:
    """Return a list of texts; older schemas have a single one."""
    values = [value] if isinstance(value, str) else as_list(value)
    return tuple(ascii_surrogates(as_text(each)) for each in values)
