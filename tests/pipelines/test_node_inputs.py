"""Nodes of all pipelines take few inputs, and each meets the parameter that is named after it."""

import inspect
from collections.abc import Iterator

import pytest
from kedro.pipeline.node import Node

from benchwright.pipeline_registry import register_pipelines

MOST_INPUTS = 12
NODES = {node.name: node for stage in register_pipelines().values() for node in stage.nodes}


def mismatches(node: Node) -> Iterator[tuple[str, str]]:
    """Datasets given by position, with the parameters of another name that they meet."""
    given = node._inputs
    if given is None or isinstance(given, dict):  # by name
        return
    parameters = inspect.signature(node.func).parameters.values()
    datasets = [given] if isinstance(given, str) else given
    for dataset, parameter in zip(datasets, parameters, strict=False):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return
        if dataset.removeprefix("params:").rsplit(".", 1)[-1] != parameter.name:
            yield dataset, parameter.name


@pytest.mark.parametrize("name", NODES)
def test_what_is_given_by_position_has_the_name_of_its_parameter(name: str) -> None:
    assert list(mismatches(NODES[name])) == []


@pytest.mark.parametrize("name", NODES)
def test_no_node_has_more_inputs_than_a_reader_can_follow(name: str) -> None:
    assert len(NODES[name].inputs) <= MOST_INPUTS
