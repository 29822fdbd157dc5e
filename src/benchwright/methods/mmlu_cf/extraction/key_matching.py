"""Which entry of a key belongs to which question."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from benchwright.methods.mmlu_cf.extraction.answer_keys import KeyEntry, KeySection
from benchwright.methods.mmlu_cf.extraction.answer_lines import parsed_answer
from benchwright.methods.mmlu_cf.extraction.given_answers import GivenAnswer
from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.options import Run
from benchwright.methods.mmlu_cf.extraction.stems import Stem


def match_keys(
    open_: Sequence[tuple[Run, Stem, Any]], keys: Sequence[KeySection], lines: list[Line]
) -> None:
    """Gives questions the answers of keys, by number.

    A key speaks of the questions above it, after the key before it (below it, where none stand
    above). Where numbers begin anew, in the questions and in the key alike, the parts are matched
    in order; where a number fits several questions, none gets an answer. Questions without any
    number are matched by order if the key counts 1 … n and there are n of them. A key in a comment
    does not speak of questions outside.

    `open_` has run, stem and draft of each question without answer, in order; drafts get `answer`,
    `explanation` and `by`.
    """
    starts = [stem.first for _, stem, _ in open_]
    start, place = 0, 0
    while place < len(keys):
        key = keys[place]
        entries = list(key.entries)
        above = bisect_left(starts, key.first)
        scope = list(open_[bisect_left(starts, start) : above])
        if not above:
            end = keys[place + 1].first if place + 1 < len(keys) else len(lines)
            scope = list(open_[bisect_right(starts, key.last) : bisect_left(starts, end)])
        last = key.last
        place += 1
        while place < len(keys) and above and bisect_left(starts, keys[place].first) == above:
            if keys[place].region == key.region:  # keys one after another are one
                entries += keys[place].entries
            last = keys[place].last
            place += 1
        _match([one for one in scope if _heard(key, one[0], lines)], entries)
        start = last


def _heard(key: KeySection, run: Run, lines: list[Line]) -> bool:
    region = lines[run.first].region
    return region[: len(key.region)] == key.region


def _match(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    if not scope:
        return
    if all(entry.number is None for entry in entries):
        if len(entries) == len(scope):
            for (run, _, draft), entry in zip(scope, entries, strict=True):
                _give(run, draft, entry)
        return
    entries = [entry for entry in entries if entry.number is not None]
    numbers = [stem.number for _, stem, _ in scope]
    if all(number is None for number in numbers):
        if [entry.number for entry in entries] == list(range(1, len(scope) + 1)):
            for (run, _, draft), entry in zip(scope, entries, strict=True):
                _give(run, draft, entry)
        return
    parts = _parts([n if n is not None else -1 for n in numbers])
    key_parts = _parts([entry.number or 0 for entry in entries])
    if len(parts) != len(key_parts):
        parts, key_parts = [range(len(scope))], [range(len(entries))]
    for part, key_part in zip(parts, key_parts, strict=True):
        _match_part([scope[n] for n in part], [entries[n] for n in key_part])


def _match_part(scope: list[tuple[Run, Stem, Any]], entries: list[KeyEntry]) -> None:
    asked: dict[int | None, list[tuple[Run, Any]]] = {}
    for run, stem, draft in scope:
        asked.setdefault(stem.number, []).append((run, draft))
    said: dict[int | None, set[str]] = {}
    for entry in entries:
        said.setdefault(entry.number, set()).add(entry.rest)
    for entry in entries:
        of_it = asked.get(entry.number, [])
        if len(of_it) == 1 and len(said[entry.number]) == 1:
            _give(*of_it[0], entry)


def _parts(numbers: list[int]) -> list[range]:
    """Stretches of rising numbers."""
    starts = [0]
    last = -1
    for n, number in enumerate(numbers):
        if number == -1:
            continue
        if number <= last:
            starts.append(n)
        last = number
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(numbers)], strict=True)]


def _give(run: Run, draft: Any, entry: KeyEntry) -> None:
    labels = [one.label for one in run.options]
    texts = [one.text for one in run.options]
    parsed = parsed_answer(entry.rest, labels, texts)
    if parsed is None:
        return
    draft.answer = GivenAnswer(parsed.answer, parsed.explanation, -1, -1)
    draft.by = "key"
    told = " ".join(one for one in (parsed.explanation, entry.explanation) if one)
    draft.explanation = draft.explanation or told
