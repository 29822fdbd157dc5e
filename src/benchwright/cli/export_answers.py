"""`benchwright export-answers`: the answers that a run has saved, for other tools."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pandas as pd

from benchwright.answers.calibration import live_first
from benchwright.answers.response_matrices import build_perturbed_matrices
from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import PATH, env_option, saved_run_options, shown_option
from benchwright.cli.outputs import relative
from benchwright.core.progress import say
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.export_folder import ExportFolder
from benchwright.exports.every_eval_ever import (
    AnsweredCondition,
    AnsweredRun,
    ModelIdentity,
    write_answers,
)
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import HubWeights, ModelsParams
from benchwright.runs.project_conf import load_conf
from benchwright.runs.saved_runs import SavedRun, find_run
from benchwright.tables.responses import Generations, Responses


@click.command(cls=Command)
@click.argument("folder", type=PATH)
@saved_run_options
@shown_option("--organization", default="unknown", help="Who ran the evaluation.")
@env_option
def export_answers_command(
    folder: Path, params: dict[str, Any], organization: str, env: str | None
) -> None:
    """Write the answers of a saved run to FOLDER for Every Eval Ever.

    A folder of an earlier export is replaced. It contains questions and right answers in the clear.
    """
    run, manifest = export_answers(folder, enter_project(), env, params, organization)
    for configuration, count in manifest["answers"].items():
        say(f"{configuration}: {count:,} answers")
    say(f"\nrun:     {run}\nanswers: {relative(folder)}")


def export_answers(
    folder: Path, project: Path, env: str | None, params: Mapping[str, Any], organization: str
) -> tuple[SavedRun, dict[str, Any]]:
    """Write the answers of a saved run to a folder, in the format of Every Eval Ever.

    Args:
        folder: the folder; only an earlier export is replaced.
        project: the project folder.
        env: as `--env`.
        params: of the run, as for `find_run`.
        organization: who ran the evaluation.

    Returns:
        The run, and the manifest of the folder.

    Raises:
        InputError: no run has saved answers, or the folder is not an export.
    """
    run = find_run(project, ["items", "response_matrix"], params, env)
    parameters = load_conf(project, env, {**params, "variant": run.variant})["parameters"]
    tables = {
        name: run.load(name) if run.path(name).exists() else empty
        for name, empty in (
            ("live_responses", Responses.empty()),
            ("imported_responses", Responses.empty()),
            ("generations", Generations.empty()),
        )
    }
    live, imported, generations = tables.values()
    settings = {"variant": run.variant, "limit": run.limit, "seed": run.seed}
    began = datetime.strptime(run.version, "%Y-%m-%dT%H.%M.%S.%fZ").replace(tzinfo=UTC)
    answered = AnsweredRun(
        BenchmarkParams.model_validate(parameters["ingestion"]),
        {name: str(value) for name, value in settings.items() if value is not None},
        int(began.timestamp()),
        organization,
        _identities(ModelsParams.model_validate(parameters["models"])),
    )
    content = write_answers(
        _conditions(run, live, imported),
        live_first(live, imported),
        generations,
        answered,
    )
    exported = ExportFolder(path=str(folder))
    exported.save(content)
    return run, exported.load()


def _conditions(
    run: SavedRun, live: pd.DataFrame, imported: pd.DataFrame
) -> list[AnsweredCondition]:
    """Return the saved matrices, and those of perturbed copies, made again from the answers."""
    items = run.load("items")
    conditions = [AnsweredCondition(run.load("response_matrix"), items)]
    if run.path("choices_only_matrix").exists():
        conditions.append(AnsweredCondition(run.load("choices_only_matrix"), items))
    if not run.path("perturbed_items").exists():
        return conditions
    copies = run.load("perturbed_items")
    copies = copies[copies["role"] == "item"]
    matrices: Mapping[str, ResponseMatrix] = build_perturbed_matrices(
        live, imported, [], run.load("calibration"), items, copies
    )
    of_condition = dict(iter(copies.groupby("condition")))
    return conditions + [
        AnsweredCondition(matrix, of_condition[name]) for name, matrix in matrices.items()
    ]


def _identities(models: ModelsParams) -> dict[str, ModelIdentity]:
    identities = {}
    for name, model in models.models.items():
        hub = model.weights if isinstance(model.weights, HubWeights) else None
        model_id = name if hub is None else hub.hub
        identities[name] = ModelIdentity(
            model_id,
            model.organisation or model_id.rpartition("/")[0] or "unknown",
            "" if hub is None else hub.revision,
        )
    return identities
