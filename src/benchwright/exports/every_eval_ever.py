"""Export the answers of a run in the format of Every Eval Ever (schema 0.3.0).

A configuration is a pair of files, `data/<benchmark>/<developer>/<model>/<uuid>.json` with its
accuracies and `<uuid>_samples.jsonl` with a line per answer.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.printable import ascii_surrogates
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.version import VERSION
from benchwright.datasets.export_folder import FolderContent, Pieces
from benchwright.params.benchmark import BenchmarkParams
from benchwright.scoring.rendering import LABELS

SCHEMA = "0.3.0"
_NOT_PORTABLE = re.compile(r'[<>:"\\|?*/\x00-\x1f]')
_UNKNOWN = "unknown"

Row = dict[str, Any]


class ModelIdentity(NamedTuple):
    """What the aggregate says of a model; `id` is `<developer>/<name>` if it is on the hub."""

    id: str
    developer: str
    revision: str = ""


class AnsweredCondition(NamedTuple):
    """Answers under one condition, and the items as asked (`Items` or `PerturbedItems`)."""

    matrix: ResponseMatrix
    items: pd.DataFrame


class AnsweredRun(NamedTuple):
    """The exported run."""

    benchmark: BenchmarkParams
    settings: Mapping[str, str]  # variant, limit and seed
    timestamp: int  # when it began, in seconds since 1970
    organization: str  # who ran it
    models: Mapping[str, ModelIdentity]  # by name; others are known by their names only


def write_answers(
    conditions: Sequence[AnsweredCondition],
    responses: pd.DataFrame,
    generations: pd.DataFrame,
    run: AnsweredRun,
) -> FolderContent:
    """Write every answer of a run: chosen option, mark, what was written, and tokens.

    Items without an answer are left out and counted. An answer from which no option was read is
    wrong, without an extracted value. Answers of which only the mark is known have no output.
    `responses` are `Responses` rows with a column `configuration`, for tokens and sources; they and
    the `Generations` may lack rows.

    Raises:
        InputError: nothing was answered.
    """
    asked = [_asked(condition, run.benchmark.name) for condition in conditions]
    rows = dict(iter(responses.groupby("configuration", sort=False)))
    written = dict(iter(generations.groupby(["model", "style", "shots"], sort=False)))
    files: dict[str, Pieces] = {}
    answers: dict[str, int] = {}
    for name in sorted({name for each in asked for name in each.matrix.models}):
        texts = written.get(tuple(parse_configuration(name)))
        known = _known(rows.get(name, responses[:0]), texts)
        samples = _Samples([each for each in asked if name in each.matrix.models], name, run, known)
        digest, count = hashlib.sha256(), 0
        for line in samples:
            digest.update(line)
            count += 1
        if not count:
            continue
        stem = f"{samples.folder()}/{uuid.UUID(bytes=digest.digest()[:16], version=4)}"
        detail = {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": digest.hexdigest(),
            "total_rows": count,
        }
        files[f"{stem}.json"] = [_line(samples.aggregate(detail), indent=2)]
        files[f"{stem}_samples.jsonl"] = samples
        answers[name] = count
    if not files:
        raise InputError(f"{run.benchmark.name}: the run has no answers")
    facts = {"format": 1, "benchwright": VERSION, "schema": SCHEMA}
    return FolderContent(files, {**facts, "benchmark": run.benchmark.name, "answers": answers})


class _Asked(NamedTuple):
    """A condition, and the parts of a sample that are the item's."""

    matrix: ResponseMatrix  # of the items that the condition has
    items: list[Row]  # in the order of the matrix
    evaluation: str


def _asked(answered: AnsweredCondition, benchmark: str) -> _Asked:
    matrix = answered.matrix
    items = {}
    for row in answered.items.to_dict("records"):
        items[row["item_id"]] = _item(row, matrix.condition)
    shown = [item_id for item_id in matrix.item_ids if item_id in items]
    evaluation = benchmark
    if matrix.condition != "question":
        evaluation = f"{benchmark}/{matrix.condition}"
    return _Asked(matrix.select_items(shown), [items[item_id] for item_id in shown], evaluation)


def _item(row: Mapping[Any, Any], condition: str) -> Row:
    """Return the fields of a sample that are the same for every model."""
    choices = [ascii_surrogates(str(text)) for text in row["choices"]]
    reference = [str(row["answer_text"])]
    if choices:
        right = row.get("correct_set")
        if right is None or not len(right):
            right = [row["answer"]]
        reference = [LABELS[int(option)] for option in right]
    question = ""
    if condition != "choices_only":
        question = ascii_surrogates(str(row["question"]))
    shown = question + "".join(reference)
    return {
        "sample_id": str(row["item_id"]),
        "sample_hash": hashlib.sha256(shown.encode()).hexdigest(),
        "input": {"raw": question, "reference": reference, "choices": choices or None},
        "metadata": {
            "item_id": ascii_surrogates(str(row["item_id"])),
            "content_hash": str(row["content_hash"]),
            "condition": ascii_surrogates(condition),
            "subject": ascii_surrogates(str(row["subject"])),
        },
    }


class _Answer(NamedTuple):
    """What is known of an answer besides the matrix."""

    prompt_tokens: int = -1
    generated_tokens: int = -1
    scored: bool = False  # by log-likelihoods
    source: str = ""
    texts: tuple[str, ...] = ()
    extracted: str = ""


def _known(rows: pd.DataFrame, generations: pd.DataFrame | None) -> dict[tuple[str, str], _Answer]:
    """Return what tables say of the answers of one configuration, by condition and item."""
    known: dict[tuple[str, str], _Answer] = {}
    for row in rows.to_dict("records"):
        answer = _Answer(
            prompt_tokens=int(row["prompt_tokens"]),
            generated_tokens=int(row["generated_tokens"]),
            scored=not pd.api.types.is_scalar(row["logprobs"]),
            source=row["source"],
        )
        known.setdefault((row["condition"], row["item_id"]), answer)
    if generations is None:
        return known
    for row in generations.to_dict("records"):
        key = (row["condition"], row["item_id"])
        answer = known.get(key, _Answer())
        extracted = answer.extracted
        if not extracted and not pd.isna(row["extracted"]):
            extracted = row["extracted"]
        texts = (*answer.texts, ascii_surrogates(row["text"]))
        known[key] = answer._replace(texts=texts, extracted=extracted)
    return known


class _Samples:
    """The lines of one configuration; every iteration makes them anew."""

    def __init__(
        self,
        asked: Sequence[_Asked],
        name: str,
        run: AnsweredRun,
        known: Mapping[tuple[str, str], _Answer],
    ) -> None:
        self._asked = asked
        self._name = name
        self._run = run
        self._known = known
        self._model_name, self._style, self._shots = parse_configuration(name)
        self._model = _identity(self._model_name, run)
        asked_as = f"@{self._style}-{self._shots}" if self._style else ""
        model = self._model.id.replace("/", "_")
        self._id = f"{run.benchmark.name}/{model}{asked_as}/{run.timestamp}"

    def __iter__(self) -> Iterator[bytes]:
        for asked in self._asked:
            row = asked.matrix.models.index(self._name)
            correct = asked.matrix.correct[row]
            prediction = asked.matrix.prediction[row]
            for place in np.flatnonzero(~np.isnan(correct)):
                item = asked.items[place]
                yield _line(
                    self._row(asked, item, float(correct[place]), prediction=int(prediction[place]))
                )

    def _row(self, asked: _Asked, item: Row, correct: float, prediction: int) -> Row:
        condition = asked.matrix.condition
        answer = self._known.get((condition, item["sample_id"]), _Answer())
        chosen = LABELS[prediction] if prediction >= 0 else answer.extracted
        attribution = {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": chosen,
            "extraction_method": "highest log-likelihood" if answer.scored else "custom",
            "is_terminal": True,
        }
        usage = None
        if answer.prompt_tokens >= 0 and answer.generated_tokens >= 0:
            usage = {
                "input_tokens": answer.prompt_tokens,
                "output_tokens": answer.generated_tokens,
                "total_tokens": answer.prompt_tokens + answer.generated_tokens,
            }
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._id,
            "model_id": self._model.id,
            "evaluation_name": asked.evaluation,
            "evaluation_result_id": f"accuracy:{condition}",
            "sample_id": item["sample_id"],
            "sample_hash": item["sample_hash"],
            "interaction_type": "single_turn",
            "input": item["input"],
            "output": {"raw": list(answer.texts) or ([chosen] if chosen else [])},
            "answer_attribution": [attribution] if chosen else [],
            "evaluation": {"score": correct, "is_correct": correct == 1},
            "token_usage": usage,
            "metadata": item["metadata"],
        }

    def folder(self) -> str:
        """Return `data/<benchmark>/<developer>/<model>`."""
        *developer, name = self._model.id.split("/", 1)
        parts = (self._run.benchmark.name, *(developer or [self._model.developer]), name)
        return "/".join(["data", *map(_portable, parts)])

    def aggregate(self, detail: Row) -> Row:
        """Return the aggregate; `detail` describes the file of these samples."""
        run, model = self._run, self._model
        sources = sorted({answer.source for answer in self._known.values() if answer.source})
        live = sources == ["live"]
        details = {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN}
        details |= {"revision": model.revision} if model.revision else {}
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._id,
            "evaluation_timestamp": str(run.timestamp),
            "retrieved_timestamp": str(run.timestamp),
            "source_metadata": {
                "source_name": "benchwright",
                "source_type": "evaluation_run",
                "source_organization_name": run.organization,
                "evaluator_relationship": "third_party",
                "additional_details": {"answers": ", ".join(sources) or "imported"},
            },
            "eval_library": {
                "name": "benchwright" if live else _UNKNOWN,
                "version": VERSION if live else _UNKNOWN,
            },
            "model_info": {
                "name": self._model_name,
                "id": model.id,
                "developer": model.developer,
                "additional_details": details,
            },
            "evaluation_results": self._results(),
            "detailed_evaluation_results": detail,
        }

    def _results(self) -> list[Row]:
        benchmark = self._run.benchmark
        style = {"style": self._style, "num_fewshot": str(self._shots)} if self._style else {}
        hub = benchmark.sources.hub
        source: Row = {"dataset_name": benchmark.name, "source_type": "other"}
        if hub is not None and hub.id.count("/") == 1:
            source |= {"source_type": "hf_dataset", "hf_repo": hub.id}
        results = []
        for asked in self._asked:
            row = asked.matrix.models.index(self._name)
            marks = asked.matrix.correct[row].astype(float)
            given = marks[~np.isnan(marks)]
            if not len(given):
                continue
            result: Row = {
                "evaluation_result_id": f"accuracy:{asked.matrix.condition}",
                "evaluation_name": asked.evaluation,
                "score_details": {
                    "score": float(given.mean()),
                    "details": {"unanswered": str(len(marks) - len(given))},
                    "uncertainty": {"num_samples": len(given)},
                },
                "source_data": source,
                "metric_config": _METRIC,
                "generation_config": {"additional_details": {**style, **self._run.settings}},
            }
            results.append(result)
        return results


_METRIC = {
    "metric_id": "accuracy",
    "metric_name": "accuracy",
    "metric_kind": "accuracy",
    "metric_unit": "proportion",
    "lower_is_better": False,
    "score_type": "continuous",
    "min_score": 0.0,
    "max_score": 1.0,
}


def _portable(name: str) -> str:
    """Return a component of a path on any system."""
    return _NOT_PORTABLE.sub("_", name).rstrip(". ") or _UNKNOWN


def _identity(model: str, run: AnsweredRun) -> ModelIdentity:
    found = run.models.get(model)
    if found is not None:
        return found
    name = "/".join(filter(None, model.split("/"))) or _UNKNOWN
    return ModelIdentity(name, name.split("/")[0] if "/" in name else _UNKNOWN)


def _line(row: Row, indent: int | None = None) -> bytes:
    # As ASCII, since the tool also ends lines at U+2028 and similar characters.
    return (json.dumps(row, allow_nan=False, indent=indent) + "\n").encode()
