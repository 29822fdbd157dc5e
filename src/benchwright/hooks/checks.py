"""Hooks that stop a run with a mistake in one line, before any data is read."""

import json
from collections.abc import Mapping
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline import Node, Pipeline

from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.perturbation import PerturbationParams, require_one_copy
from benchwright.params.run import RUN_VALUES, check_run_values, unknown_parameters
from benchwright.runs.project_conf import CONFIG_LOADER_ARGS
from benchwright.runs.run_records import PARAMS
from benchwright.runs.tracking import flatten

_KIND_NAMED = {
    "configurations": "models",
    "answering": "models",
    "judges": "models",
    "judge": "models",
    "encoder": "encoders",
    "encoders": "encoders",
    "compare": "encoders",
}  # by the last part of a setting
_NAMED = 3  # datasets in a message


class ParametersHook:
    """Refuses unknown keys of `--params`, which Kedro would ignore."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        loader = context.config_loader
        given = loader.runtime_params or {}
        check_run_values(given)
        if given.keys() <= RUN_VALUES:
            return  # the names are known, so the parameters need not be resolved here
        chosen = {name: given[name] for name in ("benchmark", "variant") if given.get(name)}
        declared = type(loader)(
            conf_source=loader.conf_source,
            env=context.env,
            runtime_params=chosen,
            **CONFIG_LOADER_ARGS,
        )["parameters"]
        problem = unknown_parameters(given, declared)
        if problem:
            raise InputError(problem)


class ModelNamesHook:
    """Refuses names of models and encoders that are not under `models`."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        names = sorted(name for name in pipeline.inputs() if name.startswith(PARAMS))
        if f"{PARAMS}models" in names:
            problem = unknown_model({n.removeprefix(PARAMS): catalog.load(n) for n in names})
            if problem:
                raise InputError(problem)


def unknown_model(sections: Mapping[str, Any]) -> str | None:
    """Return an error message for the first model or encoder that is not under `models`."""
    for setting, value in flatten(sections).items():
        kind = _KIND_NAMED.get(setting.rpartition(".")[2])
        if kind is None or setting.startswith("models.") or value == "None":
            continue
        known = dict(sections["models"])[kind]
        for name in json.loads(value) if value.startswith("[") else [value]:
            model = parse_configuration(name).model
            if model not in known:
                return f"{setting}: unknown {kind[:-1]} {model!r}; {expected(model, known)}"
    return None


class SealingHook:
    """Refuses to seal without a key, or with settings that would open what is closed."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: Any) -> None:
        if f"{PARAMS}sealing" not in pipeline.inputs():
            return
        read_key(SealingParams.model_validate(catalog.load(f"{PARAMS}sealing")))
        if f"{PARAMS}perturbation" in pipeline.inputs():
            perturbation = catalog.load(f"{PARAMS}perturbation")
            require_one_copy(PerturbationParams.model_validate(perturbation))


class InputsHook:
    """Refuses a part of a pipeline that reads what is not saved."""

    @hook_impl
    def before_pipeline_run(
        self, run_params: Mapping[str, Any], pipeline: Pipeline, catalog: Any
    ) -> None:
        from kedro.framework.project import pipelines

        if run_params.get("only_missing_outputs"):
            return  # the runner chooses nodes
        whole = Pipeline([])
        for name in run_params.get("pipeline_names") or ["__default__"]:
            whole += pipelines[name]
        absent = absent_inputs(pipeline, whole, catalog)
        if absent:
            stages = ",".join(whole_stages(pipeline, whole, catalog))
            first, others = absent[:_NAMED], len(absent[_NAMED:])
            named = ", ".join(first) + (f" and {others} more" if others else "")
            raise InputError(
                f"these nodes read {named}, which no run has saved or which stays in "
                f"memory; run whole stages: --namespaces {stages}"
            )


def absent_inputs(part: Pipeline, whole: Pipeline, catalog: Any) -> list[str]:
    """Return what nodes of a pipeline read that other nodes of it make, and that is not saved."""
    made = part.inputs() & whole.all_outputs()
    return sorted(name for name in made if name not in catalog or not catalog.exists(name))


def whole_stages(part: Pipeline, whole: Pipeline, catalog: Any) -> list[str]:
    """Return the stages of some nodes, and those that make what these read and is not saved."""
    stage_of = {output: _stage(node) for node in whole.nodes for output in node.outputs}
    stages = {_stage(node) for node in part.nodes}
    before: set[str] = set()
    while stages != before:
        before = set(stages)
        chosen = whole.only_nodes_with_namespaces(sorted(stages))
        stages |= {stage_of[name] for name in absent_inputs(chosen, whole, catalog)}
    last_first = [_stage(node) for node in whole.nodes[::-1] if _stage(node) in stages]
    return list(dict.fromkeys(last_first))[::-1]


def _stage(node: Node) -> str:
    return str(node.namespace).partition(".")[0]
