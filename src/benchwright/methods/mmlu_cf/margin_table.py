"""Whole-number tables (fields × levels) that come nearest to given sums, by linear programming.

The sums are those of cells, fields, levels and first levels: two laminar families over the cells,
so the constraints are totally unimodular (Edmonds 1970) and a vertex of the linear programme is
whole.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

# Reduced costs below this are rounding of the solver.
_ZERO = 1e-7


class Goal(NamedTuple):
    """Sums to bring near `target` (r,); row i of `sums` (r, cells) weighs the cells."""

    sums: NDArray[np.float64]
    target: NDArray[np.float64]


def cell_goal(target: NDArray[np.floating | np.integer]) -> Goal:
    """Aim at `target` (fields, levels) for every cell."""
    return Goal(np.eye(target.size, dtype=np.float64), np.asarray(target, dtype=np.float64).ravel())


def field_goal(target: NDArray[np.floating | np.integer], levels: int) -> Goal:
    """Aim at `target` (fields,) for the sum of every field over its levels."""
    sums = np.kron(np.eye(len(target)), np.ones((1, levels))).astype(np.float64)
    return Goal(sums, np.asarray(target, dtype=np.float64))


def level_goal(target: NDArray[np.floating | np.integer], fields: int) -> Goal:
    """Aim at `target` (levels,) for the sum of every level over the fields."""
    sums = np.kron(np.ones((1, fields)), np.eye(len(target))).astype(np.float64)
    return Goal(sums, np.asarray(target, dtype=np.float64))


def cumulative_level_goal(target: NDArray[np.floating | np.integer], fields: int) -> Goal:
    """Aim at the cumulative sums of levels, so that the nearest level makes up for a lack."""
    goal = level_goal(target, fields)
    return Goal(np.cumsum(goal.sums, axis=0), np.cumsum(goal.target))


def joined(*goals: Goal) -> Goal:
    """Join several goals of equal weight."""
    return Goal(
        np.vstack([goal.sums for goal in goals]), np.concatenate([goal.target for goal in goals])
    )


def nearest_table(lower: Counts, upper: Counts, total: int, goals: Sequence[Goal]) -> Counts:
    """Find the table within bounds and of a given sum that misses the goals by the least.

    The miss of a goal is the sum of the absolute deviations from its target. The first goal's miss
    is minimised, then the second's without giving up on the first, and so on: exact, by HiGHS. The
    order of the cells alone breaks ties. `lower` and `upper` (fields, levels) bound each cell; the
    most important goal comes first.

    Raises:
        ValueError: no table has these bounds and this sum.
    """
    if (lower > upper).any() or not lower.sum() <= total <= upper.sum():
        raise ValueError(
            f"no table sums to {total} between {int(lower.sum())} and {int(upper.sum())}"
        )
    if lower.size == 0 or lower.sum() == upper.sum() or not goals:
        return lower.astype(np.int64)
    # One linear programme per goal, each on the optimal face of the one before. Columns are the
    # cells and then, for each sum, what it is above its target rounded down: the first unit of
    # that (whose cost may be negative), the rest of it, and what it is below. The optimal face is
    # where every column with a reduced cost stays at its bound, so that bounds are all that
    # changes and the constraints stay unimodular.
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, identity, vstack

    cells = lower.size
    target = np.concatenate([goal.target for goal in goals])
    whole = np.floor(target + 1e-9)
    rows = len(target)
    sums = csr_array(np.vstack([goal.sums for goal in goals]))
    unit = identity(rows, format="csr")
    every = csr_array(np.concatenate([np.ones(cells), np.zeros(3 * rows)])[None, :])
    equal = vstack([hstack([sums, -unit, -unit, unit]), every], format="csr")
    right = np.append(whole, total)
    bounds = np.column_stack(
        [
            np.concatenate([lower.ravel(), np.zeros(3 * rows)]),
            np.concatenate([upper.ravel(), np.ones(rows), np.full(2 * rows, np.inf)]),
        ]
    )
    first_unit = 1 - 2 * np.round(target - whole, 9)
    values = lower.ravel().astype(np.float64)
    start = 0
    for goal in goals:
        of_goal = slice(start, start + len(goal.target))
        start = of_goal.stop
        cost = np.zeros((3, rows))
        cost[0, of_goal], cost[1:, of_goal] = first_unit[of_goal], 1
        costs = np.concatenate([np.zeros(cells), cost.ravel()])
        solution = linprog(costs, A_eq=equal, b_eq=right, bounds=bounds, method="highs-ds")
        if solution.x is None:  # bounds and sum were checked, so this is the solver's failure
            raise ValueError(f"the quotas could not be solved: {solution.message}")
        values = np.rint(solution.x)
        at_bound = np.abs(solution.lower.marginals) + np.abs(solution.upper.marginals) > _ZERO
        bounds[at_bound] = values[at_bound, None]
    return np.asarray(values[:cells], dtype=np.int64).reshape(lower.shape)
