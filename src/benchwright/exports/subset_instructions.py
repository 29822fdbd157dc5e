"""The page that lies beside an exported subset: how to ask it, and what its score is."""

from collections.abc import Sequence

from benchwright.datasets.harness_tasks import MANIFEST, HarnessFamily
from benchwright.datasets.subset_manifest import SubsetManifest
from benchwright.exports.instructions import (
    HARNESS,
    OPTIONS,
    command,
    max_shots,
    source,
    stock_commands,
    table_of,
)
from benchwright.exports.stock_samples import StockSamples
from benchwright.params.benchmark import BenchmarkParams


def subset_instructions(
    benchmark: BenchmarkParams,
    families: Sequence[HarnessFamily],
    stock: StockSamples,
    subset: SubsetManifest,
) -> str:
    """Markdown: the commands that ask the subset and estimate the full score."""
    count = len(subset.items)
    return "\n".join(
        [
            f"# {benchmark.title}: {count:,} of {subset.of_items:,} items",
            "",
            f"Chosen by the sampler `{subset.sampler}`, seed {subset.seed}. Written for {HARNESS}.",
            f"`{MANIFEST}` lists the items with their weights, and the SHA-256 of every file.",
            "",
            *table_of(families),
            "",
            "```",
            *command([family.name for family in families[:1]], max_shots(families[:1])),
            "```",
            "",
            *OPTIONS,
            "",
            *stock_commands(stock),
            "## The score",
            "",
            f"{subset.scoring[:1].upper()}{subset.scoring[1:]}.",
            "What the model would have on all items, with an interval:",
            "",
            "```",
            f"benchwright estimate results --subset . --benchmark {benchmark.name}",
            "```",
            "",
            *source(benchmark),
        ]
    )
