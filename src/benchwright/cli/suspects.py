"""`benchwright suspects`: items whose answers point to a wrong key."""

from pathlib import Path

import click

from benchwright.answers.answer_files import Choice
from benchwright.cli.command import Command
from benchwright.cli.options import PATH, POSITIVE, answer_options, out_option, shown_option
from benchwright.cli.outputs import print_lines, write_output
from benchwright.verdicts.suspects import find_suspects, suspects_json, terminal_lines


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, type=PATH)
@shown_option("--top", default=20, type=POSITIVE, help="Items to print.")
@out_option
@answer_options
def suspects_command(logs: tuple[Path, ...], top: int, out: Path | None, choice: Choice) -> None:
    """Rank items whose answers point to a wrong key.

    LOGS are those of several models. The item whose share of wrong answers has the highest lower
    bound comes first; where logs name the chosen options, ties go to the clearest other answer.
    """
    found = find_suspects(logs, choice)
    print_lines(terminal_lines(found, top))
    write_output(out, lambda: suspects_json(found))
