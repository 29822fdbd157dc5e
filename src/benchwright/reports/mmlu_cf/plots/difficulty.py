"""Difficulty after each step (MMLU-CF, Figures 4 and 8), and strata of samples."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import known_share, quotas
from benchwright.reports.mmlu_cf.plots import POOLS
from benchwright.reports.page.plot_style import KEPT, QUIET, axis, clip, empty_plot, plain
from benchwright.reports.page.plots import NOTES_BESIDE, bars, legend_below, margin, plot, rows_down

# Every cell is light enough for dark plots, on a white page and on a black one.
_SCALE = [[0, "#ef9a6f"], [0.5, "#d5d8dc"], [1, "#8bbbe6"]]
_ON_CELLS = "#1d2126"
_SYMBOLS = {"rated": "circle", "sampled": "square", "checked": "diamond", "final": "triangle-up"}
_UNKNOWN = "?"
_LEVELS = [str(level) for level in range(10)]


def plot_difficulty_levels(difficulty_counts: pd.DataFrame) -> Any:
    """Draw the share of each level among the questions of each step, with the sample's target."""
    title = "Difficulty from 0 (easiest) to 9: share of each level after each step, and the target"
    if not any(known_share(difficulty_counts, pool) for pool in POOLS):
        return empty_plot(title, "No question has a difficulty level.")
    unknown = bool(difficulty_counts.loc[difficulty_counts["level"] < 0, "n"].sum())
    levels = [*_LEVELS, *([_UNKNOWN] if unknown else [])]
    traces = _target(difficulty_counts)
    for pool in POOLS:
        traces += _line(difficulty_counts, pool, unknown=unknown)
    below = 118
    narrow = {
        "layout.legend.orientation": "v",
        "layout.margin.b": below + 66,
        "layout.height": 320 + below + 66,
        "layout.yaxis.title.text": "share",
    }
    return plot(
        f"{title}; ? is not known" if unknown else title,
        320 + below,
        traces,
        xaxis=axis("level", type="category", categoryarray=levels, showgrid=False),
        yaxis=axis("share of the step", tickformat=".0%", rangemode="tozero", nticks=6),
        legend=legend_below(60, 312),
        margin=margin(below),
        hovermode="closest",
        meta={"narrow": narrow},
    )


def _line(counts: pd.DataFrame, pool: str, *, unknown: bool) -> list[dict[str, Any]]:
    of_pool = counts[counts["pool"] == pool].set_index("level")
    total = int(of_pool["n"].sum())
    if not total:
        return []
    levels = of_pool.reindex([*map(int, _LEVELS), -1])
    n = levels["n"].fillna(0).astype(int).tolist()
    share: list[float | None] = levels["share"].fillna(0).tolist()
    x = list(_LEVELS)
    if unknown:
        # A gap, so that no line joins the levels to "unknown", which is not a level.
        x, n, share = [*x, _UNKNOWN, _UNKNOWN], [*n[:-1], 0, n[-1]], [*share[:-1], None, share[-1]]
    colour = POOLS[pool]
    return [
        {
            "x": x,
            "y": share[: len(x)],
            "customdata": n[: len(x)],
            "mode": "lines+markers",
            "connectgaps": False,
            "name": f"{pool} (n = {total:,})",
            "line": {"color": colour, "width": 2},
            "marker": {"color": colour, "size": 8, "symbol": _SYMBOLS[pool]},
            "hovertemplate": f"{pool}, level %{{x}}: %{{y:.1%}}, n = %{{customdata:,}}"
            "<extra></extra>",
        }
    ]


def _target(counts: pd.DataFrame) -> list[dict[str, Any]]:
    of_sample = counts[(counts["pool"] == "sampled") & (counts["level"] >= 0)]
    of_sample = of_sample[of_sample["expected"].notna()].sort_values("level")
    if of_sample.empty:
        return []
    return [
        {
            "x": [str(level) for level in of_sample["level"]],
            "y": of_sample["expected"].tolist(),
            "mode": "lines",
            "name": "target of the sample",
            "line": {"color": QUIET, "width": 2, "dash": "dot"},
            "hovertemplate": "target, level %{x}: %{y:.1%}<extra></extra>",
        }
    ]


def plot_strata(sampling_strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    """Draw the sample and its target by field and level; by field if no level is known."""
    return _strata("The sample", sampling_strata, difficulty_counts)


def plot_final_strata(final_strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    """Draw the same for the final questions."""
    return _strata("The final sample", final_strata, difficulty_counts)


def _strata(what: str, strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    known = known_share(difficulty_counts) > 0
    table = quotas(strata, levels_known=known)
    table = table[(table["target"] > 0) | (table["sampled"] > 0)]
    if table.empty:
        return empty_plot(f"{what} by field and level", "Nothing was sampled.")
    return _cells(what, table) if known else _bars(what, table)


def _bars(what: str, table: pd.DataFrame) -> Any:
    names = [plain(clip(str(field), 40)) for field in table["field"]]
    targets = {
        "y": list(range(len(names))),
        "x": table["target"].tolist(),
        "mode": "markers",
        "marker": {
            "symbol": "line-ns-open",
            "size": 16,
            "color": QUIET,
            "line": {"width": 2, "color": QUIET},
        },
        "customdata": names,
        "hovertemplate": "%{customdata}: %{x:,} targeted<extra></extra>",
    }
    sampled = table["sampled"].tolist()
    notes = [f"{a:,} of {b:,}" for a, b in zip(sampled, targets["x"], strict=True)]
    hover = "%{customdata}: %{x:,} sampled"
    top = int(table[["sampled", "target"]].to_numpy().max())
    return plot(
        f"{what} by field (no level is known): sampled (bar) and target (grey line)",
        60 + 26 * len(names),
        [bars(sampled, KEPT, hover, text=notes, customdata=names, **NOTES_BESIDE), targets],
        bargap=0.35,
        showlegend=False,
        margin=margin(30),
        xaxis=axis(range=[0, 1.3 * top], tickformat=",d", nticks=6),
        yaxis=rows_down(names),
        meta={"narrow": {"layout.xaxis.nticks": 4}},
    )


def _cells(what: str, table: pd.DataFrame) -> Any:
    sampled, target, balance = (
        table.pivot_table(index="field", columns="level", values=name, aggfunc="sum")
        for name in ("sampled", "target", "balance")
    )
    levels = [str(level) for level in sampled.columns]
    names = [plain(clip(str(field), 40)) for field in sampled.index]
    pairs = zip(sampled.to_numpy().tolist(), target.to_numpy().tolist(), strict=True)
    most = max(int(table["balance"].abs().max()), 1)
    cells = {
        "type": "heatmap",
        "x": levels,
        "y": list(range(len(names))),
        "z": [[None if pd.isna(n) else int(n) for n in row] for row in balance.to_numpy().tolist()],
        "zmin": -most,
        "zmax": most,
        "colorscale": _SCALE,
        "showscale": False,
        "text": [
            ["" if pd.isna(a) else f"{a:,.0f}/{b:,.0f}" for a, b in zip(*row, strict=True)]
            for row in pairs
        ],
        "texttemplate": "%{text}",
        "textfont": {"color": _ON_CELLS},
        "customdata": [[name] * len(levels) for name in names],
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "%{customdata}, level %{x}: %{text} (%{z:+d})<extra></extra>",
    }
    short = [plain(clip(str(field), 9)) for field in sampled.index]
    return plot(
        f"{what} by field and level: sampled / target (orange: below, blue: above)",
        70 + 28 * len(names),
        [cells],
        margin=margin(46),
        xaxis=axis("level of difficulty", type="category", showgrid=False),
        yaxis=rows_down(names),
        meta={"narrow": {"layout.yaxis.ticktext": short, "data.0.textfont.size": 8}},
    )
