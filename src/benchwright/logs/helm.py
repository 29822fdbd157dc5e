"""Runs of HELM: a folder with the run's settings, requests and statistics."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.logs.json_files import array_elements, members, read_json
from benchwright.logs.json_values import as_count, as_list, as_number, as_object, as_text
from benchwright.logs.opened_file import OpenedFile
from benchwright.logs.sample import Log, Mark, Sample, Settings, digest_of, sampling_of

NAME = "HELM"

_SPEC, _STATE, _STATS = "run_spec.json", "scenario_state.json", "per_instance_stats.json"
_SCORES, _INSTANCES, _PREDICTIONS = "stats.json", "instances.json", "display_predictions.json"
_FILES = (_SPEC, _STATE, _STATS, _SCORES, _INSTANCES, _PREDICTIONS)
_OTHER_FILES = ("scenario.json", "display_requests.json")
_MARKS = ("exact_match", "quasi_exact_match")
_TEMPLATE = (
    "method",
    "instructions",
    "input_prefix",
    "input_suffix",
    "reference_prefix",
    "reference_suffix",
    "output_prefix",
    "output_suffix",
    "instance_prefix",
    "chain_of_thought_prefix",
    "substitutions",
)
_SMALL_TEMPERATURE = 0.001
_FEW_TOKENS = 10  # of an answer that is a letter
_HIDDEN = re.compile(r"\[redacted\]|\[encrypted_text_\d+\]")

Key = tuple[str, int]
"""The id of an instance, and the trial."""


class _Run(NamedTuple):
    folder: Path
    method: str
    mark: str  # the metric that marks answers


def recognises(file: OpenedFile) -> bool:
    """Return whether a folder has the settings of a run, and its requests or predictions."""
    if file.stream is not None or not (file.path / _SPEC).is_file():
        return False
    return any((file.path / name).is_file() for name in (_STATE, _PREDICTIONS))


def read(file: OpenedFile) -> list[Log]:
    """Return the log of a run, whose score is that of all its splits together.

    Raises:
        InputError: the settings or the statistics are broken.
    """
    path = file.path
    spec = as_object(read_json(path / _SPEC))
    adapter = as_object(spec.get("adapter_spec"))
    mark, score = _score(path)
    method = as_text(adapter.get("method"))
    parts = re.split(r"(?<=[:,])", as_text(spec.get("name")))
    name = "".join(part for part in parts if not part.startswith(("model=", "model_deployment=")))
    files = [path / name for name in (*_FILES, *_OTHER_FILES) if (path / name).is_file()]
    return [
        Log(
            files=tuple(files),
            format=NAME,
            samples=partial(_samples, _Run(path, method, mark)),
            task=name.rstrip(",:"),
            model=as_text(adapter.get("model")),
            style="cloze_tokens" if method == "multiple_choice_separate_original" else "",
            shots=as_count(adapter.get("max_train_instances")),
            scores={} if score is None else {Mark(mark): score},
            main=Mark(mark),
            settings=_settings(adapter),
        )
    ]


def _settings(adapter: Mapping[str, Any]) -> Settings:
    """Return how a run asked, as its adapter says, but for what HELM itself changes for a model.

    It wraps the prompts of some chat models, gives some a token more for a letter, and those that
    fail at temperature 0 one of 0.0001.
    """
    trials = as_count(adapter.get("num_train_trials"))
    limit = as_count(adapter.get("max_eval_instances"))
    template = [adapter.get(name) for name in _TEMPLATE]
    wrapped = adapter.get("global_prefix") and adapter.get("global_suffix")
    is_known = "global_prefix" in adapter and not wrapped
    asked = {name: value for name, value in adapter.items() if name != "num_outputs"}
    if as_number(asked.get("temperature")) < _SMALL_TEMPERATURE:
        asked["temperature"] = 0
    tokens = as_count(asked.get("max_tokens"))
    if as_text(adapter.get("method")).startswith("multiple_choice") and tokens <= _FEW_TOKENS:
        asked["max_tokens"] = _FEW_TOKENS
    return Settings(
        template=digest_of(*template),
        instruction=as_text(adapter.get("global_prefix")) if is_known else None,
        sampling=sampling_of(asked),
        limit=str(limit) if limit >= 0 else None,
        repeats=trials if trials > 0 else None,
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of an array; nothing if there is no such file."""
    return map(as_object, array_elements(path)) if path.is_file() else iter(())


def _score(folder: Path) -> tuple[str, float | None]:
    """Return the metric that marks answers, and its mean over splits, weighted by their items."""
    means: dict[str, dict[str, float]] = {}
    for stat in _rows(folder / _SCORES):
        name = as_object(stat.get("name"))
        if not name.get("perturbation"):
            of_split = means.setdefault(as_text(name.get("name")), {})
            of_split[as_text(name.get("split"))] = as_number(stat.get("mean"))
    mark = next((name for name in _MARKS if name in means), _MARKS[0])
    by_split = means.get(mark, {})
    counts = means.get("num_instances", {}) if len(by_split) > 1 else dict.fromkeys(by_split, 1.0)
    weights = [counts.get(split, math.nan) for split in by_split]
    total = sum(mean * weight for mean, weight in zip(by_split.values(), weights, strict=True))
    score = total / sum(weights) if sum(weights) else math.nan
    return mark, None if math.isnan(score) else score


def _samples(run: _Run) -> Iterator[Sample]:
    """Yield an answer per instance and trial; with perturbed instances, which are skipped."""
    stats = _statistics(run.folder)
    has_requests = (run.folder / _STATE).is_file()
    shown = _rows(run.folder / _PREDICTIONS) if has_requests else ()
    read = (row for row in shown if row.get("mapped_output") and not row.get("perturbation"))
    mapped = {_key(row)[:2]: row["mapped_output"] for row in read}
    states = members(run.folder / _STATE, frozenset({"request_states"})) if has_requests else ()
    found = (as_object(value) for name, value in states if name == "request_states")
    requests = found if has_requests else _shown(run.folder)
    for key, group in groupby(requests, key=_key):
        name, trial, perturbed = key
        of_answer = list(group)
        sample = _asked(as_object(of_answer[0].get("instance")), run)._replace(
            number=name, repeat=trial + 1
        )
        if perturbed:
            yield sample._replace(skipped="perturbed")
            continue
        means = {**as_object(of_answer[0].get("stats")), **stats.get((name, trial), {})}
        marks = {Mark(name): as_number(value) for name, value in means.items()}
        sample = sample._replace(correct=marks.get(Mark(run.mark), math.nan), marks=marks)
        of_answer[0].setdefault("mapped_output", mapped.get((name, trial)))
        yield _answered(sample, of_answer, means)


def _key(request: Mapping[str, Any]) -> tuple[str, int, bool]:
    """Return the id of an instance, the trial and whether the instance is perturbed."""
    instance = as_object(request.get("instance"))
    name = as_text(instance.get("id", request.get("instance_id")))
    trial = max(0, as_count(request.get("train_trial_index")))
    return name, trial, bool(instance.get("perturbation", request.get("perturbation")))


def _statistics(folder: Path) -> dict[Key, dict[str, float]]:
    """Return the means of the statistics of each unperturbed answer."""
    found: dict[Key, dict[str, float]] = {}
    for row in _rows(folder / _STATS):
        name, trial, perturbed = _key(row)
        if not perturbed:
            for stat in map(as_object, as_list(row.get("stats"))):
                metric = as_text(as_object(stat.get("name")).get("name"))
                found.setdefault((name, trial), {})[metric] = as_number(stat.get("mean"))
    return found


def _shown(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the displayed predictions in the shape of requests."""
    if not (folder / _INSTANCES).is_file():
        raise InputError(f"{folder}: {_INSTANCES} is missing; copy it to the other files")
    instances = {
        as_text(instance.get("id")): instance
        for instance in _rows(folder / _INSTANCES)
        if not instance.get("perturbation")
    }
    for row in _rows(folder / _PREDICTIONS):
        name = as_text(row.get("instance_id"))
        instance = {**instances.get(name, {}), "id": name, "perturbation": row.get("perturbation")}
        result = {"success": True, "completions": [{"text": row.get("predicted_text")}]}
        yield {**row, "instance": instance, "result": result}


def _asked(instance: Mapping[str, Any], run: _Run) -> Sample:
    """Return the question, and its options if the method has some."""
    references = [as_object(each) for each in as_list(instance.get("references"))]
    texts = tuple(as_text(as_object(each.get("output")).get("text")) for each in references)
    right = tuple(n for n, each in enumerate(references) if "correct" in as_list(each.get("tags")))
    question = as_text(as_object(instance.get("input")).get("text"))
    hidden = any(_HIDDEN.search(text) for text in (question, *texts))
    sample = Sample(
        number="", question=question, skipped="text redacted or encrypted" if hidden else ""
    )
    if run.method.startswith("multiple_choice"):
        return sample._replace(choices=texts, gold=right)
    return sample._replace(target=texts[right[0]] if right else "")


def _answered(
    sample: Sample,
    requests: Sequence[Mapping[str, Any]],
    stats: Mapping[str, Any],
) -> Sample:
    results = [as_object(request.get("result")) for request in requests]
    if any(result.get("success") is not True or result.get("error") for result in results):
        return sample._replace(outcome="failed", correct=math.nan, marks={})
    if requests[0].get("reference_index") is not None:
        return _separate(sample, requests, stats)
    completions = as_list(results[0].get("completions"))
    text = as_text(as_object(completions[0] if completions else None).get("text"))
    chosen = _mapped(text, requests[0], sample.choices)
    return sample._replace(
        chosen=chosen,
        outcome="answered" if text.strip() or not sample.choices else "unreadable",
        text=text,
    )


def _mapped(text: str, request: Mapping[str, Any], choices: Sequence[str]) -> int:
    """Return the position of the option that HELM maps a completion to, −1 if none."""
    mapping = as_object(request.get("output_mapping"))
    letters = list(mapping) or list(LETTERS[: len(choices)])
    letter = text.strip()
    position = letters.index(letter) if letter in letters else -1
    # HELM may have applied a pattern of the run's settings first, which is not done here.
    mapped = as_text(mapping.get(letter, request.get("mapped_output")))
    if 0 <= position < len(choices) and mapped in ("", choices[position]):
        return position
    return choices.index(mapped) if choices.count(mapped) == 1 else -1


def _separate(
    sample: Sample, requests: Sequence[Mapping[str, Any]], stats: Mapping[str, Any]
) -> Sample:
    """Return an answer of one request per option; HELM states the position that it chose."""
    shown = requests[0].get("reference_index") if len(requests) == 1 else None
    chosen = as_count(stats.get("predicted_index", shown))
    chosen = chosen if chosen < len(sample.choices) else -1
    found: dict[int, tuple[float, int]] = {}
    for request in requests:
        position = as_count(request.get("reference_index"))
        if 0 <= position < len(sample.choices):
            ending = _ending(request, sample.choices[position])
            found |= {} if ending is None else {position: ending}
    calibrated = any(request.get("request_mode") == "calibration" for request in requests)
    known = not calibrated and len(found) == len(sample.choices)
    in_order = [found[position] for position in sorted(found)] if known else []
    return sample._replace(
        outcome="answered" if chosen >= 0 else "failed",
        chosen=chosen,
        continuations=tuple(f" {choice}" for choice in sample.choices),
        logprobs=tuple(logprob for logprob, _ in in_order) if known else None,
        option_tokens=tuple(count for _, count in in_order) if known else None,
    )


def _ending(request: Mapping[str, Any], option: str) -> tuple[float, int] | None:
    """Return the log-likelihood and the number of the tokens of an option; None if others follow.

    After a chat template HELM compares other tokens than those of the options.
    """
    completions = as_list(as_object(request.get("result")).get("completions"))
    tokens = as_list(as_object(completions[0] if completions else None).get("tokens"))
    text, total = "", 0.0
    for count, token in enumerate(map(as_object, reversed(tokens)), start=1):
        text = as_text(token.get("text")) + text
        total += as_number(token.get("logprob"))
        if text.strip() == option.strip():
            return None if math.isnan(total) else (total, count)
        if len(text) > len(option) + 1:
            break
    return None
