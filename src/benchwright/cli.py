"""The project's `kedro run`: Kedro's own, with the user's mistakes told in one line."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run

from benchwright.errors import InputError


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what led to it, outermost first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def one_line(error: BaseException) -> str | None:
    """What to tell the user, where the fault is theirs; None where it is ours."""
    for cause in causes(error):
        if isinstance(cause, InputError):
            return " ".join(str(cause).split())
        if type(cause).__name__ == "ParameterValidationError":
            return "; ".join(part.strip() for part in str(cause).splitlines() if part.strip())
    return None


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
