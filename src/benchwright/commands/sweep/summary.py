"""The table of a sweep: one row per combination."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchwright.core.natural_order import in_order
from benchwright.tables.smart import RULES

_FIRST = ("n_items", "n_kept", "share_removed")
_EVIDENCE = (
    "kendall_tau_b",
    "kendall_tau_b.low",
    "kendall_tau_b.high",
    "kendall_tau_b.held_out",
    "kendall_tau_b.held_out.low",
    "kendall_tau_b.held_out.high",
    "n_panel_models",
    "n_held_out_models",
    "percentile.kendall_tau_b",
    "random_mean.kendall_tau_b",
    "arena_pearson_full",
    "arena_pearson_kept",
    "arena_williams_p",
    "n_rated_models",
    "ire_share_removed",
    "ire.kendall_tau_b",
)
_ALWAYS = (
    *_FIRST,
    *("kendall_tau_b", "kendall_tau_b.held_out", "n_panel_models", "n_held_out_models"),
    *("arena_pearson_full", "arena_pearson_kept"),
)


class Combination(NamedTuple):
    """One run of a sweep."""

    benchmark: str
    variant: str
    seed: int

    def __str__(self) -> str:
        """As progress lines name it: `arc · smart · seed 0`."""
        return f"{self.benchmark} · {self.variant} · seed {self.seed}"


class SweepRun(NamedTuple):
    """What became of one combination.

    Attributes:
        combination: benchmark, variant and seed.
        status: `done`, `failed`, `interrupted` or `not_run`.
        seconds: wall time; 0 where it did not run.
        version: the version its files are saved under, "" where it did not run.
        metrics: the numbers of its `metrics` dataset; empty where the pipeline has none.
        report: its HTML report, where there is one.
        error: why it failed, in one line.
    """

    combination: Combination
    status: str
    seconds: float = 0.0
    version: str = ""
    metrics: Mapping[str, float] = {}
    report: Path | None = None
    error: str = ""


def rule_columns(columns: Sequence[str]) -> list[str]:
    """The columns `share_removed.<rule>` in the order in which the rules are applied."""
    prefix = "share_removed."
    found = [column.removeprefix(prefix) for column in columns if column.startswith(prefix)]
    known = [rule for rule in RULES if rule in found]
    return [prefix + rule for rule in (*known, *sorted(set(found) - set(known)))]


def summarise_sweep(runs: list[SweepRun]) -> pd.DataFrame:
    """One row per combination, in the order given.

    Columns: benchmark, variant, seed, status; numbers and shares (0–1) of items, with
    `share_removed.<rule>`; the evidence (Kendall's tau-b, ratings, IRE); wall_seconds; all other
    metrics by name; version, report, error. What a run does not have is missing (NaN or NA),
    never 0. Counts (`n_…`) are Int64.
    """
    known = {name for run in runs for name in run.metrics}
    front = [*_FIRST, *rule_columns(sorted(known))]
    front += [name for name in _EVIDENCE if name in known or name in _ALWAYS]
    others = in_order(known - {*front, "wall_seconds"})
    metrics = pd.DataFrame([run.metrics for run in runs], columns=[*front, *others], dtype=float)
    whole = (metrics.isna() | (metrics % 1 == 0)).all()
    counts = [name for name in (*front, *others) if name.startswith("n_") and whole[name]]
    metrics = metrics.astype(dict.fromkeys(counts, "Int64"))
    told = {
        **{name: [getattr(run.combination, name) for run in runs] for name in Combination._fields},
        "status": [run.status for run in runs],
        "wall_seconds": [round(run.seconds, 3) for run in runs],
        "version": [run.version for run in runs],
        "report": [str(run.report or "") for run in runs],
        "error": [run.error for run in runs],
    }
    types = dict.fromkeys(told, str) | {"seed": "int64", "wall_seconds": "float64"}
    table = pd.concat([pd.DataFrame(told).astype(types), metrics], axis=1)
    first = [*Combination._fields, "status", *front, "wall_seconds"]
    return table[[*first, *others, "version", "report", "error"]]


def spread_over_seeds(summary: pd.DataFrame) -> pd.DataFrame:
    """How much the seed decides: per benchmark and variant, over the seeds that are done.

    Columns: benchmark, variant, seeds, and `<figure>_mean` and `<figure>_sd` (sample standard
    deviation, NaN with fewer than two values) of share_removed, kendall_tau_b and
    kendall_tau_b.held_out. Only where there is more than one seed.
    """
    figures = ("share_removed", "kendall_tau_b", "kendall_tau_b.held_out")
    done = summary[summary["status"] == "done"]
    rows = []
    for (benchmark, variant), part in done.groupby(["benchmark", "variant"], sort=False):
        if len(part) < 2:
            continue
        row: dict[str, object] = {"benchmark": benchmark, "variant": variant, "seeds": len(part)}
        for figure in figures:
            known = part[figure].dropna()
            row[f"{figure}_mean"] = known.mean()
            row[f"{figure}_sd"] = known.std() if len(known) > 1 else float("nan")
        rows.append(row)
    columns = ["benchmark", "variant", "seeds"]
    columns += [f"{figure}_{kind}" for figure in figures for kind in ("mean", "sd")]
    return pd.DataFrame(rows, columns=columns)


def duration(seconds: float) -> str:
    """`42 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
