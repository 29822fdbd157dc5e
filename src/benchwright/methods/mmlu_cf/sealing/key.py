"""The key of a sealed benchmark, its derived keys and ids, and the file that it encrypts."""

import base64
import hashlib
import hmac
import json
import os
import uuid
from functools import lru_cache
from pathlib import Path

from benchwright.core.errors import InputError
from benchwright.core.seeding import keyed_bytes
from benchwright.params.mmlu_cf import SealingParams

_SHORTEST = 16
KEY_VARIABLE = "BENCHWRIGHT_SEAL_KEY"
_NEW_KEY = "`benchwright new-key FILE` makes a key"
# Memory-hard, about 0.3 s and 128 MiB per guess of a passphrase.
SCRYPT_N = 1 << 17
SCRYPT_R = 8
SCRYPT_P = 1


class SealKey:
    """A secret that is hidden in representations and cannot be pickled."""

    def __init__(self, secret: str) -> None:
        if len(secret) < _SHORTEST:
            raise InputError(
                f"sealing: the key has {len(secret)} characters, but needs at least {_SHORTEST} "
                f"({_NEW_KEY})"
            )
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return "SealKey(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be pickled")

    def derived(self, salt: bytes) -> bytes:
        """Derive 32 bytes from this key and a salt (scrypt, RFC 7914)."""
        return _scrypt(self._secret, salt)


def new_key() -> str:
    """Return a random key of 256 bits as text."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def write_new_key(file: Path) -> None:
    """Write a random key to a new file that only its owner can read.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600, exist_ok=False)
        file.write_text(new_key() + "\n", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{file} exists and is not replaced; give another file") from None
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror})") from None


def read_key(params: SealingParams) -> SealKey:
    """Read the key from `key_file`, or else from the environment variable.

    Raises:
        InputError: neither holds a key, or it is too short.
    """
    if params.key_file is not None:
        try:
            text = Path(params.key_file.get_secret_value()).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(
                f"sealing: key_file cannot be read ({type(error).__name__}); it must be the path "
                "of a file that holds the key, not the key itself (not shown here)"
            ) from None
        return SealKey(text.strip())
    text = os.environ.get(KEY_VARIABLE, "").strip()
    if not text:
        raise InputError(
            f"sealing: no key: set the environment variable {KEY_VARIABLE}, or key_file to the "
            f"path of a file with the key ({_NEW_KEY}; without the key the closed half is lost)"
        )
    return SealKey(text)


@lru_cache(maxsize=8)
def _scrypt(secret: bytes, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P).derive(secret)


def subkey(derived: bytes, purpose: str) -> bytes:
    """Derive 32 independent bytes for one purpose (HKDF, RFC 5869)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

    return HKDFExpand(SHA256(), 32, purpose.encode()).derive(derived)


class KeyedNames:
    """Ids, canaries and secret seeds of one benchmark; the same key gives the same ones.

    `orders` is the key of the orders of options in which the public half is released.
    """

    def __init__(self, key: SealKey, name: str) -> None:
        salt = hashlib.sha256(f"benchwright sealed ids\x1f{name}".encode()).digest()
        derived = key.derived(salt)
        self._ids = subkey(derived, "ids")
        self._canaries = subkey(derived, "canaries")
        self._seeds = subkey(derived, "seeds")
        self.orders = subkey(derived, "released orders")

    def __repr__(self) -> str:
        return "KeyedNames(…)"

    def item_id(self, item_id: str) -> str:
        """Return the keyed hash (HMAC-SHA-256) of an item's id."""
        return "sealed-" + keyed_bytes(self._ids, "item", item_id).hex()[:32]

    def cluster(self, text: str) -> str:
        """Return the keyed hash of a passage or document that items share."""
        return keyed_bytes(self._ids, "cluster", text).hex()[:32]

    def closed_seed(self, seed: int) -> int:
        """Return the secret seed, 256 bits, of all that is drawn for the closed half in a run."""
        return int.from_bytes(keyed_bytes(self._seeds, "closed", str(seed)))

    def canary(self, half: str) -> str:
        """Return a unique GUID that identifies a half in training data."""
        digest = hmac.new(self._canaries, half.encode(), hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16], version=4))


# The format names scrypt with these costs and AES-256-GCM: a file cannot choose others.
_FORMAT = "benchwright-sealed-1"
_LENGTHS = {"salt": 16, "nonce": 12, "key_check": 8}  # bytes


def seal_bytes(plain: bytes, key: SealKey) -> bytes:
    """Encrypt bytes to the contents of a sealed file."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt = os.urandom(_LENGTHS["salt"])
    nonce = os.urandom(_LENGTHS["nonce"])
    derived = key.derived(salt)
    header = {
        "format": _FORMAT,
        "salt": salt.hex(),
        "nonce": nonce.hex(),
        "key_check": _key_check(derived).hex(),
    }
    line = (json.dumps(header) + "\n").encode()
    return line + AESGCM(subkey(derived, "file")).encrypt(nonce, plain, line)


def _key_check(derived: bytes) -> bytes:
    return subkey(derived, "check")[: _LENGTHS["key_check"]]


def read_sealed(path: Path, key: SealKey) -> bytes:
    """Decrypt a file in memory.

    Raises:
        InputError: the file is unreadable, not a sealed one, or altered, or the key is wrong; the
            message shows nothing of its contents.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        line, newline, sealed = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
    try:
        header = json.loads(line)
        parts = {name: bytes.fromhex(header[name]) for name in _LENGTHS}
        known = header["format"] == _FORMAT
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known or {name: len(part) for name, part in parts.items()} != _LENGTHS:
        raise InputError(
            f"{path}: not a sealed benchmark ({_FORMAT}), or its first line was altered; use a "
            "file that the pipeline mmlu_cf wrote"
        )
    derived = key.derived(parts["salt"])
    if not hmac.compare_digest(_key_check(derived), parts["key_check"]):
        raise InputError(f"{path}: sealed with another key; use the key of this benchmark")
    try:
        return AESGCM(subkey(derived, "file")).decrypt(parts["nonce"], sealed, line + newline)
    except InvalidTag:
        raise InputError(
            f"{path}: cut short or altered since it was sealed; fetch the file again"
        ) from None
