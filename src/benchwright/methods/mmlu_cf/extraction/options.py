"""Options and their labels in the usual spellings.

A label is a letter (Latin, Cyrillic, Greek), a number, a Roman numeral or a circled character, with
punctuation: `A.` `A)` `(A)` `[A]` `A:` `A -` `A`, optionally after "Option" or "Choice".
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_lines import answer_inside
from benchwright.methods.mmlu_cf.extraction.lines import Line, flat

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
_SERIES = {
    "letters": _LATIN,
    "cyrillic": "абвгдежзик",
    "greek": "αβγδεζηθ",
    "circled_letters": "ⓐⓑⓒⓓⓔⓕⓖⓗ",
    "circled_numbers": "①②③④⑤⑥⑦⑧⑨⑩",
    "squared_letters": "🄰🄱🄲🄳🄴🄵🄶🄷",
}
_PLACES = {mark: (name, n) for name, marks in _SERIES.items() for n, mark in enumerate(marks)}
_PLACES |= {str(n + 1): ("numbers", n) for n in range(12)}
_SELF_MARKED = "ⓐⓑⓒⓓⓔⓕⓖⓗⒶⒷⒸⒹⒺⒻⒼⒽ①②③④⑤⑥⑦⑧⑨⑩🄰🄱🄲🄳🄴🄵🄶🄷"
_NAME = r"(?:[A-Za-zА-Ка-кΑ-Θα-θ]|[0-9]{1,2}|[ivxIVX]{2,4})"
_WORD = r"(?:(?:[Oo]ption|OPTION|[Cc]hoice|CHOICE|[Aa]lternative|[Oo]pción|[Оо]твет)\s)?"
_PUNCTUATED = (
    rf"(?P<open>[(\[{{（])\s?(?P<inside>{_NAME})\s?[)\]}}）][.:]?"
    rf"|(?P<plain>{_NAME})(?P<close>\.\)|[.):\]．）、]|\s?(?:-{{1,2}}>?|=>|::|[–—/|→»›])(?=\s)|\s?[:=](?=\s))"
    rf"|(?P<circled>[{_SELF_MARKED}])"
)
_FIRST = re.compile(rf"[*•·◦▪‣○●☐□▢◯~]?\s?{_WORD}(?:{_PUNCTUATED})")
_BARE = re.compile(rf"(?P<plain>{_NAME})(?=\t)(?P<close>)|(?P<alone>[A-Ha-hА-Е])$")
_INSIDE = re.compile(
    r"(?<![^\s,;|/.?!:…_])(?:[(\[（](?P<inside>[A-Za-z]|[0-9]{1,2}|[ivxIVX]{2,4}|[а-е])[)\]）]"
    r"|(?P<plain>[A-Za-z]|[0-9]{1,2}|[ivxIVX]{2,4}|[а-е])(?P<close>[.):．）])(?=\s|$|[^\s.,;:)\]]))"
)
_CIRCLED = re.compile(f"[{_SELF_MARKED}]")
_TICKS = re.compile(
    r"(?i)\s*(?:[✓✔✅☑🗸]️?"
    r"|\((?:correct|right|correct answer|right answer|richtig|correcta|верно|✓|✔)\)"
    r"|<-+\s?(?:correct|right|answer)|[←-]+\s?correct(?: answer)?)\s*"
)
_STARS = re.compile(
    r"(?is)(?:(?:\*{1,3}|←) ?|(?:\[x\]|\(\*\)) )?(.*?)"
    r"(?: ?(?:\*{1,3}|←)| (?:\[x\]|\(\*\)))?"
)
_CROSSES = re.compile(r"\s*[✗✘❌✖]️?\s*")


_BOX = re.compile(
    r"(?:\[(?: |(?P<cross>[xX✓✔*]))?\]|\((?: |(?P<round>[xX]))\))(?:\s+|$)"
    r"|[☐□▢○◯⚪]\s*|(?P<full>[☑☒✅✔✓●🔘])\s*"
)


def box_at(text: str, start: int = 0) -> tuple[int, bool] | None:
    """Return the end of a box such as `[x]`, `( )` or `☐`, and whether it is ticked."""
    box = _BOX.match(text, start)
    if box is None:
        return None
    return box.end(), any(box[name] for name in ("cross", "round", "full"))


class Label(NamedTuple):
    """A label at characters start … end − 1 of a line; `name` is without punctuation.

    `style` is punctuation and case; a `field` begins the line or follows a tab.
    """

    start: int
    end: int
    name: str
    style: str
    field: bool


def place_of(name: str, series: str) -> int:
    """Return the position from 0 of a label in a series; −1 if the series does not contain it."""
    low = name.lower()
    if series == "roman":
        return _ROMAN.index(low) if low in _ROMAN else -1
    known, place = _PLACES.get(low, ("", -1))
    return place if known == series else -1


def first_series(name: str) -> str:
    """Return the series that begins with a label; "" if there is none."""
    low = name.lower()
    if low == "i":
        return "roman"
    series, place = _PLACES.get(low, ("", -1))
    return series if place == 0 else ""


def is_bare_label(text: str) -> bool:
    """Return whether a text is an option's label and nothing else."""
    text = text.strip()
    return (_FIRST.fullmatch(text) or _BARE.fullmatch(text)) is not None


def list_marker(kind: str, number: int) -> str:
    """Return the marker of an item of an `<ol>`: `A.`, `iv.`, `3.`; "" without a type."""
    names = {"a": _LATIN, "i": _ROMAN}.get(kind.lower(), "")
    if 0 < number <= len(names):
        return f"{names[number - 1].upper() if kind.isupper() else names[number - 1]}."
    return f"{number}." if kind and (number > 0 or names != _LATIN) else ""


def labels_of(line: Line, longest: int) -> list[Label]:
    """Return the labels in a line; those inside the text only in lines of at most `longest`."""
    text = line.text
    labels: list[Label] = []
    match = _FIRST.match(text) or _BARE.match(text)
    first = _label(match, match.start(), field=True) if match is not None else None
    marker = line.label.rstrip(".")
    if first and (not marker.isalpha() or first.name.casefold() == marker.casefold()):
        labels.append(first)
    elif marker:
        labels.append(Label(0, 0, marker, f"markup{_case(marker)}", True))
    if len(text) > longest:
        return labels
    after = labels[0].end if labels else 0
    tab = text.find("\t", after)
    ends = set()
    while tab >= 0:
        match = _FIRST.match(text, tab + 1) or _BARE.match(text, tab + 1)
        if match is not None:
            labels.append(_label(match, tab + 1, field=True))
            ends.add(match.end())
        tab = text.find("\t", tab + 1)
    inside = [match for match in _INSIDE.finditer(text, after) if match.end() not in ends]
    inside += _CIRCLED.finditer(text, after)
    if not inside:
        return labels
    labels += [_label(match, match.start(), field=False) for match in inside]
    labels.sort(key=lambda label: label.start)
    stop = answer_inside(text) if len(labels) > 2 else -1
    before_answer = [label for label in labels if label.start < stop]
    return before_answer if len(before_answer) > 1 else labels


def _label(match: "re.Match[str]", start: int, *, field: bool) -> Label:
    groups = match.groupdict()
    if groups.get("inside"):
        name, style = groups["inside"], match[0].lstrip("*•·◦▪‣○●☐□▢◯~ ")[:1] + ")"
        style = style.replace("（", "(").replace("{", "(")
    elif groups.get("plain") or groups.get("alone"):
        name = groups.get("plain") or groups["alone"]
        style = (groups.get("close") or "").strip() or "bare"
        style = style.translate(str.maketrans("．）–—", ".)--"))
    else:
        name, style = match[0].strip()[-1], "circled"
        name = name.lower() if name.lower() in _PLACES else name
    return Label(start, match.end(), name, style + _case(name), field)


def _case(name: str) -> str:
    return "A" if name.isupper() else "a" if name.islower() else "1"


def without_ticks(text: str) -> tuple[str, str]:
    """Split off a check mark or cross at an end of an option: `ticked`, `crossed` or ""."""
    for pattern, kind in ((_TICKS, "ticked"), (_CROSSES, "crossed")):
        head = pattern.match(text)
        if head is not None and head.end() < len(text):
            return text[head.end() :], kind
        before = max(len(text) - 40, 0)
        for mark in pattern.finditer(text[before:]):
            if before + mark.end() == len(text) and before + mark.start() > 0:
                return text[: before + mark.start()].rstrip(), kind
    return text, ""


@dataclass(slots=True)
class Option:
    """An option: its label as written, its text in pieces, and marks from the markup.

    Its text begins at character `start` of `line`, after the label, and stops before `end`.
    """

    label: str
    line: int
    start: int
    end: int
    pieces: list[str]
    marks: set[str] = field(default_factory=set)
    value: str | None = None
    code: str = ""  # below the text

    @property
    def text(self) -> str:
        text = joined(self.pieces)
        return f"{text}\n{self.code}".strip() if self.code else text

    def add_code(self, text: str) -> None:
        self.code = f"{self.code}\n{text}" if self.code else text

    @property
    def text_without_stars(self) -> str:
        """The text without signs at its ends that may mark it or belong to it (`char *`)."""
        text = self.text
        signed = text[:1] in set("*←[(") or text[-1:] in set("*←])")
        stars = _STARS.fullmatch(text) if signed else None
        return stars[1] if stars and stars[1].strip() else text


@dataclass(slots=True)
class Run:
    """Options that belong together."""

    # first, last: its lines; the first line may begin with the stem
    first: int
    last: int
    start: int  # offset of the first option's label in the first line
    options: list[Option]
    series: str  # series of the labels, "" without labels
    style: str  # spelling of the labels
    form: str  # `lines`, `inline`, `fields`, `list`, `inputs`, `items`, `cells` or `bare`
    sure: bool = False  # the markup marks these as options

    def marked(self, kind: str) -> list[int]:
        """Return the positions of the options with a mark."""
        return [n for n, option in enumerate(self.options) if kind in option.marks]

    @property
    def labels(self) -> list[str]:
        return [option.label for option in self.options]

    @property
    def texts(self) -> list[str]:
        return [option.text for option in self.options]


def joined(pieces: list[str]) -> str:
    """Join pieces of wrapped text, and the parts of a word broken at a line end."""
    text = ""
    for piece in pieces:
        if len(text) > 2 and text[-1] == "-" and text[-2].isalpha() and piece[:1].islower():
            text = text[:-1] + piece
        else:
            text = f"{text} {piece}" if text else piece
    return flat(text)


def option_of(line: Line, at: int, start: int, end: int) -> Option:
    """Return the option in characters start … end − 1 of line `at`; check marks become marks."""
    text, mark = without_ticks(line.text[start:end].strip())
    text = text.strip(" \t;|,/") if end < len(line.text) else text.strip()
    marks = emphasis_of(line, start, end)
    if start <= 3 or end == len(line.text):
        marks |= line.marks
    if mark:
        marks.add("ticked" if mark == "ticked" else "wrong")
    option = Option("", at, start, end, [flat(text)] if text else [], marks, line.value)
    option.code = line.code
    if re.match(r"\s*\*(?!\*)", line.text[:start]):
        marks.add("ticked")  # *B.
    elif option.text_without_stars != option.text:
        marks.add("star")
    return option


def emphasis_of(line: Line, start: int, end: int) -> set[str]:
    """Return the emphasis of a part of a line, punctuation aside."""
    kinds = set()
    for part in line.emphasis:
        rest = line.text[start : max(start, part.start)] + line.text[min(part.end, end) : end]
        if part.start < end and part.end > start and not re.search(r"\w", rest):
            kinds.add(part.kind)
    return kinds
