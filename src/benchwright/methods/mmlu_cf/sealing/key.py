"""The key of a sealed benchmark, what is derived from it, and the file that it encrypts."""

import base64
import hashlib
import hmac
import json
import os
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.params.mmlu_cf import SealingParams

_SHORTEST = 16
# Memory-hard, about 0.3 s and 128 MiB per guess of a passphrase.
SCRYPT_N, SCRYPT_R, SCRYPT_P = 1 << 17, 8, 1


class SealKey:
    """A secret that no representation shows and that cannot be pickled."""

    def __init__(self, secret: str) -> None:
        if len(secret) < _SHORTEST:
            raise InputError(
                f"sealing: the key has {len(secret)} characters; at least {_SHORTEST} are needed "
                "(benchwright.methods.mmlu_cf.sealing.key.new_key() makes one)"
            )
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return "SealKey(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")

    def derived(self, salt: bytes) -> bytes:
        """32 bytes that only this key gives with this salt (scrypt, RFC 7914)."""
        return _scrypt(self._secret, salt)


def new_key() -> str:
    """A random key of 256 bits as text."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def read_key(params: SealingParams) -> SealKey:
    """The key from `key_file`, or else from the environment variable `key_env`.

    Raises:
        InputError: neither holds a key, or it is too short.
    """
    if params.key_file is not None:
        try:
            text = Path(params.key_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"sealing: key_file {params.key_file} cannot be read ({type(error).__name__})"
            ) from None
        return SealKey(text.strip())
    text = os.environ.get(params.key_env, "").strip()
    if not text:
        raise InputError(
            f"sealing: no key: set the environment variable {params.key_env}, or name a file that "
            "holds the key (key_file)"
        )
    return SealKey(text)


def check_seal_key(params: SealingParams) -> None:
    """Refuse a run whose closed half could not be sealed, before anything is read or asked.

    Raises:
        InputError: there is no key, or it is too short.
    """
    try:
        read_key(params)
    except InputError as error:
        raise InputError(
            f"{error}; python -c 'from benchwright.methods.mmlu_cf.sealing.key import new_key; "
            "print(new_key())' makes a key: keep it, without it the closed half is lost"
        ) from None


@lru_cache(maxsize=8)
def _scrypt(secret: bytes, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P).derive(secret)


def subkey(derived: bytes, purpose: str) -> bytes:
    """32 bytes for one purpose (HKDF, RFC 5869); none tells anything about the others."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

    return HKDFExpand(SHA256(), 32, purpose.encode()).derive(derived)


class KeyedNames:
    """Ids and canaries of one benchmark: the same under the same key, whenever they are made."""

    def __init__(self, key: SealKey, name: str) -> None:
        salt = hashlib.sha256(f"benchwright sealed ids\x1f{name}".encode()).digest()
        derived = key.derived(salt)
        self._ids = subkey(derived, "ids")
        self._canaries = subkey(derived, "canaries")

    def __repr__(self) -> str:
        return "KeyedNames(…)"

    def item_id(self, item_id: str) -> str:
        """The keyed hash (HMAC-SHA-256) that stands for an item's id."""
        digest = hmac.new(self._ids, b"item\x1f" + item_id.encode(), hashlib.sha256)
        return "sealed-" + digest.hexdigest()[:32]

    def cluster(self, text: str) -> str:
        """The same for what ties items together: a passage, a document."""
        digest = hmac.new(self._ids, b"cluster\x1f" + text.encode(), hashlib.sha256)
        return digest.hexdigest()[:32]

    def canary(self, half: str) -> str:
        """A GUID that occurs nowhere else, to find a half in training data by."""
        digest = hmac.new(self._canaries, half.encode(), hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16], version=4))


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
