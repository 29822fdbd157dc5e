"""The items of configured benchmarks, as a run maps them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.answers.read_logs import BenchmarkItems
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams
from benchwright.runs.project_conf import load_conf


def items_of_benchmarks(
    names: Sequence[str], project: Path, env: str | None, params: Mapping[str, Any]
) -> BenchmarkItems:
    """Return the evaluation items of configured benchmarks, as a run with `params` maps them.

    Raises:
        InputError: a benchmark is unknown or has no source.
    """
    loaded = [load_conf(project, env, {**params, "benchmark": it})["parameters"] for it in names]
    tables = [ingested(project, parameters).items for parameters in loaded]
    benchmarks = [BenchmarkParams.model_validate(each["ingestion"]) for each in loaded]
    sources = (source for each in benchmarks for source in each.sources.by_kind().values())
    return BenchmarkItems(
        pd.concat(tables, ignore_index=True), tuple(source.fields for source in sources)
    )


def ingested(project: Path, parameters: Mapping[str, Any]) -> IngestedTables:
    """Return the tables of the benchmark that the parameters of a run choose, without a limit.

    Raises:
        InputError: the benchmark has no source or no valid item.
    """
    root = project / str(parameters["data_root"])
    benchmark = BenchmarkParams.model_validate(parameters["ingestion"])
    source = BenchmarkSource(
        benchmark=parameters["ingestion"],
        mirror_root=parameters["mirror_root"],
        raw_folder=str(root / "01_raw" / benchmark.name),
        data_root=str(root),
    )
    return map_source_rows(source.load(), benchmark, None, 0)
