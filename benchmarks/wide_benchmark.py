"""Real questions with the answers of any number of simulated models, one column a model.

    python benchmarks/wide_benchmark.py 2000 15000 FOLDER

takes the first items of MMLU's test split and ARC and draws who answers them right from a
two-parameter model (θ ~ N(0, 1), b ~ N(−0.5, 1), a log-normal with σ = 0.3, guessing 0). It writes
`FOLDER/conf` (the project's, with a benchmark `wide`), `FOLDER/mirror` and `FOLDER/data`, and
prints the parameters for `benchmarks/bench_stages.py`.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa

from made_benchmark import real_items, split_column, write_benchmark

CONF = """\
    filter_models: {choose: strongest, count: 7, distinct: none, min_coverage: 1.0}
    filtering: {easy: {confidence: null}}
    responses:
      - {file: wide.parquet, layout: wide, orientation: items_by_models, values: correct}
"""


def questions(n: int) -> pa.Table:
    """`n` items, and five that are demonstrations."""
    both = real_items()
    if len(both) < n + 5:
        raise SystemExit(f"{n} items and 5 demonstrations are wanted; there are {len(both)}")
    return both[: n + 5].append_column("split", split_column(n))


def answers(models: int, ids: list[str]) -> pa.Table:
    """A row per item, a column per model, 0 or 1."""
    drawn = np.random.default_rng(0)
    ability = drawn.normal(size=models)
    difficulty, slope = drawn.normal(-0.5, 1, len(ids)), drawn.lognormal(0, 0.3, len(ids))
    columns: dict[str, object] = {"item_id": ids}
    for number, theta in enumerate(ability):
        chance = 1 / (1 + np.exp(-slope * (theta - difficulty)))
        name = f"family-{number // 4:04d}/model-{number:04d}"
        columns[name] = (drawn.random(len(ids)) < chance).astype(np.int8)
    return pa.table(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=int)
    parser.add_argument("items", type=int)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    items = questions(asked.items)
    recorded = answers(asked.models, items["item_id"].to_pylist()[: asked.items])
    title = "Simulated answers of many models"
    print(write_benchmark(asked.folder, "wide", title, CONF, items, recorded))


if __name__ == "__main__":
    main()
