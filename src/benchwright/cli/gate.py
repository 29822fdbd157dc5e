"""`benchwright gate`: whether a model is not worse than another."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchwright.answers.answer_files import Choice
from benchwright.cli.command import WRITTEN, Command
from benchwright.cli.options import (
    PATH,
    RISK,
    SUBSET_HELP,
    pair_options,
    seed_option,
    shown_option,
)
from benchwright.cli.outputs import print_lines, write_output
from benchwright.core.errors import InputError
from benchwright.exports.subset_manifest import read_subset
from benchwright.methods.dele.ready_made import find_ready_made
from benchwright.reports.comparison import render_gate
from benchwright.verdicts.compare import flips_csv
from benchwright.verdicts.gate import (
    EXIT_CODES,
    Gated,
    GateRequest,
    gate_all,
    gate_anytime,
    gate_json,
    gate_lines,
    gate_subset,
    order_text,
)
from benchwright.verdicts.options import check_options
from benchwright.verdicts.pair import Pair, read_pair


@click.command(cls=Command)
@click.argument("a")
@click.argument("b")
@click.option(
    "--margin",
    required=True,
    type=click.FloatRange(0),
    help="Difference that is tolerated: .01 is one percentage point. With --scale: points of it.",
)
@shown_option("--alpha", default=0.05, type=RISK, help="Probability of each wrong decision.")
@click.option("--anytime", is_flag=True, help="Allow looks at any time as answers come in.")
@click.option("--order", "order_file", type=WRITTEN, help="File for ids in --anytime's order.")
@click.option("--subset", type=PATH, help=f"Decide for the whole benchmark. {SUBSET_HELP}")
@seed_option
@pair_options
def gate_command(
    a: str,
    b: str,
    *,
    margin: float,
    alpha: float,
    seed: int,
    anytime: bool,
    order_file: Path | None,
    subset: Path | None,
    choice: Choice,
    out: Path | None,
    page_file: Path | None,
    flips: Path | None,
    **reading: Any,
) -> None:
    """Decide whether B is not worse than A.

    A and B are as for `benchwright compare`. B is not worse if the lower bound of B − A is above
    −margin (exit code 0), and worse if the upper bound is below −margin (1); otherwise the answers
    do not decide (2). The exit code for unusable input is 3. Tasks or subjects are listed, and the
    difference on all items decides.
    """
    if subset and (anytime or order_file):
        raise InputError("--subset cannot be used with --anytime or --order")
    options = check_options(scale=choice.scale, margin=margin, alpha=alpha)
    request = GateRequest(options.margin_share, alpha, seed)
    pair = read_pair(a, b, choice=choice, whole=True, **reading)
    write_output(order_file, lambda: order_text(pair, seed))
    if subset:
        made = _gate_subset(pair, subset, request)
    elif anytime:
        made = gate_anytime(pair, request)
    else:
        made = gate_all(pair, request)
    print_lines(gate_lines(made))
    write_output(out, lambda: gate_json(made))
    write_output(page_file, partial(render_gate, made))
    write_output(flips, lambda: flips_csv([made.comparison]))
    sys.exit(EXIT_CODES[made.decision])


def _gate_subset(pair: Pair, subset: Path, request: GateRequest) -> Gated:
    """Decide for the whole benchmark from the answers to a subset of it."""
    ready = find_ready_made(subset)
    if ready is None:
        return gate_subset(pair, read_subset(subset), request)
    items, size = ready
    known = items.find(pair.items, pair.item_ids)
    return gate_subset(pair, items.manifest(size), request, known)
