"""Labels of options in the usual spellings.

A label is a letter, a number, a Roman numeral or a circled character, with punctuation: `A.` `A)`
`(A)` `[A]` `A:` `A -` `A`, optionally after "Option" or "Choice".
"""

import re
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.lines import Line

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_LETTERS = {
    "letters": "abcdefghijklmnopqrstuvwxyz",
    "cyrillic": "абвгдежзик",
    "greek": "αβγδεζηθ",
    "kana": "アイウエオカキク",
    "thai": "กขคงจ",
    "hebrew": "אבגדהוזח",
    "arabic": "أبجدهوزح",
}
_CIRCLED = {"circled_letters": "ⓐⓑⓒⓓⓔⓕⓖⓗ", "circled_numbers": "①②③④⑤⑥⑦⑧⑨⑩"}
_SERIES = {**_LETTERS, **_CIRCLED, "numbers": [str(n + 1) for n in range(26)], "roman": _ROMAN}
LETTERED = frozenset({*_LETTERS, "circled_letters"})
"""Series of labels that options have far more often than questions or steps."""

LETTER = "A-Za-zА-Ка-кΑ-Θα-θア-クกขคงจא-חأبجده"
"""Characters of labels, for a class in a pattern."""
_WIDE = str.maketrans(
    {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)} | {"–": "-", "—": "-"}
)
_NAME = rf"(?:[{LETTER}]|[0-9]{{1,2}}|[ivxIVX]{{2,4}})"
_WORD = r"(?:(?i:option|choice|alternative|opción|ответ)\s)?"
_RING = "".join(_CIRCLED.values()) + _CIRCLED["circled_letters"].upper()
_CLOSE = r"\.\)|[.):\]、]|\s?(?:-{1,2}>?|=>|::|[/|→»›])(?=\s)|\s?[:=](?=\s)"
_PUNCTUATED = (
    rf"[(\[{{]\s?(?P<inside>{_NAME})\s?[)\]}}][.:]?|(?P<plain>{_NAME})(?P<close>{_CLOSE})"
    rf"|(?P<circled>[{_RING}])"
)
_NO_DECIMAL = r"(?!\d{1,2}[.:]\d)"  # 1.5, 1:30
_FIRST = re.compile(rf"{_NO_DECIMAL}[*•·◦▪‣○●☐□▢◯~]?\s?{_WORD}(?:{_PUNCTUATED})")
_BARE = re.compile(
    rf"(?P<plain>{_NAME})(?=\t)(?P<close>)|(?P<alone>[A-Ha-hА-Е])$|(?P<before>[A-H])(?= \S)"
)
_INNER = r"[A-Za-z]|[0-9]{1,2}|[ivxIVX]{2,4}|[а-еא-חأبجده]"
_INSIDE = re.compile(
    rf"(?<![^\s,;|/?!:…_]){_NO_DECIMAL}"
    rf"(?:[(\[](?P<inside>{_INNER})[)\]]|(?P<plain>{_INNER})(?P<close>[.):])"
    r"(?=\s|[^\s.,;:)\]]))"
    rf"|(?P<circled>[{_RING}])"
)


_LONGEST = 20_000


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
    names = _SERIES[series]
    low = name.lower()
    return names.index(low) if low in names else -1


def first_series(name: str) -> str:
    """Return the series that begins with a label; "" if there is none."""
    low = name.lower()
    return next((series for series, names in _SERIES.items() if names[0] == low), "")


def list_marker(kind: str, number: int) -> str:
    """Return the marker of an item of an `<ol>`: `A.`, `iv.`, `3.`; "" without a type."""
    names = _SERIES[{"a": "letters", "i": "roman"}.get(kind.lower(), "numbers")]
    if not kind or not 0 < number <= len(names):
        return f"{number}." if kind == "1" else ""
    name = names[number - 1]
    return f"{name.upper() if kind.isupper() else name}."


def labels_of(line: Line) -> list[Label]:
    """Return the labels in a line; of a long one, only the first."""
    text = line.text.translate(_WIDE) if not line.text.isascii() else line.text
    labels: list[Label] = []
    match = _FIRST.match(text) or _BARE.match(text)
    first = _label(match, match.start(), field=True) if match is not None else None
    marker = line.label.rstrip(".")
    repeats = first and first.name.casefold() == marker.casefold() and first.style != "bareA"
    if first and (repeats or not marker.isalpha()):
        labels.append(first)
    elif marker:
        labels.append(Label(0, 0, marker, f"markup{_case(marker)}", True))
    if len(text) > _LONGEST:
        return labels
    after = labels[0].end if labels else 0
    fields = [
        _label(match, tab.end(), field=True)
        for tab in re.finditer("\t", text)
        if tab.start() >= after
        and (match := _FIRST.match(text, tab.end()) or _BARE.match(text, tab.end()))
    ]
    ends = {label.end for label in fields}
    inner = [match for match in _INSIDE.finditer(text, after) if match.end() not in ends]
    inside = [_label(match, match.start(), field=False) for match in inner]
    return labels + sorted(fields + inside)


def _label(match: "re.Match[str]", start: int, *, field: bool) -> Label:
    groups = match.groupdict()
    if groups.get("inside"):
        name, style = groups["inside"], "[)" if match[0].lstrip()[:1] == "[" else "()"
    elif name := groups.get("plain") or groups.get("alone") or groups.get("before"):
        style = (groups.get("close") or "").strip() or "bare"
    else:
        name, style = groups["circled"], "circled"
    return Label(start, match.end(), name, style + _case(name), field)


def _case(name: str) -> str:
    return "A" if name.isupper() else "a" if name.islower() else "1"


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
