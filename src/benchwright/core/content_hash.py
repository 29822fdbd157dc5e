"""The hash of what a model reads of an item: how answers find their item by its text."""

import hashlib
import unicodedata
from collections.abc import Iterable


def content_hash(question: str, choices: Iterable[str] = ()) -> str:
    """32 hexadecimal digits for a question with its choices in their order.

    Texts are normalised to Unicode NFC and otherwise taken verbatim: case, white space and the
    order of the choices all count, since a model sees them. An open-ended question has no choices.
    """
    texts = [unicodedata.normalize("NFC", text) for text in (question, *choices)]
    # The unit separator keeps ("ab", ["c"]) apart from ("a", ["bc"]).
    return hashlib.blake2b("\x1f".join(texts).encode(), digest_size=16).hexdigest()
