"""`benchwright compare`: two models, or all with a baseline, on the items that both answered."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchwright.cli.command import Command
from benchwright.cli.options import pair_options
from benchwright.cli.outputs import print_lines, write_output
from benchwright.core.errors import InputError
from benchwright.reports.comparison import render_comparison, render_models
from benchwright.verdicts.compare import (
    Comparison,
    compare,
    compare_models,
    comparison_json,
    flips_csv,
    lines_of_models,
    models_json,
    terminal_lines,
)
from benchwright.verdicts.pair import read_pair, read_panel


@click.command(cls=Command)
@click.argument("answers", nargs=-1, required=True, metavar="A B | LOGS…")
@click.option("--baseline", help="Model with which all others in LOGS are compared.")
@pair_options
def compare_command(
    answers: tuple[str, ...],
    baseline: str | None,
    out: Path | None,
    page_file: Path | None,
    flips: Path | None,
    **reading: Any,
) -> None:
    """Compare two models, or all with a baseline, on the items that both answered.

    A and B are each a log of an evaluation tool, a table of responses, a folder of these, or
    PATH:MODEL; LOGS are files and folders. Answers that are missing are counted, and how much they
    could change. Tasks, or the subjects of a single task, are listed with p-values by Holm.
    """
    made: Sequence[Comparison]
    if baseline is not None:
        found = compare_models(read_panel(list(map(Path, answers)), baseline, **reading))
        made = found.made
        lines = lines_of_models(found)
        content = models_json(found)
        render = partial(render_models, found)
    elif len(answers) == 2:
        comparison = compare(read_pair(*answers, **reading))
        made = [comparison]
        lines = terminal_lines(comparison)
        content = comparison_json(comparison)
        render = partial(render_comparison, comparison)
    else:
        raise InputError(
            f"{len(answers)} given of two, A and B: a log, table, folder or PATH:MODEL each; "
            "or give --baseline MODEL to compare it with all models in LOGS"
        )
    print_lines(lines)
    write_output(out, lambda: content)
    write_output(page_file, render)
    write_output(flips, lambda: flips_csv(made))
