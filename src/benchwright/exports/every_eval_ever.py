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

import benchwright
from benchwright.core.configuration import Configuration, parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.export_folder import FolderContent, Pieces
from benchwright.params.benchmark import BenchmarkParams
from benchwright.prompting.rendering import LABELS
from benchwright.source_rows.fields import ascii_surrogates

SCHEMA = "0.3.0"
_NOT_PORTABLE = re.compile(r'[<>:"\\|?*/\x00-\x1f]')
_RESERVED = re.compile(r"data|(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?", re.IGNORECASE)
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
    """The exported run.

    Attributes:
        benchmark: its settings.
        settings: variant, limit and seed, as text.
        timestamp: when it began, in seconds since 1970.
        organization: who ran it.
        models: by name; others are known by their names only.
    """

    benchmark: BenchmarkParams
    settings: Mapping[str, str]
    timestamp: int
    organization: str
    models: Mapping[str, ModelIdentity]


def write_answers(
    conditions: Sequence[AnsweredCondition],
    responses: pd.DataFrame,
    generations: pd.DataFrame,
    run: AnsweredRun,
) -> FolderContent:
    """Write every answer of a run: chosen option, mark, what was written, and tokens.

    Items without an answer are left out and counted. An answer from which no option was read is
    wrong, without an extracted value. Answers of which only the mark is known have no output.

    Args:
        conditions: matrices with the items that they are about.
        responses: `Responses` rows with a column `configuration`, for tokens and sources; may lack
            rows.
        generations: a `Generations` table, possibly empty.
        run: the exported run.

    Returns:
        The files, and the number of answers of each configuration for the manifest.

    Raises:
        InputError: nothing was answered.
    """
    asked = [_Asked.of(condition, run.benchmark) for condition in conditions]
    rows = dict(iter(responses.groupby("configuration", sort=False)))
    written = dict(iter(generations.groupby(["model", "style", "shots"], sort=False)))
    files: dict[str, Pieces] = {}
    answers: dict[str, int] = {}
    for name in sorted({name for each in asked for name in each.rows}):
        configuration = parse_configuration(name)
        record = _Record(configuration, _identity(configuration.model, run), run)
        known = _known(rows.get(name, responses[:0]), written.get(tuple(configuration)))
        samples = _Samples([each for each in asked if name in each.rows], name, record, known)
        count, checksum = samples.measure()
        if not count:
            continue
        stem = f"{record.folder}/{uuid.UUID(bytes=checksum.digest()[:16], version=4)}"
        detail = {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": checksum.hexdigest(),
            "total_rows": count,
        }
        aggregate = record.aggregate(samples.results(), detail, samples.sources())
        files[f"{stem}.json"] = [_line(aggregate, indent=2)]
        files[f"{stem}_samples.jsonl"] = samples
        answers[name] = count
    if not files:
        raise InputError(f"{run.benchmark.name}: the run has no answers")
    facts = {"format": 1, "benchwright": benchwright.__version__, "schema": SCHEMA}
    return FolderContent(files, {**facts, "benchmark": run.benchmark.name, "answers": answers})


class _Asked(NamedTuple):
    """A condition: the row of each configuration, and the parts of a sample that are the item's."""

    condition: str
    matrix: ResponseMatrix
    rows: dict[str, int]
    items: list[Row | None]  # in the order of the matrix, None if the condition lacks the item
    evaluation: str

    @classmethod
    def of(cls, answered: AnsweredCondition, benchmark: BenchmarkParams) -> "_Asked":
        matrix, condition = answered.matrix, answered.matrix.condition
        shown = answered.items.to_dict("records")
        items = {row["item_id"]: _item(row, condition) for row in shown}
        original = condition == "question"
        return cls(
            condition,
            matrix,
            {name: row for row, name in enumerate(matrix.models)},
            [items.get(item_id) for item_id in matrix.item_ids],
            benchmark.name if original else f"{benchmark.name}/{condition}",
        )


def _item(row: Mapping[Any, Any], condition: str) -> Row:
    """Return the fields of a sample that are the same for every model."""
    choices = [ascii_surrogates(str(text)) for text in row["choices"]]
    right = row.get("correct_set")
    right = [row["answer"]] if right is None or not len(right) else right
    reference = [LABELS[int(i)] for i in right] if choices else [str(row["answer_text"])]
    question = "" if condition == "choices_only" else ascii_surrogates(str(row["question"]))
    shown = "".join([question, *reference])
    metadata = {
        "item_id": str(row["item_id"]),
        "content_hash": str(row["content_hash"]),
        "condition": condition,
        "subject": str(row["subject"]),
    }
    return {
        "sample_id": str(row["item_id"]),
        "sample_hash": hashlib.sha256(shown.encode()).hexdigest(),
        "input": {"raw": question, "reference": reference, "choices": choices or None},
        "metadata": {name: ascii_surrogates(text) for name, text in metadata.items()},
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
    known = {
        (row["condition"], row["item_id"]): _Answer(
            int(row["prompt_tokens"]),
            int(row["generated_tokens"]),
            not pd.api.types.is_scalar(row["logprobs"]),
            row["source"],
        )
        for row in rows[::-1].to_dict("records")  # the first row of an item counts
    }
    for row in () if generations is None else generations.to_dict("records"):
        key = row["condition"], row["item_id"]
        answer = known.get(key, _Answer())
        extracted = answer.extracted or ("" if pd.isna(row["extracted"]) else row["extracted"])
        texts = (*answer.texts, ascii_surrogates(row["text"]))
        known[key] = answer._replace(texts=texts, extracted=extracted)
    return known


class _Record(NamedTuple):
    """A configuration as the schema names it."""

    configuration: Configuration
    model: ModelIdentity
    run: AnsweredRun

    @property
    def folder(self) -> str:
        developer, _, name = self.model.id.rpartition("/")
        developer, _, rest = developer.partition("/")
        name = f"{rest}_{name}" if rest else name
        parts = (self.run.benchmark.name, developer or self.model.developer, name)
        return "/".join(("data", *map(_component, parts)))

    @property
    def evaluation_id(self) -> str:
        _, style, shots = self.configuration
        asked = f"@{style}-{shots}" if style else ""
        model = self.model.id.replace("/", "_")
        return f"{self.run.benchmark.name}/{model}{asked}/{self.run.timestamp}"

    def aggregate(self, results: list[Row], detail: Row, sources: Sequence[str]) -> Row:
        """Return the aggregate of this configuration."""
        details = {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN}
        live = list(sources) == ["live"]
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self.evaluation_id,
            "evaluation_timestamp": str(self.run.timestamp),
            "retrieved_timestamp": str(self.run.timestamp),
            "source_metadata": {
                "source_name": "benchwright",
                "source_type": "evaluation_run",
                "source_organization_name": self.run.organization,
                "evaluator_relationship": "third_party",
                "additional_details": {"answers": ", ".join(sources) or "imported"},
            },
            "eval_library": {
                "name": "benchwright" if live else _UNKNOWN,
                "version": benchwright.__version__ if live else _UNKNOWN,
            },
            "model_info": {
                "name": self.configuration.model,
                "id": self.model.id,
                "developer": self.model.developer,
                "additional_details": details
                | ({"revision": self.model.revision} if self.model.revision else {}),
            },
            "evaluation_results": [{**result, **self._common()} for result in results],
            "detailed_evaluation_results": detail,
        }

    def _common(self) -> Row:
        benchmark, (_, style, shots) = self.run.benchmark, self.configuration
        asked = {"style": style, "num_fewshot": str(shots)} if style else {}
        hub = benchmark.sources.hub
        source: Row = {"dataset_name": benchmark.name, "source_type": "other"}
        if hub is not None and hub.id.count("/") == 1:
            source |= {"source_type": "hf_dataset", "hf_repo": hub.id}
        return {
            "source_data": source,
            "metric_config": {
                "metric_id": "accuracy",
                "metric_name": "accuracy",
                "metric_kind": "accuracy",
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "generation_config": {"additional_details": {**asked, **self.run.settings}},
        }


class _Samples:
    """The lines of one configuration; every iteration makes them anew."""

    def __init__(
        self,
        asked: Sequence[_Asked],
        name: str,
        record: _Record,
        known: Mapping[tuple[str, str], _Answer],
    ) -> None:
        self._asked, self._name, self._record, self._known = asked, name, record, known

    def __iter__(self) -> Iterator[bytes]:
        for asked in self._asked:
            correct, prediction = self._values(asked)
            for position in np.flatnonzero(~np.isnan(correct)).tolist():
                item = asked.items[position]
                if item is not None:
                    values = float(correct[position]), int(prediction[position])
                    yield _line(self._row(asked, item, *values))

    def _values(self, asked: _Asked) -> tuple[Any, Any]:
        row = asked.rows[self._name]
        return asked.matrix.correct[row], asked.matrix.prediction[row]

    def _row(self, asked: _Asked, item: Row, correct: float, prediction: int) -> Row:
        answer = self._known.get((asked.condition, item["sample_id"]), _Answer())
        chosen = LABELS[prediction] if prediction >= 0 else answer.extracted
        raw = list(answer.texts) or ([chosen] if chosen else [])
        attribution = {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": chosen,
            "extraction_method": "highest log-likelihood" if answer.scored else "custom",
            "is_terminal": True,
        }
        tokens = answer.prompt_tokens, answer.generated_tokens
        usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._record.evaluation_id,
            "model_id": self._record.model.id,
            "evaluation_name": asked.evaluation,
            "evaluation_result_id": f"accuracy:{asked.condition}",
            "sample_id": item["sample_id"],
            "sample_hash": item["sample_hash"],
            "interaction_type": "single_turn",
            "input": item["input"],
            "output": {"raw": raw},
            "answer_attribution": [attribution] if chosen else [],
            "evaluation": {"score": correct, "is_correct": correct == 1},
            "token_usage": usage if min(tokens) >= 0 else None,
            "metadata": item["metadata"],
        }

    def measure(self) -> tuple[int, Any]:
        """Return the number of lines and their hash."""
        digest, count = hashlib.sha256(), 0
        for line in self:
            digest.update(line)
            count += 1
        return count, digest

    def results(self) -> list[Row]:
        """Return the accuracy under each condition."""
        out = []
        for asked in self._asked:
            there = np.array([item is not None for item in asked.items])
            correct = self._values(asked)[0][there].astype(float)
            answered = correct[~np.isnan(correct)]
            if not len(answered):
                continue
            unanswered = str(len(correct) - len(answered))
            score = {
                "score": float(answered.mean()),
                "details": {"unanswered": unanswered},
                "uncertainty": {"num_samples": len(answered)},
            }
            name = f"accuracy:{asked.condition}"
            out.append(
                {
                    "evaluation_result_id": name,
                    "evaluation_name": asked.evaluation,
                    "score_details": score,
                }
            )
        return out

    def sources(self) -> list[str]:
        """Return where the answers came from."""
        return sorted({answer.source for answer in self._known.values() if answer.source})


def _identity(model: str, run: AnsweredRun) -> ModelIdentity:
    found = run.models.get(model)
    if found is not None:
        return found
    name = "/".join(filter(None, model.split("/"))) or _UNKNOWN
    return ModelIdentity(name, name.split("/")[0] if "/" in name else _UNKNOWN)


def _component(name: str) -> str:
    """Return a name as one component of a path on any system."""
    plain = _NOT_PORTABLE.sub("_", name).rstrip(". ") or _UNKNOWN
    return f"{plain}_" if _RESERVED.fullmatch(plain) else plain


def _line(row: Row, indent: int | None = None) -> bytes:
    # As ASCII, since the tool also ends lines at U+2028 and similar characters.
    return (json.dumps(row, allow_nan=False, indent=indent) + "\n").encode()
