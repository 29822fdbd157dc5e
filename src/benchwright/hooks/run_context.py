"""What hooks need to know of a run: its context, and the parameters that its nodes read."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline import Pipeline

from benchwright.runs.run_records import PARAMS

NOT_OF_RESULTS = {"mirror_root", "models"}
"""Parameters that change no result: a path, and models that the run may not use."""


class ContextHook:
    """A hook that uses the context of the run."""

    _context: KedroContext

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context

    @property
    def project(self) -> Path:
        """The project folder."""
        return Path(self._context.project_path)

    @property
    def data_root(self) -> Path:
        """The folder of the run's data."""
        return self.project / str(self._context.params["data_root"])


def parameters_read(
    params: Mapping[str, Any], pipeline: Pipeline, catalog: Any, without: Collection[str]
) -> dict[str, Any]:
    """Return the parameters that the pipeline's nodes read, and benchmark, variant and seed."""
    values = {name: params.get(name) for name in ("benchmark", "variant", "seed")}
    values |= {
        name.removeprefix(PARAMS): catalog.load(name)
        for name in sorted(pipeline.inputs())
        if name.startswith(PARAMS)
    }
    return {name: value for name, value in values.items() if name not in without}
