"""Precision and recall of extraction against labelled documents."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from benchwright.methods.mmlu_cf.extraction.lines import flat, visible
from benchwright.methods.mmlu_cf.extraction.options import first_series, place_of
from benchwright.statistics.proportion import wilson_interval

_LIKE = 90.0  # of 100: stems this alike are the same, if the choices are
_NUMBERING = re.compile(r"^\s*[(\[]?(?:[A-Za-z]|\d{1,3})[.):\]]\s+")


class Share(NamedTuple):
    """A share with its 95% Wilson interval; NaN where nothing was counted."""

    hits: int
    of: int
    share: float
    low: float
    high: float

    @classmethod
    def counted(cls, hits: int, of: int) -> "Share":
        """The share hits / of."""
        bounds = wilson_interval(hits, of)
        return cls(hits, of, hits / of if of else float("nan"), bounds.low, bounds.high)


class Measured(NamedTuple):
    """How well found questions agree with labels.

    Attributes:
        recall: labelled `extract` that were found with the labelled answer, stem and choices alike.
        recall_exact: the same, stem and choices equal but for white space.
        found: labelled `extract` that were found, whatever the answer.
        precision: usable items found that are labelled `extract`, with the labelled answer.
        answers: of the `extract` found, those with the labelled answer.
        without_answer: labelled `extract_without_answer` that were found without one.
        broken: labelled `broken` that did not come out as a usable item.
        explanations, passages: of those in labels of questions found, the share found alike.
        by_style: recall of each style.
        misses: `extract` labels without a counterpart, or with another answer, in words.
        false_positives: usable items that are no labelled `extract`, or have another answer.
    """

    recall: Share
    recall_exact: Share
    found: Share
    precision: Share
    answers: Share
    without_answer: Share
    broken: Share
    explanations: Share
    passages: Share
    by_style: dict[str, Share]
    misses: list[str]
    false_positives: list[Mapping[str, Any]]


class _Pair(NamedTuple):
    """A label and the item that fits it."""

    label: Mapping[str, Any]
    row: Mapping[str, Any] | None = None
    exact: bool = False
    right: bool = False

    @property
    def usable(self) -> bool:
        return self.row is not None and answered_choice(self.row) >= 0

    @property
    def wanted(self) -> bool:
        return bool(self.label["expected"] == "extract")


def answered_choice(row: Mapping[str, Any]) -> int:
    """Position of the choice that a raw item's answer names; −1 where the item is not usable.

    Usable is an item whose labels are the first of a series, in any order, or that has none; whose
    choices have text; and whose answer is one label or the text of one choice.
    """
    choices, answer = list(row["choices"]), row["answer"]
    labels = [label.casefold() for label in row["labels"]]
    if answer is None or not all(flat(one) for one in choices) or not _is_series(labels):
        return -1
    low = answer.strip().casefold()
    by_label = [n for n, label in enumerate(labels) if label and label == low]
    if len(by_label) == 1:
        return by_label[0]
    for form in (flat, _plain):
        by_text = [n for n, one in enumerate(choices) if form(one) == form(answer)]
        if len(by_text) == 1:
            return by_text[0]
    if not any(labels) and len(low) == 1 and "a" <= low < chr(97 + len(choices)):
        return ord(low) - 97
    return -1


def measure(raw: pa.Table, labels: Sequence[Mapping[str, Any]]) -> Measured:
    """Compares raw items with labels of the same documents.

    Args:
        raw: `RawItems`.
        labels: with doc_id, style, question, choices, answer, expected, explanation and passage.
    """
    left: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in raw.to_pylist():
        left[row["doc_id"]].append(row)
    pairs = [_paired(label, left[label["doc_id"]]) for label in labels]
    wanted = [one for one in pairs if one.wanted]
    got = [one for one in wanted if one.row is not None]
    right = [one for one in got if one.right]
    false = [row for rows in left.values() for row in rows if answered_choice(row) >= 0]
    false += [one.row for one in pairs if one.row and one.usable and not (one.wanted and one.right)]
    open_ = [one for one in pairs if one.label["expected"] == "extract_without_answer"]
    broken = [one for one in pairs if one.label["expected"] == "broken"]
    styles = Counter(one.label["style"] for one in wanted)
    right_of = Counter(one.label["style"] for one in right)
    return Measured(
        recall=Share.counted(len(right), len(wanted)),
        recall_exact=Share.counted(sum(one.exact for one in right), len(wanted)),
        found=Share.counted(len(got), len(wanted)),
        precision=Share.counted(len(right), len(right) + len(false)),
        answers=Share.counted(len(right), len(got)),
        without_answer=Share.counted(
            sum(one.row is not None and one.row["answer"] is None for one in open_), len(open_)
        ),
        broken=Share.counted(sum(not one.usable for one in broken), len(broken)),
        explanations=_text_share(got, "explanation"),
        passages=_text_share(got, "passage"),
        by_style={style: Share.counted(right_of[style], n) for style, n in sorted(styles.items())},
        misses=[f"{one.label}: {one.row or 'not found'}" for one in wanted if not one.right],
        false_positives=false,
    )


def _paired(label: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> _Pair:
    """The label and the row that fits it, which is taken out of `rows`."""
    for fits in (_equal, _alike, _stem_alike):
        if fits is _stem_alike and label["expected"] == "extract":
            continue
        for row in rows:
            if fits(row, label):
                rows.remove(row)
                return _Pair(label, row, fits is _equal, _right(row, label))
    return _Pair(label)


def _text_share(pairs: list[_Pair], name: str) -> Share:
    having = [one for one in pairs if one.label.get(name)]
    same = [
        one for one in having if one.row and _close(one.row[name] or "", one.label[name], _LIKE)
    ]
    return Share.counted(len(same), len(having))


def _is_series(labels: list[str]) -> bool:
    if not any(labels):
        return True
    if len(set(labels)) < len(labels):
        return False
    names = {first_series(label) for label in labels} - {""}
    return any(
        sorted(place_of(label, name) for label in labels) == list(range(len(labels)))
        for name in names
    )


def _plain(text: str) -> str:
    """The text without numbering, white space, case, fences, and marks at its ends."""
    text = _NUMBERING.sub("", visible(text).replace("```python", " ").replace("```", " "))
    text = re.sub(r"(?<=\w)-\s+(?=[a-z])", "", text)
    return re.sub(r"\s+", "", text).casefold().strip(".:;")


def _close(one: str, other: str, least: float) -> bool:
    from rapidfuzz.fuzz import ratio

    return bool(_plain(one) == _plain(other) or ratio(_plain(one), _plain(other)) >= least)


def _equal(row: Mapping[str, Any], label: Mapping[str, Any]) -> bool:
    return flat(row["question"]) == flat(visible(label["question"])) and [
        flat(one) for one in row["choices"]
    ] == [flat(visible(one)) for one in label["choices"]]


def _alike(row: Mapping[str, Any], label: Mapping[str, Any]) -> bool:
    mine, theirs = (sorted(map(_plain, one["choices"])) for one in (row, label))
    return mine == theirs and _close(row["question"], label["question"], _LIKE)


def _stem_alike(row: Mapping[str, Any], label: Mapping[str, Any]) -> bool:
    return _close(row["question"], label["question"], 97.0)


def _right(row: Mapping[str, Any], label: Mapping[str, Any]) -> bool:
    """Whether the answer is the labelled one (the choices may stand in another order)."""
    place, wanted = answered_choice(row), label["answer"]
    if place < 0 or not 0 <= wanted < len(label["choices"]):
        return False
    return _plain(row["choices"][place]) == _plain(label["choices"][wanted])
