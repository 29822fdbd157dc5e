"""Plots of the construction report, in colours that are readable on white and on black."""

from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED

PUBLIC, CLOSED = KEPT, "#a66bbe"
POOLS = {"rated": QUIET, "sampled": KEPT, "checked": "#3f9b6c", "final": REMOVED}
"""Colours of the steps, in order."""
