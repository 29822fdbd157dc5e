"""What is fitted once for a pool, however often its items are drawn."""

import hashlib
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from benchwright.methods.dele.samplers.pool import SamplingPool

T = TypeVar("T")

_MOST = 64  # fits that are kept: more than the subjects of MMLU


class OncePerPool(Generic[T]):
    """A function of a pool that remembers its results by what the pool holds.

    By content and not by object: inside subjects each repeat makes its pools anew.

    Args:
        fit: the function.
        reads: what it depends on besides the ids: `texts`, `answers`, or an encoder whose vectors
            it reads.
    """

    def __init__(self, fit: Callable[[SamplingPool], T], reads: str) -> None:
        self._fit = fit
        self._reads = reads
        self._known: dict[bytes, T] = {}
        self._last: tuple[weakref.ref[SamplingPool], T] | None = None

    def __call__(self, pool: SamplingPool) -> T:
        """The result for this pool, fitted now or earlier."""
        # Repeats come with the very pool; hashing its texts took longer than drawing from it.
        if self._last is not None and self._last[0]() is pool:
            return self._last[1]
        key = _digest(pool, self._reads)
        if key not in self._known:
            while len(self._known) >= _MOST:
                del self._known[next(iter(self._known))]
            self._known[key] = self._fit(pool)
        self._last = weakref.ref(pool), self._known[key]
        return self._known[key]


def _digest(pool: SamplingPool, reads: str) -> bytes:
    """A hash of ids and of what is read, in the order of the pool."""
    digest = hashlib.blake2b(digest_size=16)
    for text in (*pool.item_ids, *(pool.texts if reads == "texts" else ())):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    if reads != "texts":
        matrix = pool.correct if reads == "answers" else pool.vectors.get(reads, pool.correct[:0])
        digest.update(repr(matrix.shape).encode())
        digest.update(np.ascontiguousarray(matrix).tobytes())
    return digest.digest()
