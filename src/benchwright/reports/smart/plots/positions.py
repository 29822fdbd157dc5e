"""The plot of choices that change when options are rotated."""

from typing import Any

import pandas as pd

from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots


def plot_position_sensitivity(position_sensitivity: pd.DataFrame) -> Any:
    """Draw the share of rotations under which each model chooses another option."""
    title = "Rotations under which the chosen option changes"
    table = position_sensitivity[position_sensitivity["measure"] == "changed"]
    if table.empty:
        return style.empty_plot(title, "No rotations were asked.")
    table = table.sort_values(["share", "model"], ignore_index=True)
    names = [style.plain(name) for name in table["model"]]
    trace = plots.bars(
        table["share"].tolist(),
        style.REMOVED,
        "%{customdata}: %{x:.1%}",
        customdata=names,
        error_x=plots.whiskers(table["share"], table["low"], table["high"], style.INK),
    )
    return plots.plot(
        f"{title}: {table['share'].min():.0%} to {table['share'].max():.0%} (95% intervals)",
        110 + 30 * len(table),
        [trace],
        xaxis=style.axis("share of rotations", tickformat=".0%", range=[0, 1]),
        yaxis=plots.rows_down(names),
    )
