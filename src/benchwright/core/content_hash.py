"""The hash of an item's text, which links answers to items."""

import hashlib
import unicodedata
from collections.abc import Iterable


def content_hash(question: str, choices: Iterable[str] = ()) -> str:
    """Return 32 hexadecimal digits for a question with its choices in order.

    Texts are normalised to Unicode NFC and otherwise verbatim: case, white space and the order of
    the choices all matter, since a model sees them.
    """
    # The unit separator keeps ("ab", ["c"]) apart from ("a", ["bc"]).
    text = "\x1f".join(unicodedata.normalize("NFC", text) for text in (question, *choices))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
