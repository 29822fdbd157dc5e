"""The option that a text names: by its letter or by its words."""

import re
from collections.abc import Iterator, Sequence

from benchwright.scoring.answer_statements import (
    BUT,
    NO_ANSWER,
    VERDICT,
    WINDOW,
    Event,
    Extraction,
    Reading,
    after_thoughts,
    decide,
    event_at,
    is_disbelieved,
    is_hypothetical,
    last_matches,
    plain,
    sentence_before,
    statements,
    unmarked,
)

_CLOSING = r"[*_\"'`$)\]}]{0,6} {0,3}"
_SEPARATOR = re.compile(r"[)\]}>*_\"'`$]{0,6}(?:[.:,]| ?[-—–](?= ))?[*_\"'`]{0,3}[ \n]{0,3}")
_ENDS = {"", ".", ")", "\n", "]", ";"}
_SEVERAL = -1
_BEYOND = "beyond"  # a letter that no option has
_AFTER_LETTER = re.compile(
    rf"{_CLOSING}(?:$|[;:!?\n<—–(\[]|,(?!\d)|\.(?![^\W_])(?! ?[A-Z]\.)|- )"
    r"|[*_\"'`$]{0,4}[)\]](?!\w)"
    r"|[*_\"'`$)\]}]{0,6} {1,3}(?:because|since|as|due|given|for|so|therefore|thus|hence|which"
    r"|where|while|with|based|rather|instead|but|not|and|here|over|among|out of|overall|in this"
    r" case|is (?:the |therefore |thus )?(?:correct|right|best|answer))\b",
    re.IGNORECASE,
)
_AFTER_WORDS = re.compile(
    rf"{_CLOSING}(?:$|[;!?\n<\[]|[—–](?! ?\d)|- (?!\d)|[.:](?! ?\d)"
    r"|,?(?: |\b)(?:because|since|so|therefore|thus|hence)\b"
    r"|\((?:option |choice |answer )?[A-Z]\))",
    re.IGNORECASE,
)
_LABEL_AFTER = re.compile(rf"{_CLOSING}\((?:option |choice |answer )?([A-Z])\)", re.IGNORECASE)
_LETTER = re.compile(
    r"(?P<open>[(\[{<]{0,2})[*_\"'`$]{0,3}(?P<letter>[A-Za-z])[*_\"'`$]{0,3}(?P<close>[)\]}>]{0,2})"
)
_ANOTHER = (
    rf"{_CLOSING}(?:(?P<joined>,? ?\b(?:and/or|and|or)\b|[/&+|])|,|(?=\([A-Z]\)))"
    r" {0,3}(?:(?:option|choice|answer|also|possibly|maybe|perhaps) ){0,2}"
    r"[(\[*_\"'`$]{0,4}(?P<letter>[A-Z]|(?<=[(\[])[a-z](?=[)\]]))(?![A-Za-z0-9])"
    r"(?P<alone>[)\]*_\"'`$]{0,4} {0,2}(?:$|[.,;:!?\n)]|(?:or|and|because|since|are|both)\b))?"
)
_ANOTHER_LETTER = re.compile(_ANOTHER)
_ANOTHER_SMALL_LETTER = re.compile(_ANOTHER, re.IGNORECASE)
_CLAUSE = re.compile(
    r"[)\]*_\"'`]{0,3} {1,3}(?:is|was|are|am|would|can|could|has|have|does|do|think|believe)\b"
)
_ECHOED_INSTRUCTION = re.compile(r"[)\].\"'* ]{0,6}where \(?[A-Z]\b")
_FILLER = re.compile(
    r"(?:[\s,:*_\"'`$]|(?:(?:most |more |very )?(?:likely|probably|clearly|certainly|definitely"
    r"|therefore|thus|hence|indeed|simply|obviously|then|actually|still|just|also|surely)"
    r"|in fact|either|given by|as follows|i think|i believe|i'd say|(?:the )?(?:correct )?(?:option"
    r"|choice|answer|letter|label|statement|alternative)s?)\b){0,8}",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:(?:definitely|certainly|clearly|actually|surely) )?(?:not|never)(?: be)?\b ?",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"(?<![\w'\\-])(?P<open>[(\[]?)(?P<letter>[A-Za-z])(?P<close>[)\]]?)[.:*_\"'`$]{0,4} {1,3}"
    r"(?P<verb>is|are|isn't|must be|would be|has to be|seems(?: to be)?|appears to be) {1,3}"
    r"(?P<not>not |never )?"
    r"(?:the (?:single )?most (?:accurate|appropriate|suitable|fitting|likely|plausible)"
    r"|(?:(?:the|my|our|therefore|thus|hence|clearly|definitely|indeed|likely|probably|only|single"
    r"|one|most|best|final|(?P<several>also|both|all)|actually) ){0,5}"
    r"(?:(?P<wrong>incorrect|wrong|false)|correct|right|best|answers?))"
    r"(?: (?:answer|option|choice|one)s?)?[*_\"')]{0,4} ?"
    r"(?=$|[.,;:!\n—–(]|(?:because|since|as|here|and|so|for|to the question|given|while|but)\b)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:could|might|may) (?:also |well )?be (?:option |choice |answer )?"
    r"(?:\((?P<closed>[A-Za-z])\)|(?P<letter>[A-Z])(?= ?(?:$|[.,;:!\n)]|too\b|or\b|as well\b)))"
)
_LEADS_TO_LETTER = re.compile(
    r"(?:^|[.,!?:;\n(*_\"'`]|\b(?:options?|choices?|answers?|letter|statement|alternative|that|so"
    r"|therefore|thus|hence|then|think|believe|conclude|and|but|or|both|only)) *$",
    re.IGNORECASE,
)
_JOINED_BEFORE = re.compile(r"(?<!\w)[A-Z][)\]]? ?,? ?(?:and|or|&|,|/) ?[(*_\"']{0,3}$")
_CHOOSE = re.compile(
    r"\b(?:i|we|i'd|i'll|i would|i will|we would|we will|we can|we should|we must|i must|let's"
    r"|let me|let us) (?:(?:have to|therefore|thus|would|will|then|also) )?"
    r"(?:choose|chose|pick|select|go with|opt for|settle on|answer with|answer)\b",
    re.IGNORECASE,
)
_CONCLUDE = re.compile(
    r"(?:(?:^|[.!?\n])[ *_]{0,4}(?:so|thus|hence|therefore|finally|in conclusion)[,:]?"
    r"|\b(?:it's|it is|it must be|it has to be|it should be|that's|that is|(?:this |that |which )?"
    r"(?:leaves|leaving)(?: us)?(?: with)?(?: only)?))"
    r"(?: (?:it's|it is|it must be|i'd say|i say|i think|we get|we have))? "
    r"(?=[*_\"'`(\[$]{0,4}[A-Z](?![A-Za-z0-9])|either\b|option\b|choice\b|answer\b)",
    re.IGNORECASE,
)

_LABELLED_LINE = re.compile(
    r"(?:^|\n)[ *(#-]{0,5}(?:(?:option|choice|answer) )?([A-Z])[.):*]{1,4} ", re.IGNORECASE
)
_BARE_LINE = re.compile(
    r"(?:(?:the )?(?:(?:final|correct|right|best) )?(?:answer|ans\.?|(?:option|choice|output):?) "
    r"|(?:probably|definitely|clearly|likely|correct:|i'd say|i would say|i say) )?"
    r"(?P<label>[(\[{<]{0,2}[*_\"'`$]{0,3}[A-Za-z](?![A-Za-z0-9])[*_\"'`$]{0,3}[)\]}>]{0,2})"
    r"(?P<mark>[.:,!)]?)[*_`\"'$]{0,4}(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"\b(?:no|not|wrong|incorrect|false|neither|[b-hj-z][.):])(?!\w)|n't\b")
_REASON = re.compile(r"(?:because|since|as|reason|explanation)\b", re.IGNORECASE)


class OptionLabels:
    """The options of one question, labelled A, B, …, and how a text names them."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._count = len(choices)
        raw = [" ".join(plain(choice).split()) for choice in choices]
        clean = [unmarked(text) for text in raw]
        # From the most to the least literal; the first that matches an option counts.
        self._spellings = (raw, clean, [text.casefold() for text in clean])
        self.window = WINDOW + max(map(len, raw), default=0)

    def read(self, content: str, kind: str) -> Reading[int] | None:
        """Read the option at the start of what follows a cue; see `answer_statements.Reader`."""
        if kind in {"boxed", "hash"}:
            return self._alone(content)
        negation = _NOT.match(content)
        if negation and self._words(content) is None:
            return self._negated(content, negation.end())
        skipped = 0
        reading = self._named(content)
        if reading is None:
            skipped = _end(_FILLER.match(content))
            reading = self._named(content[skipped:])
        if reading is None:
            return Reading(None, 1) if NO_ANSWER.match(content[skipped:]) else None
        return reading._replace(length=reading.length + skipped)

    def _negated(self, content: str, at: int) -> Reading[int]:
        instead = BUT.match(content, at)
        for start, denied in ((_end(instead), False), (at, True)):
            begin = _end(_FILLER.match(content, start))
            reading = self._named(content[begin:]) if start else None
            if reading is not None and reading.answer is not None:
                return reading._replace(length=begin + reading.length, denied=denied)
        return Reading(None, at)

    def _named(self, content: str) -> Reading[int] | None:
        """Return the option that content begins with, by its letter or its words."""
        letter, words = self._letter(content), self._words(content)
        if letter is None or words is None:
            return letter or words
        if letter.rule == _BEYOND:
            return words
        if letter.closed or letter.answer == words.answer:
            return letter
        if words.length > letter.length or letter.answer is None:  # "B cells", "A and B"
            return words
        if words.answer is not None and self._spellings[1][words.answer] != content[0]:
            return letter  # C is not the text "c"
        return Reading(None, letter.length)  # the letter of one option is the text of another

    def _letter(self, content: str) -> Reading[int] | None:
        match = _LETTER.match(content)
        if match is None:
            return None
        closed = bool(match["open"] and match["close"])
        end = match.end() if closed else match.end("letter")
        index = self._index(match["letter"])
        if index is not None:
            agrees, length = self._following(content[end:], index)
            if length:
                return Reading(index if agrees else None, end + length, closed=agrees)
        return self._lone_letter(match["letter"], index, content, end, closed)

    def _lone_letter(
        self, letter: str, index: int | None, content: str, end: int, closed: bool
    ) -> Reading[int] | None:
        """Read a letter without its option's words after it, if it is a label at all."""
        rest = content[end:]
        small = letter.islower()
        another = (_ANOTHER_SMALL_LETTER if small else _ANOTHER_LETTER).match(rest)
        if another and self._index(another["letter"]) not in {None, index}:
            if another["alone"] is not None:
                return Reading(None, end + another.end("letter"))
            if another["joined"] and not _CLAUSE.match(rest, another.end()):
                return None
        is_label = not rest[:1].isalnum() if closed else _AFTER_LETTER.match(rest)
        if not is_label or _ECHOED_INSTRUCTION.match(rest):
            return None
        if index is None:  # a small letter beyond the options is a variable, not a label
            return None if small else Reading(None, end, _BEYOND)
        return Reading(index, end, closed=closed)

    def _index(self, letter: str) -> int | None:
        index = ord(letter.upper()) - ord("A")
        return index if index < self._count else None

    def _following(self, rest: str, index: int) -> tuple[bool, int]:
        """Return whether the words after a letter may follow it, and how far they are the option's.

        They may not if they are, whole, the words of another option.
        """
        separator = _SEPARATOR.match(rest)
        begin = separator.end() if separator else 0
        for at in (begin, begin + 1) if rest[begin : begin + 1] == "(" else (begin,):
            words = self._words(rest[at:])
            if words is None:
                continue
            end = at + words.length
            if words.answer == index or self._fits(rest[at:end], index):
                return True, end
            if words.answer is not None and rest[end:].lstrip("*_\"'` ")[:1] in _ENDS:
                return False, end
        return True, 0

    def _words(self, content: str) -> Reading[int] | None:
        """Return the option whose words content begins with; none if several share them."""
        shown = content.replace("\n", " ")
        for spelling, texts in enumerate(self._spellings):
            skipped = len(shown) - len(shown.lstrip("*_`\"'$ ")) if spelling else 0
            begin = shown[skipped:].casefold() if spelling == 2 else shown[skipped:]
            fitting = [
                (len(text), index)
                for index, text in enumerate(texts)
                if text and begin.startswith(text) and _AFTER_WORDS.match(begin, len(text))
            ]
            if fitting:
                longest = max(fitting)[0]
                named = {index for length, index in fitting if length == longest}
                label = _LABEL_AFTER.match(begin, longest)
                if label:
                    named &= {self._index(label[1])}
                answer = named.pop() if len(named) == 1 else None
                return Reading(answer, skipped + longest, "option_text")
        return None

    def _alone(self, content: str) -> Reading[int] | None:
        """Return the option that content is, with only its own words around it."""
        content = content.strip("$*_ ")
        reading = self._named(content)
        if reading is None or reading.answer is None:
            return reading
        rest = content[reading.length :].strip("$*_ .:)")
        return reading if not rest or self._fits(rest, reading.answer) else None

    def _fits(self, words: str, index: int) -> bool:
        """Return whether words begin as an option does, or go on after it."""
        begun, option = unmarked(words).casefold(), self._spellings[2][index]
        return bool(option and begun) and (begun.startswith(option) or option.startswith(begun))

    def remarks(self, text: str) -> Iterator[Event[int]]:
        """Yield options that are called right or wrong, chosen, or concluded."""
        for cue in last_matches(_VERDICT, text):
            event = self._verdict(text, cue)
            if event is not None:
                yield event
        for cue in last_matches(_HEDGE, text):
            if self._index(cue["closed"] or cue["letter"]) is not None:
                yield Event(cue.start(), cue.end(), Reading(None, cue.end() - cue.start()))
        for pattern in (_CHOOSE, _CONCLUDE):
            for cue in last_matches(pattern, text):
                if is_hypothetical(sentence_before(text, cue.start())):
                    continue
                event = event_at(text, cue.end(), self.read, "is", self.window)
                if event is None or event.reading.denied:
                    continue
                if pattern is _CHOOSE or event.reading.rule == "stated":
                    yield event

    def _verdict(self, text: str, cue: re.Match[str]) -> Event[int] | None:
        before = sentence_before(text, cue.start())
        closed = bool(cue["open"] and cue["close"])
        index = self._index(cue["letter"])
        if index is None or not (closed or cue["letter"].isupper()):
            return None
        if not closed and not _LEADS_TO_LETTER.search(before):
            return None
        if is_hypothetical(before) or text[cue.end() : cue.end() + 1] == "?":
            return None
        negative = bool(cue["not"]) or cue["verb"].lower() == "isn't" or is_disbelieved(before)
        several = (
            bool(cue["several"] or _JOINED_BEFORE.search(before)) or cue["verb"].lower() == "are"
        )
        if negative and (several or cue["wrong"]):
            return None
        denied = negative or bool(cue["wrong"])
        answer = None if several and not denied else index
        reading = Reading(answer, cue.end() - cue.start(), VERDICT, denied, closed=True)
        return Event(cue.start("letter"), cue.end(), reading)

    def bare_lines(self, text: str, finished: bool) -> Iterator[Event[int]]:
        """Yield the first and the last line if they are a label with at most its option's words."""
        listed = len({match[1].upper() for match in _LABELLED_LINE.finditer(text)}) > 1
        first, last = text.partition("\n")[0], text.rpartition("\n")[2]
        lines = [(0, first)]
        if len(last) < len(text) and finished:
            lines.append((len(text) - len(last), last))
        for at, line in lines:
            label = line.lstrip("#>*_`\"'$ -")
            reading = self._bare(label[: self.window], listed)
            if reading is not None:
                start = at + len(line) - len(label)
                yield Event(start, start + reading.length, reading)

    def _bare(self, line: str, listed: bool) -> Reading[int] | None:
        match = _BARE_LINE.fullmatch(line)
        reading = self._letter(line[match.start("label") :]) if match else None
        if match is None or reading is None:
            return None
        rest = match["rest"].strip()
        exactly = self._exactly(line)
        if not rest:
            answer = reading.answer if exactly in {None, reading.answer} else None
            return Reading(answer, len(line), "bare_letter")
        if reading.rule == _BEYOND or exactly is not None:
            return None
        return self._bare_with_words(match, reading, rest, listed)

    def _bare_with_words(
        self, match: re.Match[str], reading: Reading[int], rest: str, listed: bool
    ) -> Reading[int] | None:
        if reading.answer is None:
            return Reading(None, match.end())
        words = match.string[match.end("label") :]
        n_words = self._following(words, reading.answer)[1] or self._begun(words, reading.answer)
        # "A. Lincoln" may be a name, "A) This is wrong" the start of a list.
        if listed or not (n_words or _REASON.match(rest)):
            return None
        length = match.end("label") + n_words
        return Reading(reading.answer, length, "bare_letter", closed=n_words > 0)

    def _begun(self, rest: str, index: int) -> int:
        """Return the length of the option's words after its letter, cut or continued."""
        separator = _SEPARATOR.match(rest)
        begin = separator.end() if separator else 0
        begun, words = unmarked(rest[begin:]).casefold(), self._spellings[2][index]
        if not begun or not words:
            return 0
        if words.startswith(begun):
            return len(rest)
        if not begun.startswith(words) or begun[len(words)].isalnum() or _DENIAL.search(begun):
            return 0
        others = (text for i, text in enumerate(self._spellings[2]) if i != index)
        return 0 if any(text and text in begun for text in others) else begin + len(words)

    def text_alone(self, text: str) -> Extraction[int] | None:
        """Return the option whose words are the whole text, None if there is none."""
        line = " ".join(text.split())
        index = self._exactly(line)
        if index is None:
            return None
        letter = self._letter(line)
        ambiguous = letter is not None and letter.answer not in {None, index}
        if index == _SEVERAL or (ambiguous and line == self._spellings[0][index]):
            return Extraction(None, "none")
        return None if ambiguous else Extraction(index, "option_text")

    def bare_text(self, text: str, finished: bool) -> Extraction[int]:
        """Return the option whose words are the first or the last line."""
        lines = [line for line in text.split("\n") if line.strip()]
        shown = lines[:1] + lines[1:][-1:] if finished else lines[:-1][:1]
        named = {self._exactly(line) for line in shown} - {None}
        if len(named) == 1 and (answer := named.pop()) != _SEVERAL:
            return Extraction(answer, "option_text")
        return Extraction(None, "none")

    def _exactly(self, line: str) -> int | None:
        """Return the option whose words a line is, −1 for several, None for none."""
        if len(line) > self.window:
            return None
        raw = " ".join(line.split())
        clean = unmarked(raw)
        for spelled, texts in zip((raw, clean, clean.casefold()), self._spellings, strict=True):
            named = [index for index, text in enumerate(texts) if text and text == spelled]
            if named:
                return named[0] if len(named) == 1 else _SEVERAL
        return None


def extract_letter(text: str, choices: Sequence[str], finished: bool = True) -> Extraction[int]:
    """Return the index of the option that a text chooses, by the letter (A, B, …) or its words.

    The last explicit statement counts ("The answer is (B).", "B. Paris"). A text that names two
    answers, denies or takes back the one it named, or breaks off within it, has no answer: a
    missing answer is counted, a wrong one would be judged. In a text that was cut off (not
    `finished`), an answer that touches its end is ignored.
    """
    shown = after_thoughts(plain(text), finished)
    if shown is None:
        return Extraction(None, "none")
    options = OptionLabels(choices)
    alone = options.text_alone(shown) if finished else None
    if alone is not None:
        return alone
    events = [
        *options.bare_lines(shown, finished),
        *options.remarks(shown),
        *statements(shown, options.read, options.window),
    ]
    return decide(shown, events, finished) or options.bare_text(shown, finished)


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
