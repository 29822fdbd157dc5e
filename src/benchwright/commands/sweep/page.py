"""The summary of a sweep as a table and as a page."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pandas as pd

from benchwright.core.natural_order import in_order
from benchwright.reports.page.parts import (
    Cell,
    Column,
    Page,
    Plot,
    Section,
    Text,
    as_count,
    as_metric,
    as_share,
    as_text,
    as_words,
    render_page,
    table_of,
)
from benchwright.reports.page.plot_style import axis, plain
from benchwright.reports.page.plots import PALETTE, legend_below, margin, plot, points, whiskers
from benchwright.reports.page.wording import is_missing
from benchwright.tables.smart import RULES

_Row = Mapping[Any, Any]

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
        """Return the name in progress lines: `arc · smart · seed 0`."""
        return f"{self.benchmark} · {self.variant} · seed {self.seed}"


class SweepRun(NamedTuple):
    """The result of one combination.

    Attributes:
        combination: benchmark, variant and seed.
        status: `done`, `failed`, `interrupted` or `not_run`.
        seconds: wall time; 0 if it did not run.
        version: its saved version, "" if it did not run.
        metrics: its datasets of metrics; empty if the pipeline has none.
        report: its HTML report, if there is one.
        error: the error in one line, if it failed.
        main: the metrics that the catalog lists for MLflow.
    """

    combination: Combination
    status: str
    seconds: float = 0.0
    version: str = ""
    metrics: Mapping[str, float] = {}
    report: Path | None = None
    error: str = ""
    main: Sequence[str] = ()


def rule_columns(columns: Sequence[str]) -> list[str]:
    """Return the columns `share_removed.<rule>` in the order in which the rules are applied."""
    prefix = "share_removed."
    rules = [column.removeprefix(prefix) for column in columns if column.startswith(prefix)]
    known = [rule for rule in RULES if rule in rules]
    return [prefix + rule for rule in (*known, *sorted(set(rules) - set(known)))]


def summarise_sweep(runs: list[SweepRun]) -> pd.DataFrame:
    """Return one row per combination, in the given order.

    Columns: benchmark, variant, seed, status; numbers and shares (0–1) of items, with
    `share_removed.<rule>`; the evidence (Kendall's tau-b, ratings, IRE), without the columns of
    filters where no run filters; wall_seconds; all other metrics by name; version, report, error.
    Missing values are NaN or NA. Counts (`n_…`) are Int64.
    """
    known = {name for run in runs for name in run.metrics}
    filtered = not known or "share_removed" in known
    front = [*_FIRST, *rule_columns(sorted(known)), *_EVIDENCE]
    front = [name for name in front if name in known or (filtered and name in _ALWAYS)]
    others = in_order(known - {*front, "wall_seconds"})
    metrics = pd.DataFrame([run.metrics for run in runs], columns=[*front, *others], dtype=float)
    whole = (metrics.isna() | (metrics % 1 == 0)).all()
    counts = [name for name in (*front, *others) if name.startswith("n_") and whole[name]]
    metrics = metrics.astype(dict.fromkeys(counts, "Int64"))
    described = {
        **{name: [getattr(run.combination, name) for run in runs] for name in Combination._fields},
        "status": [run.status for run in runs],
        "wall_seconds": [round(run.seconds, 3) for run in runs],
        "version": [run.version for run in runs],
        "report": [str(run.report or "") for run in runs],
        "error": [run.error for run in runs],
    }
    types = dict.fromkeys(described, str) | {"seed": "int64", "wall_seconds": "float64"}
    table = pd.concat([pd.DataFrame(described).astype(types), metrics], axis=1)
    first = [*Combination._fields, "status", *front, "wall_seconds"]
    return table[[*first, *others, "version", "report", "error"]]


def main_columns(runs: Sequence[SweepRun]) -> dict[str, None]:
    """Return the metrics that the catalog lists for MLflow, of all runs."""
    return dict.fromkeys(name for run in runs for name in run.main)


_MOST_MAIN = 5  # metrics that fit on a line of a terminal


def write_main_columns(runs: Sequence[SweepRun]) -> str:
    """Return the first main metrics, a line per run, as plain text."""
    metrics = list(main_columns(runs))[:_MOST_MAIN]
    table = summarise_sweep(list(runs)).reindex(columns=[*Combination._fields, "status", *metrics])
    written = table.astype(object).where(table.notna(), "–")
    return written.to_string(index=False, float_format="{:.3f}".format)


def spread_over_seeds(summary: pd.DataFrame) -> pd.DataFrame:
    """Return means and standard deviations over seeds, per benchmark and variant.

    Only benchmarks and variants with several finished seeds have a row. Columns: benchmark,
    variant, seeds, and `<metric>_mean` and `<metric>_sd` (sample standard deviation, NaN with fewer
    than two values) of share_removed, kendall_tau_b and kendall_tau_b.held_out.
    """
    wanted = ("share_removed", "kendall_tau_b", "kendall_tau_b.held_out")
    metrics = [name for name in wanted if name in summary]
    done = summary[summary["status"] == "done"] if metrics else summary[:0]
    rows = []
    for (benchmark, variant), part in done.groupby(["benchmark", "variant"], sort=False):
        if len(part) < 2:
            continue
        row: dict[str, object] = {"benchmark": benchmark, "variant": variant, "seeds": len(part)}
        for metric in metrics:
            known = part[metric].dropna()
            row[f"{metric}_mean"] = known.mean()
            row[f"{metric}_sd"] = known.std() if len(known) > 1 else float("nan")
        rows.append(row)
    columns = ["benchmark", "variant", "seeds"]
    columns += [f"{metric}_{kind}" for metric in metrics for kind in ("mean", "sd")]
    return pd.DataFrame(rows, columns=columns)


class _NamedTable(NamedTuple):
    """A table over benchmarks with a column per name: metrics `<prefix><name>`."""

    title: str
    caption: str
    prefix: str
    write: Callable[[_Row, str], str]
    under: str  # prefix of the metrics on the second line of a cell
    write_under: Callable[[_Row, str], str]


def named_columns(rows: Sequence[_Row], prefix: str) -> list[str]:
    """Return the names of the metrics `<prefix><name>` that a row knows, in natural order."""
    known = {k for row in rows for k in row if k.startswith(prefix) and not is_missing(row[k])}
    return in_order({key.removeprefix(prefix) for key in known})


def means_over_benchmarks(rows: Sequence[_Row], prefixes: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row of means per variant with several benchmarks: benchmark, variant, seed, metrics.

    The metrics are those that begin with a prefix and that every run of the variant has; runs of
    one benchmark with other seeds count as one.
    """
    means = []
    for variant, own in pd.DataFrame(rows).groupby("variant", sort=False):
        names = [name for name in own if str(name).startswith(tuple(prefixes))]
        by_benchmark = own.groupby("benchmark")[names].mean()
        if len(by_benchmark) > 1:
            known = by_benchmark.loc[:, own[names].notna().all()]
            row = {"benchmark": f"Mean of {len(by_benchmark)}", "variant": variant, "seed": ""}
            means.append(row | {str(name): mean for name, mean in known.mean().items()})
    return means


def duration(seconds: float) -> str:
    """Format seconds as `42 s`, `3 min 20 s` or `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


# These rules report items and remove none.
_REPORTING_ONLY = {"share_removed.suspect_label", "share_removed.conflicting_gold"}
_SHARES = (
    "Shares of all items that each filter removes. Several filters can remove the same item, so "
    "the shares can add up to more than the total. Retained easy items are not counted. A dash "
    "means that the filter did not run. (SMART, Table 1)"
)
_AGREEMENT = (
    "Kendall's tau-b between accuracies on all items and on the kept items, with a 95% interval "
    "over items where computed. Held out: models that did not choose the items and share no family "
    "with those that did. Percentile: rank of tau-b over all models among random subsets of the "
    "same size (50: no better than chance). Arena: Pearson's correlation of accuracy with human "
    "ratings, over the rated models. (SMART, Table 3)"
)
_IRE = (
    "Shares of items removed by the filters, and by an item response model that drops items of low "
    "difficulty or discrimination, with tau-b on the items that each keeps. (SMART, Table 5)"
)


def render_sweep(summary: pd.DataFrame, pipeline: str, started: str, folder: Path) -> str:
    """Render the page of a sweep, with links relative to `folder`."""
    rows = summary.to_dict("records")
    done = [row for row in rows if row["status"] == "done"]
    seeds = " · seed {seed}" if len({row["seed"] for row in rows}) > 1 else ""
    for row in done:
        row["run"] = ("{benchmark} · {variant}" + seeds).format_map(row)
    unfinished = f", {len(rows) - len(done)} not finished" if len(done) < len(rows) else ""
    lead = (
        f"{len(rows)} combination{'' if len(rows) == 1 else 's'}, {len(done)} done{unfinished}. "
        f"Started {started}. summary.csv and summary.parquet next to this page contain these "
        "numbers and all other metrics."
    )
    columns = rule_columns(list(summary.columns))
    shares = [column for column in columns if column not in _REPORTING_ONLY]
    sections = [_runs(rows, folder), *_comparisons(done, shares)]
    if spread := spread_over_seeds(summary).to_dict("records"):
        caption = "Mean ± sample standard deviation over the seeds."
        sections.append(_section("Variation over seeds", caption, spread, _SEED_COLUMNS))
    ranked = [row for row in done if not is_missing(row.get("kendall_tau_b"))]
    plots = {"runs": plot_runs(ranked)} if ranked else {}
    page = Page(
        f"Sweep {pipeline} {started}",
        f"Sweep of {pipeline}",
        sections,
        headline=verdict(done),
        lead=[*map(Plot, plots), Text(lead)],
        plots=plots,
    )
    return render_page(page)


def verdict(done: Sequence[_Row]) -> str:
    """Say in one sentence how much the runs remove and how well they keep the ranking."""
    phrases = [
        _extremes(done, "share_removed", "the share of items removed", as_share),
        _extremes(done, "kendall_tau_b", "Kendall tau-b with the ranking on all items", as_metric),
    ]
    sentence = "; ".join(filter(None, phrases))
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _extremes(
    done: Sequence[_Row], name: str, words: str, write: Callable[[_Row, str], str]
) -> str:
    """Return the lowest and the highest value with their runs; "" where none is known."""
    known = sorted(
        (row for row in done if not is_missing(row.get(name))), key=lambda row: float(row[name])
    )
    if not known:
        return ""
    low, high = (write(row, name) for row in (known[0], known[-1]))
    if low == high:
        return f"{words} is {low}"
    return f"{words} is between {low} ({known[0]['run']}) and {high} ({known[-1]['run']})"


def plot_runs(done: Sequence[_Row]) -> Any:
    """Draw tau-b of each run, with its interval, against the share of items that it removed."""
    traces = []
    for i, row in enumerate(done):
        tau, low, high = (
            pd.Series([row.get(f"kendall_tau_b{end}", np.nan)]) for end in ("", ".low", ".high")
        )
        traces.append(
            points(
                [row["share_removed"]],
                tau.tolist(),
                "%{x:.1%} removed, tau-b %{y:.3f}",
                name=plain(row["run"]),
                marker={"color": PALETTE[i % len(PALETTE)], "size": 9},
                error_y=whiskers(tau, low, high, PALETTE[i % len(PALETTE)]),
            )
        )
    return plot(
        "Kendall tau-b with the ranking on all items, by share of items removed",
        360,
        traces,
        xaxis=axis("items removed", tickformat=".0%", nticks=6),
        yaxis=axis("tau-b", nticks=6),
        legend=legend_below(60, 240),
        showlegend=True,
        hovermode="closest",
        margin=margin(110),
    )


def _runs(rows: Sequence[_Row], folder: Path) -> Section:
    def link(row: _Row, name: str) -> str | Cell:
        if not row[name]:
            return "–"
        return Cell("report", link=quote(Path(os.path.relpath(row[name], folder)).as_posix()))

    def time(row: _Row, name: str) -> str:
        return "–" if row["status"] == "not_run" else duration(row[name])

    columns: list[Column] = [
        *_NAMES,
        ("Status", as_words, "status"),
        ("Items", as_count, "n_items"),
        *([("Kept", as_count, "n_kept")] if any("n_kept" in row for row in rows) else []),
        ("Time", time, "wall_seconds"),
        ("Report", link, "report"),
    ]
    errors = [
        Text(f"{row['benchmark']} · {row['variant']} · seed {row['seed']}: {row['error']}")
        for row in rows
        if row["status"] != "done" and row["error"]
    ]
    return Section("Runs", [table_of(rows, columns, (2, *range(4, len(columns) - 1))), *errors])


def _comparisons(done: Sequence[_Row], shares: list[str]) -> Iterator[Section]:
    if shares:
        columns: list[Column] = [
            (name.removeprefix("share_removed.").replace("_", " "), as_share, name)
            for name in shares
        ]
        columns.append(("Removed", as_share, "share_removed"))
        yield _section("Share of items per filter", _SHARES, done, [*_NAMES, *columns])
    if any(not is_missing(row.get(name)) for row in done for name in _AGREEMENT_METRICS):
        yield _section("Rank agreement", _AGREEMENT, done, _AGREEMENT_COLUMNS)
    if any(not is_missing(row.get("ire_share_removed")) for row in done):
        yield _section("Comparison with IRE", _IRE, done, _IRE_COLUMNS)
    for table in _TABLES:
        if names := named_columns(done, table.prefix):
            means = means_over_benchmarks(done, (table.prefix, table.under))
            yield _section(
                table.title,
                table.caption,
                [*done, *means],
                [*_NAMES, *((name, partial(_two_lines, table), name) for name in names)],
            )


def _section(title: str, caption: str, rows: Sequence[_Row], columns: Sequence[Column]) -> Section:
    table = table_of(rows, columns, range(2, len(columns)))
    return Section(title, [Text(caption, "quiet"), table])


def _with_interval(row: _Row, name: str) -> Cell:
    known = not is_missing(row.get(f"{name}.low"))
    bounds = f"[{as_metric(row, f'{name}.low')}, {as_metric(row, f'{name}.high')}]"
    return Cell(as_metric(row, name), [bounds] if known else [])


def _two_lines(table: _NamedTable, row: _Row, name: str) -> Cell:
    under = table.write_under(row, f"{table.under}{name}")
    return Cell(table.write(row, f"{table.prefix}{name}"), [] if under == "–" else [under])


def _mean_and_sd(write: Callable[[_Row, str], str]) -> Callable[[_Row, str], str]:
    def written(row: _Row, name: str) -> str:
        mean, sd = write(row, f"{name}_mean"), write(row, f"{name}_sd")
        return mean if sd == "–" else f"{mean} ± {sd}"

    return written


_TABLES = (
    _NamedTable(
        "Samplers",
        "Spearman's correlation with the ranking on all items at the main rate, on models that did "
        "not choose the items; below it the Wasserstein distance of the scores, in points. (DELE, "
        "Table 1)",
        *("spearman.", as_metric, "wasserstein.", as_share),
    ),
    _NamedTable(
        "Accuracy on perturbed copies",
        "Mean accuracy over the copies; below it the difference to the original benchmark. "
        "(WiCkeD, Table 1)",
        *("accuracy_mean.", as_share, "delta.", as_share),
    ),
)
_NAMES: list[Column] = [
    ("Benchmark", as_text, "benchmark"),
    ("Variant", as_text, "variant"),
    ("Seed", as_text, "seed"),
]
_AGREEMENT_METRICS = (
    *("kendall_tau_b", "kendall_tau_b.held_out"),
    *("arena_pearson_full", "arena_pearson_kept"),
)
_AGREEMENT_COLUMNS: list[Column] = [
    *_NAMES,
    ("Tau-b, all models", _with_interval, "kendall_tau_b"),
    ("n", as_count, "n_panel_models"),
    ("Tau-b, held out", _with_interval, "kendall_tau_b.held_out"),
    ("n", as_count, "n_held_out_models"),
    ("Percentile among random subsets", as_count, "percentile.kendall_tau_b"),
    ("Arena, all items", as_metric, "arena_pearson_full"),
    ("Arena, kept", as_metric, "arena_pearson_kept"),
    ("Rated models", as_count, "n_rated_models"),
]
_IRE_COLUMNS: list[Column] = [
    *_NAMES,
    ("Removed by filters", as_share, "share_removed"),
    ("Removed by IRE", as_share, "ire_share_removed"),
    ("Tau-b of filters", as_metric, "kendall_tau_b"),
    ("Tau-b of IRE", as_metric, "ire.kendall_tau_b"),
]
_SEED_COLUMNS: list[Column] = [
    *_NAMES[:2],
    ("Seeds", as_text, "seeds"),
    ("Removed", _mean_and_sd(as_share), "share_removed"),
    ("Tau-b, all models", _mean_and_sd(as_metric), "kendall_tau_b"),
    ("Tau-b, held out", _mean_and_sd(as_metric), "kendall_tau_b.held_out"),
]
