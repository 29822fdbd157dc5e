"""Random numbers depend on names and the seed, not on order."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.seeding import item_uniforms

ids = st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=30)


@given(ids, st.randoms())
def test_number_of_an_item_does_not_depend_on_other_items(item_ids: list[str], random) -> None:
    shuffled = list(item_ids)
    random.shuffle(shuffled)
    straight = dict(zip(item_ids, item_uniforms(0, "stage", item_ids), strict=True))
    mixed = dict(zip(shuffled, item_uniforms(0, "stage", shuffled), strict=True))
    assert straight == mixed
    assert all(0 <= value < 1 for value in straight.values())


@given(st.integers(0, 2**62), st.lists(st.text(), max_size=20))
def test_number_is_the_first_eight_bytes_of_the_hash(seed: int, item_ids: list[str]) -> None:
    def number(item: str) -> float:
        digest = hashlib.blake2b(f"{seed}\x1fstage\x1f{item}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64

    assert item_uniforms(seed, "stage", item_ids).tolist() == [number(item) for item in item_ids]
