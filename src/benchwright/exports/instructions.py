"""Render the README of an export: how to run its tasks, and what their scores mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.datasets.export_folder import MANIFEST
from benchwright.datasets.harness_tasks import STOCK_SAMPLES, HarnessFamily
from benchwright.datasets.subset_manifest import SubsetManifest
from benchwright.exports.stock_samples import StockSamples
from benchwright.params.benchmark import BenchmarkParams

HARNESS = "lm-eval 0.4.13"


def task_instructions(
    benchmark: BenchmarkParams, families: Sequence[HarnessFamily], stock: StockSamples
) -> str:
    """Render the README of an exported benchmark."""
    return render("tasks.md", benchmark=benchmark, families=families, stock=stock)


def perturbed_instructions(
    benchmark: BenchmarkParams,
    originals: Sequence[HarnessFamily],
    copies: Sequence[HarnessFamily],
    groups: Sequence[HarnessFamily],
    run: Mapping[str, object],
) -> str:
    """Write the README of perturbed copies: tasks, commands, and the meaning of scores.

    `run` has the `--params` that make the same copies.
    """
    style = originals[0].facts["style"] if originals else None
    return render(
        "perturbed.md",
        benchmark=benchmark,
        families=[*originals, *groups, *copies],
        example=[*originals[:1], *(group for group in groups if group.facts["style"] == style)],
        params=",".join(f"{key}={value}" for key, value in run.items() if value is not None),
    )


def subset_instructions(
    benchmark: BenchmarkParams,
    families: Sequence[HarnessFamily],
    stock: StockSamples,
    subset: SubsetManifest,
) -> str:
    """Render the README of an exported subset, with the commands to estimate full scores."""
    facts = {"families": families, "stock": stock, "subset": subset}
    return render("subset.md", benchmark=benchmark, **facts)


def render(template: str, **values: Any) -> str:
    """Render one of the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701  (Markdown)
        loader=PackageLoader("benchwright.exports"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    names = {"harness": HARNESS, "manifest": MANIFEST, "stock_samples": STOCK_SAMPLES}
    return environment.get_template(template).render(values | names)
