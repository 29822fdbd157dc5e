"""Bytes that only the holder of a key can compute: HMAC-SHA-256 by purpose."""

import hashlib
import hmac


def keyed_bytes(key: bytes, purpose: str, text: str = "") -> bytes:
    """Compute the 32 bytes of a text for a purpose; without the key they look random.

    `key` has 32 random bytes, e.g. of `subkey`; passphrases need a slow derivation first. A purpose
    is a constant of the code that names one use.
    """
    return hmac.new(key, f"{purpose}\x1f{text}".encode(), hashlib.sha256).digest()
