"""Nodes named after their functions, and the nodes of a report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, TypeVar

from kedro.pipeline import Node, Pipeline

from benchwright.reports.page.sections import gather_plots

Function = Callable[..., Any]
Inputs = str | list[str] | dict[str, str] | None
Outputs = TypeVar("Outputs", str, str | list[str])
OneOutput = tuple[Function, Inputs, str]
NodeParts = tuple[Function, Inputs, str | list[str]]
"""A function, its inputs and its outputs, as `Node` takes them."""


def inputs_by_name(
    outputs: Mapping[Function, Outputs], params: Iterable[str] = (), **datasets: str
) -> list[tuple[Function, Inputs, Outputs]]:
    """Return each function with its inputs and outputs: a parameter reads the dataset of its name.

    Those named in `params` read the run's parameters; `datasets` holds those of another name.
    """
    sources = {name: f"params:{name}" for name in params} | datasets
    return [
        (function, {name: sources.get(name, name) for name in signature(function).parameters}, out)
        for function, out in outputs.items()
    ]


def named_nodes(parts: Iterable[NodeParts]) -> list[Node]:
    """Return a node for each function, named after it."""
    return [Node(*part, name=part[0].__name__) for part in parts]


def boxed(name: str, nodes: Iterable[Node | Pipeline]) -> Pipeline:
    """Return the nodes as one box of Kedro-Viz and of `--namespaces`; datasets keep their names."""
    return Pipeline(list(nodes), namespace=name, prefix_datasets_with_namespace=False)


def report_nodes(
    page: str,
    render: Callable[..., str],
    sections: Sequence[OneOutput],
    *plots: Mapping[str, str],
) -> list[Node]:
    """Return the nodes that make the sections of a page, gather its plots, and render it.

    Args:
        page: dataset of the page.
        render: makes the page from its sections, passed by name.
        sections: functions that make a section each.
        plots: datasets of plots by their places on the page; a node gathers each mapping.
    """
    gathered = [f"{page}_plots_{n}" for n in range(1, len(plots) + 1)]
    names = [*(section for *_, section in sections), *gathered]
    return [
        *named_nodes(sections),
        *(
            Node(gather_plots, dict(places), name, name=f"gather_{name}")
            for places, name in zip(plots, gathered, strict=True)
        ),
        Node(render, dict(zip(names, names, strict=True)), page, name=render.__name__),
    ]
