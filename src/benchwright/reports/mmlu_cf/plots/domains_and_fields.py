"""Domains of the questions, and fields of both halves (MMLU-CF, Figure 6)."""

from typing import Any

import pandas as pd

from benchwright.reports.mmlu_cf.plots import CLOSED, PUBLIC
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    REMOVED,
    axis,
    clip,
    empty_plot,
    plain,
)
from benchwright.reports.page.plots import NOTES_BESIDE, bars, legend_below, margin, plot, rows_down

SHOWN = 12
_COUNTS = ["documents", "raw_items", "clean_items"]
_HALVES = (("validation", "public half", PUBLIC), ("test", "closed half", CLOSED))


def plot_domains(domain_counts: pd.DataFrame) -> Any:
    """Draw the clean and the rejected questions of the largest domains."""
    title = "Questions of the largest domains: clean (blue) and rejected (orange)"
    if not domain_counts["raw_items"].sum():
        return empty_plot(title, "No question was extracted from the documents.")
    table = top_domains(domain_counts)
    names = [plain(clip(name, 40)) for name in table["domain"]]
    # A bar of all other domains together would dwarf the rest: they get a note only.
    single = table["domain"].ne(_others(domain_counts)).astype(int)
    clean = (table["clean_items"] * single).tolist()
    rejected = ((table["raw_items"] - table["clean_items"]) * single).tolist()
    short = [f"{c:,} of {r:,}" for r, c in table[_COUNTS[1:]].itertuples(index=False)]
    notes = [
        f"{questions} · {n:,} {'document' if n == 1 else 'documents'}"
        for questions, n in zip(short, table["documents"], strict=True)
    ]
    most = int((table["raw_items"] * single).max())
    beside = {**NOTES_BESIDE, "text": notes, "constraintext": "none"}
    return plot(
        title,
        60 + 28 * len(names),
        [
            bars(clean, KEPT, "%{customdata}: %{x:,} clean", customdata=names),
            bars(rejected, REMOVED, "%{customdata}: %{x:,} rejected", customdata=names, **beside),
        ],
        barmode="stack",
        bargap=0.35,
        showlegend=False,
        margin=margin(30, right=8),
        xaxis=axis(range=[0, 1.4 * most], tickformat=",d", nticks=6),
        yaxis=rows_down(names),
        meta={
            "narrow": {
                "layout.xaxis.range": [0, 2 * most],
                "layout.xaxis.nticks": 4,
                "layout.yaxis.ticktext": [plain(clip(d, NARROW_NAME)) for d in table["domain"]],
                "data.1.text": short,
            }
        },
    )


def top_domains(domain_counts: pd.DataFrame, most: int = SHOWN) -> pd.DataFrame:
    """Keep the first `most` domains, and add up the counts of all others in one more row.

    Documents without a known domain count as "unknown".
    """
    table = domain_counts.assign(domain=domain_counts["domain"].replace("", "unknown"))
    if len(table) <= most + 1:
        return table
    rest = table.iloc[most:]
    other = {"domain": _others(domain_counts, most), **rest.drop(columns="domain").sum().to_dict()}
    return pd.concat([table.iloc[:most], pd.DataFrame([other])], ignore_index=True)


def _others(domain_counts: pd.DataFrame, most: int = SHOWN) -> str:
    return f"{len(domain_counts) - most:,} other domains"


def plot_field_halves(public_split_assignment: pd.DataFrame) -> Any:
    """Draw the number of questions of each field in each half, the most frequent field first."""
    title = "Questions of each field in the public and in the closed half"
    if public_split_assignment.empty:
        return empty_plot(title, "The halves have no questions.")
    counts = count_field_halves(public_split_assignment)
    names, short = (
        [plain(clip(name or "no field", most)) for name in counts.index]
        for most in (40, NARROW_NAME)
    )
    height = 34 * len(names)
    return plot(
        title,
        height + 78,
        [
            bars(
                counts[half].tolist(),
                colour,
                f"%{{customdata}}: %{{x:,}} in the {name}",
                name=name,
                text=[f"{n:,}" for n in counts[half]],
                customdata=names,
                **NOTES_BESIDE,
            )
            for half, name, colour in _HALVES
        ],
        barmode="group",
        bargap=0.3,
        xaxis=axis(range=[0, 1.12 * int(counts.to_numpy().max())], tickformat=",d", nticks=6),
        yaxis=rows_down(names),
        legend=legend_below(36, height),
        margin=margin(70),
        meta={"narrow": {"layout.xaxis.nticks": 4, "layout.yaxis.ticktext": short}},
    )


def count_field_halves(assignment: pd.DataFrame) -> pd.DataFrame:
    """Count questions by field (rows, most frequent first) and half (validation, test)."""
    counts = pd.crosstab(assignment["field"], assignment["half"])
    counts = counts.reindex(columns=[half for half, _, _ in _HALVES], fill_value=0)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order]
