"""The entry point of the command `benchwright`."""


def main() -> None:
    """Run a command; options alone are those of `run`."""
    from benchwright.cli import cli

    cli(prog_name="benchwright")


if __name__ == "__main__":
    main()
