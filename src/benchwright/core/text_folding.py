"""Texts without differences of white space, case and Unicode form, for comparison."""

import unicodedata


def single_spaced(text: str) -> str:
    """Return the text with single spaces, and none at its ends."""
    return " ".join(text.split())


def folded(text: str) -> str:
    """Return the text on one line, without differences of case."""
    return single_spaced(text.casefold())


def normal_text(text: str) -> str:
    """Return the text on one line, in Unicode's NFC."""
    return single_spaced(unicodedata.normalize("NFC", text))
