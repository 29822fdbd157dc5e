"""`benchwright plan`: the number of items for a target precision, as text, JSON and HTML."""

from typing import Any, NamedTuple

import numpy as np

from benchwright.answers.model_descriptions import family_of
from benchwright.answers.table import Answers
from benchwright.core.configuration import count_models
from benchwright.core.text_table import table_lines
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.planning.plan import (
    Plan,
    PlanRow,
    Wanted,
    make_plan,
)
from benchwright.methods.dele.planning.predicted_scores import FEWEST_MODELS


class MadePlan(NamedTuple):
    """A plan, what was wanted, and the origin of the responses."""

    wanted: Wanted
    source: str
    models: str  # their number, in words
    notes: tuple[str, ...]
    plan: Plan


def run_plan(known: Answers, wanted: Wanted) -> MadePlan:
    """Make a plan from known responses to the whole benchmark.

    Raises:
        InputError: a target is invalid.
    """
    # The random pairs of models must not depend on the order of the file.
    order = np.argsort(np.array(known.models, object))
    kin = [
        known.families.get(name) or family_of(name.rsplit("/", 1)[-1]) or f"\0{name}"
        for name in known.models
    ]
    numbers = np.unique(kin, return_inverse=True)[1][order]
    plan = make_plan(Training(known.correct[order], known.clusters(), numbers), wanted)
    models, few = count_models(known.models), plan.models < FEWEST_MODELS
    note = f"{models}; with fewer than {FEWEST_MODELS} the figures may not hold for others"
    return MadePlan(wanted, known.source, models, (*known.notes, *[note] * few), plan)


GOALS = {
    "standard_error": "standard error",
    "detectable_difference": "detectable difference",
    "order": "order at a gap of",
    "tau_b": "tau-b",
    "spearman": "Spearman",
}


def terminal_lines(made: MadePlan) -> list[str]:
    """Return the lines to print."""
    rows = [cells(row, made.plan.items) | {"reason": row.reason} for row in made.plan.rows]
    return [
        f"{made.source}: {made.models}, {made.plan.items:,} items",
        *(f"note: {note}" for note in made.notes),
        *table_lines(rows),
        "",
        *([made.plan.advice] if made.plan.advice else []),
        *explanations(made.wanted),
    ]


def explanations(wanted: Wanted) -> list[str]:
    """Explain the columns of the table."""
    return [
        "standard error: around the score on all these items (benchmark), or on all items of this "
        "kind (ability); aipw: estimated from the responses of these models too",
        f"detectable difference: with power {wanted.power:g}, by a two-sided paired test at level "
        f"{wanted.alpha:g}; order: right with probability {wanted.order:g}, ties count half; "
        "tau-b, Spearman: reached in nine of ten random halves of the models, families together; "
        "stronger models: by half of the subsets in the better half",
        "The plan assumes that future models resemble these; stronger ones are often closer.",
    ]


def cells(row: PlanRow, n: int) -> dict[str, str]:
    """Return a row of the table of items needed."""
    return {
        "goal": f"{GOALS[row.goal]} {row.wanted:g}",
        "whose": row.whose if row.goal != "standard_error" else f"{row.whose}, {row.target}",
        "sampler": row.sampler if row.estimator == "mean" else f"{row.sampler}, {row.estimator}",
        "items": "not reached" if row.items is None else f"{row.items:,}",
        "share": "" if row.items is None else f"{row.items / n:.1%}",
        "value": _number(row.value),
        "with all": _number(row.with_all),
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def plan_json(made: MadePlan) -> dict[str, Any]:
    """Return the plan as JSON: its rows and curve."""
    curve = made.plan.curve
    return {
        "format": 4,
        "source": made.source,
        "notes": list(made.notes),
        "models": made.plan.models,
        "items": made.plan.items,
        "wanted": made.wanted._asdict(),
        "advice": made.plan.advice,
        "rows": [row._asdict() for row in made.plan.rows],
        "curve": curve.astype(object).where(curve.notna(), None).to_dict("records"),
    }


def verdict(plan: Plan) -> str:
    """Say in one sentence how many random items each target needs, in its strictest row."""
    strictest = {
        (row.goal, row.wanted): row
        for row in plan.rows
        if (row.sampler, row.estimator) == ("random", "mean")
        and (row.goal != "standard_error" or row.target == "benchmark")
    }
    half = {
        (row.goal, row.wanted): f"; half of them: {row.items:,}"
        for row in plan.rows
        if row.whose == "half of subsets" and row.items
    }
    needs = [
        f"{GOALS[row.goal]} {row.wanted:g} is not reached ({row.reason})"
        if row.items is None
        else f"{row.items:,} ({row.items / plan.items:.0%}) are enough for {GOALS[row.goal]} "
        f"{row.wanted:g} ({row.whose}{half.get((row.goal, row.wanted), '')})"
        for row in strictest.values()
    ]
    return f"Of {plan.items:,} items, chosen at random: {'; '.join(needs)}."
