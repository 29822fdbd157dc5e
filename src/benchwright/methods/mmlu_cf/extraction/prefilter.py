"""Which documents show a sign of options; the others are not read."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for

_SCRIPTS = r"(?is)<(?:script|style)\b[^<>]*>.*?</(?:script|style)>"
_CORRECT = words_for("correct")
_ANSWER = rf"{words_for('answers')}|{words_for('answer')}|(?:{_CORRECT})(?:\s(?:option|choice))?"
_ITEM = r"(?:<(?:li|dd|button|label)\b[^<>]*>|(?:^|\n)\s*(?:[-*+•]|\d+[.)])\s)\s*"


def _label(names: str) -> str:
    """Return a pattern of labels with punctuation, alone on their line, or in a tag."""
    return rf"(?:^|[^\pL\d'’$&/<]|_)[{names}](?:[.):\]．）、\t/]|\s?[-–—=:|»>→]|\s*(?:<|\n|$)|&)"


_LETTERS = [
    ("Aa", "B-Db-d"), ("Аа", "Б-Дб-д"), ("Αα", "Β-Δβ-δ"), ("Ａａ", "Ｂ-Ｄｂ-ｄ"), ("ア", "イ-エ"),
    ("ก", "ขคง"), ("א", "ב-ד"), ("أ", "بجد"),
]  # fmt: skip
_SIGNS = (
    r"[ⓐⓑⒶⒷ①②✓✔✅☑🗸✗✘❌✖🔘☐☒□▢○◯⚪]",
    r"(?:^|[\n>])[\s*+-]*(?:\d+[.)]\s)?(?:\[[ xX✓*]?\]|\([ xX✓*]\)|●)\s",
    r"\s(?:\[x\]|\([xX✓*]\))\s*\n|(?:^|\n)\s*A \S[^\n]*(?:\n\s*|\s\s)B \S",
    r"<-+\s?(?:correct|right|answer)|\{\s*[=~][^{}]*[=~]|<quiz\b",
    r"\\(?:wrongchoice|mauvaise)|\n\* ?\S[^\n]*\n(?:- [^\n]*\n)*\+ \S",
    rf"(?i)(?:^|[^\pL\d])(?:{_ANSWER})(?:\W{{0,3}}[:=：]|\s?[-–—]\s"
    r"|\s(?:is|ist|es|est)\b|\s?\W?[a-h\d]\b)",
    rf"(?i)(?:^|[\n>])\W*(?:{_ANSWER})\W*(?:$|[\n<])",
    r"(?i)(?:class|id|itemprop|alt|aria-label|data-[a-z-]+)\s*=\s*[\"']?[^\"'<>]*"
    r"(?:correct|answer|\bans|right|option|choice|alternative|distractor|solution|\bopt)",
    r"(?i)type\s*=\s*[\"']?(?:radio|checkbox|a\b)|<option|(?:upper|lower)-(?:alpha|latin)",
    rf"(?s)[?？:_…].*{_ITEM}(?:<(?:b|strong|mark|u|ins|i|em|font|span)\b|[*_])",
)


def may_hold_questions(texts: pa.Array) -> NDArray[np.bool_]:
    """Return which documents, HTML or not, show a sign of options, shape (n,).

    Signs are two letters of a series, answers, and markup of options. They are looser than the
    rules of extraction: a document that passes only costs time.
    """
    texts = pc.replace_substring_regex(pc.fill_null(texts, ""), _SCRIPTS, "")
    shown = np.zeros(len(texts), np.bool_)
    for first, rest in _LETTERS:
        shown |= _matches(texts, _label(first)) & _matches(texts, _label(rest))
    for sign in _SIGNS:
        shown |= _matches(texts, sign)
    return shown


def _matches(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    matches = pc.match_substring_regex(texts, pattern)
    return np.asarray(matches.to_numpy(zero_copy_only=False), np.bool_)
