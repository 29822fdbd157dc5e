"""The project's `kedro run`: Kedro's own, with the user's mistakes told in one line."""

import os
import sys
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run

from benchwright.errors import one_line


def _run(*arguments: Any, **options: Any) -> Any:
    try:
        return kedro_run.callback(*arguments, **options)  # type: ignore[misc]
    except Exception as error:
        message = one_line(error)
        if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
            raise
        click.secho(f"benchwright: {message}", err=True, fg="red")
        sys.exit(1)


@click.group(name="benchwright")
def cli() -> None:
    """Commands of this project, beside Kedro's."""


cli.add_command(
    click.Command(
        name="run",
        callback=_run,
        params=kedro_run.params,
        help=kedro_run.help,
        context_settings=kedro_run.context_settings,
    )
)
