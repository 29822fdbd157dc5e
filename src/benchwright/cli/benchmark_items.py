"""The items of configured benchmarks, as a run maps them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.answers.read_logs import BenchmarkItems
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_rows import map_source_rows
from benchwright.params.benchmark import BenchmarkParams, FieldMapping
from benchwright.runs.project_conf import load_conf


def items_of_benchmarks(
    names: Sequence[str], project: Path, env: str | None, params: Mapping[str, Any]
) -> BenchmarkItems:
    """Return the evaluation items of configured benchmarks, as a run with `params` maps them.

    Raises:
        InputError: a benchmark is unknown, or has no source or no valid item.
    """
    tables = []
    mappings: list[FieldMapping] = []
    for name in names:
        parameters = load_conf(project, env, {**params, "benchmark": name})["parameters"]
        root = project / str(parameters["data_root"])
        benchmark = BenchmarkParams.model_validate(parameters["ingestion"])
        source = BenchmarkSource(
            benchmark=parameters["ingestion"],
            mirror_root=parameters["mirror_root"],
            raw_folder=str(root / "01_raw" / benchmark.name),
            data_root=str(root),
        )
        tables.append(map_source_rows(source.load(), benchmark, limit=None, seed=0).items)
        mappings += [kind.fields for kind in benchmark.sources.by_kind().values()]
    return BenchmarkItems(pd.concat(tables, ignore_index=True), tuple(mappings))
