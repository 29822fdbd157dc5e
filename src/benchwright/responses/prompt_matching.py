"""Find the item that a prompt asks, and the order in which it shows the options."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.values import LETTERS

_WORD = re.compile(r"\w+")
_ANCHOR = 8  # words of a question that are looked up before the whole is compared
_OPTION = re.compile(r"^[ \t]*\(?([A-Za-z])[).:][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


class Asked(NamedTuple):
    """An item and the options in the order of the prompt; () if the prompt does not list them."""

    positions: tuple[int, ...]  # of items with the same question and options
    choices: tuple[str, ...]


class PromptIndex:
    """Items by their questions, to be found inside other text."""

    def __init__(self, questions: Sequence[str], choices: Sequence[Sequence[str]]) -> None:
        """Index items by position: texts of questions and of options."""
        self._questions = [_plain(question) for question in questions]
        self._choices = [tuple(map(_plain, texts)) for texts in choices]
        self._stated = [tuple(texts) for texts in choices]
        self._by_anchor: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for position, question in enumerate(self._questions):
            words = tuple(word.casefold() for word in _WORD.findall(question)[:_ANCHOR])
            if words:
                self._by_anchor[words].append(position)
        lengths: dict[str, set[int]] = defaultdict(set)
        for words in self._by_anchor:
            lengths[words[0]].add(len(words))
        self._lengths = {word: sorted(of_word) for word, of_word in lengths.items()}

    def find(self, prompt: str, choices: Sequence[str] = ()) -> Asked | None:
        """Return the last item whose question stands in a prompt, followed by its options.

        Demonstrations come before the question that is asked, so the last one counts; of questions
        that contain each other, the longest. Items whose options are neither in the prompt after
        the question nor the same as `choices` do not count.

        Args:
            prompt: what a model read.
            choices: texts of the options, if the log has them.
        """
        text = _plain(prompt)
        best: tuple[int, int] | None = None
        found: dict[tuple[str, ...], list[int]] = {}
        given = sorted(map(_plain, choices))
        listed = last_list(prompt)
        for start, position in self._in(text):
            question = self._questions[position]
            end = start + len(question)
            if best is not None and (end, len(question)) < best:
                continue
            shown = self._shown(position, listed, text[end:], given)
            if shown is None:
                continue
            if best != (end, len(question)):
                best, found = (end, len(question)), {}
            found.setdefault(shown, []).append(position)
        if len(found) != 1:
            return None  # none, or items with the same question and other options
        (shown, positions), *_ = found.items()
        return Asked(tuple(positions), shown)

    def _in(self, text: str) -> list[tuple[int, int]]:
        """Return (start, position) of every question that stands in a text."""
        words = [(match.start(), match[0].casefold()) for match in _WORD.finditer(text)]
        names = [word for _, word in words]
        found = []
        for number, (start, _) in enumerate(words):
            for length in self._lengths.get(names[number], ()):
                for position in self._by_anchor.get(tuple(names[number : number + length]), ()):
                    question = self._questions[position]
                    lead = _WORD.search(question)
                    begin = start - (lead.start() if lead else 0)
                    if begin >= 0 and text.startswith(question, begin):
                        found.append((begin, position))
        return found

    def _shown(
        self, position: int, listed: list[str], after: str, given: list[str]
    ) -> tuple[str, ...] | None:
        """Return the item's options as shown, () if not listed; None if they are others."""
        wanted = self._choices[position]
        if not wanted:
            return ()
        if len(listed) >= 2 and not any("\n" in text.strip() for text in self._stated[position]):
            order = _order(listed, wanted)
            return None if order is None else tuple(self._stated[position][i] for i in order)
        if given:
            return () if given == sorted(wanted) else None
        return () if all(text in after for text in wanted) else None


def last_list(prompt: str) -> list[str]:
    """Return the texts of the last list of options with letters from A, one per line."""
    lists: list[list[str]] = []
    for match in _OPTION.finditer(prompt):
        letter = LETTERS.find(match[1].upper())
        if letter == 0:
            lists.append([])
        if lists and letter == len(lists[-1]):
            lists[-1].append(_plain(match[2]))
    return next((texts for texts in reversed(lists) if len(texts) >= 2), [])


def _order(listed: Sequence[str], wanted: Sequence[str]) -> list[int] | None:
    """Return the item's option at each place of a list, equal ones in order; None if others."""
    if sorted(listed) != sorted(wanted):
        return None
    order: list[int] = []
    for text in listed:
        order.append(next(i for i, want in enumerate(wanted) if want == text and i not in order))
    return order


def _plain(text: str) -> str:
    """Return text in NFC with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())
