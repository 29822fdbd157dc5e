"""`benchwright compare`: the difference of two models on the items that both answered."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.cli.compare_plots import plot_differences
from benchwright.cli.listing import table_lines
from benchwright.core.atomic_files import written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.core.natural_order import natural_key
from benchwright.core.version import VERSION
from benchwright.logs.find import find_logs
from benchwright.reports.page.parts import Bullets, Page, Plot, Section, Table, render_page
from benchwright.responses.items_of_logs import items_of_logs
from benchwright.responses.known_responses import KnownResponses, read_items, read_responses
from benchwright.statistics.paired_differences import minimum_detectable_difference
from benchwright.statistics.paired_tests import (
    PairedDifference,
    mcnemar_mid_p,
    paired_difference,
)
from benchwright.statistics.percentile import holm

POWER = 0.8


class Side(NamedTuple):
    """A model whose answers are compared.

    Attributes:
        source: its file or folder.
        model: its name there.
        accuracy: its accuracy on the items that both answered.
        only: number of items that only this model answered.
        unreadable: number of compared items whose answer held no option.
    """

    source: str
    model: str
    accuracy: float
    only: int
    unreadable: int


class Pair(NamedTuple):
    """Two models' answers to the n items that both answered, in natural order of the ids.

    Attributes:
        first, second: the models A and B.
        item_ids: n ids.
        answers: (2, n) in [0, 1].
        clusters: (n,) labels, equal for items of one passage or stem.
        subjects: (n,) subjects, or None.
        only: ids of the items that one model answered.
        notes: caveats.
    """

    first: Side
    second: Side
    item_ids: tuple[str, ...]
    answers: NDArray[np.float64]
    clusters: NDArray[np.intp]
    subjects: NDArray[np.object_] | None
    only: frozenset[str]
    notes: tuple[str, ...]

    @property
    def d(self) -> NDArray[np.float64]:
        """Differences (n,), B − A."""
        return self.answers[1] - self.answers[0]


class Comparison(NamedTuple):
    """A pair of models compared.

    Attributes:
        pair: what was compared.
        level: confidence level of the interval.
        overall: the difference of the accuracies, B − A.
        better, worse: number of items that B answers better, or worse, than A.
        p_value: of the exact McNemar test, mid-p.
        detectable: difference that these items detect with power .8, NaN if unknown.
        subjects: a row per subject: subject, items, a, b, difference, low, high, better, worse,
            p_value, holm.
    """

    pair: Pair
    level: float
    overall: PairedDifference
    better: int
    worse: int
    p_value: float
    detectable: float
    subjects: pd.DataFrame


def read_pair(
    a: str, b: str, model_a: str | None, model_b: str | None, items_file: Path | None = None
) -> Pair:
    """Read two models' answers, and join those to the same items.

    Args:
        a: a file or folder, or `PATH:MODEL`.
        b: the same.
        model_a: a model in `a`, by its name or its configuration's.
        model_b: the same in `b`.
        items_file: a table of items with subject and passage_id, by item_id.

    Raises:
        InputError: a path or model is unknown or ambiguous, or no item was answered by both.
    """
    (path_a, model_a), (path_b, model_b) = _split(a, model_a), _split(b, model_b)
    paths = list(dict.fromkeys([path_a, path_b]))
    logs = find_logs(paths).logs
    items = items_of_logs(logs) if logs else None
    read = {path: read_responses([path], items) for path in paths}
    known = (read[path_a], read[path_b])
    name_a = _choose(known[0], model_a, _named(known[1], model_b), "--model-a")
    name_b = _choose(known[1], model_b, (name_a,), "--model-b")
    names = (name_a, name_b)
    rows = [
        pd.Series(part.correct[part.models.index(name)], index=list(part.item_ids)).dropna()
        for part, name in zip(known, names, strict=True)
    ]
    both = rows[0].index.intersection(rows[1].index)
    ids = tuple(sorted(both, key=natural_key))
    if not ids:
        begins = [
            f"{row.index[0]} in {part.source}" if len(row) else f"{part.source} has no answer"
            for row, part in zip(rows, known, strict=True)
        ]
        raise InputError(
            f"no item was answered by both models; items begin with {' and '.join(begins)}"
        )
    answers = np.array([row.loc[list(ids)] for row in rows], dtype=np.float64)
    tables = [part.items for part in known if part.items is not None]
    about = pd.concat(tables).drop_duplicates("item_id") if tables else None
    if items_file:
        about = read_items(items_file)
    shared = KnownResponses("", (), ids, np.empty((0, len(ids)), np.float32), about)
    first, second = (
        Side(
            part.source,
            name,
            float(answers[at].mean()),
            len(row) - len(ids),
            len(part.unreadable.get(name, frozenset()) & set(ids)),
        )
        for at, (part, name, row) in enumerate(zip(known, names, rows, strict=True))
    )
    only = frozenset(rows[0].index.symmetric_difference(rows[1].index))
    notes = tuple(dict.fromkeys(note for part in known for note in part.notes))
    return Pair(first, second, ids, answers, shared.clusters(), shared.subjects(), only, notes)


def _split(given: str, model: str | None) -> tuple[Path, str | None]:
    """Split `PATH:MODEL`; colons may be part of either."""
    if Path(given).exists():
        return Path(given), model
    colons = [at for at, sign in enumerate(given) if sign == ":"]
    for at in reversed(colons):
        if Path(given[:at]).exists():
            if model not in (None, given[at + 1 :]):
                raise InputError(f"{given}: names another model than {model!r}; give one of them")
            return Path(given[:at]), given[at + 1 :]
    raise InputError(f"{given}: there is no such file or folder")


def _named(known: KnownResponses, wanted: str | None) -> list[str]:
    """Return the model of this name, else the configurations of the model of this name."""
    if wanted is None or wanted in known.models:
        return [wanted] if wanted else list(known.models)
    found = [name for name in known.models if parse_configuration(name).model == wanted]
    if not found:
        names = expected(wanted, known.models)
        raise InputError(f"{known.source}: no model {wanted!r}; {names}")
    return found


def _choose(known: KnownResponses, wanted: str | None, others: Sequence[str], option: str) -> str:
    """Return the wanted model, the only one, or the only one that the other side has too."""
    found = _named(known, wanted)
    same = [name for name in found if name in others]
    if len(found) > 1 and len(same) == 1:
        return same[0]
    if len(found) > 1:
        raise InputError(
            f"{known.source} has {len(found)} models; choose one with {option} or PATH:MODEL: "
            f"{', '.join(found)}"
        )
    return found[0]


def compare(pair: Pair, level: float = 0.95) -> Comparison:
    """Compare two models over all items and by subject; p-values of subjects also by Holm."""
    d = pair.d
    overall = paired_difference(d, pair.clusters, level)
    better, worse = int((d > 0).sum()), int((d < 0).sum())
    rows = []
    if pair.subjects is not None:
        for subject, at in pd.Series(range(len(d))).groupby(pair.subjects):
            part, (first, second) = d[at], pair.answers[:, at].mean(axis=1).tolist()
            up, down = int((part > 0).sum()), int((part < 0).sum())
            p, found = mcnemar_mid_p(up, down), paired_difference(part, pair.clusters[at], level)
            bounds = (second - first, found.low, found.high)
            rows.append((str(subject), len(at), first, second, *bounds, up, down, p))
    names = ["subject", "items", "a", "b", "difference", "low", "high", "better", "worse"]
    subjects = pd.DataFrame(rows, columns=[*names, "p_value"])
    return Comparison(
        pair,
        level,
        overall,
        better,
        worse,
        mcnemar_mid_p(better, worse),
        float(minimum_detectable_difference(overall.se, power=POWER)) if overall.se else math.nan,
        subjects.assign(holm=holm(subjects["p_value"])),
    )


def points(share: float, *, signed: bool = False) -> str:
    """Return a share in [−1, 1] in percentage points, – for NaN."""
    if math.isnan(share):
        return "–"
    return f"{100 * share:{'+' if signed else ''}.2f}".replace("-", "−")


def summary(made: Comparison) -> list[str]:
    """Say in a line each what was compared, and the figures."""
    pair, n = made.pair, len(made.pair.item_ids)
    sides = {"A": pair.first, "B": pair.second}
    lines = [
        f"{name}: {side.model} ({side.source}), accuracy {points(side.accuracy)}%"
        for name, side in sides.items()
    ]
    left = [f"{side.only:,} only by {name}" for name, side in sides.items() if side.only]
    unread = [f"{side.unreadable:,} of {name}" for name, side in sides.items() if side.unreadable]
    groups = len(np.unique(pair.clusters))
    lines.append(
        f"items: {n:,} answered by both"
        + (f", in {groups:,} clusters" if groups < n else "")
        + (f"; left out: {', '.join(left)}" if left else "")
        + (f"; unreadable answers count as wrong: {', '.join(unread)}" if unread else "")
    )
    overall = made.overall
    lines += [
        f"difference B − A: {points(overall.difference, signed=True)} points, "
        f"{made.level:.0%} interval [{points(overall.low, signed=True)}, "
        f"{points(overall.high, signed=True)}]",
        f"changed answers: {(made.better + made.worse) / n:.1%}; B is better on {made.better:,} "
        f"({made.better / n:.1%}), worse on {made.worse:,} ({made.worse / n:.1%}); exact McNemar "
        f"p = {made.p_value:.3g} (mid-p)",
    ]
    if not math.isnan(made.detectable):
        lines.append(
            f"detectable with power {POWER:g} at 5%: a difference of {points(made.detectable)} "
            "points"
        )
    return lines + [f"note: {note}" for note in pair.notes]


def _cells(row: dict[Any, Any]) -> dict[str, str]:
    return {
        "subject": str(row["subject"]),
        "items": f"{row['items']:,}",
        "A %": points(row["a"]),
        "B %": points(row["b"]),
        "B − A": points(row["difference"], signed=True),
        "better": f"{row['better']:,}",
        "worse": f"{row['worse']:,}",
        "p": f"{row['p_value']:.3g}",
        "p (Holm)": f"{row['holm']:.3g}",
    }


def terminal_lines(made: Comparison) -> list[str]:
    """Return the lines to print."""
    lines = summary(made)
    if len(made.subjects):
        lines += ["", *table_lines([_cells(row) for row in made.subjects.to_dict("records")])]
    return lines


def comparison_json(made: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON; shares and differences are in [−1, 1]."""
    overall = made.overall._asdict()
    return {
        "format": 1,
        "benchwright": VERSION,
        "a": made.pair.first._asdict(),
        "b": made.pair.second._asdict(),
        "items": len(made.pair.item_ids),
        "clusters": len(np.unique(made.pair.clusters)),
        "level": made.level,
        **{name: None if math.isnan(value) else value for name, value in overall.items()},
        "better": made.better,
        "worse": made.worse,
        "p_value": made.p_value,
        "detectable": None if math.isnan(made.detectable) else made.detectable,
        "subjects": made.subjects.to_dict("records"),
        "notes": list(made.pair.notes),
    }


def render(
    made: Comparison,
    headline: str = "",
    more: tuple[str, ...] = (),
    allowed: float | None = None,
    plots: dict[str, Any] | None = None,
) -> str:
    """Render a page: the headline, plots, what they rest on, and the subjects.

    `allowed` is a gate's margin; `plots` stand above that of the differences.
    """
    sections = [Section("Comparison", [Bullets([*more, *summary(made)])])]
    whole = made.overall._asdict() | {"name": "all items", "items": len(made.pair.item_ids)}
    by_subject = made.subjects.rename(columns={"subject": "name"})
    ordered = by_subject.sort_values(["difference", "name"], ascending=[False, True])
    rows_drawn = pd.concat([pd.DataFrame([whole]), ordered], ignore_index=True)
    columns = ["name", "items", "difference", "low", "high"]
    drawn = {
        **(plots or {}),
        "differences": plot_differences(rows_drawn[columns], made.level, allowed),
    }
    if len(made.subjects):
        rows = [list(_cells(row).values()) for row in made.subjects.to_dict("records")]
        head = list(_cells(made.subjects.iloc[0].to_dict()))
        sections.append(Section("Subjects", [Table("", head, rows, numbers=range(1, len(head)))]))
    pair = made.pair
    title = f"{pair.second.model} compared with {pair.first.model}"
    headline = headline or summary(made)[3]
    lead = [Plot(name) for name in drawn]
    return render_page(Page(title, title, sections, headline=headline, lead=lead, plots=drawn))


def write_results(
    content: dict[str, Any], page: Callable[[], str], out: Path | None, page_file: Path | None
) -> list[Path]:
    """Write JSON and page where a file is given, and return the files."""
    if out is not None:
        with written_aside(out) as aside:
            aside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if page_file is not None:
        with written_aside(page_file) as aside:
            aside.write_text(page(), encoding="utf-8")
    return [file for file in (out, page_file) if file is not None]
