"""`benchwright suspects`: items of logs whose answers point to a wrong key."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright.answers.answer_files import Choice
from benchwright.answers.model_descriptions import describe_models
from benchwright.answers.read_answers import read_answers
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.text_table import table_lines
from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.params.scoring import ModelsParams


class Suspects(NamedTuple):
    """Items in the order in which their keys should be checked (`SuspectItems`), with their text.

    Attributes:
        table: also question, choices, answer, and `n_alternative`, the models that chose it.
        models: number of models.
        notes: caveats.
    """

    table: pd.DataFrame
    models: int
    notes: tuple[str, ...]


def find_suspects(paths: Sequence[Path], choice: Choice = Choice()) -> Suspects:  # noqa: B008 - immutable
    """Rank the items in logs by how likely their key is wrong, from the models' answers alone.

    Raises:
        InputError: there are no logs, or none that several models answered.
    """
    known = read_answers(paths, choice)
    if known.items is None or not known.tasks:
        raise InputError(f"{paths[0]}: no log, and tables do not say what was asked")
    if len(known.models) < 2:
        raise InputError(f"{known.source}: answers of one model; suspects need several")
    matrix = known.matrix()
    asked = known.items.set_index("item_id").loc[list(known.tasks)].reset_index()
    families = describe_models(matrix, ModelsParams())
    ranked = rank_suspect_items(matrix, asked, families)
    texts = asked[["item_id", "question", "choices", "answer"]]
    table = ranked.merge(texts, on="item_id", how="left")
    chosen = matrix.select_items(tuple(table["item_id"])).prediction
    table["n_alternative"] = (chosen == table["alternative"].to_numpy()).sum(axis=0)
    models = len(known.models)
    # Of MedQA's first 50, half are planted errors with ten models, and a quarter with two.
    notes = list(known.notes)
    if models < 10:
        notes.append(f"{models} models; with fewer than 10, fewer of the first are errors")
    return Suspects(table, models, tuple(notes))


def terminal_lines(found: Suspects, top: int) -> list[str]:
    """Return the lines to print: the first items, with their key and the preferred answer."""
    rows = [
        {
            "item": row["item_id"],
            "wrong": f"{row['share_wrong']:.0%} of {row['n_models']}",
            "key": _letter(row["answer"]),
            "preferred": f"{_letter(row['alternative'])}, by {row['n_alternative']}"
            if row["alternative"] >= 0
            else "",
            "question": " ".join(str(row["question"]).split())[:70],
        }
        for row in found.table.head(top).to_dict("records")
    ]
    return [
        f"{len(found.table):,} items, {found.models} models; check these keys first (a hard item "
        "looks like a wrong key)",
        *table_lines(rows),
        *(f"note: {note}" for note in found.notes),
    ]


def _letter(option: Any) -> str:
    return LETTERS[int(option)] if 0 <= int(option) < len(LETTERS) else ""


def suspects_json(found: Suspects) -> dict[str, Any]:
    """Return all items as JSON."""
    table = found.table.astype(object).where(found.table.notna(), None)
    rows = [
        {**row, "choices": [str(text) for text in row["choices"]]}
        for row in table.to_dict("records")
    ]
    return {"format": 1, "models": found.models, "items": rows, "notes": list(found.notes)}
