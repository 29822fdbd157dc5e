"""The plots of the construction report (MMLU-CF, Figures 3, 4 and 8)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.core.wording import count
from benchwright.methods.mmlu_cf.construction_steps import Steps
from benchwright.reports.page.figure import Mark, Scale
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, clip
from benchwright.reports.page.shapes import Step, curves, funnel, nothing

_POOLS = {"rated": QUIET, "sampled": KEPT, "checked": "#3f9b6c", "final": REMOVED}


def plot_construction_funnel(construction_steps: Steps) -> Any:
    """Draw how many questions each step left and removed; documents have a row but no bar."""
    title = "From documents to two halves: questions left (blue) and removed (orange)"
    steps = construction_steps
    if not steps.extracted:
        return nothing(title, "No question was extracted from the documents.")
    altered = max(steps.altered.values(), default=0)
    origin = f"{steps.documents:,} of {count(steps.domains, 'domain')}"
    shown = [
        Step("documents", 0, 0, origin),
        Step("questions extracted", steps.extracted, 0, f"{steps.extracted:,}"),
        _step("clean", steps.clean, steps.extracted),
        _step("sampled", steps.sampled, steps.clean),
    ]
    if steps.judged:
        shown.append(_step("checked", steps.checked, steps.sampled))
    else:
        shown.append(Step("checked", steps.checked, 0, f"{steps.checked:,}, no judge"))
    if steps.final < steps.checked:
        shown.append(_step("final sample", steps.final, steps.checked))
    by_rules = f"at least {altered:,} altered" if altered else "none altered"
    shown += [
        Step("after the rules", steps.final, 0, by_rules),
        Step("public half", steps.public, 0, f"{steps.public:,}"),
        Step("closed half", steps.closed, 0, f"{steps.closed:,}, encrypted"),
    ]
    return funnel(title, shown)


def _step(name: str, left: int, before: int) -> Step:
    share = f" · {left / before:.1%}" if before else ""
    return Step(name, left, before - left, f"{left:,}{share}")


def plot_difficulty_levels(difficulty_counts: pd.DataFrame) -> Any:
    """Draw the share of each level among the questions of each step, with the sample's target."""
    title = "Difficulty from 0 (easiest) to 9: share of each level after each step, and the target"
    known = difficulty_counts[difficulty_counts["level"] >= 0]
    if not known["n"].sum():
        return nothing(title, "No question has a difficulty level.")
    target = known[known["pool"].eq("sampled") & known["expected"].notna()].sort_values("level")
    marks = []
    if len(target):
        name = "target of the sample"
        marks.append(Mark("line", target["level"], target["expected"], QUIET, name, dash="dot"))
    for pool, colour in _POOLS.items():
        own = known[known["pool"] == pool].set_index("level")["n"]
        total = int(difficulty_counts.loc[difficulty_counts["pool"] == pool, "n"].sum())
        if len(own):
            marks.append(level_line(pool, colour, own, total))
    return level_curves(title, marks)


def level_line(name: str, colour: str, counts: "pd.Series[int]", of: int) -> Mark:
    """Return the share of each level, 0 to 9, among so many questions, from numbers by level."""
    counts = counts.reindex(range(10), fill_value=0)
    name = f"{clip(name, 40)} (n = {of:,})"
    hover = [f"{name}, level {level}: {n / of:.1%}, n = {n:,}" for level, n in counts.items()]
    return Mark("line", range(10), counts / of, colour, name, hover, dotted=True)


def level_curves(title: str, marks: Sequence[Mark]) -> Any:
    """Return a plot of lines of `level_line`."""
    levels = Scale("level", ticks={level: str(level) for level in range(10)})
    return curves(title, marks, levels, Scale("share", ".0%", zero=True))
