"""Labels of single-best-answer items, by annotators or by a chat model (WiCkeD, A)."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from benchwright.core.array_types import Bools, Places
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS, lettered
from benchwright.core.seeding import item_uniforms
from benchwright.core.stored_shards import StoredShards
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import JudgeParams
from benchwright.scoring.asking import ask_in_rounds, ask_model

JUDGE = "judge:"
"""Prefix of the names of labellers that are chat models."""

_ATTEMPTS = 3  # until a label can be read
_REPLY_TOKENS = 16


def label_numbers(labels: pd.DataFrame) -> "pd.Series[int]":
    """Return the 0 or 1 of each row of the labels' file.

    Raises:
        InputError: a value is neither.
    """
    numbers = pd.to_numeric(labels["sba"], errors="coerce")
    wrong = ~numbers.isin([0, 1])
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        value = labels["sba"].iloc[row]
        raise InputError(
            f"single_best_answer_labels, row {row + 1}: sba is {value!r}; it must be 0 or 1"
        )
    return numbers.astype(int)


def read_annotations(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the labels' file as a table: item_id, benchmark, labeller, label (0/1).

    Empty cells are read as the start of the id (benchmark) and `file` (annotator).

    Raises:
        InputError: a label is not 0 or 1.
    """
    ids = labels["item_id"].astype(str)
    read = pd.DataFrame(
        {
            "item_id": ids,
            "benchmark": labels["benchmark"].where(
                labels["benchmark"] != "", ids.str.split("/").str[0]
            ),
            "labeller": labels["annotator"].where(labels["annotator"] != "", "file"),
            "label": label_numbers(labels),
        }
    )
    return read.sort_values(["item_id", "labeller"], ignore_index=True)


def one_label_per_item(annotations: pd.DataFrame) -> pd.DataFrame:
    """Return one label per item: 1 if any labeller gives 1, since a missed item becomes incoherent.

    Labels of annotators take precedence over those of the judge. Return by `item_id` (the index):
    benchmark, label, `judged` (whether the label is the judge's).
    """
    judged = annotations["labeller"].str.startswith(JUDGE)
    read = set(annotations.loc[~judged, "item_id"])
    counted = annotations[~judged | ~annotations["item_id"].isin(read)]
    rated = counted.groupby("item_id").agg(benchmark=("benchmark", "first"), label=("label", "max"))
    return rated.assign(judged=~rated.index.isin(read))


def judgeable(items: pd.DataFrame) -> Bools:
    """Return (n,) whether an item has at least two options and a known right one."""
    enough = items["choices"].map(len).to_numpy() >= 2
    return np.asarray(enough & (items["answer"].to_numpy() >= 0), dtype=np.bool_)


def held_out_items(labels: pd.DataFrame, share: float) -> Bools:
    """Return (n,) items kept for evaluation: the first by hashed id of each benchmark and label.

    The result depends on the ids alone, not on a seed or the order of rows. `share` is that of each
    benchmark and label in `one_label_per_item`, rounded.
    """
    place, size = _place_in_stratum(labels, "single_best_answer_held_out")
    return place < np.floor(share * size + 0.5)


def cross_validation_folds(labels: pd.DataFrame, folds: int) -> Places:
    """Return (n,) the fold of each item, from 0, by benchmark, label and a hash of the id."""
    place, _ = _place_in_stratum(labels, "single_best_answer_folds")
    return place % folds


def _place_in_stratum(labels: pd.DataFrame, purpose: str) -> tuple[Places, Places]:
    """Return each item's place in the hashed order of its benchmark and label, and their number."""
    hashed = pd.Series(item_uniforms(0, purpose, labels.index.tolist()), index=labels.index)
    groups = hashed.groupby([labels["benchmark"], labels["label"]])
    place = groups.rank(method="first").to_numpy().astype(np.intp) - 1
    return place, groups.transform("size").to_numpy().astype(np.intp)


_TASK_WITH_OPTIONS = """\
Some multiple-choice questions have exactly one correct option: all other options are wrong. \
Others have a best option: another option is also acceptable, only less fitting, so that it would \
become the right answer if the best one were taken away.

Which kind is the question below? Reply with 1 if another option would be a defensible answer once \
the marked one is taken away, and with 0 if all other options are plainly wrong. Reply with the \
digit alone.

Question: {question}
{options}
Marked as right: {gold}

Class:"""

# The prompt of WiCkeD, Table 4, word for word.
_TASK_OF_PAPER = (
    "A single correct answer question is a question that can have exactly one correct answer from "
    "a given set of choices. A single best answer question can have a most appropriate answer (for "
    "example, if this answer is omitted, another answer will be correct). Classify the following "
    "questions into SBA and non-SBA questions. Assign a label of 1 if the question is a SBA "
    "question and a label of 0 otherwise. Question: {question} Class:"
)

_SINGLE = re.compile(r"[\s\"'`*(\[]*(?:(?:class|label|answer)\s*(?:is|:|=)\s*)?\**\s*([01])\b(.*)")
# "1. The question …" and "1) …" may be a list's first entry, "0.5" and "0/1" are other numbers.
_LIST_OR_NUMBER = re.compile(r"[.)]\s*\w|,\d|\s*[-–/]\s*\d")
_OTHER = re.compile(r"(?<![\d.])[01](?![\d.])")


def judge_prompt(
    question: str, choices: Sequence[str], answer: int, prompt: Literal["options", "paper"]
) -> str:
    """Return the judge's prompt: the task, the item with its options, the gold one marked.

    `paper` has the words of the paper, which shows the question alone (WiCkeD, Table 4).
    """
    if prompt == "paper":
        return _TASK_OF_PAPER.format(question=question)
    return _TASK_WITH_OPTIONS.format(
        question=question, options=lettered(choices), gold=LETTERS[answer]
    )


def parse_label(reply: str | None) -> int | None:
    """Return the 0 or 1 that a reply starts with, perhaps after "Class:"; None without a label.

    A reply that goes on to the other digit ("0 or 1", "1 … no, 0"), or that may be a numbered list
    ("1. The question …"), has no label.
    """
    match = _SINGLE.match((reply or "").strip().replace("\n", " ").lower())
    if match is None or _LIST_OR_NUMBER.match(match[2]):
        return None
    others = {digit for digit in _OTHER.findall(match[2]) if digit != match[1]}
    return None if others else int(match[1])


def label_by_judge(
    items: pd.DataFrame,
    judge: JudgeParams,
    models: ModelsParams,
    scoring: ScoringParams,
    answer_store: StoredShards,
) -> dict[str, int]:
    """Return the judge's 0 or 1 by id, without items that got no readable reply.

    Replies are stored: another call asks only what is new.

    Raises:
        InputError: the judge is not named, unknown or unavailable.
    """
    if judge.model is None:
        raise InputError(
            "no chat model is named that labels single-best-answer items; set "
            "single_best_answer.judge.model to a name under models.models"
        )
    ask = ask_model(
        judge.model, models, scoring, answer_store, max_tokens=_REPLY_TOKENS, what="judge"
    )
    rows = zip(items["question"], items["choices"], items["answer"], strict=True)
    texts = [
        judge_prompt(question, choices, answer, judge.prompt) for question, choices, answer in rows
    ]
    replies = ask_in_rounds(ask, texts, lambda _, reply: parse_label(reply), _ATTEMPTS).last
    read = zip(items["item_id"], replies, strict=True)
    return {item: reply.value for item, reply in read if reply.value is not None}
