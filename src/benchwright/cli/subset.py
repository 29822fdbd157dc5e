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
    rows, of_items = defaultdict[str, list[int]](list), ready.places
    for task, row in (of_items[place] for place in places):
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
    stock, of_items, n = STOCK_TASKS[ready.name], ready.places, len(ready.keys)
    items = [
        {"task": of_items[at][0], "row": of_items[at][1], "split_row": at, "hash": ready.keys[at]}
        for at in places.tolist()
    ]
    facts = {"benchmark": ready.name, "dataset": stock.dataset, "split": stock.split}
    return {"format": 1, **facts, "of_items": n, "inclusion": len(places) / n, "items": items}


def terminal_lines(ready: ReadyMade, places: Places, samples: Path | None) -> list[str]:
    """Return the lines to print, with the commands that come next."""
    stock, n, size = STOCK_TASKS[ready.name], len(ready.keys), len(places)
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
