"""The plots of the construction report (MMLU-CF, Figures 3, 4 and 8)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.core.wording import count
from benchwright.methods.mmlu_cf.construction_steps import Steps
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, clip
from benchwright.reports.page.shapes import Scale, Trace, curves, funnel, line, nothing

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
        ("documents", 0, 0, origin),
        ("questions extracted", steps.extracted, 0, f"{steps.extracted:,}"),
        _step("clean", steps.clean, steps.extracted),
        _step("sampled", steps.sampled, steps.clean),
    ]
    if steps.judged:
        shown.append(_step("checked", steps.checked, steps.sampled))
    else:
        shown.append(("checked", steps.checked, 0, f"{steps.checked:,}, no judge"))
    if steps.final < steps.checked:
        shown.append(_step("final sample", steps.final, steps.checked))
    by_rules = f"at least {altered:,} altered" if altered else "none altered"
    shown += [
        ("after the rules", steps.final, 0, by_rules),
        ("public half", steps.public, 0, f"{steps.public:,}"),
        ("closed half", steps.closed, 0, f"{steps.closed:,}, encrypted"),
    ]
    return funnel(title, shown)


def _step(name: str, left: int, before: int) -> tuple[str, int, int, str]:
    share = f" · {left / before:.1%}" if before else ""
    return name, left, before - left, f"{left:,}{share}"


def plot_difficulty_levels(difficulty_counts: pd.DataFrame) -> Any:
    """Draw the share of each level among the questions of each step, with the sample's target."""
    title = "Difficulty from 0 (easiest) to 9: share of each level after each step, and the target"
    known = difficulty_counts[difficulty_counts["level"] >= 0]
    if not known["n"].sum():
        return nothing(title, "No question has a difficulty level.")
    target = known[known["pool"].eq("sampled") & known["expected"].notna()].sort_values("level")
    traces = []
    if len(target):
        name = "target of the sample"
        traces.append(line(target["level"], target["expected"], QUIET, name, dash="dot"))
    for pool, colour in _POOLS.items():
        own = known[known["pool"] == pool].set_index("level")["n"]
        total = int(difficulty_counts.loc[difficulty_counts["pool"] == pool, "n"].sum())
        if len(own):
            traces.append(level_line(pool, colour, own, total))
    return level_curves(title, traces)


def level_line(name: str, colour: str, counts: "pd.Series[int]", of: int) -> Trace:
    """Return the share of each level, 0 to 9, among so many questions, from numbers by level."""
    counts = counts.reindex(range(10), fill_value=0)
    name = f"{clip(name, 40)} (n = {of:,})"
    hover = [f"{name}, level {level}: {n / of:.1%}, n = {n:,}" for level, n in counts.items()]
    return line(range(10), counts / of, colour, name, hover=hover, markers=True)


def level_curves(title: str, traces: Sequence[Trace]) -> Any:
    """Return a plot of lines of `level_line`."""
    levels = Scale("level", ticks={level: str(level) for level in range(10)})
    return curves(title, traces, levels, Scale("share", ".0%", zero=True))
