"""Bytes and random numbers that only the holder of a key can compute: HMAC-SHA-256 by purpose."""

import hashlib
import hmac

import numpy as np


def keyed_bytes(key: bytes, purpose: str, text: str = "") -> bytes:
    """Compute the 32 bytes of a text for a purpose; without the key they look random.

    `key` has 32 random bytes, e.g. of `subkey`; passphrases need a slow derivation first. A purpose
    is a constant of the code that names one use.
    """
    return hmac.new(key, f"{purpose}\x1f{text}".encode(), hashlib.sha256).digest()


def keyed_generator(key: bytes, purpose: str, text: str = "") -> np.random.Generator:
    """Return a random generator of a purpose and a text.

    The generator is not cryptographic: whoever sees enough of its numbers can compute the others.
    Use one per secret, e.g. with an item's id as `text`.
    """
    return np.random.default_rng(int.from_bytes(keyed_bytes(key, purpose, text)))
