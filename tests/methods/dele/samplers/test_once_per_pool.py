"""What is fitted for a pool is fitted once, and never for another pool."""

import gc
import weakref
from dataclasses import replace

import numpy as np

from benchwright.methods.dele.samplers.pool import OncePerPool, SamplingPool

POOL = SamplingPool(
    ("a", "b"),
    ("", ""),
    ("one", "two"),
    {"mini": np.eye(2, dtype=np.float32)},
    np.eye(2, dtype=np.float32),
)
OTHERS = {
    "texts": replace(POOL, texts=("one", "three")),
    "answers": replace(POOL, correct=np.ones((2, 2), np.float32)),
    "mini": replace(POOL, vectors={"mini": np.ones((2, 2), np.float32)}),
}


def test_equal_pools_share_a_fit_and_others_have_their_own() -> None:
    for reads, other in OTHERS.items():
        fitted: list[SamplingPool] = []
        once = OncePerPool(lambda pool, own=fitted: own.append(pool) or len(own), reads)
        alike = replace(POOL, subjects=("x", "y"))
        assert [once(pool) for pool in (POOL, POOL, alike, alike, other, other, POOL)] == [
            1, 1, 1, 1, 2, 2, 1,
        ]  # fmt: skip
        assert fitted == [POOL, other]


def test_a_pool_is_not_kept_alive() -> None:
    once = OncePerPool(len, "texts")
    pool = replace(POOL)
    gone = weakref.ref(pool)
    assert once(pool) == 2
    del pool
    gc.collect()
    assert gone() is None
    assert once(POOL) == 2
