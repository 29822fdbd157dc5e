"""The fewest items with which something is so."""

from collections.abc import Callable


def smallest_size(reached: Callable[[int], bool], n: int) -> int | None:
    """The smallest size in 1 … n at which `reached`, by halving; None where all n do not do.

    `reached` has to stay true once it is; of a simulation, which wavers, a size near the change is
    found.
    """
    if n < 1 or not reached(n):
        return None
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high
