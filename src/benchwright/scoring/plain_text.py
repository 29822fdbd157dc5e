"""One spelling for what models write in many: quotes, spaces, minus signs, LaTeX, marks."""

import re
import unicodedata

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
    """The text in the plainest spelling, with single spaces and none around lines."""
    text = text.translate(_CHARACTERS)
    if "\\" in text:
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
    return _SPACES.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n").strip()


def unmarked(text: str) -> str:
    """Without emphasis, quotes and dollar signs around it, and without the full stop after it."""
    text = text.strip(_MARKS)
    if len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1]
    return (text[:-1] if text.endswith(".") else text).strip(_MARKS)


def folded(text: str) -> str:
    """For comparison: plain, unmarked, single spaces, no case."""
    return unmarked(" ".join(plain(unicodedata.normalize("NFC", text)).split())).casefold()
