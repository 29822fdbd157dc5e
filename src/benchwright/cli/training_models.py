"""The models whose answers to all items train an estimate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.answers.read_answers import known_answers
from benchwright.answers.table import Answers
from benchwright.cli.command import enter_project
from benchwright.core.errors import InputError
from benchwright.core.printable import escape_controls


def training_responses(
    files: Sequence[Path], params: Mapping[str, Any], env: str | None, *, needed: bool
) -> Answers | None:
    """Return responses of other models: of files, else of a saved run.

    Returns None, with a note, if there is no such run and the responses are not `needed`.
    """
    try:
        project = None if files else enter_project()
        return known_answers(project, env, files, params)
    except InputError as error:
        if needed or files:
            raise
        click.echo(f"note: no training models: {escape_controls(str(error))}", err=True)
        return None
