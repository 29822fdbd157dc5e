"""A plan from what a user typed."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchwright.errors import InputError
from benchwright.params.scoring import ModelsParams
from benchwright.planning import Answers, CostPerPrompt, Plan, Wanted, make_plan
from benchwright.project_conf import load_conf
from benchwright.saved_answers import KnownAnswers

CHARACTERS_PER_TOKEN = 4  # of English text, roughly


class PlanRequest(NamedTuple):
    """What is asked for.

    Attributes:
        wanted: the values.
        cost: of a prompt; its tokens are counted here.
        tokenizer: a name under `models.models`; "" counts characters.
    """

    wanted: Wanted
    cost: CostPerPrompt
    tokenizer: str = ""


class MadePlan(NamedTuple):
    """A plan with what it rests on."""

    request: PlanRequest
    source: str
    notes: tuple[str, ...]
    cost: CostPerPrompt
    plan: Plan


def run_plan(
    known: KnownAnswers, request: PlanRequest, project: Path | None, env: str | None
) -> MadePlan:
    """Plan from known answers.

    Args:
        known: answers of models to the whole benchmark.
        request: what is wanted.
        project: the project's folder, for a tokenizer of conf.
        env: as `--env`.

    Raises:
        InputError: a wanted value makes no sense, or the tokenizer is not known.
    """
    cost = _with_tokens(known, request, project, env)
    # Which pairs of models are drawn must not depend on the order of the file.
    order = np.argsort(np.array(known.models, object))
    answers = Answers(known.correct[order], known.clusters(), known.strata())
    plan = make_plan(answers, request.wanted, cost, known.curves)
    return MadePlan(request, known.source, known.notes, cost, plan)


def _with_tokens(
    known: KnownAnswers, request: PlanRequest, project: Path | None, env: str | None
) -> CostPerPrompt:
    texts = known.item_texts()
    if not texts:
        return request.cost
    if request.tokenizer:
        lengths: list[float] = _tokens(texts, request.tokenizer, project, env)
        said = f"tokenizer of {request.tokenizer}"
    else:
        lengths = [len(text) / CHARACTERS_PER_TOKEN for text in texts]
        said = f"characters / {CHARACTERS_PER_TOKEN}"
    if len(texts) < len(known.item_ids):
        said += f", {len(texts):,} of {len(known.item_ids):,} items"
    return request.cost._replace(tokens=float(np.mean(lengths)), counted_by=said)


def _tokens(texts: list[str], name: str, project: Path | None, env: str | None) -> list[float]:
    from benchwright.weights import model_source

    if project is None:
        raise InputError("--tokenizer names a model of the project's conf; run in the project")
    conf = ModelsParams.model_validate(load_conf(project, env)["parameters"]["models"])
    model = conf.models.get(name)
    if model is None or model.weights is None:
        having = sorted(known for known, own in conf.models.items() if own.weights is not None)
        raise InputError(
            f"--tokenizer {name!r} is not known; models.models has weights of "
            f"{', '.join(having) or 'none'}"
        )
    from transformers import AutoTokenizer

    source = model_source(model.weights, "bfloat16")
    tokenizer = AutoTokenizer.from_pretrained(
        source.name_or_path, revision=source.revision, trust_remote_code=source.trust_remote_code
    )
    return [float(len(ids)) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
