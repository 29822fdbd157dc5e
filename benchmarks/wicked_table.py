"""Accuracy on the original and on WiCkeD copies, by model and benchmark (WiCkeD, Table 1).

    python benchmarks/wicked_table.py data/08_reporting arc_challenge mmlu --variant wicked/limit300

Reads the newest comparison of each benchmark, and prints Markdown tables: accuracy before and after
with the difference and its interval over items, the mean over benchmarks, how often "none" was
chosen, and what the copies changed. A model is matched by its name and style; numbers of
demonstrations may differ. The interval of a mean adds up the variances of the benchmarks.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

NORMAL = 1.96


def points(share: float, low: float, high: float) -> str:
    shown = [f"{100 * value:+.1f}".replace("-", "−") for value in (share, low, high)]
    return "{} [{}, {}]".format(*shown)


def mean_row(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the mean of a model over benchmarks, whose items are independent."""
    delta = rows["delta"].mean()
    reach = NORMAL * float(np.sqrt((rows["delta_se"] ** 2).sum())) / len(rows)
    return {
        "original": rows["accuracy_original"].mean(),
        "copies": rows["accuracy_mean"].mean(),
        "delta": points(delta, delta - reach, delta + reach),
        "altered": "",
    }


def accuracies(scores: pd.DataFrame, wanted: int) -> pd.DataFrame:
    """Return a row per model, style and benchmark, and a mean where all benchmarks are there."""
    rows: list[dict[str, Any]] = []
    for (model, style), own in scores.groupby(["model", "style"], sort=False):
        for row in own.to_dict("records"):
            altered = row["accuracy_altered"] - row["accuracy_altered_original"]
            rows.append(
                {
                    "model": row["configuration"],
                    "benchmark": row["benchmark"],
                    "items": row["n_items"],
                    "original": row["accuracy_original"],
                    "copies": row["accuracy_mean"],
                    "sd": row["accuracy_sd"],
                    "delta": points(row["delta"], row["delta_low"], row["delta_high"]),
                    "altered": f"{100 * altered:+.1f}".replace("-", "−"),
                }
            )
        if len(own) == wanted > 1:
            rows.append({"model": f"{model}@{style}", "benchmark": "mean", **mean_row(own)})
    return pd.DataFrame(rows)


def none_rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Return how often "none" is chosen where it is right, and where it is wrong."""
    shares = rates.pivot_table(
        index=["configuration", "benchmark"], columns="gold", values="share", sort=False
    )
    return shares.rename(columns={"removed": "detected", "kept": "false alarms"}).reset_index()


def reach(folders: Mapping[str, Path]) -> pd.DataFrame:
    """Return what the copies of each benchmark changed."""
    names = ("share_altered", "share_gold_removed", "gold_removed_unchecked", "copies")
    rows = []
    for benchmark, folder in folders.items():
        metrics = json.loads((folder / "comparison_metrics.json").read_text())
        rows.append({"benchmark": benchmark} | {name: metrics.get(name) for name in names})
    return pd.DataFrame(rows)


def read(folders: Mapping[str, Path], name: str) -> pd.DataFrame:
    tables = [
        pd.read_parquet(folder / f"{name}.parquet").assign(benchmark=benchmark)
        for benchmark, folder in folders.items()
    ]
    return pd.concat(tables, ignore_index=True)


def markdown(table: pd.DataFrame) -> Iterable[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    for row in table.itertuples(index=False):
        cells = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
        yield f"| {' | '.join('' if cell == 'nan' else cell for cell in cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reporting", type=Path, help="the folder 08_reporting of a project")
    parser.add_argument("benchmarks", nargs="+")
    parser.add_argument("--variant", default="wicked", help="variant and, below it, limit or seed")
    given = parser.parse_args()
    places = {name: given.reporting / name / given.variant / "latest" for name in given.benchmarks}
    if missing := [str(folder) for folder in places.values() if not folder.is_dir()]:
        parser.error(f"no comparison at {', '.join(missing)}; run the pipeline wicked first")
    scores = read(places, "comparison_scores")
    for table in (
        accuracies(scores, len(places)),
        none_rates(read(places, "comparison_none_rates")),
        reach(places),
    ):
        print("\n".join(markdown(table)), end="\n\n")


if __name__ == "__main__":
    main()
