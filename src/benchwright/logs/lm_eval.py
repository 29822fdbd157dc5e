"""Sample logs of lm-evaluation-harness, also those of the Open LLM Leaderboard v2.

The format is that of versions 0.4.0 to 0.4.13 (`lm_eval/loggers/evaluation_tracker.py`,
`evaluator.py`): one JSON object per document and filter, one per line or all in one array, with
numbers and booleans in responses as text. Contexts are not kept, since they make up most of a log.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.core.printable import ascii_surrogates, format_value
from benchwright.logs.json_files import array_elements, json_lines, read_json
from benchwright.logs.json_values import as_count, as_list, as_number, as_object, as_text
from benchwright.logs.opened_file import OpenedFile, opened_file
from benchwright.logs.sample import (
    NO_MARK,
    Log,
    Mark,
    Sample,
    Settings,
    digest_of,
    sampling_of,
    setting_text,
)

NAME = "lm-evaluation-harness"

_KEYS = ("doc_id", "doc", "arguments")
_RESPONSES = ("filtered_resps", "resps")
_STRUCTURE = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
)
_LIKELIHOOD = frozenset(("exact_match",))  # of options: that the gold is likeliest of all texts
_COUNTS = frozenset(("sample_len", "samples"))  # beside the scores of a task
_CONTEXT_END = 2_000  # characters, beyond any option
_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl?", re.DOTALL
)
_TEMPLATE = (
    "description",
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "target_delimiter",
    "fewshot_delimiter",
)
_NO_RULES = ("metric", "aggregation", "higher_is_better")  # of a metric in `metric_list`
# Arguments that may name the model, in the order in which the harness checks them.
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")


def recognises(file: OpenedFile) -> bool:
    """Return whether a file begins with a sample of lm-eval."""
    head = file.head
    is_json = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    # A document may be longer than the head, so that keys after it are not in there.
    if not is_json or (b'"doc_id"' not in head and b'"doc"' not in head):
        return False
    try:
        first = next(_objects(file), None)
    except InputError:
        return b'"doc_id"' in head and b'"arguments"' in head
    return first is not None and ("arguments" in first[1] or _lacking(first[1]) is None)


def read(file: OpenedFile) -> list[Log]:
    """Return the log in a file, with model, shots and score of the results file beside it.

    Raises:
        InputError: the results file is not a JSON object.
    """
    path = file.path
    parts = _NAME.fullmatch(path.name)
    beside = None if parts is None else _results_file(path, parts["time"])
    results = {} if beside is None else _results(beside, beside.stat().st_mtime_ns)
    config = as_object(results.get("config"))
    task = parts["task"] if parts else path.stem
    directions = as_object(as_object(results.get("higher_is_better")).get(task))
    of_task = as_object(as_object(results.get("configs")).get(task))
    shots = as_object(results.get("n-shot")).get(task), of_task.get("num_fewshot")
    revision = config.get("model_sha") or results.get("model_sha")
    return [
        Log(
            files=(path,) if beside is None else (path, beside),
            format=NAME,
            samples=lambda: _samples(path),
            version=as_text(results.get("lm_eval_version")),
            task=task,
            model=_model(results, config.get("model_args")) or _model_of_folder(path),
            revision=revision if isinstance(revision, str) else "",
            shots=next((count for count in map(as_count, shots) if count >= 0), -1),
            scores=_scores(as_object(as_object(results.get("results")).get(task))),
            main=_first_score(results, task),
            first_counts=True,
            directions={n: better for n, better in directions.items() if type(better) is bool},
            settings=Settings() if beside is None else _settings(results, of_task, task),
        )
    ]


@lru_cache(maxsize=1)
def _results(file: Path, _changed: int) -> dict[str, Any]:
    """Return the results file of a run, which the logs of all its tasks lie beside."""
    results = read_json(file)
    if not isinstance(results, dict):
        raise InputError(f"{file}: expected an object, got {format_value(results)}")
    return results


def _model_of_folder(path: Path) -> str:
    """Return the model that the folder of a log names, as `org__model`, "" if none."""
    folder = path.parent.name.removesuffix("-details")
    if "__" not in folder:
        return ""
    is_path = folder.startswith("__")
    return folder.replace("__", "/") if is_path else folder.replace("__", "/", 1)


def _first_score(results: dict[str, Any], task: str) -> Mark:
    """Return the score that the results name first."""
    scores = _scores(as_object(as_object(results.get("results")).get(task)))
    return next(iter(scores), NO_MARK)


def _settings(results: dict[str, Any], of_task: dict[str, Any], task: str) -> Settings:
    """Return how a task was asked, as the results file says."""
    config = as_object(results.get("config"))
    asked = as_object(as_object(results.get("n-samples")).get(task))
    effective = as_count(asked.get("effective"))
    revision = as_object(of_task.get("dataset_kwargs")).get("revision")
    limit = config.get("limit")
    says_chat = "chat_template" in results
    chat = results.get("chat_template")
    return Settings(
        task_version=setting_text(as_object(results.get("versions")).get(task)),
        dataset_revision=as_text(revision) or None,
        template=digest_of(*(of_task.get(name) for name in _TEMPLATE)),
        instruction=as_text(results.get("system_instruction")) if says_chat else None,
        # The text is "" for servers, which apply templates that the harness does not know.
        chat_template=bool(chat) if says_chat and chat != "" else None,
        sampling=_sampling(of_task.get("generation_kwargs"), config.get("gen_kwargs")),
        samples=effective if effective >= 0 else None,
        limit=None if limit is None else str(limit),
        scoring=_scoring(of_task),
    )


def _scoring(of_task: dict[str, Any]) -> dict[str, str]:
    """Return a digest of the rules of each filter and metric."""
    found: dict[str, str] = {}
    for rule in map(as_object, as_list(of_task.get("filter_list"))):
        found[as_text(rule.get("name"))] = digest_of(rule.get("filter")) or ""
    for rule in map(as_object, as_list(of_task.get("metric_list"))):
        given = {name: value for name, value in rule.items() if name not in _NO_RULES}
        found[as_text(rule.get("metric"))] = digest_of(given) or ""
    return found


def _sampling(of_task: Any, of_run: Any) -> dict[str, str]:
    """Return the settings of generation of a task, changed by those of the run (`a=1,b=2`)."""
    if isinstance(of_run, str):
        pairs = (pair.partition("=") for pair in of_run.split(","))
        of_run = {name.strip(): value.strip() for name, _, value in pairs}
    return {**sampling_of(as_object(of_task)), **sampling_of(as_object(of_run))}


def _samples(path: Path) -> Iterator[Sample]:
    """Yield the samples of a log, one per document and filter."""
    found = False
    with opened_file(path) as file:
        for number, row in _objects(file):
            lacking = _lacking(row)
            if lacking is not None:
                raise InputError(
                    f"{path}: line {number}: no field {lacking!r}; expected a sample log of "
                    "lm-eval (lm_eval --log_samples)"
                )
            try:
                yield _sample(row)
            except ValueError as error:
                raise InputError(f"{path}: line {number}: {error}") from error
            found = True
    if not found:
        raise InputError(f"{path}: no rows; remove the file or add a row per response")


def _results_file(path: Path, time: str) -> Path | None:
    """Return `results_<time>.json` beside a log, or what `--output_path x.json` writes instead."""
    usual = path.with_name(f"results_{time}.json")
    others = sorted(set(path.parent.glob(f"*_{time}.json")) - {path})
    return usual if usual in others else next(iter(others), None)


def _scores(scores: dict[str, Any]) -> dict[Mark, float]:
    """Return the scores of a task, named `metric,filter` since version 0.4.0."""
    found = {}
    for name, value in scores.items():
        metric, _, source = name.partition(",")
        score = math.nan if isinstance(value, str) else as_number(value)
        if not math.isnan(score) and metric not in _COUNTS and not metric.endswith("_stderr"):
            found[Mark(metric, source or "none")] = score
    return found


def _objects(file: OpenedFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield objects with their numbers from 1: JSON lines (empty ones are skipped) or an array."""
    is_array = file.head[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    rows = enumerate(array_elements(file), start=1) if is_array else json_lines(file)
    for number, row in rows:
        if not isinstance(row, dict):
            where = f"{file.path}: line {number}"
            raise InputError(f"{where}: expected an object, got {format_value(row)}")
        yield number, row


def _lacking(row: dict[str, Any]) -> str | None:
    """Return the first key of a sample that a row lacks."""
    if not any(key in row for key in _RESPONSES):
        return _RESPONSES[0]
    return next((key for key in _KEYS if key not in row), None)


def _sample(row: dict[str, Any]) -> Sample:
    """Return one sample; raise ValueError with the first invalid field."""
    doc_id = row["doc_id"]
    if not isinstance(doc_id, int) or isinstance(doc_id, bool) or abs(doc_id) >= 1 << 63:
        raise ValueError(f"doc_id: expected an integer, got {format_value(row['doc_id'])}")
    if not isinstance(row["doc"], dict):
        raise ValueError(f"doc: expected an object, got {format_value(row['doc'])}")
    contexts, continuations = _requests(row["arguments"])
    sample = Sample(str(doc_id), doc=row["doc"], target=ascii_surrogates(str(row.get("target"))))
    marks = _marks(row)
    responses = next(row[key] for key in _RESPONSES if key in row)
    if continuations is None:
        return sample._replace(marks=marks, text=as_text(next(iter(as_list(responses)), "")))
    of_options = {m: value for m, value in marks.items() if m.metric not in _LIKELIHOOD}
    sample = sample._replace(marks=of_options)
    if not isinstance(responses, list) or len(responses) != len(continuations):
        raise ValueError(f"expected {len(continuations)} responses, got {format_value(responses)}")
    logprobs = [_log_likelihood(response) for response in responses]
    conditional = _conditional(contexts, continuations)
    same = len(continuations) > 1 and len(set(continuations)) == 1
    ends = tuple(ascii_surrogates(text[-_CONTEXT_END:]) for text in contexts)
    return sample._replace(
        # Labels are the same in every sample, and a log may have a million.
        continuations=tuple(intern(ascii_surrogates(each)) for each in continuations[:conditional]),
        logprobs=tuple(logprobs[:conditional]),
        contexts=ends if same else None,
    )


def _marks(row: dict[str, Any]) -> dict[Mark, float]:
    """Return the scores of a sample: those that it lists, else all keys with a number."""
    listed = row.get("metrics")
    names = listed if isinstance(listed, list) else [n for n in row if n not in _STRUCTURE]
    source = ascii_surrogates(str(row.get("filter", "none")))
    values = ((str(name), row.get(name)) for name in names)
    return {
        Mark(ascii_surrogates(name), source): as_number(value)
        for name, value in values
        if value is None or isinstance(value, int | float)
    }


def _requests(arguments: Any) -> tuple[list[str], list[str] | None]:
    """Return contexts and continuations of the requests; None for a written answer."""
    if isinstance(arguments, dict):  # {"gen_args_0": {"arg_0": …, "arg_1": …}, "gen_args_1": …}
        arguments = [_in_order(request) for request in _in_order(arguments)]
    if not isinstance(arguments, list) or not all(
        isinstance(request, list) for request in arguments
    ):
        raise ValueError(f"arguments: expected a list per request, got {format_value(arguments)}")
    pairs = [request[:2] for request in arguments]
    if not pairs or not all(len(p) == 2 and all(isinstance(t, str) for t in p) for p in pairs):
        return [], None
    return [context for context, _ in pairs], [continuation for _, continuation in pairs]


def _in_order(value: Any) -> Any:
    """Return an object's values in natural order of the keys; other values unchanged."""
    return [value[k] for k in sorted(value, key=natural_key)] if isinstance(value, dict) else value


def _conditional(contexts: list[str], continuations: list[str]) -> int:
    """Return the number of requests with a context; acc_mutual_info repeats them without."""
    half, odd = divmod(len(continuations), 2)
    repeats = not odd and continuations[:half] == continuations[half:]
    return half if repeats and any(contexts[:half]) and not any(contexts[half:]) else len(contexts)


def _log_likelihood(response: Any) -> float:
    """Return the first number of a response: a number, `["-23.5", "False"]`, or nested lists."""
    value = response
    while isinstance(value, list) and value:
        value = value[0]
    number = math.nan if isinstance(value, bool) else as_number(value)
    if math.isnan(number) and str(value).strip().lower() != "nan":
        expected = "expected a log-likelihood and a boolean"
        raise ValueError(f"response: {expected}, got {format_value(response)}")
    return number


def _model(results: dict[str, Any], arguments: Any) -> str:
    """Return the model's name, a path for a local model; "" if there is none."""
    if isinstance(arguments, str):
        pairs = [pair.partition("=") for pair in arguments.split(",")]
        arguments = {key.strip(): value for key, _, value in pairs}
    candidates = [as_object(arguments).get(key) for key in _MODEL_ARGUMENTS]
    names = (name for name in (results.get("model_name"), *candidates) if isinstance(name, str))
    return next((name for name in names if name.strip()), "")
