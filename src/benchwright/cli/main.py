"""The command `benchwright`: a group that imports the module of a command when it is used."""

import sys
from importlib import import_module
from typing import Any

import click

from benchwright.cli.command import UNUSABLE, errors_in_one_line
from benchwright.core.version import VERSION

COMMANDS = {
    "Answers (of logs and tables, outside any project)": {
        "read": "Say what LOGS of evaluation tools contain.",
        "compare": "Compare two models, or all with a baseline, on the items that both answered.",
        "gate": "Decide whether B is not worse than A.",
        "plan": "Compute how many items a target precision needs.",
        "subset": (
            "Write a ready-made subset of BENCHMARK: arc_challenge, gsm8k, mmlu or winogrande."
        ),
        "estimate": "Estimate scores on the whole benchmark.",
        "suspects": "Rank items whose answers point to a wrong key.",
    },
    "Pipelines": {
        "run": "Run a pipeline, with the options of `kedro run`.",
        "sweep": "Run a pipeline for every benchmark, variant and seed.",
        "diff": "Compare the kept items of two runs.",
        "list": "List what can be chosen by name, or the runs whose tables are in the data folder.",
        "new": "Create a project in FOLDER.",
    },
    "Publish": {
        "release": "Write ITEMS to FOLDER with options in orders that a key chooses.",
        "leak-test": "Test whether a model was trained on a release.",
        "export-answers": "Write the answers of a saved run to FOLDER for Every Eval Ever.",
        "evaluate-sealed": "Score models on the closed half of a sealed benchmark.",
        "new-key": "Write a new key to FILE, to seal benchmarks with.",
    },
}
"""The commands by part of the help, each with the first sentence of its docstring.

The command `leak-test` is `leak_test_command` in the module `leak_test`.
"""


class _Commands(click.Group):
    """A group whose command is `run` where only options are given, with help in three parts."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for commands in COMMANDS.values() for name in commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = "kedro_run" if cmd_name == "run" else cmd_name.replace("-", "_")
        with errors_in_one_line():
            found = import_module(f"benchwright.cli.{module}")
        command: click.Command = getattr(found, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            args = ["--help"]
        elif args[0].startswith("-") and args[0] not in ("--help", "-h", "--version"):
            args = ["run", *args]  # as packaged Kedro projects are run
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.show()
            sys.exit(UNUSABLE)


@click.group(
    name="benchwright",
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Options alone are those of run: `benchwright --pipeline wicked` runs that pipeline.",
)
@click.version_option(VERSION, message="%(prog)s %(version)s")
def cli() -> None:
    """Make multiple-choice benchmarks smaller, cleaner, harder and leak-resistant."""
