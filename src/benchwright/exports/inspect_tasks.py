"""Tasks of Inspect AI for exported items: JSON lines, and a module that reads them."""

import re
from collections.abc import Iterator, Mapping

import pandas as pd

from benchwright.core.cells import is_missing, records
from benchwright.datasets.export_folder import json_text
from benchwright.exports.instructions import render
from benchwright.scoring.rendering import LABELS

MODULE = "inspect_tasks.py"
_IN_DOCSTRING = str.maketrans({'"': "'", "\\": "\\\\"})
CARRIED = ("item_id", "content_hash", "condition", "subject", "weight")


def inspect_lines(rows: pd.DataFrame) -> Iterator[bytes]:
    """Yield each item as a sample of Inspect, a JSON object per line.

    The target is a letter, or the answer's text if the item has no options. What joins an answer
    to its item comes back in the log as the sample's metadata: item id, hash of the text, and
    condition or weight if the rows have one.
    """
    for row in records(rows):
        choices = list(row["choices"])
        sample = {
            "id": row["item_id"],
            "input": row["question"],
            **({"choices": choices} if choices else {}),
            "target": LABELS[row["answer"]] if choices else row["answer_text"],
            "metadata": {
                name: row[name] for name in CARRIED if name in row and not is_missing(row[name])
            },
        }
        yield (json_text(sample) + "\n").encode()


def inspect_module(titles: Mapping[str, str], *, open_ended: bool) -> bytes:
    """Return a module with a task per file of samples.

    Args:
        titles: what each file has, by its name without the ending.
        open_ended: the items have no options.
    """
    tasks = [
        {"name": name, "function": task_name(name), "title": title.translate(_IN_DOCSTRING)}
        for name, title in titles.items()
    ]
    return render("inspect_tasks.txt", tasks=tasks, open_ended=open_ended).encode()


def task_name(name: str) -> str:
    """Return a name as an identifier of Python.

    >>> task_name("wicked-1")
    'wicked_1'
    """
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    return identifier if identifier[:1].isalpha() else f"items_{identifier}"
