"""Commands: in the folder of a project, with outputs that are checked and errors in one line."""

import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from copy import copy
from itertools import accumulate
from pathlib import Path
from typing import Any

import click

from benchwright.cli.outputs import check_outputs
from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError, one_line
from benchwright.core.file_kinds import is_there
from benchwright.core.kedro_logs import kedro_errors_once
from benchwright.core.printable import escape_controls
from benchwright.core.progress import stage_log
from benchwright.core.stopping import exit_code, stop_message, stopped_by_signals

UNUSABLE = 3
"""Exit code for unusable input or options and unexpected errors; 1 and 2 are answers."""
_OF_CLICK = (click.ClickException, click.exceptions.Abort, click.exceptions.Exit)
WRITTEN = click.Path(path_type=Path)
"""The type of options that name a file to write; it is checked before the command begins."""


@contextmanager
def in_project_folder() -> Iterator[None]:
    """Change to the project folder, from which relative paths are resolved."""
    project = enclosing_project() or Path.cwd()
    if project != Path.cwd():
        click.echo(f"project: {project}", err=True)
    with chdir(project):
        yield


def enter_project() -> Path:
    """Return the folder of the project around the current folder, which Kedro then knows.

    Raises:
        InputError: there is none.
    """
    from kedro.framework.startup import bootstrap_project

    folder = enclosing_project()
    if folder is None:
        raise InputError(
            f"{Path.cwd()} is not in a Kedro project; run the command in a project folder"
        )
    bootstrap_project(folder)
    return folder


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Print a user's mistake or a signal as one line, another error in full, and exit."""
    stage_log.resume_options.clear()
    with stopped_by_signals() as stops, kedro_errors_once():
        try:
            yield
        except Exception as error:
            if not stops.received:  # else the error may come from a stopped worker
                from benchwright.runs.project_conf import conf_mistake

                message = one_line(error) or conf_mistake(Path.cwd(), error)
                if message is None and isinstance(error, _OF_CLICK):
                    raise
                if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
                    traceback.print_exc()
                    sys.exit(UNUSABLE)
                click.secho(f"benchwright: {escape_controls(message)}", err=True, fg="red")
                for option in stage_log.resume_options:
                    click.echo(f"to continue from there, add {option}", err=True)
                sys.exit(UNUSABLE)
        except (SystemExit, KeyboardInterrupt):
            if not stops.received:
                raise
    if stops.received:
        click.secho(f"benchwright: {stop_message(stops.received)}", err=True, fg="red")
        sys.exit(exit_code(stops.received))


def _paths_in(values: Iterable[Any]) -> Iterator[Path]:
    """Yield the files and folders that options and arguments name, also by `PATH:MODEL`."""
    for value in values:
        if isinstance(value, tuple):
            yield from _paths_in(value)
        elif isinstance(value, str | Path):
            starts = accumulate(str(value).split(":"), "{}:{}".format)
            yield from (path for path in map(Path, starts) if is_there(path))


def _check_given_once(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise InputError if an option of one value is given twice, of which Click takes the last."""
    once = []
    collecting = copy(command)
    collecting.params = []
    for param in command.params:
        collected = copy(param)
        if isinstance(collected, click.Option) and not (collected.is_flag or collected.multiple):
            collected.multiple = True
            once.append(collected)
        collecting.params.append(collected)
    given, _, _ = collecting.make_parser(ctx).parse_args(list(args))
    for option in once:
        values = given.get(option.name, [])
        if len(values) > 1:
            names = "/".join(option.opts)
            shown = " and ".join(map(repr, values))
            raise InputError(f"{names} takes one value, not {len(values)}: {shown}")


class Command(click.Command):
    """A command that writes files which it checks first, and whose mistakes are one line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, list(args))
        if not ctx.resilient_parsing:
            with errors_in_one_line():
                _check_given_once(self, ctx, args)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        given = dict(ctx.params)
        names = [str(option.name) for option in self.params if option.type is WRITTEN]
        files = [file for name in names if (file := given.pop(name))]
        with errors_in_one_line():
            check_outputs(files, list(_paths_in(given.values())))
            return super().invoke(ctx)
