"""The plots of the construction report (MMLU-CF, Figures 3, 4, 6 and 8)."""

from math import nan
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import Steps, known_share, quotas
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, clip
from benchwright.reports.page.shapes import (
    Panel,
    Scale,
    Trace,
    bars,
    curves,
    funnel,
    heatmap,
    line,
    nothing,
    rows,
)
from benchwright.reports.page.wording import count

PUBLIC, CLOSED = KEPT, "#a66bbe"
_POOLS = {"rated": QUIET, "sampled": KEPT, "checked": "#3f9b6c", "final": REMOVED}
_HALVES = (("validation", "public half", PUBLIC), ("test", "closed half", CLOSED))
_DOMAINS = 12
_UNKNOWN = 10  # the place of questions without a level, beside the levels 0 to 9
# Every cell is light enough for dark texts, on a white page and on a black one.
_CELLS = [[0, "#ef9a6f"], [0.5, "#d5d8dc"], [1, "#8bbbe6"]]


def plot_construction_funnel(construction_steps: Steps) -> Any:
    """Draw how many questions each step left and removed; documents have a row but no bar."""
    title = "From documents to two halves: questions left (blue) and removed (orange)"
    steps = construction_steps
    if not steps.extracted:
        return nothing(title, "No question was extracted from the documents.")
    leaks = steps.leaks.removed
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
    as_leaks = f" · {leaks:,} removed as leaks" if leaks else ""
    shown += [
        ("after the rules", steps.final, 0, by_rules),
        ("public half", steps.public, 0, f"{steps.public:,}{as_leaks}"),
        ("closed half", steps.closed, 0, f"{steps.closed:,}, encrypted"),
    ]
    return funnel(title, shown)


def _step(name: str, left: int, before: int) -> tuple[str, int, int, str]:
    share = f" · {left / before:.1%}" if before else ""
    return name, left, before - left, f"{left:,}{share}"


def plot_cleaning_funnel(cleaning_funnel: pd.DataFrame) -> Any:
    """Draw the rows left after each rule, and those that it rejected or rewrote."""
    title = "From raw to clean items: kept after each rule (blue) and rejected by it (orange)"
    start = int(cleaning_funnel["rows_in"].iloc[0]) if len(cleaning_funnel) else 0
    if not start:
        return nothing(title, "No rule ran, or no question was extracted from the documents.")
    records = cleaning_funnel.to_dict("records")
    steps = [
        (row["rule"].replace("_", " "), int(row["rows_out"]), int(row["rejected"]), _note(row))
        for row in records
    ]
    name, left, rejected, note = steps[-1]
    steps[-1] = (name, left, rejected, f"{note or f'{left:,}'} · {left / start:.1%}")
    return funnel(title, [("raw items", start, 0, f"{start:,}"), *steps])


def _note(row: dict[Any, Any]) -> str:
    if row["kind"] == "rewrite":
        return f"{row['changed']:,} rewritten" if row["changed"] else ""
    return f"−{row['rejected']:,} → {row['rows_out']:,}" if row["rejected"] else ""


def plot_domains(domain_counts: pd.DataFrame) -> Any:
    """Draw the clean and the rejected questions of the largest domains; the others are a note."""
    title = "Questions of the largest domains: clean (blue) and rejected (orange)"
    if not domain_counts["raw_items"].sum():
        return nothing(title, "No question was extracted from the documents.")
    table = domain_counts.assign(domain=domain_counts["domain"].replace("", "unknown"))
    rest = table.iloc[_DOMAINS:] if len(table) > _DOMAINS + 1 else table.iloc[:0]
    table = table.iloc[: len(table) - len(rest)]
    names, raw, clean = (table[name].tolist() for name in ("domain", "raw_items", "clean_items"))
    notes = [_of_domain(*counts) for counts in zip(clean, raw, table["documents"], strict=True)]
    if len(rest):
        others = rest[["clean_items", "raw_items", "documents"]].sum()
        names, notes = [*names, f"{len(rest):,} other domains"], [*notes, _of_domain(*others)]
    empty = [0] * (len(names) - len(raw))  # a bar of all others would dwarf the rest
    rejected = [of - n for of, n in zip(raw, clean, strict=True)]
    parts = [
        bars([*clean, *empty], KEPT, hover=[f"{n:,} clean" for n in [*clean, *empty]]),
        bars([*rejected, *empty], REMOVED, notes=notes),
    ]
    across = Scale(form=",d", reach=(0, 1.4 * max(raw)))
    return rows(title, [clip(name, 40) for name in names], Panel(parts, across))


def _of_domain(clean: int, raw: int, documents: int) -> str:
    return f"{clean:,} of {raw:,} · {count(documents, 'document')}"


def plot_field_halves(public_split_assignment: pd.DataFrame) -> Any:
    """Draw the number of questions of each field in each half, the most frequent field first."""
    title = "Questions of each field in the public and in the closed half"
    if public_split_assignment.empty:
        return nothing(title, "The halves have no questions.")
    counts = pd.crosstab(public_split_assignment["field"], public_split_assignment["half"])
    counts = counts.reindex(columns=[half for half, *_ in _HALVES], fill_value=0)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    counts = counts.loc[order]
    names = [clip(name or "no field", 40) for name in counts.index]
    parts = [
        bars(counts[half], colour, name, notes=[f"{n:,}" for n in counts[half]])
        for half, name, colour in _HALVES
    ]
    across = Scale(form=",d", reach=(0, 1.12 * int(counts.to_numpy().max())))
    return rows(title, names, Panel(parts, across), grouped=True, row=34)


def plot_difficulty_levels(difficulty_counts: pd.DataFrame) -> Any:
    """Draw the share of each level among the questions of each step, with the sample's target."""
    title = "Difficulty from 0 (easiest) to 9: share of each level after each step, and the target"
    if not any(known_share(difficulty_counts, pool) for pool in _POOLS):
        return nothing(title, "No question has a difficulty level.")
    unknown = bool(difficulty_counts.loc[difficulty_counts["level"] < 0, "n"].sum())
    target = difficulty_counts[
        difficulty_counts["pool"].eq("sampled") & difficulty_counts["expected"].notna()
    ].sort_values("level")
    traces = []
    if len(target):
        name = "target of the sample"
        traces.append(line(target["level"], target["expected"], QUIET, name, dash="dot"))
    for pool, colour in _POOLS.items():
        own = difficulty_counts[difficulty_counts["pool"] == pool].set_index("level")
        if own["n"].sum():
            traces.append(_levels(own, f"{pool} (n = {own['n'].sum():,})", colour, unknown=unknown))
    places: dict[Any, str] = {level: str(level) for level in range(10)}
    if unknown:
        title, places = f"{title}; ? is not known", places | {_UNKNOWN: "?"}
    return curves(
        title, traces, Scale("level", ticks=places), Scale("share of the step", ".0%", zero=True)
    )


def _levels(own: pd.DataFrame, name: str, colour: str, *, unknown: bool) -> Trace:
    """Return a line over the levels; a gap is before "unknown", which is not a level."""
    shares = own["share"].reindex([*range(10), -1]).fillna(0).tolist()
    n = own["n"].reindex([*range(10), -1]).fillna(0).astype(int).tolist()
    x: list[float] = list(range(10))
    hover = [f"{name}, level {level}: {shares[level]:.1%}, n = {n[level]:,}" for level in range(10)]
    y = shares[:10]
    if unknown:
        x, y = [*x, nan, _UNKNOWN], [*y, nan, shares[-1]]
        hover += ["", f"{name}, unknown: {shares[-1]:.1%}, n = {n[-1]:,}"]
    return line(x, y, colour, name, hover=hover, markers=True)


def plot_strata(sampling_strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    """Draw the sample and its target by field and level; by field if no level is known."""
    known = known_share(difficulty_counts) > 0
    table = quotas(sampling_strata, levels_known=known)
    table = table[(table["target"] > 0) | (table["sampled"] > 0)]
    title = "The sample by field and level: sampled / target (orange: below, blue: above)"
    if table.empty:
        return nothing(title, "Nothing was sampled.")
    sampled, target, balance = (
        table.pivot_table(index="field", columns="level", values=name, aggfunc="sum")
        for name in ("sampled", "target", "balance")
    )
    texts = [
        ["" if pd.isna(a) else f"{a:,.0f}/{b:,.0f}" for a, b in zip(*pair, strict=True)]
        for pair in zip(sampled.to_numpy(), target.to_numpy(), strict=True)
    ]
    most = max(int(table["balance"].abs().max()), 1)
    return heatmap(
        title,
        [clip(str(field), 40) for field in sampled.index],
        [str(level) if known else "unknown" for level in sampled.columns],
        balance.to_numpy().tolist(),
        texts,
        ends=(-most, most),
        scale=_CELLS,
        unit="level of difficulty",
    )
