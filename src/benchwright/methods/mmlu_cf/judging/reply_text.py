"""A reply made ready to be read: what it repeats of the prompt and its markup taken away."""

import re
from collections.abc import Sequence

_MARKUP = re.compile(r"[*_`#]+|^>", re.MULTILINE)
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’", "'"))
_SPACES = re.compile(r"[^\S\n]+")
_REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:sorry|afraid|unable|not able|not sure)\b"
    r"|\bi (?:can ?not|can't|could not|couldn't|won't|will not|do not|don't) "
    r"(?:\w+ )?(?:rate|give|provide|assess|answer|judge|determine|help|assist|know|evaluate|assign|"
    r"comply|classify|review|have)\b"
    r"|\b(?:can ?not|can't|not possible to|unable to) (?:be )?(?:rate|assess|judge|review)"
    r"|\bneed more (?:information|context)\b",
    re.IGNORECASE,
)
LONGEST = 8_000
"""Characters of a reply that is still read; a longer one runs on and on."""
_MARK = "\n¶\n"  # stands where something of the prompt was repeated


def plain_text(text: str) -> str:
    """The text without Markdown's marks, runs of spaces and empty lines; its lines stay lines."""
    text = _MARKUP.sub(" ", text.translate(_QUOTES))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def own_words(reply: str, shown: Sequence[str]) -> str:
    """The plain text of a reply without what it repeats of the texts it was shown.

    A shown text of two words or more is taken out wherever it stands; a line of it, where it is a
    whole line of the reply.
    """
    text = plain_text(reply)
    told = {plain for one in shown if (plain := plain_text(one))}
    for one in sorted(told, key=len, reverse=True):
        if " " in one or "\n" in one:
            text = re.sub(re.escape(one), lambda _: _MARK, text, flags=re.IGNORECASE)
    lines = {line.strip().casefold() for one in told for line in one.split("\n")}
    return "\n".join(
        line for line in text.split("\n") if not (" " in line and line.strip().casefold() in lines)
    ).strip("\n¶ ")


def refuses(text: str) -> bool:
    """Whether a reply says that it will not, or cannot, do what it was asked."""
    return _REFUSAL.search(text) is not None


def other_digits(text: str) -> bool:
    """Whether it holds digits or fractions other than 0–9: superscripts, circled ones, "½"."""
    return any(sign.isnumeric() and not sign.isascii() for sign in text)
