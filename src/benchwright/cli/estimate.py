"""`benchwright estimate`: scores of new models from their responses to an exported subset."""

from pathlib import Path
from typing import Any

import click

from benchwright.answers.answer_files import Choice
from benchwright.answers.read_answers import known_answers, read_answers
from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import (
    PATH,
    SUBSET_HELP,
    answer_options,
    env_option,
    out_option,
    saved_run_options,
    seed_option,
    shown_option,
    training_option,
)
from benchwright.cli.outputs import print_lines, write_output
from benchwright.core.errors import InputError
from benchwright.core.text_table import table_lines
from benchwright.core.wording import count
from benchwright.exports.subset_manifest import read_subset
from benchwright.methods.dele.estimation.estimated_scores import Estimated, estimate_scores
from benchwright.methods.dele.ready_made import estimate_ready_made, find_ready_made


@click.command(cls=Command)
@click.argument("answers", nargs=-1, required=True, type=PATH)
@click.option("--subset", required=True, type=PATH, help=SUBSET_HELP)
@training_option
@click.option("--no-training", is_flag=True, help="Use none, instead of those that a run saved.")
@saved_run_options
@shown_option("--estimator", default="auto", help="As `benchwright list estimators` names them.")
@seed_option
@out_option
@answer_options
@env_option
def estimate_command(
    answers: tuple[Path, ...],
    subset: Path,
    training: tuple[Path, ...],
    *,
    no_training: bool,
    params: dict[str, Any],
    estimator: str,
    seed: int,
    out: Path | None,
    choice: Choice,
    env: str | None,
) -> None:
    """Estimate scores on the whole benchmark.

    ANSWERS are the responses of new models to an exported or a ready-made subset: logs, tables, or
    folders of these. A ready-made subset needs no training models.
    """
    ready = find_ready_made(subset)
    if ready is not None:
        if training or no_training or estimator != "auto":
            raise InputError(
                f"--subset {subset} predicts by itself: leave out --training, --no-training and "
                "--estimator"
            )
        estimates = estimate_ready_made(*ready, read_answers(answers, choice))
    else:
        manifest = read_subset(subset)
        new = read_answers(answers, choice)
        known = None
        if not no_training:
            project = None if training else enter_project()
            known = known_answers(project, env, training, manifest.of_run() | params)
        estimates = estimate_scores(manifest, new, known, estimator, seed=seed)
    print_lines(terminal_lines(estimates))
    write_output(out, lambda: estimates_json(estimates))


def terminal_lines(estimated: Estimated) -> list[str]:
    """Return the lines to print, one per model."""
    subset = estimated.subset
    source = f" ({estimated.source})" if estimated.source else ""
    lines = [
        f"{subset.benchmark}: {len(subset.items):,} of {subset.of_items:,} items, sampler "
        f"{subset.sampler}, seed {subset.seed}; estimator {estimated.estimator}, "
        f"{count(estimated.training, 'training model')}{source}",
        *(f"note: {note}" for note in estimated.notes),
    ]
    rows = []
    for model in estimated.models:
        row = {
            "model": model.model,
            "answered": f"{model.answered:,}",
            "on subset": _share(model.on_subset),
            f"all {estimated.of_items:,}": _share(model.score),
            f"{estimated.level:.0%} interval": _between(model.low, model.high) or "[–, –]",
        }
        if any(each.least is not None for each in estimated.models):
            row["with missing wrong to right"] = _between(model.least, model.most)
        rows.append({**row, "": model.reason})
    return [*lines, *table_lines(rows)]


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None and high is None else f"[{_share(low) or '–'}, {_share(high) or '–'}]"


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def estimates_json(estimated: Estimated) -> dict[str, Any]:
    """Return the estimates as JSON."""
    subset: dict[str, Any] = estimated.subset.model_dump(mode="json", exclude={"items"})
    return {
        "format": 1,
        "subset": {**subset, "n_items": len(estimated.subset.items)},
        "estimator": estimated.estimator,
        "level": estimated.level,
        "of_items": estimated.of_items,
        "training": {"models": estimated.training, "source": estimated.source},
        "notes": list(estimated.notes),
        "models": [model._asdict() for model in estimated.models],
    }
