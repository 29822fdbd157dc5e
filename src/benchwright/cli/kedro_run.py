"""`kedro run` with the pipelines' defaults, and with errors of the user in one line."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from kedro.framework.cli.project import run as kedro_run
from kedro.framework.project import configure_project

from benchwright.cli.command import Command, enter_project, in_project_folder
from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError
from benchwright.runs.project_conf import check_pipelines, pipeline_defaults, runner_class


def wrap_kedro_run(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap Kedro's `run` to accept `--pipeline` and to apply the pipeline's defaults.

    `--pipeline NAME` becomes `--pipelines NAME`, since Kedro 1.7 deprecates the former. The default
    benchmark and variant of each pipeline are set in globals.yml.
    """

    @wraps(command)
    def wrapped(**options: Any) -> Any:
        if options["pipeline"] and options["pipelines"]:
            raise InputError("Options '--pipeline' and '--pipelines' cannot be used together")
        if options["pipeline"]:
            options |= {"pipeline": None, "pipelines": [options["pipeline"]]}
        pipelines = list(options["pipelines"] or [])
        tags = options.get("tags") or []
        if options.get("conf_source") and enclosing_project() is None:
            configure_project("benchwright")
            check_pipelines(pipelines, tags)
            return command(**options)  # of a packaged project, whose conf is elsewhere
        project = enter_project()
        check_pipelines(pipelines, tags)
        runner_class(options.get("runner") or "SequentialRunner")
        params = dict(options["params"] or {})
        given = [name for name, value in params.items() if value is not None]
        params |= pipeline_defaults(project, options["env"], pipelines, given)
        return command(**{**options, "params": params})

    return wrapped


run_command = Command(
    name="run",
    callback=in_project_folder()(wrap_kedro_run(kedro_run.callback)),  # type: ignore[arg-type]
    params=kedro_run.params,
    help="Run a pipeline, with the options of `kedro run`.",
    context_settings=kedro_run.context_settings,
)
