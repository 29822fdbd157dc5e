"""Options and their labels in the usual spellings.

A label is a letter (Latin, Cyrillic, Greek), a number, a Roman numeral or a circled character with
its punctuation: `A.` `A)` `(A)` `[A]` `A:` `A -` `A`, also after "Option" or "Choice".
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
    r"\s*(?:[✓✔✅☑🗸]️?|←|\[x\]|\((?:correct|right|correct answer|right answer|richtig|correcta"
    r"|верно|✓|✔|\*)\)|\*{1,3}|<-+\s?(?:correct|right|answer)|[←-]+\s?correct(?: answer)?)\s*",
    re.IGNORECASE,
)
_CROSSES = re.compile(r"\s*[✗✘❌✖]️?\s*")


class Label(NamedTuple):
    """A label in a line.

    Attributes:
        start, end: its place; the option's text follows.
        name: without punctuation, as written.
        style: punctuation and case, equal for labels of one run.
        field: it begins the line, or stands after a tab.
    """

    start: int
    end: int
    name: str
    style: str
    field: bool


def place_of(name: str, series: str) -> int:
    """The position from 0 of a label in a series, −1 where it is not in it."""
    low = name.lower()
    if series == "roman":
        return _ROMAN.index(low) if low in _ROMAN else -1
    found = _PLACES.get(low)
    return found[1] if found is not None and found[0] == series else -1


def first_series(name: str) -> str:
    """The series that a label begins, "" where it begins none."""
    low = name.lower()
    if low == "i":
        return "roman"
    found = _PLACES.get(low)
    return found[0] if found is not None and found[1] == 0 else ""


def is_bare_label(text: str) -> bool:
    """Whether a text is an option's label and nothing else."""
    found = _FIRST.fullmatch(text.strip()) or _BARE.fullmatch(text.strip())
    return found is not None


def list_marker(kind: str, number: int) -> str:
    """The marker of an item of an `<ol>` of a type: `A.`, `iv.`, `3.`; "" without a type."""
    if kind in {"A", "a"} and number <= 26:
        letter = _LATIN[number - 1] if number > 0 else ""
        return f"{letter.upper() if kind == 'A' else letter}." if letter else ""
    if kind in {"I", "i"} and 0 < number <= len(_ROMAN):
        numeral = _ROMAN[number - 1]
        return f"{numeral.upper() if kind == 'I' else numeral}."
    return f"{number}." if kind else ""


def labels_of(line: Line, longest: int) -> list[Label]:
    """The labels in a line, in order; those inside the text only in lines up to `longest`."""
    text = line.text
    found: list[Label] = []
    own = _FIRST.match(text) or _BARE.match(text)
    first = _label(own, own.start(), field=True) if own is not None else None
    marker = line.label.rstrip(".")
    if first and (not marker.isalpha() or first.name.casefold() == marker.casefold()):
        found.append(first)
    elif marker:
        found.append(Label(0, 0, marker, f"markup{_case(marker)}", True))
    if len(text) > longest:
        return found
    after = found[0].end if found else 0
    at = text.find("\t", after)
    fields = set()
    while at >= 0:
        one = _FIRST.match(text, at + 1) or _BARE.match(text, at + 1)
        if one is not None:
            found.append(_label(one, at + 1, field=True))
            fields.add(one.end())
        at = text.find("\t", at + 1)
    others = [one for one in _INSIDE.finditer(text, after) if one.end() not in fields]
    others += _CIRCLED.finditer(text, after)
    inside = [_label(one, one.start(), field=False) for one in others]
    if not inside:
        return found
    found = sorted([*found, *inside], key=lambda one: one.start)
    stop = answer_inside(text) if len(found) > 2 else -1
    early = [one for one in found if one.start < stop]
    return early if len(early) > 1 else found


def _label(found: "re.Match[str]", start: int, *, field: bool) -> Label:
    groups = found.groupdict()
    if groups.get("inside"):
        name, style = groups["inside"], found.group(0).lstrip("*•·◦▪‣○●☐□▢◯~ ")[:1] + ")"
        style = style.replace("（", "(").replace("{", "(")
    elif groups.get("plain") or groups.get("alone"):
        name = groups.get("plain") or groups["alone"]
        style = (groups.get("close") or "").strip() or "bare"
        style = style.replace("．", ".").replace("）", ")").replace("–", "-").replace("—", "-")
    else:
        name, style = found.group(0).strip()[-1], "circled"
        name = name.lower() if name.lower() in _PLACES else name
    return Label(start, found.end(), name, style + _case(name), field)


def _case(name: str) -> str:
    return "A" if name.isupper() else "a" if name.islower() else "1"


def without_ticks(text: str) -> tuple[str, str]:
    """An option's text without a check mark or cross at its ends, and `ticked`, `crossed` or ""."""
    for pattern, kind in ((_TICKS, "ticked"), (_CROSSES, "crossed")):
        head = pattern.match(text)
        if head is not None and head.end() < len(text):
            return text[head.end() :], kind
        tail = text[-40:]
        for found in pattern.finditer(tail):
            if found.end() == len(tail) and found.start() + len(text) - len(tail) > 0:
                return text[: len(text) - len(tail) + found.start()].rstrip(), kind
    return text, ""


@dataclass(slots=True)
class Option:
    """One option: its label as written, its text in pieces, what marks it."""

    label: str
    line: int
    start: int  # in the line, of the text after the label
    end: int
    pieces: list[str]
    marks: set[str] = field(default_factory=set)
    value: str | None = None

    @property
    def text(self) -> str:
        return joined(self.pieces)


@dataclass(slots=True)
class Run:
    """Options that belong together.

    Attributes:
        first, last: its lines; the stem may stand on the first, before the options.
        start: where the first option's label begins in the first line.
        series: of the labels, "" without.
        style: spelling of the labels.
        form: `lines`, `inline`, `fields`, `list`, `inputs`, `items`, `cells`, `bare`.
        sure: the markup says that these are options.
    """

    first: int
    last: int
    start: int
    options: list[Option]
    series: str
    style: str
    form: str
    sure: bool = False

    def marked(self, kind: str) -> list[int]:
        """Places of the options with a mark."""
        return [n for n, one in enumerate(self.options) if kind in one.marks]

    @property
    def labels(self) -> list[str]:
        return [one.label for one in self.options]

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.options]


def joined(pieces: list[str]) -> str:
    """Pieces of wrapped text as one; a word broken at a line end is put together."""
    text = ""
    for piece in pieces:
        if len(text) > 2 and text[-1] == "-" and text[-2].isalpha() and piece[:1].islower():
            text = text[:-1] + piece
        else:
            text = f"{text} {piece}" if text else piece
    return flat(text)


def option_of(line: Line, at: int, start: int, end: int) -> Option:
    """The option in a part of a line, without check marks, which count as marks."""
    raw = line.text[start:end]
    text, mark = without_ticks(raw.strip())
    text = text.strip(" \t;|,/") if end < len(line.text) else text.strip()
    option = Option("", at, start, end, [flat(text)] if text else [], set(), line.value)
    if start <= 3 or end == len(line.text):
        option.marks |= line.marks
    option.marks |= faces_of(line, start, end)
    if mark:
        option.marks.add("ticked" if mark == "ticked" else "wrong")
    head = line.text[:start].lstrip()
    if head.startswith("*") and not head.startswith("**"):
        option.marks.add("ticked")
    return option


def faces_of(line: Line, start: int, end: int) -> set[str]:
    """The faces in which a part of a line stands, all but its punctuation."""
    found = set()
    for one in line.emphasis:
        left = line.text[start : max(start, one.start)]
        right = line.text[min(one.end, end) : end]
        if one.start < end and one.end > start and not re.search(r"\w", left + right):
            found.add(one.kind)
    return found
