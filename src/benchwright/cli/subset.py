"""`benchwright subset`: a ready-made subset as rows of stock tasks."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchwright.cli.command import WRITTEN, Command
from benchwright.cli.options import POSITIVE, out_option
from benchwright.cli.outputs import print_lines, write_output
from benchwright.methods.dele.ready_made import STOCK_TASKS, ReadyMade, load_ready_made

Places = NDArray[np.intp]


@click.command(cls=Command)
@click.argument("benchmark")
@click.option("--size", required=True, type=POSITIVE, help="Number of items.")
@click.option("--samples", type=WRITTEN, help="JSON file for lm_eval --samples.")
@click.option("--ids", type=WRITTEN, help="Text file for inspect eval --sample-id.")
@out_option
def subset_command(
    benchmark: str, size: int, samples: Path | None, ids: Path | None, out: Path | None
) -> None:
    """Write a ready-made subset of BENCHMARK: arc_challenge, gsm8k, mmlu or winogrande.

    The items are drawn at random, by subject, and are the same for everyone. `benchwright estimate
    LOGS --subset BENCHMARK-SIZE` gives the score on all items.
    """
    ready = load_ready_made(benchmark)
    places = ready.draw(size)
    write_output(samples, lambda: samples_text(ready, places))
    write_output(ids, lambda: ids_text(places))
    write_output(out, lambda: subset_json(ready, places))
    print_lines(terminal_lines(ready, places, samples))


def rows_by_task(ready: ReadyMade, places: Places) -> dict[str, list[int]]:
    """Return the rows to ask, from 0, by task of lm-evaluation-harness."""
    rows = defaultdict[str, list[int]](list)
    of_items = ready.places
    for place in places:
        task, row = of_items[place]
        rows[task].append(row)
    return dict(rows)


def samples_text(ready: ReadyMade, places: Places) -> str:
    """Return the file for `lm_eval --samples`."""
    return json.dumps(rows_by_task(ready, places)) + "\n"


def ids_text(places: Places) -> str:
    """Return ids for `inspect eval --sample-id`: numbers of rows of the whole split, from 1."""
    return ",".join(str(place + 1) for place in places) + "\n"


def subset_json(ready: ReadyMade, places: Places) -> dict[str, Any]:
    """Return the items, each with the probability that it is drawn, as JSON."""
    stock = STOCK_TASKS[ready.name]
    of_items = ready.places
    items = []
    for place in places.tolist():
        task, row = of_items[place]
        items.append({"task": task, "row": row, "split_row": place, "hash": ready.keys[place]})
    return {
        "format": 1,
        "benchmark": ready.name,
        "dataset": stock.dataset,
        "split": stock.split,
        "of_items": len(ready.keys),
        "inclusion": len(places) / len(ready.keys),
        "items": items,
    }


def terminal_lines(ready: ReadyMade, places: Places, samples: Path | None) -> list[str]:
    """Return the lines to print, with the commands that come next."""
    stock = STOCK_TASKS[ready.name]
    n = len(ready.keys)
    size = len(places)
    tasks = ",".join(rows_by_task(ready, places))
    known = int((~np.isnan(ready.share)).sum())
    which = "" if known == n else f" for {known:,} items, none for the others"
    file = samples or f"{ready.name}-{size}.json"
    unwritten = f"rows for lm_eval are not written: add --samples {file}"
    return [
        f"{ready.name}-{size}: {size:,} of {n:,} items of {stock.dataset}, split {stock.split}",
        f"predictions from {ready.models:,} models{which}",
        *([] if samples else [unwritten]),
        f"lm_eval … --tasks {tasks} --samples {file} --log_samples --output_path results",
        f"benchwright estimate results --subset {ready.name}-{size}",
    ]
