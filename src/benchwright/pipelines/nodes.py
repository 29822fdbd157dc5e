"""Nodes named after their functions, and boxes of nodes."""

from collections.abc import Callable, Iterable
from typing import Any

from kedro.pipeline import Node, Pipeline

Inputs = str | list[str] | dict[str, str] | None


def node(function: Callable[..., Any], inputs: Inputs, outputs: str | list[str]) -> Node:
    """Return a Kedro node named after its function; Kedro would add a hash to the name."""
    return Node(function, inputs, outputs, name=function.__name__)


def boxed(name: str, nodes: Iterable[Node | Pipeline]) -> Pipeline:
    """Return the nodes as one box of Kedro-Viz and of `--namespaces`; datasets keep their names."""
    return Pipeline(list(nodes), namespace=name, prefix_datasets_with_namespace=False)
