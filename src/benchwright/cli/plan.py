"""`benchwright plan`: how many items a target precision needs."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from benchwright.answers.answer_files import Choice
from benchwright.answers.read_answers import known_answers
from benchwright.answers.table import select_answered
from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import (
    ITEMS_HELP,
    PATH,
    SHARE,
    answer_options,
    env_option,
    out_option,
    page_option,
    saved_run_options,
    seed_option,
    shown_option,
)
from benchwright.cli.outputs import print_lines, write_output
from benchwright.methods.dele.planning.plan import Wanted
from benchwright.reports.plan import render_plan
from benchwright.verdicts.plan import plan_json, run_plan, terminal_lines

_ORDER = click.FloatRange(0.5, 1, min_open=True, max_open=True)
_target_option = partial(click.option, multiple=True, type=SHARE, metavar="SHARE")


@click.command(cls=Command)
@click.argument("answers", nargs=-1, type=PATH)
@saved_run_options
@click.option("--items", type=PATH, help=ITEMS_HELP)
@click.option("--all-items", is_flag=True, help="Keep all items, and models with all answers.")
@_target_option("--se", "standard_errors", help="Standard error of a score.")
@_target_option("--mdd", "differences", help="Detectable difference of two scores.")
@_target_option("--tau", "tau_b", help="Kendall's tau-b with the full ranking.")
@_target_option("--spearman", help="Spearman's rho with the full ranking.")
@_target_option("--gap", "gaps", help="Gap of two models that the items order rightly.")
@shown_option("--order", default=0.8, type=_ORDER, help="Probability of the right order at --gap.")
@shown_option("--alpha", default=0.05, type=SHARE, help="Level of the difference test.")
@shown_option("--power", default=0.8, type=SHARE, help="Power of the difference test.")
@shown_option(
    "--subsets", default=200, type=click.IntRange(min=20), help="Random subsets per size."
)
@seed_option
@out_option
@page_option
@answer_options
@env_option
def plan_command(
    answers: tuple[Path, ...],
    env: str | None,
    params: dict[str, Any],
    items: Path | None,
    *,
    all_items: bool,
    choice: Choice,
    out: Path | None,
    page_file: Path | None,
    **wanted: Any,
) -> None:
    """Compute how many items a target precision needs.

    ANSWERS are tables of responses, saved response matrices, lm-eval logs, or folders of these. The
    default is the response matrix that a run of the benchmark saved. Give at least one target with
    --se, --mdd, --gap, --tau or --spearman; each is repeatable. Errors, differences and gaps are
    shares: --se .02 is two percentage points.
    """
    request = Wanted(**wanted)
    project = None if answers else enter_project()
    known = known_answers(project, env, answers, params, items_file=items, choice=choice)
    made = run_plan(select_answered(known, all_items), request)
    print_lines(terminal_lines(made))
    write_output(out, lambda: plan_json(made))
    write_output(page_file, lambda: render_plan(made))
