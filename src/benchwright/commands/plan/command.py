"""A plan from what a user typed."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchwright.commands.saved_results import KnownAnswers
from benchwright.language_models.text_lengths import text_lengths
from benchwright.methods.dele.planning import Answers, CostPerPrompt, Plan, Wanted, make_plan
from benchwright.params.scoring import ModelsParams
from benchwright.project_conf import load_conf


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
    models = None
    if request.tokenizer and project is not None:
        models = ModelsParams.model_validate(load_conf(project, env)["parameters"]["models"])
    lengths, said = text_lengths(texts, request.tokenizer, models, "--tokenizer")
    if len(texts) < len(known.item_ids):
        said += f", {len(texts):,} of {len(known.item_ids):,} items"
    return request.cost._replace(tokens=float(np.mean(lengths)), counted_by=said)
