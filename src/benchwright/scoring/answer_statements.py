r"""The statements of an answer in a text, and which of them counts.

A statement is a cue ("the answer is", "Answer:", "\boxed{", "####") followed by an answer, which a
reader reads. The last statement counts, unless the text takes it back or contradicts it; text after
the model's own next question does not. Quotes, spaces, minus signs, LaTeX and marks are first
normalised. Everything is linear in the length of the text: repetitions in the patterns are bounded,
and only the last few hundred cues of each kind are considered.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

_CHARACTERS = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full-width forms
    **{ord(c): "'" for c in "’‘"},
    **{ord(c): '"' for c in "“”"},
    **{ord(c): " " for c in "\u00a0\u2007\u2009\u202f\u3000\t\r\f\v"},
    **{ord(c): "" for c in "\u200b\u200c\u200d\u2060\ufeff"},
    **{ord(c): f" {n}/{d}" for c, n, d in (("½", 1, 2), ("¼", 1, 4), ("¾", 3, 4), ("⅓", 1, 3))},
    ord("−"): "-",
    ord("⅔"): " 2/3",
}

_LATEX = (
    (
        r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|boldsymbol|mbox) ?\{([^{}]{0,200})\}",
        r"\1",
    ),
    (r"(?<=\d)\\[dt]?frac", r" \\frac"),
    (r"\\[dt]?frac ?\{ ?(\d{1,30}) ?\}\{ ?(\d{1,30}) ?\}", r"\1/\2"),
    (r"\{,\}", ","),
    (r"\\([$%])", r"\1"),
    (r"\\(?:left|right)(?![a-z])|\\!", ""),
    (r"\\[,;:()\[\] ]", " "),
    (r"\^\\circ|\^\{\\circ\}", "°"),
    (r"\\(?:times|cdot)(?![a-z])", "×"),
    (r"\\approx(?![a-z])", "≈"),
)
_PATTERNS = tuple((re.compile(pattern), replacement) for pattern, replacement in _LATEX)

_SPACES = re.compile(" {2,}")
_MARKS = "*_`\"' "


def plain(text: str) -> str:
    """Return the text in the plainest spelling, with single spaces and none around lines."""
    text = text.translate(_CHARACTERS)
    if "\\" in text:
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
    return _SPACES.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n").strip()


def unmarked(text: str) -> str:
    """Remove emphasis, quotes and dollar signs around a text, and the full stop after it."""
    text = text.strip(_MARKS)
    if len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1]
    return (text[:-1] if text.endswith(".") else text).strip(_MARKS)


def folded(text: str) -> str:
    """Normalise for comparison: plain, unmarked, single spaces, no case."""
    return unmarked(" ".join(plain(unicodedata.normalize("NFC", text)).split())).casefold()


Answer = TypeVar("Answer", int, str)

WINDOW = 400
"""Characters after a cue that may hold an answer, beyond the longest option."""

VERDICT = "verdict"
"""Rule of a reading such as "B is correct", of which a text may make several."""

_MOST_CUES = 200


class Extraction(NamedTuple, Generic[Answer]):
    """An answer extracted from a text.

    `rule` is `stated` (a sentence names it), `boxed`, `hash_marks` (`####`), `bare_letter` (a line
    with only the letter), `option_text` (the option's words instead of its letter), `whole_text`
    (the text is only the answer), `last_number` (no statement: the last number), or `none`, if and
    only if `answer` is None.
    """

    answer: Answer | None  # the option's index, or the final answer
    rule: str


class Reading(NamedTuple, Generic[Answer]):
    """An answer at the start of some text, `length` characters long.

    `answer` is None if no single answer is named (two are, or none is said to be right); `denied`
    if the text excludes an answer; `closed` if the answer cannot go on beyond `length`, as
    within brackets.
    """

    answer: Answer | None
    length: int
    rule: str = "stated"
    denied: bool = False
    closed: bool = False


class Event(NamedTuple, Generic[Answer]):
    """A reading with its place in the text."""

    at: int
    end: int
    reading: Reading[Answer]


Reader = Callable[[str, str], Reading[Answer] | None]
"""Reads the answer at the start of what follows a cue of the kind `is`, `colon`, `boxed` or
`hash`; returns None if there is none."""

_VERB = (
    r"(?:is|are|was|must be|should be|would be|will be|has to be|seems to be|appears to be|equals"
    r"|comes to|remains)"
)
_NOUN = re.compile(
    r"(?<![A-Za-z0-9/])(?P<noun>answers?|ans|options?|choices?|solution|alternative)(?:\(s\))?"
    r"(?![A-Za-z0-9])[*_\"'`]{0,4}+"
    r"(?P<between>(?:[ ,]{1,3}+[^\s.,:;?!=>]{1,30}+){0,9}?)"
    r"(?:"
    r" {0,3}+[*_\"'`)\]]{0,4}+ {0,3}+(?P<colon>:|=|→|⇒|-{1,3}>|>|[–—-](?=\s))"
    r"|[ ,]{1,3}+(?P<hedge>could|might|may) be\b"
    rf"|[ ,]{{1,3}}+{_VERB}(?P<negated>n't)?\b"
    r")",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:^|\n)[#*_ >]{0,8}(?:the )?(?:(?:final|correct|my|short) ){0,2}answer[*_ ]{0,8}\n",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\f?box(?:ed)? ?\{([^{}]{0,200}(?:\{[^{}]{0,100}\}[^{}]{0,100}){0,3})\}")
_HASH = re.compile(r"(?:^|\n) {0,4}#{4} {0,4}([^\n#][^\n]{0,400})")

_NEAR_NOUN = r"(?: that| if| whether)?(?: the| our| my)?(?: \w{1,15}){0,2} *$"
_RIGHT_OPTION = re.compile(
    r"\b(?:correct|right|best|appropriate|accurate|suitable|only|final|chosen|selected|my|our"
    r"|likely)(?: possible| answer)? *$",
    re.IGNORECASE,
)
_WRONG_ANSWER = re.compile(
    r"\b(?:wrong|incorrect|another|other|false|bad|worst|tempting|initial|first|previous|second"
    r"|common|(?<!best )(?<!only )(?<!likely )(?:possible|plausible)|your|his|her|their"
    r"|student's|each|every|any|no|one)(?: \w{1,12})? *$",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assume|assuming|imagine|why|thought|until"
    r"|(?:might|may|could|would|some|many|people) (?:say|think|argue|assume|believe|claim|guess))"
    + _NEAR_NOUN,
    re.IGNORECASE,
)
_DISBELIEF = re.compile(
    r"(?:n't|\bnot|\bnever|\bhardly) (?:think|believe|say|mean|agree|sure|certain|clear|convinced"
    r"|true|know|the case|likely)" + _NEAR_NOUN,
    re.IGNORECASE,
)
_NOT_THE_ANSWER = re.compile(r"\b(?:choices|options|not|never|wrong|incorrect|[A-HJ-Z])\b")
_TAKEN_BACK = re.compile(
    r"(?:^|[.!?\n*])\s{0,4}(?:(?:wait|hmm+|oops|hold on)\b|sorry[,.!]"
    r"|(?:actually|no)[,.!…—–] ?(?:no|wait|it|that|the answer|i|sorry|actually)\b"
    r"|actually (?:it|that|the answer)\b)"
    r"|(?:^|[.!?\n])\s{0,4}(?:that|this|it)(?:'s| is| was| seems| looks| can't be| cannot be)"
    r" (?:wrong|incorrect|not right|not correct|a mistake)\b"
    r"|\b(?:on second thoughts?|scratch that|i made (?:a mistake|an error)|i was (?:wrong|mistaken)"
    r"|let me (?:reconsider|rethink|re-think|correct (?:that|this|my)))\b",
    re.IGNORECASE,
)
_NEW_QUESTION = re.compile(
    r"\n[ #*]{0,6}(?:question|q|problem|exercise) ?\d{0,4} ?[:.)]"
    r"|\n[ *(]{0,4}A[.):][^\n]{0,1000}\n[ *(]{0,4}B[.):]",
    re.IGNORECASE,
)

BUT = re.compile(r"[^.;\n]{0,60}?\bbut(?: rather| instead)?\b", re.IGNORECASE)
NO_ANSWER = re.compile(
    r"(?:none|neither|unknown|unclear|undetermined|undefined|ambiguous|missing|impossible|cannot"
    r"|can't|could not|n/?a|no (?:correct|valid|right|single|option|answer)|there (?:is|are) no"
    r"|between|both|either|all|any"
    r"|not (?:listed|given|among|provided|available|possible|clear|shown|enough))\b",
    re.IGNORECASE,
)
"""The beginning of a statement that names no single answer."""

SENTENCE_END = re.compile(r"[.!?;](?=[\s*_\"')\]]|$)|\n")
"""The end of a sentence; not a decimal point."""


def after_thoughts(text: str, finished: bool) -> str | None:
    """Return what follows a reasoning model's thoughts; None if it broke off thinking."""
    _, mark, after = text.rpartition("</think>")
    return None if not mark and "<think>" in after and not finished else after.strip()


def sentence_before(text: str, at: int) -> str:
    """Return the sentence before a place, at most 80 characters of it."""
    near = text[max(0, at - 80) : at]
    ends = [match.end() for match in SENTENCE_END.finditer(near)]
    return near[ends[-1] :] if ends else near


def is_hypothetical(before: str) -> bool:
    """Return whether words before a cue say that what follows is supposed, not stated."""
    return _HYPOTHETICAL.search(before + " ") is not None


def is_disbelieved(before: str) -> bool:
    """Return whether words before a cue say that what follows is not believed."""
    return _DISBELIEF.search(before + " ") is not None


def last_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the last few hundred matches of a pattern, in order."""
    yield from deque(pattern.finditer(text), maxlen=_MOST_CUES)


def statements(text: str, read: Reader[Answer], window: int) -> Iterator[Event[Answer]]:
    """Yield the stated answers: in sentences, under headings, in boxes, after `####`."""
    for cue in last_matches(_NOUN, text):
        event = _sentence(text, cue, read, window)
        if event is not None:
            yield event
    for cue in last_matches(_HEADING, text):
        event = event_at(text, cue.end(), read, "colon", window)
        if event is not None:
            yield event
    for rule, kind, pattern in (("boxed", "boxed", _BOXED), ("hash_marks", "hash", _HASH)):
        for cue in last_matches(pattern, text):
            reading = read(cue[1].strip(), kind)
            if reading is not None:
                reading = reading._replace(rule=rule, closed=kind == "boxed")
                yield Event(cue.start(1), cue.end(), reading)


def _sentence(
    text: str, cue: re.Match[str], read: Reader[Answer], window: int
) -> Event[Answer] | None:
    before = sentence_before(text, cue.start())
    noun = cue["noun"].lower()
    if noun.startswith(("option", "choice", "alternative")) and not _RIGHT_OPTION.search(before):
        return None
    if noun == "solution" and cue["colon"]:  # a heading over the working
        return None
    if _WRONG_ANSWER.search(before) or is_hypothetical(before):
        return None
    if _NOT_THE_ANSWER.search(cue["between"]):
        return None
    event = event_at(text, cue.end(), read, "colon" if cue["colon"] else "is", window)
    if event is None:
        return None
    reading = event.reading
    if cue["hedge"]:
        reading = reading._replace(answer=None)
    elif cue["negated"] or is_disbelieved(before):
        reading = reading._replace(denied=not reading.denied)
    return event._replace(reading=reading)


def event_at(
    text: str, at: int, read: Reader[Answer], kind: str, window: int
) -> Event[Answer] | None:
    """Read an answer at a place of the text, unless it is part of a question."""
    content = text[at : at + window]
    rest = content.lstrip(" \n:,*_\"'`>")
    start = at + len(content) - len(rest)
    reading = read(rest, kind)
    if reading is None:
        return None
    end = start + reading.length
    if at + window <= end < len(text):  # the window ends within the answer
        return None
    if text[end : end + 12].lstrip("*_\"'`$)]} ").startswith("?"):
        return None
    return Event(start, end, reading)


def decide(text: str, events: list[Event[Answer]], finished: bool) -> Extraction[Answer] | None:
    """Return the answer of the last statement; None if there is no statement at all."""
    nothing: Extraction[Answer] = Extraction(None, "none")
    denied: set[Answer | None] = set()
    earlier = _uncovered(events)
    while earlier:
        event = earlier.pop()
        answer, _, rule, is_denied, closed = event.reading
        if is_denied:
            denied.add(answer)
            continue
        cut_off = not (finished or closed or text[event.end :].strip(" .,*_$\n"))
        if answer is None or answer in denied or cut_off:
            return nothing
        others = _others(event, earlier, denied)
        if _TAKEN_BACK.search(text, event.end) or _contradicted(text, event, others):
            return nothing
        return Extraction(answer, "stated" if rule == VERDICT else rule)
    return nothing if denied else None


def _uncovered(events: list[Event[Answer]]) -> list[Event[Answer]]:
    """Return events in the order of the text, without those inside another answer's words."""
    kept: list[Event[Answer]] = []
    end = 0
    for event in sorted(events, key=lambda event: event.at):
        if event.at >= end or (kept and event.at == kept[-1].at):
            kept.append(event)
            end = max(end, event.end)
    return kept


def _others(
    event: Event[Answer], earlier: list[Event[Answer]], denied: set[Answer | None]
) -> list[Event[Answer]]:
    """Return events before an event that name another answer."""
    ignored = {None, event.reading.answer} | denied
    return [
        other
        for other in earlier
        if not other.reading.denied
        and other.reading.answer not in ignored
        and other.end <= event.at
    ]


def _contradicted(text: str, event: Event[Answer], others: list[Event[Answer]]) -> bool:
    """Return whether the same sentence, an equal verdict or an earlier answer differs."""
    if not others:
        return False
    between = text[others[-1].end : event.at]
    return (
        SENTENCE_END.search(between) is None
        or _NEW_QUESTION.search(text, others[0].end, event.at) is not None
        or (event.reading.rule == VERDICT and any(o.reading.rule == VERDICT for o in others))
    )


# Two lines of an options list: "A. …" and under it "B. …".
_LIST = re.compile(r"^[ \t]*\(?A[.):][ \t]*([^\n]*)\n[ \t]*\(?B[.):][ \t]*[^\n]*$", re.MULTILINE)


def before_next_question(text: str, options: Sequence[str]) -> str:
    """Return the text before the list of other options than the item's own, with its question.

    A model without instructions continues the pattern of its demonstrations: it answers, makes up
    the next question and answers that too, so that the last statement is not about the item. The
    question is the paragraph before the list. A list that repeats the item's first option, with or
    without a comment, is the item's own. The whole text is returned if there is no other list.
    """
    first_option = _folded(options[0]) if options else ""
    for seen in _LIST.finditer(text):
        if first_option and _folded(seen[1]).startswith(first_option):
            continue
        before = text[: seen.start()].rstrip()
        paragraph = before.rfind("\n\n")
        return before[: paragraph if paragraph >= 0 else max(0, before.rfind("\n"))]
    return text


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
