"""Options that several commands share, and what a command gets instead of their values."""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from benchwright.cli.command import WRITTEN
from benchwright.params.run import check_run_values
from benchwright.verdicts.options import RISKS

Callback = Callable[..., Any]

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
COUNT = click.IntRange(min=0)
POSITIVE = click.IntRange(min=1)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
RISK = click.FloatRange(*RISKS)

ITEMS_HELP = "Table of items: item_id and, optionally, question, choices, subject, passage_id."
SUBSET_HELP = "Exported folder, its manifest, or a ready-made subset such as mmlu-300."

shown_option = partial(click.option, show_default=True)
env_option = click.option("--env", "-e", help="Environment of conf/. Default: local.")
seed_option = shown_option("--seed", default=0, type=COUNT, help="Random seed.")
key_option = click.option("--key-file", help="File with the key. Default: BENCHWRIGHT_SEAL_KEY.")
out_option = click.option("--out", type=WRITTEN, help="JSON file to write.")
page_option = click.option("--page", "page_file", type=WRITTEN, help="HTML page to write.")
training_option = click.option(
    "--training",
    multiple=True,
    type=PATH,
    help="Responses of other models to all items. Repeatable.",
)

_SAVED_RUN = (
    click.option(
        "--benchmark", help="Its benchmark. Default: that of the subset, else as in conf/."
    ),
    click.option(
        "--variant", help="Its variant. Default: of the newest answers; for diff as in conf/."
    ),
    click.option("--limit", type=POSITIVE, help="Limit of the run. Default: the one in conf/."),
    click.option("--run-seed", type=COUNT, help="Seed of the run. Default: the one in conf/."),
    click.option("--data-root", help="Data folder. Default: the one in conf/."),
)
_ANSWERS = (
    click.option(
        "--task",
        multiple=True,
        metavar="PATTERN",
        help="Tasks of logs, such as mmlu_*. Repeatable. Default: all.",
    ),
    click.option(
        "--metric",
        multiple=True,
        metavar="[TASK=]NAME",
        help="Metric, of the tasks that have it. Repeatable. Default: the only or main one.",
    ),
    click.option(
        "--filter",
        "--scorer",
        multiple=True,
        metavar="[TASK=]NAME",
        help="Filter or scorer, of the tasks that have it. Repeatable.",
    ),
    click.option("--lower-is-better", is_flag=True, help="Turn scores round, of errors or rates."),
    click.option(
        "--scale",
        default="0:1",
        metavar="LOW:HIGH",
        help="Lowest and highest score. Scores outside are refused. Default: 0:1.",
    ),
    shown_option(
        "--repeats",
        default="mean",
        type=click.Choice(["mean", "first"]),
        help="Of several answers to an item.",
    ),
)


def _add_options(options: Sequence[Callback], command: Callback) -> Callback:
    for option in reversed(options):
        command = option(command)
    return command


def run_params(**values: Any) -> dict[str, Any]:
    """Return the values that are given, as the `--params` of a run, checked as those."""
    params = {name: value for name, value in values.items() if value not in (None, "")}
    check_run_values(params)
    return params


def saved_run_options(command: Callback) -> Callback:
    """Add the options that name a saved run; the command gets them as `params`."""

    @wraps(command)
    def with_params(
        *,
        benchmark: str | None,
        variant: str | None,
        limit: int | None,
        run_seed: int | None,
        data_root: str | None,
        **others: Any,
    ) -> Any:
        params = run_params(
            seed=run_seed,
            benchmark=benchmark,
            variant=variant,
            data_root=data_root,
            limit=limit,
        )
        return command(params=params, **others)

    return _add_options(_SAVED_RUN, with_params)


def answer_options(command: Callback) -> Callback:
    """Add the options that say which answers of files count; the command gets a `choice`."""

    @wraps(command)
    def with_choice(*, scale: str, **others: Any) -> Any:
        from benchwright.answers.answer_files import read_choice

        names = ("task", "metric", "filter", "repeats", "lower_is_better")
        values = {name: others.pop(name) for name in names}
        return command(choice=read_choice(scale, **values), **others)

    return _add_options(_ANSWERS, with_choice)


def pair_options(command: Callback) -> Callback:
    """Add the options of a comparison of two models."""
    options = (
        click.option(
            "--common", is_flag=True, help="Leave out items that only one side was asked."
        ),
        click.option(
            "--allow",
            multiple=True,
            type=click.Choice(["score", "prompts", "items"]),
            help="Compare although this differs. Repeatable.",
        ),
        click.option("--items", "items_file", type=FILE, help=ITEMS_HELP),
        answer_options,
        out_option,
        page_option,
        click.option("--flips", type=WRITTEN, help="CSV file for the items that changed."),
    )
    return _add_options(options, command)
