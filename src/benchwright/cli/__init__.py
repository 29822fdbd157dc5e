"""The command line: Kedro's `run`, and the commands of the project, a module each."""

from benchwright.cli.main import cli, run

__all__ = ["cli", "run"]
