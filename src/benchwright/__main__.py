"""`benchwright …` is `kedro …` for this project."""

import sys
from pathlib import Path

from kedro.framework.cli.utils import find_run_command
from kedro.framework.project import configure_project


def main() -> None:
    """Run a pipeline: the same options as `kedro run`."""
    package_name = Path(__file__).parent.name
    configure_project(package_name)
    run = find_run_command(package_name)
    run(sys.argv[1:], standalone_mode=True)


if __name__ == "__main__":
    main()
