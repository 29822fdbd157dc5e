"""Colours of the halves and of the steps: readable on white and on black."""

from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED

PUBLIC = KEPT
CLOSED = "#a66bbe"
POOLS = {
    "rated": QUIET,
    "sampled": KEPT,
    "checked": "#3f9b6c",
    "final": REMOVED,
}
"""Of the questions after each step, in order."""
