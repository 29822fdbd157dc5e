"""Read the parts of an item from a source row, or report the rule that the row breaks."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from benchwright.core.cells import is_missing
from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.core.printable import ascii_surrogates, format_value
from benchwright.core.seeding import item_uniforms
from benchwright.logs.options import letter_position, several_letters
from benchwright.params.benchmark import ADDED_COLUMNS, ChoicesField, FieldMapping, GoldField

Row = Mapping[str, Any]


class Rule(StrEnum):
    """The rules that a source row may break (docs/how_to/bring_a_benchmark.md)."""

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


class Unusable(Exception):  # noqa: N818  (describes a row, not an error of the program)
    """A row that breaks a rule; `detail` has the value and the expected one."""

    def __init__(self, rule: Rule, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule
        self.detail = detail


def _unlike(rule: Rule, what: str, value: Any, expected: str, with_type: bool = False) -> Unusable:
    if is_missing(value):
        shown = "missing"
    elif with_type:
        shown = f"{format_value(value)} ({type(value).__name__})"
    else:
        shown = format_value(value)
    return Unusable(rule, f"{what} is {shown}; expected {expected}")


class Rejection(NamedTuple):
    """One row of `RejectedItems`; `row` counts the rows of the source from 1."""

    row: int
    rule: str
    detail: str
    raw: str


def reject(position: int, row: Row, reason: Unusable) -> Rejection:
    """Return the row of `RejectedItems`, with the cells of the source row as JSON."""
    cells = {
        column: value
        for column, value in row.items()
        if column not in ADDED_COLUMNS and not is_missing(value)
    }
    raw = json.dumps(cells, ensure_ascii=False, default=_plain)
    return Rejection(
        row=position + 1,
        rule=str(reason.rule),
        detail=ascii_surrogates(reason.detail),
        raw=ascii_surrogates(raw),
    )


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


class Body(NamedTuple):
    """The question of a row, with options in the source's order."""

    question: str
    passage_id: str | None
    choices: list[str]
    right: list[int]  # indices of the right options, the gold first; [] for open-ended
    answer_text: str


def read(row: Row, path: str) -> Any:
    """Return the value of a column, or of a nested field (name with dots); None if absent."""
    if path in row:
        return row[path]
    column, *inner = path.split(".")
    value = row.get(column)
    for key in inner:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, list):
            value = [part.get(key) if isinstance(part, dict) else None for part in value]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


_SURROGATES = re.compile("[\ud800-\udfff]")


def as_text(value: Any, what: str) -> str:
    """Return a cell as text: strings verbatim, integers as digits.

    Raises:
        Unusable: the value is neither, or text that is not valid Unicode (`not_text`).
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _unlike(Rule.NOT_TEXT, what, value, "text", with_type=True)
    if _SURROGATES.search(value):
        raise _unlike(Rule.NOT_TEXT, what, value, "valid Unicode")
    return value


def read_required(row: Row, path: str, what: str, rule: Rule) -> str:
    """Return a required text; raise Unusable with `rule` if it is missing or blank."""
    value = read(row, path)
    what = f"{what} ({path})"
    if is_missing(value):
        raise _unlike(rule, what, value, "text")
    text = as_text(value, what)
    if not text.strip():
        raise _unlike(rule, what, text, "text that is not blank")
    return text


def read_optional(row: Row, path: str | None) -> str | None:
    """Return an optional text, None if it is missing or blank."""
    value = None if path is None else read(row, path)
    if is_missing(value):
        return None
    text = as_text(value, str(path))
    return text if text.strip() else None


def _as_list(value: Any, what: str, rule: Rule) -> list[Any]:
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    if isinstance(value, list | tuple):
        return list(value)
    raise _unlike(rule, what, value, "a list", with_type=True)


def _is_blank(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and not cell.strip())


def _cells(row: Row, field: ChoicesField) -> list[Any]:
    if field.column is not None:
        return _as_list(read(row, field.column), f"choices ({field.column})", Rule.MISSING_CHOICES)
    cells = [read(row, column) for column in field.columns]
    for column in field.split_columns:
        value = read(row, column)
        what = f"choices ({column})"
        if is_missing(value):
            raise Unusable(Rule.MISSING_CHOICES, f"{what} is missing")
        pieces = map(str.strip, as_text(value, what).split(field.separator))
        cells += filter(None, pieces)
    while field.drop_empty_tail and cells and _is_blank(cells[-1]):
        cells.pop()
    return cells


def read_choices(row: Row, field: ChoicesField, n_choices: int | None) -> list[str]:
    """Return the options of a row, in the source's order; equal options are allowed.

    Raises:
        Unusable: there is no list, an option is blank or not text, or the number of options is not
            2 to 26 or not `n_choices`.
    """
    choices = []
    for number, cell in enumerate(_cells(row, field), start=1):
        if _is_blank(cell):
            raise _unlike(Rule.EMPTY_OPTION, f"option {number}", cell, "text")
        choices.append(as_text(cell, f"option {number}"))
    count = len(choices)
    if not 2 <= count <= len(LETTERS):
        rule = Rule.TOO_FEW_OPTIONS if count < 2 else Rule.TOO_MANY_OPTIONS
        raise Unusable(rule, f"{count} options; expected 2 to 26")
    if n_choices not in (None, count):
        detail = f"{count} options; expected {n_choices} (n_choices)"
        raise Unusable(Rule.WRONG_NUMBER_OF_OPTIONS, detail)
    return choices


def _unreadable(value: Any, expected: str) -> Unusable:
    return _unlike(Rule.UNREADABLE_GOLD, "gold", value, expected, with_type=True)


def _whole_number(value: Any, expected: str) -> int:
    """Read an integer, also as text or, from columns with missing values, as 2.0."""
    if isinstance(value, str):
        whole = _INTEGER.fullmatch(value.strip()) is not None
    elif isinstance(value, float):
        whole = value.is_integer()
    else:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole:
        raise _unreadable(value, expected)
    return int(value)


def _option_index(value: Any, form: str, count: int) -> int:
    if form == "letter":
        expected = f"A to {LETTERS[count - 1]}"
        index = letter_position(value, len(LETTERS)) if isinstance(value, str) else -1
        if index < 0:
            raise _unreadable(value, expected)
    else:
        first = 1 if form == "number" else 0
        expected = f"{first} to {first + count - 1}"
        index = _whole_number(value, expected) - first
    if not 0 <= index < count:
        raise _unlike(Rule.GOLD_OUT_OF_RANGE, "gold", value, f"{expected} for {count} options")
    return index


def _only_match(value: str, among: Sequence[str], what: str) -> int:
    """Return the index of `value`, ignoring surrounding white space if no text is equal."""
    matches = [i for i, text in enumerate(among) if text == value]
    matches = matches or [i for i, text in enumerate(among) if text.strip() == value.strip()]
    if not matches:
        expected = f"one of the {what} {format_value(list(among), 120)}"
        raise _unlike(Rule.GOLD_NOT_AMONG_OPTIONS, "gold", value, expected)
    if len(matches) > 1:
        detail = f"gold is {format_value(value)}; {len(matches)} {what} have this text"
        raise Unusable(Rule.AMBIGUOUS_GOLD, detail)
    return matches[0]


def _hot(value: Any, count: int, several: bool) -> list[int]:
    expected = f"a list of {count} zeros and ones"
    flags = _as_list(value, "gold", Rule.UNREADABLE_GOLD)
    if len(flags) != count or not all(flag in (0, 1, "0", "1") for flag in flags):
        raise _unreadable(value, expected)
    right = [i for i, flag in enumerate(flags) if int(flag)]
    if not right:
        raise Unusable(Rule.GOLD_OUT_OF_RANGE, f"gold is {format_value(value)}; no option is right")
    if len(right) > 1 and not several:
        raise _unlike(Rule.AMBIGUOUS_GOLD, "gold", value, "one right option")
    return right


def read_gold(row: Row, mapping: FieldMapping, choices: list[str]) -> list[int]:
    """Return the indices of the right options, the gold first.

    Raises:
        Unusable: the gold is missing, unreadable, or names no option or several.
    """
    gold: GoldField = mapping.gold
    if gold.column is None:  # form `first`
        return [0]
    value = read(row, gold.column)
    if _is_blank(value):
        detail = f"gold ({gold.column}) is missing; expected the form {gold.form}"
        raise Unusable(Rule.MISSING_GOLD, detail)
    if gold.form in ("one_hot", "multi_hot"):
        return _hot(value, len(choices), several=gold.form == "multi_hot")
    letters = ", ".join(map(str, value)) if isinstance(value, list) else value
    if gold.form == "letter" and isinstance(letters, str) and (several := _letters(letters)):
        return [_option_index(LETTERS[option], gold.form, len(choices)) for option in several]
    if gold.form in ("index", "number", "letter"):
        return [_option_index(value, gold.form, len(choices))]
    text = as_text(value, "gold")
    if gold.form == "text":
        return [_only_match(text, choices, "options")]
    path = (mapping.choices and mapping.choices.labels) or ""  # a valid mapping names them
    what = f"labels ({path})"
    labels = _as_list(read(row, path), what, Rule.LABELS_DO_NOT_FIT)
    if len(labels) != len(choices):
        detail = f"{len(labels)} {what} for {len(choices)} options"
        raise Unusable(Rule.LABELS_DO_NOT_FIT, detail)
    return [_only_match(text, [as_text(label, what) for label in labels], "labels")]


def _letters(text: str) -> tuple[int, ...]:
    """Return the options that several letters name, in any order, or the one of a list of one."""
    named = several_letters("".join(sorted(text)) if text.isalpha() and text.isupper() else text)
    return named or ((LETTERS.index(text),) if text in LETTERS and len(text) == 1 else ())


def gold_form(answers: Iterable[Any], choices: Iterable[Any], from_0: bool = False) -> str:
    """Return the form of the gold in a table of questions, by the most answers that it fits.

    With `from_0` numbers count from 0 unless one is the number of options.

    Raises:
        InputError: another form fits as many answers, and an answer names another option by it.
    """
    given: list[tuple[str, list[str]]] = []
    for cell, listed in zip(answers, choices, strict=True):
        if not _is_blank(cell) and isinstance(listed, np.ndarray | list | tuple):
            given.append((str(cell).strip(), [str(option).strip() for option in listed]))
    # Positions of the answers by form, −1 where the answer does not have it.
    named = {"letter": [letter_position(text, len(options)) for text, options in given]}
    if all(_INTEGER.fullmatch(text) for text, _ in given):
        named["index"] = [_among(int(text), options) for text, options in given]
        if 0 not in named["index"] and (-1 in named["index"] or not from_0):
            named["number"] = [_among(int(text) - 1, options) for text, options in given]
    named["text"] = [options.index(text) if text in options else -1 for text, options in given]
    unfit = {form: positions.count(-1) for form, positions in named.items()}
    form, *others = sorted(named, key=unfit.__getitem__)
    for other in others:
        if unfit[other] > unfit[form]:
            break
        for (text, options), a, b in zip(given, named[form], named[other], strict=True):
            if a != b and -1 not in (a, b):
                both = f"{options[a]!r} as {form}, {options[b]!r} as {other}"
                raise InputError(f"answer: {text!r} is {both}; write letters")
    return form


def _among(position: int, options: Sequence[str]) -> int:
    return position if position in range(len(options)) else -1


def read_final_answer(row: Row, gold: GoldField) -> str:
    """Return the answer of an open-ended row, stripped of white space."""
    path = gold.column or ""
    text = read_required(row, path, "gold", Rule.MISSING_GOLD)
    if gold.after is not None:
        _, found, text = text.rpartition(gold.after)
        if not found:
            detail = f"gold ({path}) does not contain {gold.after!r} before the final answer"
            raise Unusable(Rule.UNREADABLE_GOLD, detail)
    if not text.strip():
        raise Unusable(Rule.MISSING_GOLD, f"gold ({path}) is empty after {gold.after!r}")
    return text.strip()


def read_question(row: Row, mapping: FieldMapping) -> tuple[str, str | None]:
    """Return the question of a row, after its passage if any, and the passage's id or None.

    Raises:
        Unusable: the question is missing, or question or passage is not text.
    """
    question = read_required(row, mapping.question, "question", Rule.MISSING_QUESTION)
    passage = read_optional(row, mapping.passage)
    if passage is None:
        return question, None
    passage_id = hashlib.blake2b(passage.encode(), digest_size=8).hexdigest()
    return f"{passage}\n\n{question}", passage_id


def read_body(row: Row, mapping: FieldMapping, n_choices: int | None) -> Body:
    """Return question, options and gold of a row; raise Unusable for the first broken rule."""
    question, passage_id = read_question(row, mapping)
    if mapping.choices is None:
        answer = read_final_answer(row, mapping.gold)
        return Body(question, passage_id, choices=[], right=[], answer_text=answer)
    choices = read_choices(row, mapping.choices, n_choices)
    right = read_gold(row, mapping, choices)
    return Body(question, passage_id, choices, right, answer_text=choices[right[0]])


def hashed_order(body: Body, item_id: str, seed: int) -> Body:
    """Order the options by a hash of seed, item id and text, independent of the source's order."""
    choices = body.choices
    draws = item_uniforms(seed, "option_order", [f"{item_id}\x1f{text}" for text in choices])

    def rank(option: int) -> tuple[float, str, bool]:
        # Equal texts have equal hashes; the right one comes first, so that the order is unique.
        return draws[option], choices[option], option not in body.right

    order = sorted(range(len(choices)), key=rank)
    return body._replace(
        choices=[choices[option] for option in order],
        right=[order.index(option) for option in body.right],
    )
