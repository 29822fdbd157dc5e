"""Find the item that a prompt asks, and the order in which it shows the options."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.answers.option_orders import bare_text, matched
from benchwright.core.option_letters import LETTERS
from benchwright.core.text_folding import normal_text
from benchwright.logs.json_values import shared_start

_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"\[.*?\]")
_FEWEST_WORDS = 3  # of a question that is looked for at the end of a prompt
_ANSWER_LABEL = re.compile(r"\n\w{1,20}[:：]$")
_ANCHOR = 8  # words of a question that are looked up before the whole is compared
_OPTION = re.compile(
    r"^[ \t]*\(?([A-Za-z]|[1-9][0-9]?)[).:、．：][ \t]*(\S.*?)[ \t]*$", re.MULTILINE
)
_HEADING = re.compile(r"(?:^|\s)(?:answer choices|options|choices|选项|선택지)\s*[:：]\s*$", re.I)
_LABEL = re.compile(r"[^\W\d_][\w ]{0,20}[:：][ \t]*")
_ASKS = re.compile(
    r"^(?:question|q|problem|passage|context|text|article|sentence|premise|问题|题目|질문|문제)"
    r"[ \t]*\d*[ \t]*[:：][ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


class Asked(NamedTuple):
    """An item and the options in the order of the prompt; () if the prompt does not list them."""

    positions: tuple[int, ...]  # of items with the same question and options
    choices: tuple[str, ...]


class PromptIndex:
    """Items by their questions, to be found inside other text."""

    def __init__(self, questions: Sequence[str], choices: Sequence[Sequence[str]]) -> None:
        self._questions: list[str] = []
        self._choices: list[tuple[str, ...]] = []
        self._stated: list[tuple[str, ...]] = []
        self._by_anchor: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._lengths: dict[str, set[int]] = defaultdict(set)
        for question, texts in zip(questions, choices, strict=True):
            self.add(question, texts)

    def add(self, question: str, choices: Sequence[str]) -> None:
        """Index one more item."""
        words = tuple(word.casefold() for word in _WORD.findall(normal_text(question))[:_ANCHOR])
        if words:
            self._by_anchor[words].append(len(self._questions))
            self._lengths[words[0]].add(len(words))
        self._questions.append(normal_text(question))
        self._choices.append(tuple(map(normal_text, choices)))
        self._stated.append(tuple(choices))

    def find(self, prompt: str, choices: Sequence[str] = ()) -> Asked | None:
        """Return the last item whose question stands in a prompt, followed by its options.

        Demonstrations come before the question that is asked, so the last one counts; of questions
        that contain each other, the longest. Items whose options are neither in the prompt after
        the question nor the same as the `choices` of the log do not count.
        """
        text = normal_text(prompt)
        best: tuple[int, int] | None = None
        found: dict[tuple[str, ...], list[int]] = {}
        given = sorted(map(normal_text, choices))
        found_list = listing(prompt)
        listed = [] if found_list is None else [normal_text(text) for text in found_list.choices]
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
            for length in sorted(self._lengths.get(names[number], ())):
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
            order = matched(listed, wanted)
            return None if order is None else tuple(self._stated[position][i] for i in order)
        if given:
            return () if given == sorted(wanted) else None
        return () if all(text in after for text in wanted) else None


class EndIndex:
    """Items by the words that end a prompt: a cleaned question, or a sentence up to its gap `_`.

    HellaSwag's tasks remove markup such as `[step]` and change the case; those of WinoGrande show
    the sentence up to the gap with an option in it.
    """

    def __init__(self, questions: Sequence[str], choices: Sequence[Sequence[str]]) -> None:
        self._bare = [[bare_text(text) for text in texts] for texts in choices]
        self._by_anchor: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for position, (question, texts) in enumerate(zip(questions, choices, strict=True)):
            start, gap, _ = question.partition("_")
            for asked in [start + text for text in texts] if gap else [question]:
                words = _words(asked)
                if len(words) >= _FEWEST_WORDS:
                    anchor = " ".join(words[-_FEWEST_WORDS:])
                    self._by_anchor[anchor].append((f" {' '.join(words)}", position))

    def find(self, prompt: str, choices: Sequence[str] = ()) -> tuple[int, list[int]] | None:
        """Return the one item whose question ends a prompt, and its options in the given order.

        The order is empty if no options are given; given ones must be the item's.
        """
        block = _ANSWER_LABEL.sub("", prompt.rstrip()).rpartition("\n\n")[2]
        words = _words(block)
        text = f" {' '.join(words)}"
        near = self._by_anchor.get(" ".join(words[-_FEWEST_WORDS:]), ())
        found: dict[int, tuple[int, list[int]]] = {}
        for asked, position in near:
            order = matched(map(bare_text, choices), self._bare[position]) if choices else []
            if order is not None and text.endswith(asked):
                found[position] = (len(asked), order)
        longest = max((length for length, _ in found.values()), default=0)
        best = [(at, order) for at, (length, order) in found.items() if length == longest]
        return best[0] if len(best) == 1 else None


def _words(text: str) -> list[str]:
    return _WORD.findall(_MARKUP.sub(" ", normal_text(text)).casefold())


class Listing(NamedTuple):
    """A list of options in a text."""

    before: str  # the text before it
    choices: tuple[str, ...]
    labels: tuple[str, ...]  # as written; () for letters


def listing(text: str, choices: Sequence[str] = ()) -> Listing | None:
    """Find the last list of options in a text: lines with letters from A, or numbers from 1.

    Args:
        text: a question or a prompt.
        choices: texts of the options, if they are known; they may then be listed in one line.
    """
    runs: list[list[re.Match[str]]] = []
    for match in _OPTION.finditer(text):
        digit = match[1].isdigit()
        place = int(match[1]) if digit else LETTERS.find(match[1].upper()) + 1
        if place == 1:
            runs.append([])
        if runs and place == len(runs[-1]) + 1 and all(m[1].isdigit() == digit for m in runs[-1]):
            runs[-1].append(match)
    for run in reversed(runs):
        # Only the last option is surely one line.
        ends = [match.start() for match in run[1:]] + [run[-1].end()]
        texts = tuple(text[m.start(2) : end].strip() for m, end in zip(run, ends, strict=True))
        same = [*map(normal_text, texts)] == [*map(normal_text, choices)]
        if len(run) >= 2 and (same or not choices):
            labels = tuple(match[1] for match in run) if run[0][1].isdigit() else ()
            return Listing(_headless(text[: run[0].start()]), texts, labels)
    if not 2 <= len(choices) <= len(LETTERS) or choices[-1].strip() not in text:
        return None
    parts = (
        rf"[\s(,;]*{letter}[).:]\s*" + r"\s+".join(map(re.escape, choice.split()))
        for letter, choice in zip(LETTERS, choices, strict=False)
    )
    places = [match.start() for match in re.finditer("".join(parts), text)]
    return Listing(_headless(text[: places[-1]]), tuple(choices), ()) if places else None


def _headless(text: str) -> str:
    """Return a text without the heading of a list that follows it."""
    return _HEADING.sub("", text.rstrip()).rstrip()


def without_labels(choices: Sequence[str]) -> list[str]:
    """Return options without the labels that all of them begin with, as in `(A) fox`."""
    found = [_OPTION.fullmatch(choice) for choice in choices]
    letters = [match[1].upper() for match in found if match is not None]
    if letters != list(LETTERS[: len(choices)]):
        return list(choices)
    return [match[2] for match in found if match is not None]


class Frame:
    """What all prompts of a log share around the question: instruction, demonstrations, labels."""

    def __init__(self) -> None:
        self._ends = [["", ""], ["", ""]]  # first and last in order, of heads and of reversed ones
        self.count = 0

    def add(self, prompt: str) -> None:
        """Compare one more prompt."""
        head = _head(prompt)
        for ends, text in zip(self._ends, (head, head[::-1]), strict=True):
            ends[0] = min(ends[0], text) if self.count else text
            ends[1] = max(ends[1], text)
        self.count += 1

    def question(self, prompt: str) -> tuple[str, str]:
        """Return the question alone, and why it may not be the question alone."""
        start, end = (shared_start(*ends) for ends in self._ends)
        head, several = _head(prompt), self._ends[0][0] != self._ends[0][1]
        begin, label = 0, _ASKS.match(head)
        if several:
            asks = [m for m in _ASKS.finditer(start) if "\n\n" not in start[m.end() :]]
            begin = asks[-1].start() if asks else start.rfind("\n") + 1
            label = asks[-1] if asks else _LABEL.match(start, begin)
            last = end[::-1].rpartition("\n")
            if last[1] and last[2].rstrip().endswith((":", "：")):
                head = head.removesuffix(f"\n{last[2]}")  # such as `Answer:`
        head = head[begin:]
        if label is not None:  # the last one follows demonstrations
            head = f"\n{head}".rpartition("\n" + label[0].rstrip())[2].strip()
        if listing(head) is not None:
            head = head.rpartition("\n\n")[2]
        if listing(head) is not None or not head.strip():
            return prompt, "the prompt has demonstrations that cannot be told from the question"
        if not several and "\n" in head.strip():
            return prompt, "the log has one prompt, which may begin with an instruction"
        return head.strip(), ""


def _head(prompt: str) -> str:
    """Return a prompt up to its list of options."""
    found = listing(prompt)
    return prompt.rstrip() if found is None else found.before
