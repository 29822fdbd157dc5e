"""How many items a purpose takes, from answers that exist (docs/how_to/plan.md)."""

from benchwright.methods.dele.planning.plan import (
    Answers,
    CostPerPrompt,
    Plan,
    PlanRow,
    Wanted,
    make_plan,
)

__all__ = ["Answers", "CostPerPrompt", "Plan", "PlanRow", "Wanted", "make_plan"]
