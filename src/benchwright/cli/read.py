"""`benchwright read`: what logs of evaluation tools contain."""

import sys
from pathlib import Path

import click

from benchwright.answers.answer_files import Choice
from benchwright.answers.read_logs import read_logs, summary_lines, write_answers
from benchwright.cli.benchmark_items import items_of_benchmarks
from benchwright.cli.command import UNUSABLE, WRITTEN, Command, enter_project
from benchwright.cli.make_benchmark import (
    Made,
    check_name,
    make_benchmark,
    make_benchmark_of_table,
)
from benchwright.cli.options import PATH, answer_options, env_option, run_params
from benchwright.cli.outputs import print_lines, relative
from benchwright.core.errors import InputError
from benchwright.core.progress import say


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, type=PATH)
@click.option("--benchmark", multiple=True, help="Join to its items. Repeatable.")
@click.option("--mirror-root", help="Folder with its questions. Default: the one in conf/.")
@click.option("--make-benchmark", "name", metavar="NAME", help="Write a benchmark of the items.")
@click.option("--update", is_flag=True, help="Replace a benchmark that was made of logs.")
@click.option("--out", type=WRITTEN, help="Parquet or CSV file for the answers.")
@answer_options
@env_option
def read_command(
    logs: tuple[Path, ...],
    benchmark: tuple[str, ...],
    mirror_root: str | None,
    name: str | None,
    *,
    update: bool,
    out: Path | None,
    choice: Choice,
    env: str | None,
) -> None:
    """Say what LOGS of evaluation tools contain.

    LOGS are files or folders, which are searched. A line per log says its format, task and model,
    how many answers join to the items, and the accuracy here and in the log. Without --benchmark,
    the items are those that the logs contain. --make-benchmark also takes a table of questions.
    """
    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"--out {out}: the name must end in .parquet or .csv")
    if name is not None:
        check_name(name)
        if len(logs) == 1 and out is None:
            made = make_benchmark_of_table(name, logs[0], enter_project(), env, update=update)
            if made is not None:
                _print_made(name, made)
                return
    items = None
    if benchmark:
        params = run_params(mirror_root=mirror_root)
        items = items_of_benchmarks(benchmark, enter_project(), env, params)
    found = read_logs(logs, items, choice)
    print_lines(summary_lines(found))
    if out is not None:
        write_answers(found, out)
        say(f"written: {relative(out)}")
    if name is not None:
        _print_made(name, make_benchmark(name, found, enter_project(), env, update=update))
    if found.unusable:
        sys.exit(UNUSABLE)


def _print_made(name: str, made: Made) -> None:
    print_lines([*made.left_out, *(f"written: {relative(file)}" for file in made.files)])
    say(f"kedro run --params benchmark={name}")
