"""The options that a model wrote after the question and the first option's label."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from benchwright.prompting.rendering import LABELS

_ANSWER = re.compile(r"\n\s*(?:\n|answer\b|correct answer\b|explanation\b)", re.IGNORECASE)


def written_options(reply: str, k: int) -> list[str]:
    """At most k options of a reply that goes on after `A.`, in order; verbatim but for its ends.

    Each option reaches to the next letter in turn, at the beginning of a line where there is one
    (`B.`, `B)`, `(B)`, `B:`), else after white space; the last to the end of its paragraph or to a
    line that begins with Answer. A reply that repeats `A.` is read from there. What follows a
    missing letter is not read.
    """
    text = _from_first(reply)
    options: list[str] = []
    for number in range(1, k + 1):
        mark = _mark(text, LABELS[number]) if number < len(LABELS) else None
        end = _ANSWER.search(text)
        limit = len(text) if end is None else end.start()
        if mark is None or mark.start() >= limit:
            options.append(text[:limit].strip())
            break
        options.append(text[: mark.start()].strip())
        text = text[mark.end() :]
    return options if any(options) else []


def _from_first(reply: str) -> str:
    mark = re.search(r"(?:^|\n)[ \t]*\(?A[.):](?=\s|$)", reply)
    after = _mark(reply, "B")
    if mark is None or (after is not None and after.start() < mark.start()):
        return reply
    return reply[mark.end() :]


def _mark(text: str, label: str) -> re.Match[str] | None:
    for before in (r"\n[ \t]*", r"[ \t]+"):
        found = re.search(rf"{before}\(?{label}[.):](?=\s|$)", text)
        if found is not None:
            return found
    return None


def verbatim(text: str) -> str:
    """Unicode NFC with single spaces; case and marks count."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def folded(text: str) -> str:
    """NFKC without case and without a mark at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".;, ")


class OptionMatch(NamedTuple):
    """A written option beside the item's in that place: verbatim, similar, both or neither."""

    exact: bool
    fuzzy: bool


def option_matches(
    written: Sequence[str], options: Sequence[str], fuzzy: float
) -> list[OptionMatch]:
    """Which options are written in their places: verbatim, and from this similarity on.

    The similarity is that of `rapidfuzz.fuzz.ratio` of the folded texts, 0–100: twice the common
    characters in order over all characters. Only as many lines of a written option are read as the
    option has. One match for each option; those that were not written match in neither way.
    """
    from rapidfuzz.fuzz import ratio

    matches = []
    for own, option in zip_longest(written[: len(options)], options, fillvalue=""):
        text = _lines(own, option)
        exact = bool(text.strip()) and verbatim(text) == verbatim(option)
        near = bool(folded(text)) and ratio(folded(text), folded(option)) >= fuzzy
        matches.append(OptionMatch(exact, exact or near))
    return matches


def in_place(written: Sequence[str], options: Sequence[str], fuzzy: float) -> tuple[float, float]:
    """Shares of the options written in their places: verbatim, and from this similarity on."""
    matches = option_matches(written, options, fuzzy)
    exact = sum(match.exact for match in matches)
    return exact / len(options), sum(match.fuzzy for match in matches) / len(options)


def in_any_place(written: Sequence[str], options: Sequence[str], fuzzy: float) -> float:
    """Share of the options that are written at all, each written one standing for one option."""
    from rapidfuzz.fuzz import ratio

    left = list(written)
    hits = 0
    for option in options:
        scores = [ratio(folded(_lines(own, option)), folded(option)) for own in left]
        if option.strip() and scores and max(scores) >= fuzzy:
            hits += 1
            left.pop(scores.index(max(scores)))
    return hits / len(options)


def _lines(written: str, option: str) -> str:
    count = len(option.strip().splitlines()) or 1
    return "\n".join(written.strip().splitlines()[:count])
