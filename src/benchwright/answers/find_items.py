"""Find the items that the samples of a log ask."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchwright.answers.item_index import ItemIndex
from benchwright.answers.row_layouts import readings
from benchwright.ingestion.source_fields import Row
from benchwright.logs.sample import Sample
from benchwright.params.benchmark import FieldMapping

_STATED_SUBJECT = re.compile(r"\bsubject=([^,:]+)")


Content = tuple[str, tuple[str, ...]]
"""A question and its options in sorted order: what makes two samples ask the same."""


class Place(NamedTuple):
    """The item of a sample: its position in the index, and the options in the log's order.

    `choices` is empty if the order is unknown. `by_text` is False if the sample states an id whose
    item has the stated hash. `sharing` has all items of one subject with the sample's texts, if
    there are several. Among the items of logs, `content` is question and sorted options, and
    `stated` the id that a sample states beside the hash of its content.
    """

    position: int
    choices: tuple[str, ...]
    by_text: bool
    sharing: tuple[int, ...] = ()
    content: Content | None = None
    stated: str = ""


UNCLEAR = Place(-1, (), by_text=True)
"""The place of a prompt whose question cannot be told apart yet."""


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
    task: str = "",
    as_perturbed: bool = False,
) -> list[Place | None]:
    """Find the item of each sample, None if no item or items of several subjects match.

    These are tried in turn: `item_id` with the `content_hash` of that item; question and options of
    the sample; those of its document by each of the mappings, then by known layouts; the one item
    that the prompt contains, or whose cleaned question ends it. Options may be in another order
    than the item's, except in a copy (`as_perturbed`). Of items with equal texts those of the
    stated subject count; of several the first is returned, and all are in `Place.sharing`.
    """
    stated = [stated_id(sample.doc) for sample in samples]
    known = index.join([name for name, _ in stated], [text_hash for _, text_hash in stated])
    places: list[Place | None] = []
    of_task = stated_subject(task, index.subjects)
    for row, (sample, position) in enumerate(zip(samples, known.positions.tolist(), strict=True)):
        if position >= 0:
            choices = index.choices[position]
            if sorted(map(str.strip, sample.choices)) == sorted(map(str.strip, choices)):
                choices = sample.choices  # which may be shuffled
            places.append(Place(position, choices, bool(known.by_hash[row])))
            continue
        positions, choices = _candidates(sample, index, mappings, of_task, as_perturbed)
        if not positions:
            places.append(None)
            continue
        own = index.choices[positions[0]]
        shown = own if choices == own else choices  # one tuple for all logs
        sharing = tuple(positions) if len(positions) > 1 else ()
        places.append(Place(positions[0], shown, True, sharing))
    return places


def _candidates(
    sample: Sample,
    index: ItemIndex,
    mappings: Sequence[FieldMapping],
    of_task: str,
    as_perturbed: bool,
) -> _Candidates:
    """Return the items with the texts of a sample, and the options in its order."""
    for reading in readings(sample, mappings):
        found = index.with_text(reading.question, reading.choices, any_order=not as_perturbed)
        if positions := _of_one_subject(found, (reading.subject, of_task), index):
            return _Candidates(positions, reading.choices)
    if sample.question:
        positions = _of_one_subject(index.with_question(sample.question), (of_task,), index)
        options = {index.choices[position] for position in positions}
        if options == {()} or (len(options) == 1 and not sample.choices):
            return _Candidates(positions, ())
    if sample.doc is not None and not sample.prompt:
        return _Candidates(index.with_text(document_text(sample.doc), ()), ())
    return _asked(sample, index, of_task, as_perturbed)


def _asked(sample: Sample, index: ItemIndex, of_task: str, as_perturbed: bool) -> _Candidates:
    """Return the items that a sample's prompt asks, and the options in its order."""
    asked = index.prompts.find(sample.prompt, sample.choices) if sample.prompt else None
    if asked is None:
        ends = bool(sample.prompt) and not as_perturbed
        ending = index.prompt_ends.find(sample.prompt, sample.choices) if ends else None
        position, order = ending or (-1, [])
        choices = tuple(index.choices[position][option] for option in order)
        return _Candidates([position] if ending else [], choices)
    positions = _of_one_subject(asked.positions, (of_task,), index)
    choices = asked.choices or sample.choices
    if as_perturbed and positions and choices and index.choices[positions[0]] != choices:
        return _Candidates([], ())
    return _Candidates(positions, choices)


def stated_subject(task: str, subjects: Iterable[str] = ()) -> str:
    """Return the longest of the subjects that a task's name has, "" if it has none.

    Without subjects, return what follows `subject=`.
    """
    stated = _STATED_SUBJECT.search(task)
    name = f"_{_words(stated[1] if stated else task)}_"
    found = [subject for subject in set(subjects) if f"_{_words(subject)}_" in name]
    return max(
        found, key=lambda subject: (len(subject), subject), default=stated[1] if stated else ""
    )


def _words(text: str) -> str:
    return "_".join(re.findall(r"[^\W_]+", text.casefold()))


def _of_one_subject(
    positions: Sequence[int], subjects: Iterable[str | None], index: ItemIndex
) -> list[int]:
    """Return the positions of the first subject that any has, else all; [] for several subjects."""
    for subject in subjects:
        same = [position for position in positions if index.subjects[position] == subject]
        if same and len(positions) > 1:
            return same
    clear = len({index.subjects[position] for position in positions}) == 1
    return list(positions) if clear else []


def document_text(doc: Row) -> str:
    """Return a document as JSON: the question of an item made of a log with unknown keys."""
    return json.dumps(doc, sort_keys=True, default=str)
