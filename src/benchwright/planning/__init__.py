"""How many items a purpose takes, from answers that exist (docs/plan.md)."""

from benchwright.planning.cost import CostPerPrompt
from benchwright.planning.plan import Answers, Plan, PlanRow, Wanted, make_plan

__all__ = ["Answers", "CostPerPrompt", "Plan", "PlanRow", "Wanted", "make_plan"]
