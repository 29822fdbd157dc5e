"""Keyed bytes."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.seeding import keyed_bytes


def _hmac_sha256(key: bytes, message: bytes) -> bytes:
    """HMAC as RFC 2104 writes it."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).digest()


@given(st.binary(max_size=100), st.text(max_size=20))
def test_keyed_bytes_are_the_hmac_of_purpose_and_text(key: bytes, text: str) -> None:
    assert keyed_bytes(key, "order", text) == _hmac_sha256(key, b"order\x1f" + text.encode())
