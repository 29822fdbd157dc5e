"""Precision and recall of extraction on labelled documents."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa

from benchwright.methods.mmlu_cf.extraction.labels import first_series, place_of
from benchwright.methods.mmlu_cf.extraction.lines import flat, visible
from benchwright.statistics.proportion import wilson_interval

_SIMILAR, _SAME = 90.0, 97.0  # percent of a stem, with equal choices and without
_NUMBERING = re.compile(r"^\s*[(\[]?(?:[A-Za-z]|\d{1,3})[.):\]]\s+")


Record = Mapping[str, Any]


class Share(NamedTuple):
    """A share with its 95% Wilson interval; NaN if nothing was counted."""

    hits: int
    of: int
    share: float
    low: float
    high: float

    @classmethod
    def counted(cls, hits: int, of: int) -> "Share":
        """Return the share hits / of."""
        bounds = wilson_interval(hits, of)
        return cls(hits, of, hits / of if of else float("nan"), bounds.low, bounds.high)


class _Pair(NamedTuple):
    label: Record
    row: Record | None = None
    right: bool = False
    usable: bool = False


def answered_choice(row: Record) -> int:
    """Return the position of the choice that a raw item's answer names; −1 if it is not usable.

    An item is usable if its labels are the first of a series, in any order, or absent; its choices
    have text; and its answer is one label or the text of one choice.
    """
    choices, answer = list(row["choices"]), row["answer"]
    labels = [label.casefold() for label in row["labels"]]
    if answer is None or not all(map(flat, choices)) or not _is_series(labels):
        return -1
    low = answer.strip().casefold()
    by_label = [n for n, label in enumerate(labels) if label and label == low]
    if len(by_label) == 1:
        return by_label[0]
    for form in (flat, _plain):
        by_text = [n for n, choice in enumerate(choices) if form(choice) == form(answer)]
        if len(by_text) == 1:
            return by_text[0]
    if not any(labels) and len(low) == 1 and "a" <= low < chr(97 + len(choices)):
        return ord(low) - 97
    return -1


def measure(raw: pa.Table, labels: Sequence[Record]) -> tuple[dict[str, Share], dict[str, Share]]:
    """Compare raw items (`RawItems`) with the labels of the same documents.

    A label has doc_id, style, question, choices, answer, expected, explanation and passage.

    Returns:
        The recall of each style, and these shares over all styles:

        - recall: labelled `extract`, extracted with the labelled answer and similar texts;
        - found: labelled `extract`, extracted with any answer;
        - precision: usable items that are labelled `extract` and have the labelled answer;
        - without_answer: labelled `extract_without_answer`, extracted without an answer;
        - broken: labelled `broken`, not extracted as a usable item;
        - explanations, passages: of those labelled in questions found, those that are similar.
    """
    left: defaultdict[str, list[Record]] = defaultdict(list)
    for row in raw.to_pylist():
        left[row["doc_id"]].append(row)
    pairs: defaultdict[str, list[_Pair]] = defaultdict(list)
    for label in labels:
        pairs[label["expected"]].append(_paired(label, left[label["doc_id"]]))
    wanted, broken = pairs["extract"], pairs["broken"]
    extracted = [pair for pair in wanted if pair.row is not None]
    right = [pair for pair in wanted if pair.right]
    usable = sum(answered_choice(row) >= 0 for rows in left.values() for row in rows)
    usable += sum(pair.usable for pair in chain(*pairs.values()))
    open_ = [pair.row for pair in pairs["extract_without_answer"]]
    unanswered = sum(row is not None and row["answer"] is None for row in open_)
    styles = Counter(pair.label["style"] for pair in wanted)
    right_of = Counter(pair.label["style"] for pair in right)
    recalls = {style: Share.counted(right_of[style], n) for style, n in sorted(styles.items())}
    return recalls, {
        "recall": Share.counted(len(right), len(wanted)),
        "found": Share.counted(len(extracted), len(wanted)),
        "precision": Share.counted(len(right), usable),
        "without_answer": Share.counted(unanswered, len(open_)),
        "broken": Share.counted(sum(not pair.usable for pair in broken), len(broken)),
        "explanations": _text_share(extracted, "explanation"),
        "passages": _text_share(extracted, "passage"),
    }


def _paired(label: Record, rows: list[Record]) -> _Pair:
    """Return the label with the most similar row, which is removed from `rows`."""
    wanted = sorted(map(_plain, label["choices"]))
    fitting = [row for row in rows if sorted(map(_plain, row["choices"])) == wanted]
    least = _SIMILAR
    if label["expected"] != "extract" and not fitting:
        fitting, least = rows, _SAME
    likeness = [_likeness(row["question"], label["question"]) for row in fitting]
    if not fitting or max(likeness) < least:
        return _Pair(label)
    row = fitting[likeness.index(max(likeness))]
    rows.remove(row)
    place, answer = answered_choice(row), label["answer"]
    known = place >= 0 and 0 <= answer < len(label["choices"])  # in another order, perhaps
    right = known and _plain(row["choices"][place]) == _plain(label["choices"][answer])
    return _Pair(label, row, right, place >= 0)


def _text_share(pairs: list[_Pair], name: str) -> Share:
    texts = [
        (pair.row[name], pair.label[name]) for pair in pairs if pair.row and pair.label.get(name)
    ]
    close = [_likeness(text or "", wanted) >= _SIMILAR for text, wanted in texts]
    return Share.counted(sum(close), len(texts))


def _is_series(labels: list[str]) -> bool:
    if not any(labels):
        return True
    series = {first_series(label) for label in labels} - {""}
    return any(
        sorted(place_of(label, name) for label in labels) == list(range(len(labels)))
        for name in series
    )


def _plain(text: str) -> str:
    """Remove numbering, white space, case, fences, and punctuation at the ends."""
    text = _NUMBERING.sub("", visible(text).replace("```python", " ").replace("```", " "))
    text = re.sub(r"(?<=\w)-\s+(?=[a-z])", "", text)
    return re.sub(r"\s+", "", text).casefold().strip(".:;")


def _likeness(text: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio

    return ratio(_plain(text), _plain(other))
