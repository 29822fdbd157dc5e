"""Nodes named after their functions, and boxes of nodes; the tags that nodes have."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kedro.pipeline import Node, Pipeline

from benchwright.reports.page.provenance import render_report

Inputs = str | list[str] | dict[str, str] | None

ASKS_MODELS = "asks_models"
"""The tag of nodes that ask language models, if the settings say so."""
EXPORT = "export"
"""The tag of nodes that write files for other tools."""


def node(
    function: Callable[..., Any], inputs: Inputs, outputs: str | list[str], tag: str | None = None
) -> Node:
    """Return a Kedro node named after its function; Kedro would add a hash to the name."""
    return Node(function, inputs, outputs, name=function.__name__, tags=tag)


def report_node(
    verdict: str, shown: Sequence[str], report: str, settings: Sequence[str], **more: str
) -> Node:
    """Return the node that renders a report: its verdict, sections in order, plots, settings."""
    inputs = {name: f"params:{name}" for name in ("ingestion", "variant", "seed", *settings)}
    inputs |= {"verdict": verdict, **{name: name for name in shown}, **more}
    return Node(render_report, inputs, report, name=f"render_{report}")


def boxed(name: str, nodes: Iterable[Node | Pipeline]) -> Pipeline:
    """Return the nodes as one box of Kedro-Viz and of `--namespaces`; datasets keep their names."""
    return Pipeline(list(nodes), namespace=name, prefix_datasets_with_namespace=False)
