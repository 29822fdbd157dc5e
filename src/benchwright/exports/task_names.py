"""Names of tasks that are safe for file systems, command lines and the harness's patterns."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

_LONGEST = 60  # characters of one part; a file's name is made of a few
_DIGITS = 6


def slug(text: str) -> str:
    """Return lower-case ASCII letters and digits, with words joined by underscores.

    Accents are dropped. A text without ASCII, or a long one, is named by its hash.
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "_", ascii_text.lower()).strip("_")
    if not words:
        return _hash(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rstrip('_')}_{_hash(text)}"


def slugs(texts: Sequence[str]) -> Mapping[str, str]:
    """Return a slug for each distinct text; if two are equal, both get their hash."""
    different = sorted(set(texts))
    shared = Counter(map(slug, different))
    return {
        text: slug(text) if shared[slug(text)] == 1 else f"{slug(text)}_{_hash(text)}"
        for text in different
    }


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_DIGITS // 2).hexdigest()
