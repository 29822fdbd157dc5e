"""`benchwright ask`: ask a model a few items of a benchmark, and estimate its score on all of them.

The order of the items follows from the seed, and scores are saved shard by shard, so that a killed
run that is started again goes on with the same items and asks none twice.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.response_matrices import build_response_matrices
from benchwright.answers.table import Answers, select_answered
from benchwright.cli.benchmark_items import ingested
from benchwright.cli.command import Command, enter_project, in_project_folder
from benchwright.cli.options import (
    COUNT,
    PATH,
    POSITIVE,
    SHARE,
    env_option,
    model_option,
    saved_run_options,
    seed_option,
    shown_option,
    style_option,
    training_option,
)
from benchwright.cli.outputs import print_lines, relative, write_output
from benchwright.cli.training_models import training_responses
from benchwright.core.atomic_files import write_json, written_aside
from benchwright.core.configuration import configuration_name, count_models
from benchwright.core.errors import InputError
from benchwright.core.progress import say
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import StoredShards
from benchwright.datasets.score_store import ScoreStore
from benchwright.datasets.subset_manifest import MANIFEST
from benchwright.exports.export import subset_manifest
from benchwright.methods.dele.asking import Asked, AskingPolicy, Goal, Look, asking_policy
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import one_configuration
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.ingestion import IngestedTables
from benchwright.runs.project_conf import load_conf
from benchwright.scoring.model_engine import model_kept
from benchwright.scoring.prompts import build_prompts, unsuited
from benchwright.scoring.rendering import questions
from benchwright.scoring.scores import ask_prompts
from benchwright.tables.items import Items
from benchwright.tables.responses import Calibration, Responses

RESULT, ANSWERS = "result.json", "answers.parquet"
_SHARD = 16  # prompts per file of scores: the most that a killed run asks again
_ANSWERS = ["item_id", "model", "condition", "style", "shots", "prediction", "correct"]


@click.command(cls=Command)
@model_option
@click.option("--budget", type=POSITIVE, help="Number of items to ask.")
@click.option("--width", type=SHARE, help="Stop at this width: .1 is ±5 percentage points.")
@style_option
@shown_option("--shots", default=0, type=COUNT, help="Demonstrations.")
@training_option
@click.option("--no-training", is_flag=True, help="Use none, instead of those that a run saved.")
@saved_run_options
@seed_option
@click.option("--out", type=PATH, help="Folder for scores, answers and result.")
@env_option
@in_project_folder()
def ask_command(out: Path | None, env: str | None, params: dict[str, Any], **given: Any) -> None:
    """Ask a model few items, and estimate its score on all.

    Items are drawn at random, the same for every model with the same seed, up to --budget or until
    the interval is as narrow as --width. A killed command that is started again goes on with the
    same items.
    """
    project, known = enter_project(), None
    if not given["no_training"]:
        known = training_responses(given["training"], params, env, needed=False)
    goal = Goal(given["budget"], given["width"])
    request = AskRequest(given["model"], goal, given["style"], given["shots"], given["seed"])
    prepared = prepare(project, env, request, known, params, out)
    result = run_ask(prepared, say)
    print_lines(terminal_lines(result))
    say(f"written: {relative(write_answers(result).resolve())}")
    write_output(prepared.folder / RESULT, lambda: result_json(result))


class AskRequest(NamedTuple):
    """The model, how it is asked, when to stop, and the seed of the order of items."""

    model: str
    goal: Goal
    style: str = "letters"
    shots: int = 0
    seed: int = 0

    @property
    def asked_as(self) -> str:
        """The configuration `<model>@<style>-<shots>`."""
        return configuration_name(self.model, self.style, self.shots)


class Asking(NamedTuple):
    """What answers, and the folder where it is kept.

    `tables` are the items that suit the style, and demonstrations; `training` are responses of
    other models to the items.
    """

    request: AskRequest
    benchmark: BenchmarkParams
    tables: IngestedTables
    models: ModelsParams
    scoring: ScoringParams
    training: Answers
    folder: Path

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Ids of the items, sorted."""
        return tuple(self.tables.items["item_id"])


class AskResult(NamedTuple):
    """The state at the end, and what it rests on."""

    asking: Asking
    policy: AskingPolicy
    state: Asked
    responses: pd.DataFrame

    @property
    def final(self) -> Look:
        """The last look."""
        return self.state.looks[-1]

    @property
    def stopped_by(self) -> str:
        """`width`, `budget` or `all items`."""
        width = self.policy.width
        if width is not None and self.final.high - self.final.low <= width:
            return "width"
        return "all items" if self.final.asked == len(self.asking.item_ids) else "budget"


def prepare(
    project: Path,
    env: str | None,
    request: AskRequest,
    known: Answers | None,
    params: Mapping[str, Any],
    out: Path | None,
) -> Asking:
    """Load the benchmark and check the request.

    Of `known` responses, those of the same model are ignored. `params` may have benchmark,
    mirror_root and data_root; `out` is the folder to keep everything in.

    Raises:
        InputError: model, style or goal are unknown, or the benchmark cannot be read.
    """
    parameters = load_conf(project, env, params)["parameters"]
    models = ModelsParams.model_validate(parameters["models"])
    models.named(request.model, "--model")
    goal = request.goal
    if goal.budget is None and goal.width is None:
        raise InputError("give --budget ITEMS, --width SHARE or both")
    given = dict(parameters.get("scoring") or {}) | {"shard_size": _SHARD}
    scoring = one_configuration(request.asked_as, ScoringParams.model_validate(given))
    tables = ingested(project, parameters)
    style = scoring.asked()[0].style
    suits = [not unsuited(question, "question", style) for question in questions(tables.items)]
    if not any(suits):
        raise InputError(f"--style {request.style}: no item of the benchmark suits it")
    items = tables.items[suits].sort_values("item_id", ignore_index=True)
    benchmark = BenchmarkParams.model_validate(parameters["ingestion"])
    root = project / str(parameters["data_root"])
    wanted = {"budget": goal.budget, "width": goal.width, "seed": request.seed}
    name = "-".join(f"{key}{value:g}" for key, value in wanted.items() if value is not None)
    usual = root / "07_model_output" / benchmark.name / "asked" / request.asked_as / name
    return Asking(
        request,
        benchmark,
        tables._replace(items=items),
        models,
        scoring,
        _training(known, request.model, tuple(items["item_id"])),
        out or usual,
    )


def _training(known: Answers | None, model: str, ids: tuple[str, ...]) -> Answers:
    """Return complete models' responses to these items, NaN where none answered."""
    nobody = Answers("", (), ids, np.empty((0, len(ids)), dtype=np.float32))
    if known is None:
        return nobody
    others, wanted = known.without({model}), set(ids)
    inside = np.array([name in wanted for name in known.item_ids], dtype=bool)
    if not inside.any() or not others.models:
        note = f"{known.source}: no response of another model to these items; it is not used"
        return nobody._replace(notes=(*known.notes, note))
    everyone = np.ones(len(others.models), dtype=bool)
    part = select_answered(others.select(everyone, inside), all_items=True)
    # Neither rows nor columns of a file may matter.
    frame = pd.DataFrame(part.correct, list(part.models), list(part.item_ids))
    frame = frame.sort_index().reindex(columns=list(ids))
    correct = frame.to_numpy(np.float32)
    return part._replace(models=tuple(frame.index), item_ids=ids, correct=correct, items=None)


def run_ask(asking: Asking, say: Callable[[str], None] = lambda _: None) -> AskResult:
    """Ask until the goal is reached, or go on where a killed run was.

    Raises:
        InputError: the model cannot be asked.
    """
    request, known = asking.request, asking.training
    training = Training(known.correct, families=known.family_numbers())
    policy = asking_policy(asking.item_ids, training, request.goal, request.seed)
    store = ScoreStore(str(asking.folder / "scores")).load()
    state, tables = Asked.nothing(), []
    with model_kept():
        while (places := policy.propose(state)) is not None:
            responses, table = _answers(asking, places, store)
            tables.append(table)
            state = policy.observe(state, places, responses)
            if policy.width is not None:
                look = state.looks[-1]
                bounds = f"[{look.low:.3f}, {look.high:.3f}]"
                say(f"{look.asked:,} items: {look.score:.3f} {bounds}, until {policy.width:g} wide")
    return AskResult(asking, policy, state, pd.concat(tables, ignore_index=True))


def _answers(
    asking: Asking, places: NDArray[np.intp], store: StoredShards
) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Return responses (b,) to items, NaN where the model gave none, and their table."""
    tables, ids = asking.tables, [asking.item_ids[place] for place in places]
    prompts = build_prompts(
        asking.benchmark,
        asking.scoring,
        asking.models,
        None,
        0,
        items=tables.items[tables.items["item_id"].isin(ids)],
        demonstrations=tables.demonstrations,
        calibration_items=Items.empty(),
    )
    live = ask_prompts(prompts, store, store.add, asking.models, asking.scoring).live_responses
    # The style of the request may be derived from the one that was scored.
    live = live.assign(style=asking.request.style)
    none: list[ResponseMatrix] = []
    built = build_response_matrices(
        live, Responses.empty(), none, Calibration.empty(), tables.items
    )
    of = dict(zip(built.response_matrix.item_ids, built.response_matrix.correct[0], strict=True))
    return np.array([of[name] for name in ids], dtype=np.float64), built.responses


def terminal_lines(result: AskResult) -> list[str]:
    """Return the lines to print."""
    asking, final, known = result.asking, result.final, result.asking.training
    n, level = len(asking.item_ids), asking.request.goal.level
    source = count_models(known.models, "training") + f" ({known.source})" * bool(known.source)
    return [
        *(f"note: {note}" for note in (*known.notes, final.reason) if note),
        f"{asking.request.asked_as} on {asking.benchmark.name}: {final.score:.3f}, {level:.0%} "
        f"interval [{final.low:.3f}, {final.high:.3f}]",
        f"asked {final.asked:,} of {n:,} items (stopped by {result.stopped_by}); estimator "
        f"{result.policy.estimator}, {source}",
    ]


def result_json(result: AskResult) -> dict[str, Any]:
    """Return the result as JSON."""
    asking, final = result.asking, result.final
    return {
        "format": 2,
        "benchmark": asking.benchmark.name,
        "model": asking.request.asked_as,
        **final._asdict(),
        "level": asking.request.goal.level,
        "level_of_looks": result.policy.looks.level,
        "of_items": len(asking.item_ids),
        "stopped_by": result.stopped_by,
        "estimator": result.policy.estimator,
        "seed": asking.request.seed,
        "training": {"models": len(asking.training.models), "source": asking.training.source},
        "looks": [look._asdict() for look in result.state.looks],
        "notes": list(asking.training.notes),
    }


def write_answers(result: AskResult) -> Path:
    """Write the answers as a table, and the manifest of the subset that was asked.

    `benchwright estimate FOLDER/answers.parquet --subset FOLDER` reads them back.
    """
    folder = result.asking.folder
    table = result.responses[_ANSWERS].sort_values("item_id", ignore_index=True)
    answers = folder / ANSWERS
    with written_aside(answers) as aside:
        table.to_parquet(aside, index=False)
    items, request = result.asking.tables.items, result.asking.request
    places = result.state.places
    chosen = items.iloc[places][["item_id"]].assign(weight=1 / len(places), inclusion=np.nan)
    name = result.asking.benchmark.name
    manifest = subset_manifest(items, chosen, "random", request.seed, name)
    write_json(folder / MANIFEST, {"subset": manifest.model_dump(mode="json")})
    return answers
