"""Datasets that nodes read by position stand in the order of the parameters."""

import inspect
from collections.abc import Iterator

from kedro.pipeline.node import Node

from benchwright.pipeline_registry import register_pipelines

OTHER_NAMES = {
    "chosen_filter_models": "filter_models",
    "params:filter_models": "filter_model_rule",
    "params:half_gap": "settings",
    "params:responses": "parameters",
    "compared_items": "items",
    "sampling_panels": "panels",
    "sampling_study": "study",
}
"""Parameters of another name than their dataset."""
MOST_INPUTS = 12
NODES = {node.name: node for stage in register_pipelines().values() for node in stage.nodes}


def mismatches(node: Node) -> Iterator[tuple[str, str]]:
    """Return positional datasets and the parameters with other names."""
    given = node._inputs
    if given is None or isinstance(given, dict):  # by name
        return
    parameters = inspect.signature(node.func).parameters.values()
    datasets = [given] if isinstance(given, str) else given
    for dataset, parameter in zip(datasets, parameters, strict=False):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return
        if parameter.name not in {dataset.removeprefix("params:"), OTHER_NAMES.get(dataset)}:
            yield dataset, parameter.name


def test_positional_inputs_have_the_names_of_their_parameters_and_are_not_too_many() -> None:
    wrong = {name: found for name, node in NODES.items() if (found := list(mismatches(node)))}
    assert wrong == {}
    # The sections and plots of a page are one.
    counts = {name: len(inspect.signature(node.func).parameters) for name, node in NODES.items()}
    assert [name for name, count in counts.items() if count > MOST_INPUTS] == []


def test_names_of_filter_models_are_checked_before_items_are_encoded() -> None:
    order = [node.name for node in register_pipelines()["smart"].nodes]
    check, encode = "responses.import_responses", "embedding.compute_embeddings"
    assert order.index(check) < order.index(encode)
