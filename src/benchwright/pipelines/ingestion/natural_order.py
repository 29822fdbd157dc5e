"""The order of item ids that a reader expects: `mmlu/anatomy/2` before `mmlu/anatomy/10`."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(item_id: str) -> tuple[list[tuple[str, int, str]], str]:
    """Sort key in which runs of digits count as numbers; the id itself settles ties."""
    parts = _DIGITS.split(item_id)
    key = []
    for text, digits in zip(parts[::2], [*parts[1::2], ""], strict=True):
        number = digits.lstrip("0")
        key.append((text, len(number), number))  # a longer number is a greater one
    return key, item_id
