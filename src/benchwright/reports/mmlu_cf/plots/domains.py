"""Where the questions come from: domains, and what of theirs is clean."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    REMOVED,
    axis,
    clip,
    empty_figure,
    layout,
    plain,
)

SHOWN = 12
_COUNTS = ["documents", "raw_items", "clean_items"]


def draw_domains(domain_counts: pd.DataFrame) -> Any:
    """Draw the questions found in each domain, clean and rejected; those of most questions."""
    import plotly.graph_objects as go

    title = "Questions of the largest domains: clean (blue) and rejected (orange)"
    if not domain_counts["raw_items"].sum():
        return empty_figure(title, "No question was found in the documents.")
    table = top_domains(domain_counts)
    rows = list(range(len(table)))
    names = [plain(clip(name, 40)) for name in table["domain"]]
    # A bar of all other domains together would dwarf every single one: they get words alone.
    single = table["domain"].ne(_others(domain_counts)).astype(int)
    clean = (table["clean_items"] * single).tolist()
    gone = ((table["raw_items"] - table["clean_items"]) * single).tolist()
    notes = [
        f"{c:,} of {r:,} · {d:,} {'document' if d == 1 else 'documents'}"
        for d, r, c in table[_COUNTS].itertuples(index=False)
    ]
    most = int((table["raw_items"] * single).max())
    hover = "%{customdata}: %{x:,} "
    return go.Figure(
        [
            go.Bar(
                y=rows,
                x=clean,
                orientation="h",
                marker={"color": KEPT, "line": {"width": 0}},
                customdata=names,
                hovertemplate=f"{hover}clean<extra></extra>",
            ),
            go.Bar(
                y=rows,
                x=gone,
                orientation="h",
                marker={"color": REMOVED, "line": {"width": 0}},
                text=notes,
                textposition="outside",
                cliponaxis=False,
                constraintext="none",
                customdata=names,
                hovertemplate=f"{hover}rejected<extra></extra>",
            ),
        ],
        layout(
            title,
            60 + 28 * len(rows),
            barmode="stack",
            bargap=0.35,
            showlegend=False,
            margin={"l": 8, "r": 8, "t": 8, "b": 30},
            xaxis=axis(range=[0, 1.4 * most], tickformat=",d", nticks=6),
            yaxis=axis(
                tickvals=rows, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False
            ),
            meta={
                "narrow": {
                    "layout.xaxis.range": [0, 2 * most],
                    "layout.xaxis.nticks": 4,
                    "layout.yaxis.ticktext": [
                        plain(clip(name, NARROW_NAME)) for name in table["domain"]
                    ],
                    "data.1.text": [
                        f"{c:,} of {r:,}" for r, c in table[_COUNTS[1:]].itertuples(index=False)
                    ],
                }
            },
        ),
    )


def top_domains(domain_counts: pd.DataFrame, most: int = SHOWN) -> pd.DataFrame:
    """The domains of most clean questions, and the others together in a last row.

    Documents of no known domain are "not known".

    Returns:
        domain, documents, raw_items, clean_items; at most `most` rows and one more.
    """
    table = domain_counts.assign(domain=domain_counts["domain"].replace("", "not known"))
    if len(table) <= most + 1:
        return table
    rest = table.iloc[most:]
    other = {"domain": _others(domain_counts, most), **rest[_COUNTS].sum().to_dict()}
    return pd.concat([table.iloc[:most], pd.DataFrame([other])], ignore_index=True)


def _others(domain_counts: pd.DataFrame, most: int = SHOWN) -> str:
    """The name of the last row; no domain has a space."""
    return f"{len(domain_counts) - most:,} other domains"
