"""Run commands of the project in processes forked after the imports.

As a script it reads a command per line, as JSON `{"words": […], "log": file, "folder": current}`,
and writes the exit code. Imports take ten seconds, a small run takes two.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import project_run


def run(words: list[str], log: str, folder: str) -> int:
    """Run a command in a folder with its output in the log; return the exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            project_run._print_to(log)
            os.chdir(folder)
            code = project_run._exit_code(words)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    project_run._import_everything()
    for line in sys.stdin:
        print(run(**json.loads(line)), flush=True)  # noqa: T201
