"""Read the answer that a written text gives: an option, a number, or words.

The last statement counts. A text that names two options in it has no answer: a missing answer is
counted, a wrong one would be judged.
"""

import re
from collections.abc import Iterator, Sequence

from benchwright.scoring.answer_text import (
    DENIAL,
    UNSTATED,
    WINDOW,
    Answer,
    Found,
    ReadAs,
    Statement,
    before_next_question,
    plain,
    same_words,
    statements,
)
from benchwright.scoring.final_answers import last_number, read_number, read_words, whole_answer

_NONE = Answer(None, ReadAs.NOTHING)
_SEVERAL = Answer(None, ReadAs.SEVERAL)

_FILLER = re.compile(
    r"(?:[\s,:*_\"'`$]|(?:most likely|probably|either|both|option|choice)\b){0,6}", re.IGNORECASE
)
_LETTER = re.compile(
    r"(?P<open>[(\[{]?)[*_\"'`$]{0,3}(?P<letter>[A-Za-z])[*_\"'`$]{0,3}(?P<close>[)\]}]?)"
)
_AFTER_LETTER = re.compile(
    r"[*_\"'`$]{0,4} {0,3}(?:$|[;:!?\n<–—(\[)\]]|,(?!\d)|\.(?![^\W_])|- )"
    r"|[*_\"'`$]{0,4} (?:because|since|as|due|for|so|which|with|but|and|is)\b"
)
_AFTER_WORDS = re.compile(
    r"[*_\"'`$)\]]{0,6} {0,3}(?:$|[;!?\n<\[(—–]|- (?!\d)|[.:](?! ?\d)|,? ?(?:because|since|so)\b)"
)
_ANOTHER = re.compile(
    r"[*_\"'`$)\]]{0,6}(?:,? ?(?:and|or)\b|,|[/&]) {0,3}(?:option )?[(\[*_\"'`$]{0,4}"
    r"(?P<letter>[A-Z](?![A-Za-z0-9'])|[a-z](?=\)))"
)
_SEPARATOR = re.compile(r"[)\]}*_\"'`$]{0,6}[.:,]?(?: ?[-—–](?= ))?[*_\"'`]{0,3}[ \n]{0,3}\(?")
_LABELLED_LINE = re.compile(r"(?:^|\n)[ *(#-]{0,5}(?:option )?([A-Z])[.):*]{1,4} ", re.IGNORECASE)
_BARE_LINE = re.compile(
    r"(?:(?:the )?(?:correct )?(?:answer|option):? )?(?P<label>[(\[]?[A-Za-z](?![A-Za-z0-9])[)\]]?)"
    r"[.:,!)*_`\"$]{0,4}(?P<rest>.*)",
    re.IGNORECASE,
)


def read_answer(
    text: str, choices: Sequence[str] = (), finished: bool = True, numeric: bool = True
) -> Answer:
    """Read the option that a text chooses, by its letter (A, B, …) or its words.

    Without `choices` it is the final answer to an open-ended question: a number as by
    `canonical_number`, or, if not `numeric`, the words stated. In a text that was cut off (not
    `finished`), an answer at its end is ignored. What follows a question that the model made up,
    and the thoughts of a reasoning model, are not read.
    """
    answered = before_next_question(text, choices)
    finished = finished or answered != text
    _, thought, after = plain(answered).rpartition("</think>")
    broke_off = not thought and "<think>" in after and not finished
    shown = "" if broke_off else after.strip()
    if choices:
        return _read_option(shown, _Options(choices), finished)
    read = read_number if numeric else read_words
    said = list(statements(shown, read))
    if said:
        return _last(shown, said, finished)
    if not finished:
        return _NONE
    whole = whole_answer(shown, numeric)
    if whole is not None:
        return Answer(whole, ReadAs.WHOLE_TEXT)
    last = last_number(shown) if numeric else None
    return _NONE if last is None else Answer(last, ReadAs.LAST_NUMBER)


def _read_option(text: str, options: "_Options", finished: bool) -> Answer:
    whole = options.named_by(text) if finished else None
    if whole is not None:
        return whole
    said = [
        *options.bare_lines(text, finished),
        *statements(text, options.read, options.window),
    ]
    if said:
        return _last(text, said, finished)
    lines = [line for line in text.split("\n") if line.strip()]
    if not finished:
        lines = lines[:-1][:1]  # the last one may be cut off
    outer = lines[:1] + lines[-1:]
    named = {answer for answer in map(options.named_by, outer) if answer is not None}
    if not named:
        return _NONE
    return named.pop() if len(named) == 1 else _SEVERAL


def _last(text: str, said: list[Statement], finished: bool) -> Answer:
    """Return the answer of the last statement, unless its sentence names another one."""
    *others, last = sorted(said, key=lambda each: (each.end, each.at))
    goes_on = text[last.end :].strip(" .,*_$\n")
    if not (finished or last.how is ReadAs.BOXED or goes_on):
        return _NONE
    differing = [each for each in others if each.value not in {None, last.value}]
    if differing and last.value is not None:
        between = text[differing[-1].end : last.at]
        if not re.search(r"[.!?\n]", between):
            return _SEVERAL
    return Answer(last.value, last.how)


class _Options:
    """The options of one question, labelled A, B, …, and how a text names them."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._texts = [same_words(choice) for choice in choices]
        self.window = WINDOW + max(map(len, self._texts))

    def named_by(self, text: str) -> Answer | None:
        """Return the option whose words a text is."""
        words = same_words(text[: self.window])
        named = [index for index, option in enumerate(self._texts) if option and option == words]
        if not named:
            return None
        return Answer(named[0], ReadAs.OPTION_TEXT) if len(named) == 1 else _SEVERAL

    def read(self, content: str, how: ReadAs) -> Found | None:
        """Read the option at the start of what follows a cue; see `Reader`."""
        skipped = _FILLER.match(content)
        at = skipped.end() if skipped else 0
        words = self._words(content) or self._words(content[at:])
        letter = self._letter(content[at:])
        if words is not None and (letter is None or letter.length == 1 != words.length):
            return words
        if letter is None:
            return Found(None, 1, ReadAs.NOTHING) if DENIAL.match(content) else None
        if words is not None and words.value != letter.value and letter.length == 1:
            return _several(at + 1)  # B may be the text of option C
        return letter._replace(length=at + letter.length)

    def _words(self, content: str) -> Found | None:
        """Return the option whose words content begins with."""
        begin = content[: self.window].replace("\n", " ").casefold()
        fitting = [
            (len(text), index)
            for index, text in enumerate(self._texts)
            if text and begin.startswith(text) and _AFTER_WORDS.match(begin, len(text))
        ]
        if not fitting:
            return None
        longest, _ = max(fitting)
        named = [index for length, index in fitting if length == longest]
        return Found(named[0], longest) if len(named) == 1 else _several(longest)

    def _letter(self, content: str) -> Found | None:
        match = _LETTER.match(content)
        index = self._index(match["letter"]) if match else None
        if match is None or index is None:
            return None
        closed = bool(match["open"] and match["close"])
        end = match.end() if closed else match.end("letter")
        rest = content[end:]
        if not closed and (match["letter"].islower() or not _AFTER_LETTER.match(rest)):
            return None
        another = _ANOTHER.match(rest)
        if another and self._index(another["letter"]) not in {None, index}:
            return _several(end + another.end())
        separator = _SEPARATOR.match(rest)
        words = self._words(rest[separator.end() if separator else 0 :])
        if words is not None and words.value not in {None, index}:
            return _several(end)
        return Found(index, end)

    def _index(self, letter: str) -> int | None:
        index = ord(letter.upper()) - ord("A")
        return index if index < len(self._texts) else None

    def bare_lines(self, text: str, finished: bool) -> Iterator[Statement]:
        """Yield the first and the last line if they are a label with at most its option's words."""
        labels = {match[1].upper() for match in _LABELLED_LINE.finditer(text)}
        may_fit = len(labels) < 2
        first_end = text.find("\n")
        yield from self._bare_line(text if first_end < 0 else text[:first_end], 0, may_fit)
        last_start = text.rfind("\n") + 1
        if finished and last_start:
            yield from self._bare_line(text[last_start:], last_start, may_fit)

    def _bare_line(self, line: str, at: int, may_fit: bool) -> Iterator[Statement]:
        label = line[: self.window].lstrip("#>*_`\"'$ -")
        match = _BARE_LINE.fullmatch(label)
        index = self._index(match["label"].strip("([])")) if match else None
        if match is None or index is None:
            return
        rest = same_words(match["rest"])
        own = self._texts[index]
        if UNSTATED.search(rest[len(own) :]):
            return
        fits = may_fit and own and rest and (own.startswith(rest) or rest.startswith(own))
        if not rest or fits or rest.startswith(("because ", "since ")):
            end = match.start("rest") if fits else len(label)
            yield Statement(at, at + len(line) - len(label) + end, index, ReadAs.LETTER)


def _several(length: int) -> Found:
    return Found(None, length, ReadAs.SEVERAL)
