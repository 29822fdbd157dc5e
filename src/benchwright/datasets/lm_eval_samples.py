"""Read sample logs of lm-evaluation-harness (`--log_samples`).

The format is that of version 0.4.13 (`lm_eval/loggers/evaluation_tracker.py`, `evaluator.py`): one
JSON object per document and filter, with numbers and booleans in responses as text. Contexts are
not kept, since they make up most of a log.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.source_rows.fields import ascii_surrogates, format_value

SAMPLES = pa.schema(
    [
        ("doc_id", pa.int64()),
        ("doc", pa.string()),
        ("target", pa.string()),
        ("filter", pa.string()),
        ("continuations", pa.list_(pa.string())),
        ("contexts", pa.list_(pa.string())),
        ("logprobs", pa.list_(pa.float64())),
        ("acc", pa.float64()),
        ("exact_match", pa.float64()),
    ]
)
"""The kept fields of a sample: `doc` is the task's row as JSON; `continuations` and `logprobs` have
an entry per request and are missing for written answers; `contexts` are the ends of the contexts,
kept only if all continuations are equal; `acc` and `exact_match` are metrics of the sample."""

_KEYS = ("doc_id", "doc", "arguments")
_RESPONSES = ("filtered_resps", "resps")
_CONTEXT_END = 2_000  # characters, beyond any option
_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl", re.DOTALL
)
# Arguments that may name the model, in the order in which the harness checks them.
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
_LOCAL = re.compile(r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]")


class Run(NamedTuple):
    """The model (None if unknown) and shots (−1 if unknown) from the results file of a log."""

    model: str | None
    shots: int


def is_sample_log(path: Path) -> bool:
    """Return whether the first line of a file of JSON lines is a sample of lm-eval."""
    try:
        first = next(_lines(path), None)
    except InputError:
        return False
    return first is not None and _lacking(first[1]) is None


def read_samples(path: Path) -> pa.Table:
    """Read the samples of a log as a table with the columns of `SAMPLES`.

    Raises:
        InputError: a line is incomplete or not a sample; the message names file and line.
    """
    columns: dict[str, list[Any]] = {name: [] for name in SAMPLES.names}
    for number, row in _lines(path):
        lacking = _lacking(row)
        if lacking is not None:
            raise InputError(
                f"{path}: line {number}: no field {lacking!r}; expected a sample log of lm-eval "
                "(lm_eval --log_samples)"
            )
        try:
            sample = _sample(row)
        except ValueError as error:
            raise InputError(f"{path}: line {number}: {error}") from error
        for name, cells in columns.items():
            cells.append(sample[name])
    if not columns["doc"]:
        raise InputError(f"{path}: no rows; remove the file or add a row per response")
    return pa.table(columns, schema=SAMPLES)


def read_run(path: Path) -> Run:
    """Read `results_<time>.json` next to `samples_<task>_<time>.jsonl`.

    Model and shots are unknown if there is no such file or the log has another name.

    Raises:
        InputError: the file is not a JSON object.
    """
    parts = _NAME.fullmatch(path.name)
    if parts is None:
        return Run(None, -1)
    # `--output_path x.json` writes `x_<time>.json` instead of `results_<time>.json`.
    usual = path.with_name(f"results_{parts['time']}.json")
    others = sorted(path.parent.glob(f"*_{parts['time']}.json"))
    file = usual if usual in others else next(iter(others), None)
    if file is None:
        return Run(None, -1)
    try:
        results = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{file}: not valid JSON: {' '.join(str(error).split())}") from error
    if not isinstance(results, dict):
        raise InputError(f"{file}: expected an object, got {format_value(results)}")
    return Run(_model(results), _shots(results, parts["task"]))


def run_of(name: str) -> str:
    """Return the run that wrote a log: its folder and the time in its name, else the name.

    >>> run_of("org__m/samples_arc_2026-11-20T22-25-57.198528.jsonl")
    'org__m/2026-11-20T22-25-57.198528'
    """
    folders, slash, file = name.rpartition("/")
    parts = _NAME.fullmatch(file)
    return name if parts is None else f"{folders}{slash}{parts['time']}"


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON lines with their numbers from 1; empty lines are skipped."""
    with path.open("rb") as file:  # as bytes, since lines end at \n only
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"{path}: line {number}: not valid JSON: {' '.join(str(error).split())}; if "
                    "lm-eval was interrupted, run it again"
                ) from error
            if not isinstance(row, dict):
                raise InputError(
                    f"{path}: line {number}: expected an object, got {format_value(row)}"
                )
            yield number, row


def _lacking(row: dict[str, Any]) -> str | None:
    """Return the first key of a sample that a row lacks."""
    if not any(key in row for key in _RESPONSES):
        return _RESPONSES[0]
    return next((key for key in _KEYS if key not in row), None)


def _sample(row: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table; raise ValueError with the first invalid field."""
    doc_id = row["doc_id"]
    if not isinstance(doc_id, int) or isinstance(doc_id, bool) or abs(doc_id) >= 1 << 63:
        raise ValueError(f"doc_id: expected an integer, got {format_value(row['doc_id'])}")
    if not isinstance(row["doc"], dict):
        raise ValueError(f"doc: expected an object, got {format_value(row['doc'])}")
    contexts, continuations = _requests(row["arguments"])
    sample = {
        "doc_id": row["doc_id"],
        "doc": json.dumps(row["doc"]),
        "target": ascii_surrogates(str(row.get("target"))),
        "filter": ascii_surrogates(str(row.get("filter", "none"))),
        "continuations": None,
        "contexts": None,
        "logprobs": None,
        "acc": _metric(row.get("acc")),
        "exact_match": _metric(row.get("exact_match")),
    }
    if continuations is None:
        return sample
    responses = next(row[key] for key in _RESPONSES if key in row)
    if not isinstance(responses, list) or len(responses) != len(continuations):
        raise ValueError(f"expected {len(continuations)} responses, got {format_value(responses)}")
    logprobs = [_log_likelihood(response) for response in responses]
    conditional = _conditional(contexts, continuations)
    sample["continuations"] = [ascii_surrogates(text) for text in continuations[:conditional]]
    sample["logprobs"] = logprobs[:conditional]
    if len(continuations) > 1 and len(set(continuations)) == 1:
        sample["contexts"] = [ascii_surrogates(text[-_CONTEXT_END:]) for text in contexts]
    return sample


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
    if not isinstance(value, dict):
        return value
    return [value[key] for key in sorted(value, key=natural_key)]


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
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        f"response: expected a log-likelihood and a boolean, got {format_value(response)}"
    )


def _metric(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _model(results: dict[str, Any]) -> str | None:
    """Return the model's name; for a local model, the name of its folder."""
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, str):
        pairs = [pair.partition("=") for pair in arguments.split(",")]
        arguments = {key.strip(): value for key, _, value in pairs}
    candidates = [results.get("model_name")]
    if isinstance(arguments, dict):
        candidates += [arguments.get(key) for key in _MODEL_ARGUMENTS]
    name = next((name for name in candidates if isinstance(name, str) and name.strip()), None)
    if name is None or not _LOCAL.match(name):
        return name
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1] or None


def _shots(results: dict[str, Any], task: str) -> int:
    for known, key in ((results.get("n-shot"), None), (results.get("configs"), "num_fewshot")):
        shots = known.get(task) if isinstance(known, dict) else None
        if key is not None:
            shots = shots.get(key) if isinstance(shots, dict) else None
        if isinstance(shots, int) and not isinstance(shots, bool) and shots >= 0:
            return shots
    return -1
