"""`benchwright release`: a table of items with their options in orders that a key chooses."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from benchwright.cli.command import Command
from benchwright.cli.options import FILE, PATH, key_option
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.progress import say
from benchwright.core.verbatim import json_rows, read_bytes, read_errors, read_parquet, utf8_text
from benchwright.core.version import VERSION
from benchwright.datasets.export_folder import ExportFolder, FolderContent
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey, read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.scoring.rendering import LABELS
from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.released_order import leak_test_facts, released_order

ITEMS = "items.jsonl"


@click.command(cls=Command)
@click.argument("items", type=FILE)
@click.argument("folder", type=PATH)
@click.option("--name", required=True, help="Name of the benchmark.")
@key_option
def release_command(items: Path, folder: Path, name: str, key_file: str | None) -> None:
    """Write ITEMS to FOLDER with options in orders that a key chooses.

    ITEMS is a Parquet or JSON lines file with item_id, question, choices and answer. Publish the
    folder, and `benchwright leak-test` tells whether a model was trained on it.
    """
    count = write_release(items, folder, name, read_key(SealingParams(key_file=key_file)))
    say(f"{count:,} items: {folder}")


def write_release(source: Path, folder: Path, name: str, key: SealKey) -> int:
    """Write a folder with the items in their released orders, for `benchwright leak-test`.

    Args:
        source: a Parquet or JSON lines file with item_id, question, choices (a list) and answer (an
            index from 0, or a letter). Other columns are kept, and content_hash is computed anew.
        folder: the release; an earlier one is replaced as a whole.
        name: of the benchmark; another one gives other orders.
        key: chooses them.

    Returns:
        The number of items.

    Raises:
        InputError: the file cannot be read, lacks a column, or has an invalid row or an id twice.
    """
    with read_errors(source):
        if source.suffix == ".parquet":
            rows = read_parquet(source).to_pylist()
        else:
            rows = json_rows(utf8_text(read_bytes(source)).split("\n"))
    if not rows:
        raise InputError(f"{source}: the file is empty")
    most = Counter(str(row.get("item_id")) for row in rows).most_common(1)[0]
    if most[1] > 1:
        raise InputError(f"{source}: item_id {most[0]!r} occurs twice; make ids unique")
    orders = KeyedNames(key, name).orders
    lines = [
        json.dumps(_released(row, orders, f"{source}: row {number}"), ensure_ascii=False) + "\n"
        for number, row in enumerate(rows, start=1)
    ]
    facts = {"benchwright": VERSION, "name": name, "leak_test": leak_test_facts(orders, ITEMS)}
    ExportFolder(path=str(folder)).save(FolderContent({ITEMS: [x.encode() for x in lines]}, facts))
    return len(lines)


def read_item(row: Any) -> MultipleChoice:
    """Read an item whose answer is an index from 0 or a letter.

    Raises:
        ValueError: what is wrong with the row.
    """
    lacking = [name for name in ("item_id", "question", "choices", "answer") if name not in row]
    if lacking:
        raise ValueError(f"no {lacking[0]}")
    choices = row["choices"]
    given = row["answer"]
    answer = LABELS.index(given) if given in LABELS else given
    if not isinstance(choices, list) or not all(isinstance(text, str) for text in choices):
        raise ValueError("choices must be a list of texts")
    if type(answer) is not int or not 0 <= answer < len(choices):
        raise ValueError(f"answer {given!r} is no index or letter of the choices")
    return MultipleChoice(str(row["item_id"]), str(row["question"]), tuple(choices), answer)


def _released(row: dict[str, Any], orders: bytes, where: str) -> dict[str, Any]:
    try:
        item = read_item(row)
    except ValueError as problem:
        raise InputError(f"{where}: {problem}") from None
    found = released_order(item, orders)
    shown = LABELS[found.answer] if row["answer"] in LABELS else found.answer
    changed = {"choices": list(found.choices), "answer": shown}
    if "content_hash" in row:
        changed["content_hash"] = content_hash(item.question, found.choices)
    return {**row, **changed}
