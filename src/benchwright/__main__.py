"""The entry point of the command `benchwright`."""

from pathlib import Path

from kedro.framework.project import configure_project


def main() -> None:
    """Run a command; options alone are those of `run`."""
    configure_project(Path(__file__).parent.name)
    from benchwright.cli import cli

    cli(prog_name="benchwright")


if __name__ == "__main__":
    main()
