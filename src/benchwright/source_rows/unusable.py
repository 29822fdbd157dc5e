"""Rows of a source that cannot be used: the rules, how a message shows a value, their table."""

import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.params.benchmark import ADDED_COLUMNS
from benchwright.tables.items import RejectedItems

Row = Mapping[str, Any]


class Rule(StrEnum):
    """Each way in which a row is unusable; docs/how_to/bring_a_benchmark.md says each in words."""

    UNKNOWN_SPLIT = "unknown_split"
    MISSING_ID = "missing_id"
    MISSING_SUBJECT = "missing_subject"
    MISSING_QUESTION = "missing_question"
    NOT_TEXT = "not_text"
    MISSING_CHOICES = "missing_choices"
    EMPTY_OPTION = "empty_option"
    TOO_FEW_OPTIONS = "too_few_options"
    TOO_MANY_OPTIONS = "too_many_options"
    WRONG_NUMBER_OF_OPTIONS = "wrong_number_of_options"
    LABELS_DO_NOT_FIT = "labels_do_not_fit"
    MISSING_GOLD = "missing_gold"
    UNREADABLE_GOLD = "unreadable_gold"
    GOLD_OUT_OF_RANGE = "gold_out_of_range"
    GOLD_NOT_AMONG_OPTIONS = "gold_not_among_options"
    AMBIGUOUS_GOLD = "ambiguous_gold"
    DOUBLED_ID = "doubled_id"


class Unusable(Exception):  # noqa: N818  (not an error of the program: a word about one row)
    """One row that breaks a rule. `detail` says the value seen and what is accepted."""

    def __init__(self, rule: Rule, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule
        self.detail = detail


def shown(value: Any, length: int = 60) -> str:
    """A value as a message shows it: quoted, on one line, cut at `length` characters."""
    text = ascii_surrogates(repr(value))
    return text if len(text) <= length else f"{text[: length - 1]}…"


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN or pandas' NA. An empty text is not missing."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def ascii_surrogates(text: str) -> str:
    """The text with lone surrogates escaped: JSON may hold them, no file can."""
    return text.encode("utf-8", "backslashreplace").decode()


class Rejection(NamedTuple):
    """One row of `RejectedItems`, whose `row` is the position in the source."""

    row: int
    rule: str
    detail: str
    raw: str


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def raw_text(row: Row) -> str:
    """A whole source row as JSON, without the columns that the source added and empty cells."""
    cells = {k: v for k, v in row.items() if k not in ADDED_COLUMNS and not is_missing(v)}
    return ascii_surrogates(json.dumps(cells, ensure_ascii=False, default=_plain))


def reject(position: int, row: Row, reason: Unusable) -> Rejection:
    """The row as it goes into the table of rejected rows."""
    return Rejection(position, str(reason.rule), ascii_surrogates(reason.detail), raw_text(row))


def rejected_table(rejections: Sequence[Rejection]) -> pd.DataFrame:
    """`RejectedItems`, in the order of the source; it may be empty."""
    return RejectedItems.from_rows(sorted(rejections))
