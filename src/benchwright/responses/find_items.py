"""Find the items that the samples of a log ask."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchwright.datasets.source_fields import (
    Row,
    Unusable,
    read_choices,
    read_optional,
    read_question,
)
from benchwright.logs.sample import Sample
from benchwright.params.benchmark import ChoicesField, FieldMapping, GoldField
from benchwright.responses.item_index import ItemIndex

_FIRST = GoldField(form="first")  # of the mappings below; the gold of a document is not read
_PLAIN = (
    FieldMapping(
        question="question", choices=ChoicesField(column="choices"), gold=_FIRST, subject="subject"
    ),
    FieldMapping(question="question", choices=ChoicesField(column="choices.text"), gold=_FIRST),
    FieldMapping(
        question="question", choices=ChoicesField(column="options"), gold=_FIRST, subject="category"
    ),
    FieldMapping(
        question="Question",
        choices=ChoicesField(columns=tuple(f"choice{number}" for number in range(1, 5))),
        gold=_FIRST,
    ),
    FieldMapping(question="question", gold=GoldField(form="final_answer", column="answer")),
)
"""Common keys of tasks, for documents that are not rows of the benchmark's sources."""


class Place(NamedTuple):
    """The item of a sample: its position in the index, and the options in the log's order.

    `choices` is empty if the order is unknown. `by_text` is False if the sample states an id whose
    item has the stated hash. `sharing` has all items of one subject with the sample's texts, if
    there are several.
    """

    position: int
    choices: tuple[str, ...]
    by_text: bool
    sharing: tuple[int, ...] = ()


class _Candidates(NamedTuple):
    positions: list[int]
    choices: tuple[str, ...]


def stated_id(doc: Row | None) -> tuple[str | None, str | None]:
    """Return item id and content hash of a document, or (None, None)."""
    if doc is None:
        return None, None
    item_id, text_hash = doc.get("item_id"), doc.get("content_hash")
    if isinstance(item_id, str) and isinstance(text_hash, str):
        return item_id, text_hash
    return None, None


def stated_condition(doc: Row | None) -> str | None:
    """Return the condition of an exported row, None for other documents.

    Any benchmark may have a column `condition`, so an item id and a content hash are required.
    """
    condition = None if doc is None else doc.get("condition")
    known = isinstance(condition, str) and condition and stated_id(doc)[0] is not None
    return condition if known else None


def find_items(
    samples: Sequence[Sample],
    index: ItemIndex,
    mappings: Sequence[FieldMapping] = (),
    *,
    as_perturbed: bool = False,
) -> list[Place | None]:
    """Find the item of each sample, None if no item or items of several subjects match.

    These are tried in turn: `item_id` with the `content_hash` of that item; question and options of
    the sample; those of its document by each of the mappings, then by the plain keys `question` and
    `choices`; the one item that the prompt contains. Options may be in another order than the
    item's, except in a copy (`as_perturbed`), where the order is fixed. Of items of one subject
    with equal texts, the first is returned, and all are in `Place.sharing`.
    """
    stated = [stated_id(sample.doc) for sample in samples]
    known = index.join([name for name, _ in stated], [text_hash for _, text_hash in stated])
    places: list[Place | None] = []
    for row, (sample, position) in enumerate(zip(samples, known.positions.tolist(), strict=True)):
        if position >= 0:
            shown = _in_log_order(sample, index, position)
            places.append(Place(position, shown, bool(known.by_hash[row])))
            continue
        positions, choices = _candidates(sample, index, mappings, as_perturbed)
        if not positions:
            places.append(None)
            continue
        own = index.choices[positions[0]]
        shown = own if choices == own else choices  # one tuple for all logs
        sharing = tuple(positions) if len(positions) > 1 else ()
        places.append(Place(positions[0], shown, True, sharing))
    return places


def _in_log_order(sample: Sample, index: ItemIndex, position: int) -> tuple[str, ...]:
    """Return an item's options in the order of the sample, which may have shuffled them."""
    choices = index.choices[position]
    same = sorted(text.strip() for text in sample.choices) == sorted(t.strip() for t in choices)
    return sample.choices if same else choices


def _candidates(
    sample: Sample, index: ItemIndex, mappings: Sequence[FieldMapping], as_perturbed: bool
) -> _Candidates:
    """Return the items with the texts of a sample, and the options in its order."""
    for question, choices, subject in readings(sample, mappings):
        positions = index.with_text(question, choices)
        if not positions and not as_perturbed:
            positions = index.with_options(question, choices)
        same_subject = [position for position in positions if index.subjects[position] == subject]
        positions = same_subject if same_subject and len(positions) > 1 else positions
        if _share_subject(positions, index):
            return _Candidates(positions, choices)
    if sample.question and not sample.choices:
        positions = index.with_question(sample.question)
        same_options = len({index.choices[position] for position in positions}) == 1
        if same_options and _share_subject(positions, index):
            return _Candidates(positions, ())
    if sample.doc is not None and not sample.prompt:
        return _Candidates(index.with_text(document_text(sample.doc), ()), ())
    asked = index.prompts.find(sample.prompt, sample.choices) if sample.prompt else None
    if asked is None or not _share_subject(asked.positions, index):
        return _Candidates([], ())
    choices = asked.choices or sample.choices
    if as_perturbed and choices and index.choices[asked.positions[0]] != choices:
        return _Candidates([], ())
    return _Candidates(list(asked.positions), choices)


def document_text(doc: Row) -> str:
    """Return a document as JSON: the question of an item made of a log with unknown keys."""
    return json.dumps(doc, sort_keys=True, default=str)


def _share_subject(positions: Sequence[int], index: ItemIndex) -> bool:
    return len({index.subjects[position] for position in positions}) == 1


def readings(
    sample: Sample, mappings: Sequence[FieldMapping]
) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """Yield question, options and subject of a sample, by each mapping that reads its document."""
    doc = sample.doc
    if sample.question and sample.choices:
        subject = None if doc is None else doc.get("subject")
        yield sample.question, sample.choices, subject if isinstance(subject, str) else None
    if doc is None:
        return
    for mapping in (*mappings, *_PLAIN):
        try:
            question, _ = read_question(doc, mapping)
            choices = () if mapping.choices is None else read_choices(doc, mapping.choices, None)
            yield question, tuple(choices), read_optional(doc, mapping.subject)
        except Unusable:
            continue
