"""Whole numbers in proportion to sizes (the method of largest remainders)."""

from collections.abc import Mapping


def largest_remainder(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Share `total` among named groups in proportion to their `sizes` (≥ 0).

    Each group gets its exact share rounded down; what is left goes, one each, to the largest
    remainders, equal remainders in order of name. No group gets more than its size.

    Raises:
        ValueError: `total` is negative or larger than the sum of the sizes.
    """
    whole = sum(sizes.values())
    if not 0 <= total <= whole:
        raise ValueError(f"cannot share {total} among groups of {whole} in all")
    if whole == 0:
        return dict.fromkeys(sizes, 0)
    shares = {name: total * size // whole for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))
    for name in by_remainder[: total - sum(shares.values())]:
        shares[name] += 1
    return shares
