"""`benchwright evaluate-sealed`: score a model on the closed half of a sealed benchmark.

Prompts, scores and replies stay in memory; only aggregates leave the process.
"""

import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click
import numpy as np
import pandas as pd

from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import (
    COUNT,
    FILE,
    PATH,
    env_option,
    key_option,
    shown_option,
)
from benchwright.cli.outputs import print_lines, relative
from benchwright.cli.release import read_item
from benchwright.core.atomic_files import write_json
from benchwright.core.configuration import STYLES, Configuration, configuration_name
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.progress import say
from benchwright.core.stored_shards import MemoryShards
from benchwright.core.text_table import table_lines
from benchwright.core.version import VERSION
from benchwright.datasets.half_scores import FORMAT, HalfResult, SealedIdentity
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import (
    one_configuration,
    right_answers,
)
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.methods.mmlu_cf.sealing.seal import (
    Scorer,
    SealedBenchmark,
    SealedItem,
    SealedScore,
    evaluate_sealed,
    file_hash,
    open_sealed,
    sealed_identity,
)
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.runs.project_conf import load_conf
from benchwright.scoring.demonstrations import DemonstrationPool
from benchwright.scoring.rendering import Question


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--model", "models", required=True, multiple=True, help="Model. Repeatable.")
@shown_option("--style", default="letters", type=click.Choice(list(STYLES)), help="Prompt style.")
@shown_option("--shots", default=(0,), multiple=True, type=COUNT, help="Examples. Repeatable.")
@click.option("--demonstrations", type=FILE, help="validation.jsonl of the same benchmark.")
@key_option
@click.option("--send-to-server", is_flag=True, help="Allow closed questions on a server.")
@click.option("--out", type=PATH, help="Folder for the results.")
@env_option
def evaluate_sealed_command(
    files: tuple[Path, ...],
    models: tuple[str, ...],
    style: str,
    shots: tuple[int, ...],
    *,
    demonstrations: Path | None,
    key_file: str | None,
    send_to_server: bool,
    out: Path | None,
    env: str | None,
) -> None:
    """Score models on the closed half of a sealed benchmark.

    FILES are test.sealed (the closed half), validation.jsonl (the public half), or both. Only
    aggregates are reported. The key comes from the environment variable BENCHWRIGHT_SEAL_KEY or
    from --key-file. Every model is scored with every number of shots on every file.
    """
    every = product(dict.fromkeys(models), dict.fromkeys(shots), dict.fromkeys(files))
    requests = [
        SealedRequest(
            file=file,
            model=model,
            style=style,
            shots=count,
            demonstrations=demonstrations,
            send_to_server=send_to_server,
        )
        for model, count, file in every
    ]
    if out is not None:
        for request in requests:  # fail before any model is asked
            identity_of(request)
    sealing = SealingParams(key_file=key_file)
    for request in requests:
        score = run_evaluate_sealed(enter_project(), env, request, sealing)
        if len(requests) > 1:
            say(f"\n{request.asked_as} on {request.file.name}")
        print_lines(terminal_lines(score))
        if out is not None:
            say(f"\nresults: {relative(write_score(request, score, out))}")


class SealedRequest(NamedTuple):
    """A file, `test.sealed` or the public `validation.jsonl`, the model, and the prompts.

    `demonstrations` is a `validation.jsonl`; `send_to_server` allows closed questions to be sent to
    an endpoint.
    """

    file: Path
    model: str
    style: str = "letters"
    shots: int = 0
    demonstrations: Path | None = None
    send_to_server: bool = False

    @property
    def asked_as(self) -> str:
        """The configuration `<model>@<style>-<shots>`."""
        return configuration_name(self.model, self.style, self.shots)

    @property
    def half(self) -> Literal["validation", "test"]:
        """The half of the benchmark in the file."""
        return "validation" if self.file.suffix == ".jsonl" else "test"


def run_evaluate_sealed(
    project: Path, env: str | None, request: SealedRequest, sealing: SealingParams
) -> SealedScore:
    """Score a model on the closed or the public half.

    Raises:
        InputError: the model or key is unknown, the file cannot be opened, demonstrations are
            missing, or scoring failed. No message quotes a question.
    """
    parameters = load_conf(project, env)["parameters"]
    models = ModelsParams.model_validate(parameters["models"])
    given = ScoringParams.model_validate(dict(parameters.get("scoring") or {}))
    scoring = one_configuration(request.asked_as, given)
    endpoint = models.named(request.model, "--model").endpoint
    if request.half == "test" and endpoint is not None and not request.send_to_server:
        raise InputError(
            f"evaluate-sealed: {request.model} runs on a server, which may store the closed "
            "questions; allow this with --send-to-server"
        )
    pool = _pool(request, scoring, int(parameters.get("seed", 0)))
    if request.half == "validation":
        benchmark = read_public(request.file)
    else:
        benchmark = open_sealed(request.file, read_key(sealing))
    if len(benchmark.items) < sealing.min_group:
        raise InputError(
            f"{request.file}: has {len(benchmark.items)} questions; accuracies of fewer than "
            f"{sealing.min_group} are withheld (`sealing.min_group`)"
        )
    scorer = model_scorer(request, models, scoring, pool)
    texts = pd.DataFrame([(item.question, item.choices) for item in benchmark.items])
    with no_question_in_errors(texts.set_axis(["question", "choices"], axis=1), "evaluate-sealed"):
        return evaluate_sealed(benchmark, scorer, sealing.min_group)


def model_scorer(
    request: SealedRequest, models: ModelsParams, scoring: ScoringParams, pool: DemonstrationPool
) -> Scorer:
    """Return a function that scores items and stores nothing."""
    asked_as = Configuration(request.model, request.style, request.shots)

    def scorer(items: Sequence[SealedItem]) -> list[float | None]:
        questions = list(map(_question, items))
        right = right_answers(questions, asked_as, models, scoring, pool, MemoryShards())
        return [None if np.isnan(value) else value for value in right]

    return scorer


def read_public(file: Path) -> SealedBenchmark:
    """Read the public half that `seal_halves` wrote."""
    try:
        # Lines end at \n only: JSON texts may hold other line separators.
        lines = file.read_text(encoding="utf-8").split("\n")
        items = tuple(_public_item(json.loads(line)) for line in lines if line.strip())
        if not items:
            raise ValueError("no items")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{file}: not the public half of a sealed benchmark ({type(error).__name__})"
        ) from None
    return SealedBenchmark(file.stem, "", items)


def _public_item(row: Any) -> SealedItem:
    item_id, question, choices, answer, _ = read_item(row)
    field, level, cluster = str(row["field"]), row["difficulty"], str(row["cluster"])
    return SealedItem(item_id, field, level, question, choices, answer, cluster)


def terminal_lines(score: SealedScore) -> list[str]:
    """Return the lines to print."""
    if score.reason:
        return [score.reason]
    rows = [
        {
            "field": name,
            "n": group.n,
            "accuracy": f"{group.accuracy:.3f}",
            "se": None if group.se is None else f"{group.se:.4f}",
        }
        for name, group in {**score.fields, "all": score.whole}.items()
    ]
    unanswered = [f"{score.unanswered} without response"] if score.unanswered else []
    return [*table_lines(rows), *unanswered]


def identity_of(request: SealedRequest) -> SealedIdentity:
    """Return the identity of the sealed benchmark from the manifest next to the file.

    Raises:
        InputError: the manifest is missing or belongs to another file, or the demonstrations are
            not from this benchmark's public half, so that prompts of the two halves would differ.
    """
    identity = sealed_identity(request.file, request.half)
    source = request.demonstrations
    if request.shots and source is not None and file_hash(source) != identity.validation:
        raise InputError(
            f"evaluate-sealed: {source} is not the public half of {request.file}; use the "
            "validation.jsonl of the same benchmark for demonstrations, or omit --out"
        )
    return identity


def write_score(request: SealedRequest, score: SealedScore, folder: Path) -> Path:
    """Write the aggregates for the pipeline `half_gap` to a file in a folder."""
    result = HalfResult(
        format=FORMAT,
        version=VERSION,
        benchmark=identity_of(request),
        all=score.whole,
        **{name: getattr(request, name) for name in ("half", "model", "style", "shots")},
        **{name: getattr(score, name) for name in ("fields", "unanswered", "reason")},
    )
    name = re.sub(r"[^A-Za-z0-9_.@-]", "_", request.asked_as)
    file = folder / f"{name}.{request.half}.json"
    return write_json(file, result.model_dump(mode="json"))


def _pool(request: SealedRequest, scoring: ScoringParams, seed: int) -> DemonstrationPool:
    questions: list[Question] = []
    if request.shots:
        if request.demonstrations is None:
            raise InputError(
                f"evaluate-sealed: {request.shots} shots need demonstrations; give the public half "
                "with --demonstrations validation.jsonl"
            )
        questions = [_question(item) for item in read_public(request.demonstrations).items]
    return DemonstrationPool(questions, scoring.demonstrations, seed)


def _question(item: SealedItem) -> Question:
    text_hash = content_hash(item.question, item.choices)
    return Question(item.item_id, item.field, item.question, item.choices, item.answer, text_hash)
