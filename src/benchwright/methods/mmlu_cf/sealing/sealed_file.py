"""The encrypted file: one line of header in the clear, then AES-256-GCM.

The header holds no secret and is authenticated with the rest. Each file has a random salt, so
each has its own key and no nonce is used twice. Nothing is parsed before all of it is verified.
"""

import hmac
import json
import os
from pathlib import Path
from typing import Any

from benchwright.core.errors import InputError
from benchwright.datasets.atomic import written_aside
from benchwright.methods.mmlu_cf.sealing.key import SCRYPT_N, SCRYPT_P, SCRYPT_R, SealKey, subkey

_FORMAT = "benchwright-sealed-1"
_KDF = f"scrypt-{SCRYPT_N}-{SCRYPT_R}-{SCRYPT_P}"
_CIPHER = "AES-256-GCM"
_TAG = 16
_LONGEST_HEADER = 1024


def write_sealed(path: Path, plain: bytes, key: SealKey) -> None:
    """Encrypt bytes into a file, written aside and renamed; only what is encrypted reaches it.

    Raises:
        InputError: there are 2 GiB or more.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(plain) >= (1 << 31) - _TAG:
        raise InputError(f"{path}: {len(plain)} bytes are too many for one sealed file (2 GiB)")
    salt, nonce = os.urandom(16), os.urandom(12)
    derived = key.derived(salt)
    header = {
        "format": _FORMAT,
        "kdf": _KDF,
        "cipher": _CIPHER,
        "salt": salt.hex(),
        "nonce": nonce.hex(),
        "key_check": subkey(derived, "check")[:8].hex(),
        "bytes": len(plain) + _TAG,
    }
    line = (json.dumps(header) + "\n").encode()
    sealed = AESGCM(subkey(derived, "file")).encrypt(nonce, plain, line)
    with written_aside(path) as aside:
        aside.write_bytes(line + sealed)


def read_sealed(path: Path, key: SealKey) -> bytes:
    """What was encrypted, in memory.

    Raises:
        InputError: the file cannot be read, is none of ours, is cut short or altered, or the key
            is another one; each in one line that shows nothing of its contents.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
    line, newline, sealed = data.partition(b"\n")
    header = _header(path, line)
    if not newline or len(sealed) < header["bytes"]:
        raise InputError(
            f"{path}: cut short: {len(sealed)} of {header['bytes']} bytes; fetch the file again"
        )
    derived = key.derived(header["salt"])
    if not hmac.compare_digest(subkey(derived, "check")[:8], header["key_check"]):
        raise InputError(f"{path}: the key is not the one that it was sealed with")
    try:
        return AESGCM(subkey(derived, "file")).decrypt(header["nonce"], sealed, line + b"\n")
    except InvalidTag:
        raise InputError(f"{path}: altered since it was sealed; fetch the file again") from None


def _header(path: Path, line: bytes) -> dict[str, Any]:
    wrong = InputError(
        f"{path}: not a sealed benchmark, or altered in its first line; a file made by "
        f"`seal_halves` is expected ({_FORMAT}, {_KDF}, {_CIPHER})"
    )
    if len(line) > _LONGEST_HEADER:
        raise wrong
    try:
        told = json.loads(line)
        # The cost of the key is ours, never what a file asks for.
        known = (told["format"], told["kdf"], told["cipher"]) == (_FORMAT, _KDF, _CIPHER)
        parts = {name: bytes.fromhex(told[name]) for name in ("salt", "nonce", "key_check")}
        size = int(told["bytes"])
    except (ValueError, KeyError, TypeError):
        raise wrong from None
    if not known or [len(part) for part in parts.values()] != [16, 12, 8] or size < _TAG:
        raise wrong
    return {**parts, "bytes": size}
