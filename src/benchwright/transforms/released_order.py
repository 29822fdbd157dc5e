"""Equivalent orders of an item's options, of which a key chooses the one that is released.

The orders follow from the item alone, in whatever order its options are, and the choice from the
key alone. So a model that has not seen the release cannot prefer the released orders, whatever
else it prefers (`statistics/released_orders.py`).
"""

import hashlib
import re
from collections.abc import Sequence

from benchwright.core.option_wording import kinds_of_options, refers_to_options
from benchwright.core.seeding import keyed_bytes
from benchwright.transforms.altered_item import Altered, MultipleChoice
from benchwright.transforms.shuffle_choices import KEEPS_LAST

MOST_ORDERS = 4
_OF_OTHERS = re.compile(r"\bothers?\b", re.IGNORECASE)
_PURPOSE = "released order"


def equivalent_orders(item: MultipleChoice, most: int = MOST_ORDERS) -> tuple[Altered, ...]:
    """Return at most `most` (≥ 2) orders of an item's options: turns of an order by hashes.

    With as many orders as options, each option is once in each place. None- and
    all-of-the-above options stay last, but "None of the other choices" fits everywhere. Where
    options cannot change places, there is only the item's own order, with the reason.
    """
    movable, reason = _movable(item)
    if reason:
        return (item.unaltered(reason),)
    base = sorted(range(movable), key=lambda place: _hash(item.item_id, item.choices[place]))
    fixed = range(movable, len(item.choices))
    count = min(most, movable)
    orders = []
    for number in range(count):
        turn = number * movable // count
        orders.append(_in_order(item, [*base[turn:], *base[:turn], *fixed]))
    return tuple(orders)


def _movable(item: MultipleChoice) -> tuple[int, str]:
    """Return how many options, from the first, may change places, and why none may, or ""."""
    kinds = kinds_of_options(item.choices)
    last = [
        kind in KEEPS_LAST and not _OF_OTHERS.search(text)
        for kind, text in zip(kinds, item.choices, strict=True)
    ]
    movable = last.index(True) if any(last) else len(last)
    checks = {
        "open_ended": not item.choices,
        "refers_to_options": refers_to_options(item.question, item.choices),
        "none_or_all_not_last": not all(last[movable:]),
        "too_few_options": movable < 2,
        "equal_options": len(set(item.choices)) < len(item.choices),
    }
    return movable, next((reason for reason, holds in checks.items() if holds), "")


def released_order(item: MultipleChoice, key: bytes, most: int = MOST_ORDERS) -> Altered:
    """Return the order of an item that a key of 32 random bytes releases."""
    orders = equivalent_orders(item, most)
    return orders[released_number(item.item_id, len(orders), key)]


def released_number(item_id: str, count: int, key: bytes) -> int:
    """Return which of `count` orders the key releases: the HMAC of the id, modulo `count`."""
    return int.from_bytes(keyed_bytes(key, _PURPOSE, item_id)) % count


def leak_test_facts(key: bytes, file: str) -> dict[str, str | int]:
    """Return what the manifest of a release says: its file, the most orders, and `commitment`."""
    return {"file": file, "orders": MOST_ORDERS, "commitment": commitment(key)}


def commitment(key: bytes) -> str:
    """Return the hash to publish with a release, by which its key can be recognised later."""
    return hashlib.sha256(b"benchwright key of released orders\x1f" + key).hexdigest()


def _hash(item_id: str, option: str) -> bytes:
    return hashlib.sha256(f"{item_id}\x1f{option}".encode()).digest()


def _in_order(item: MultipleChoice, order: Sequence[int]) -> Altered:
    choices = tuple(item.choices[place] for place in order)
    answer = order.index(item.answer) if item.answer >= 0 else -1
    return Altered(choices, answer, choices != item.choices, "")
