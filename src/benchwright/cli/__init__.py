"""The command line: Kedro's `run`, and the commands of the project, a module each."""

from typing import Any

from benchwright.cli.main import cli

__all__ = ["cli"]


def __getattr__(name: str) -> Any:
    """Return `run`, which a packaged project looks for, when it is asked for."""
    if name != "run":
        raise AttributeError(name)
    from benchwright.cli.kedro_run import run_command

    return run_command
