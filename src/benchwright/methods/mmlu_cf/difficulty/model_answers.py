"""Answers of models to the questions of a benchmark in the making, from a file and from models."""

import logging
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix

logger = logging.getLogger(__name__)

_FILE = "difficulty.answers_file"
_WORDS = {"true": 1.0, "false": 0.0}


def answers_of_file(table: pd.DataFrame, item_ids: Sequence[str]) -> pd.DataFrame:
    """A user's answers, checked: rows of item_id, model, correct (0–1) of items that are there.

    `correct` is a number from 0 to 1, or true or false. Answers to other items are told in one
    line and left out.

    Args:
        table: columns item_id, model, correct, as they stand.
        item_ids: of the questions, `<doc_id>#<number in the document>`.

    Raises:
        InputError: a cell is blank or cannot be read, an answer stands twice, or all items are
            unknown.
    """
    answers = table.assign(
        item_id=table["item_id"].astype(str).str.strip(),
        model=table["model"].astype(str).str.strip(),
        correct=[_correct(value) for value in table["correct"]],
    ).reset_index(drop=True)
    for name in ("item_id", "model"):
        blank = answers[name].isin(["", "None", "nan"]).to_numpy()
        _refuse(blank, table, name, "a name is needed")
    _refuse(answers["correct"].isna().to_numpy(), table, "correct", "0–1, true or false is needed")
    twice = answers.duplicated(["item_id", "model"]).to_numpy()
    _refuse(twice, table, "item_id", "one answer of a model to an item is accepted")
    known = answers["item_id"].isin(set(item_ids))
    others = sorted(set(answers.loc[~known, "item_id"]))
    told = f"{len(others)} of {answers['item_id'].nunique()} items are none of the {len(item_ids)}"
    if len(answers) and not known.any():
        raise InputError(
            f"{_FILE}: {told} clean questions (the first: {others[0]!r}); item_id is "
            "<doc_id>#<number of the question in the document>"
        )
    if others:
        logger.warning("%s: %s clean questions, and left out: %s, …", _FILE, told, others[0])
    return answers[known].reset_index(drop=True)


def answer_matrix(
    from_file: pd.DataFrame, from_models: pd.DataFrame, item_ids: Sequence[str]
) -> ResponseMatrix:
    """Answers of both as a matrix of models × items; no models where there are none.

    Raises:
        InputError: one model is in both.
    """
    both = sorted(set(from_file["model"]) & set(from_models["model"]))
    if both:
        raise InputError(
            f"{_FILE} and difficulty.answering both have answers of {both[0]!r}; leave one out"
        )
    parts = [part for part in (from_file, from_models) if len(part)]
    ids = tuple(sorted(map(str, item_ids)))
    if not parts:
        return ResponseMatrix.empty(ids)
    answers = pd.concat(parts, ignore_index=True)
    table = answers.pivot(index="model", columns="item_id", values="correct")  # noqa: PD010
    table = table.sort_index().reindex(columns=list(ids))
    models = tuple(map(str, table.index))
    return ResponseMatrix.of(models, ids, correct=table.to_numpy(np.float32))


def _correct(value: object) -> float:
    if isinstance(value, bool | np.bool_):
        return float(value)
    text = str(value).strip().lower()
    number = _WORDS.get(text)
    if number is None:
        number = float(pd.to_numeric(pd.Series([text]), errors="coerce").iloc[0])
    return number if 0 <= number <= 1 else np.nan


def _refuse(
    wrong: "np.ndarray[tuple[int], np.dtype[np.bool_]]", table: pd.DataFrame, name: str, wanted: str
) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        value = table[name].tolist()[row]
        raise InputError(f"{_FILE}, row {row + 1}: {name} is {value!r}; {wanted}")
