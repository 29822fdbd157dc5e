"""`benchwright plan`: how many items do, told in the terminal, as JSON and as a page."""

from benchwright.commands.plan.command import PlanRequest, run_plan
from benchwright.commands.plan.wording import plan_json, terminal_lines, write_json, write_page

__all__ = [
    "PlanRequest",
    "plan_json",
    "run_plan",
    "terminal_lines",
    "write_json",
    "write_page",
]
