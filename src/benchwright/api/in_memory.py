"""Run nodes of the pipelines on tables in memory, with the settings of conf/."""

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline
from kedro.validation import ParameterValidationError, ParameterValidator
from omegaconf import OmegaConf

from benchwright.core.errors import InputError, one_line
from benchwright.core.kedro_logs import kedro_errors_once
from benchwright.params.run import RUN_VALUES, check_run_values, unknown_parameters
from benchwright.runs.project_conf import NO_BENCHMARK, conf_mistake, current_project, load_conf

Params = Mapping[str, Any] | None


def settings_of(variant: str, benchmark: str | None, params: Params) -> dict[str, Any]:
    """Return the parameters of a run of this variant and benchmark, as in conf/.

    Args:
        variant: a name in conf/.
        benchmark: a name in conf/; None for items of no configured benchmark.
        params: keys and values as in `--params`; keys may be nested or have dots.

    Raises:
        InputError: the variant, the benchmark or a key is unknown, or a file in conf/ is invalid.
    """
    project = current_project()
    named = {"benchmark": benchmark or NO_BENCHMARK, "variant": variant}
    try:
        declared = dict(load_conf(project, params=named)["parameters"])
    except Exception as error:
        message = one_line(error) or conf_mistake(project, error)
        if message is None:
            raise
        raise InputError(message) from None
    given = OmegaConf.create({})
    for key, value in (params or {}).items():
        OmegaConf.update(given, key, value, merge=True)
    if problem := unknown_parameters(given, declared.keys() - (RUN_VALUES - {"seed"})):
        raise InputError(problem)
    check_run_values(given)
    changed: Any = {name: declared.get(name) for name in given}
    changed = OmegaConf.to_container(OmegaConf.merge(changed, given))
    return declared | changed


def compute(
    pipeline: Pipeline, given: Mapping[str, Any], settings: Mapping[str, Any], *wanted: str
) -> dict[str, Any]:
    """Compute datasets of a pipeline, and return all that are then known, by name.

    Only nodes that they need run; a dataset that is given is not computed.

    Raises:
        InputError: a setting is invalid, or a node rejects its input.
    """
    made_by = {name: node for node in pipeline.nodes for name in node.outputs}
    data = dict(given)

    def compute_one(name: str) -> Any:
        if name not in data:
            node = made_by[name]
            data.update(node.run({source: compute_one(source) for source in node.inputs}))
        return data[name]

    with kedro_errors_once():
        needed = pipeline.to_outputs(*(name for name in wanted if name in made_by))
        try:  # the types that the functions of the nodes state
            typed = ParameterValidator({"": needed}).validate_raw_params(dict(settings))
        except ParameterValidationError as error:
            raise InputError(one_line(error)) from None
        data |= {f"params:{name}": value for name, value in typed.items()}
        for name in wanted:
            compute_one(name)
    return data
