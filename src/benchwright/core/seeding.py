"""Random numbers that depend on names, never on order: stages by name, items by id."""

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np

from benchwright.core.array_types import Floats


def stage_generator(seed: int, stage: str) -> np.random.Generator:
    """Return the random generator of a stage; each stage has its own stream of the same `seed`."""
    digest = hashlib.blake2b(stage.encode(), digest_size=8).digest()
    stream = int.from_bytes(digest, "little")
    return np.random.default_rng(np.random.SeedSequence([seed, stream]))


def item_uniforms(seed: int, stage: str, item_ids: Sequence[str]) -> Floats:
    """Return a number in [0, 1) per item, from a hash of seed, stage and item id.

    Sorting by it gives a random order that does not depend on the order of the input.
    """
    texts = [f"{seed}\x1f{stage}\x1f{item_id}".encode() for item_id in item_ids]
    digests = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.float64) / 2.0**64


def keyed_bytes(key: bytes, purpose: str, text: str = "") -> bytes:
    """Compute the 32 bytes of a text for a purpose; without the key they look random.

    `key` has 32 random bytes, e.g. of `subkey`; passphrases need a slow derivation first. A purpose
    is a constant of the code that names one use.
    """
    return hmac.new(key, f"{purpose}\x1f{text}".encode(), hashlib.sha256).digest()
