"""The growth of costs with rows or items, drawn from measurements.

    python benchmarks/plot_growth.py benchmarks/growth.jsonl docs/img/growth.svg
    python benchmarks/plot_growth.py benchmarks/stages.jsonl docs/img/growth_of_stages.svg --stages

reads what `benchmarks/bench_cleaning.py --to` has written, or with `--stages` what
`benchmarks/bench_stages.py --size items=… --to` has, draws processor seconds and memory, and
prints the exponents: 1 is linear. The last measurement of a size counts. Of stages, the nodes
that take longest at the greatest size are drawn.
"""

import argparse
import itertools
import json
import math
from pathlib import Path
from typing import Any

LINES = {
    "row_rules": ("row rules", "#1f6fb4"),
    "fingerprints": ("fingerprints", "#2a9d6f"),
    "pairs": ("near-duplicates: pairs", "#c8501e"),
    "library_texts_cpu_s": ("rensa alone, from texts", "#8a8a8a"),
    "library_ready_cpu_s": ("rensa alone, from shingles", "#bdbdbd"),
}
COLOURS = ("#1f6fb4", "#2a9d6f", "#c8501e", "#8a5fb0", "#b8860b", "#d0417e", "#4f7f8f", "#777777")
WIDTH, HEIGHT, LEFT, TOP, ACROSS, DOWN = 860, 380, 60, 40, 330, 280


def local_runs(file: Path) -> list[dict[str, Any]]:
    """Runs in one process with all measures, the last one of each size, by size."""
    runs = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    alone = [run for run in runs if (run.get("engine"), run.get("workers")) == ("local", 1)]
    last = {run["rows"]: run for run in alone if "pairs" in run}
    return [last[rows] for rows in sorted(last)]


def points(runs: list[dict[str, Any]], name: str, measure: str) -> list[tuple[int, float]]:
    """Rows and the value of each run that has it."""
    pairs = []
    for run in runs:
        value = run.get(name)
        value = value.get(measure) if isinstance(value, dict) else value
        if value:
            pairs.append((run["rows"], float(value)))
    return pairs


def exponents(series: list[tuple[int, float]]) -> list[float]:
    """Of growth between each size and the next: 1 is linear."""
    return [
        math.log(after / before) / math.log(more / fewer)
        for (fewer, before), (more, after) in itertools.pairwise(series)
    ]


class Panel:
    """A panel with logarithmic axes."""

    def __init__(self, left: int, title: str, unit: str, series: dict[str, Any]) -> None:
        values = [point for points_, *_ in series.values() for point in points_]
        self.x = _decades([x for x, _ in values])
        self.y = _decades([y for _, y in values])
        self.left, self.title, self.unit, self.series = left, title, unit, series

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + ACROSS * across, TOP + DOWN * (1 - up)

    def svg(self) -> list[str]:
        out = [_text(self.left, TOP - 16, f"{self.title} ({self.unit})", "start", bold=True)]
        for power in range(self.x[0], self.x[1] + 1):
            x, bottom = self.at(10**power, 10 ** self.y[0])
            out.append(_line(x, TOP, x, bottom, "#e4e4e4"))
            out.append(_text(x, bottom + 18, f"{10**power:,}", "middle"))
        for power in range(self.y[0], self.y[1] + 1):
            left, y = self.at(10 ** self.x[0], 10**power)
            out.append(_line(left, y, left + ACROSS, y, "#e4e4e4"))
            out.append(_text(left - 6, y + 4, f"{10.0**power:g}", "end"))
        for series, _, colour in self.series.values():
            places = [self.at(*point) for point in series]
            way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            out.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        return out


Drawn = dict[str, tuple[list[tuple[int, float]], str, str]]


def of_cleaning(runs: list[dict[str, Any]]) -> tuple[Drawn, Drawn]:
    """Processor seconds and peak memory of the parts of cleaning: points, label, colour."""
    seconds = {
        name: (line, label, colour)
        for name, (label, colour) in LINES.items()
        if (line := points(runs, name, "cpu_s"))
    }
    memory = {
        name: (line, label, colour)
        for name, (label, colour) in LINES.items()
        if (line := points(runs, name, "peak_gb")) and isinstance(runs[0].get(name), dict)
    }
    return seconds, memory


def of_stages(file: Path) -> tuple[Drawn, Drawn]:
    """The same of the nodes that take longest at the greatest size."""
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    last = {line["items"]: line["nodes"] for line in lines if "items" in line}
    largest = last[max(last)]
    names = sorted(largest, key=lambda name: -largest[name]["cpu_s"])[: len(COLOURS)]

    def series(measure: str) -> Drawn:
        return {
            name: (
                [(n, last[n][name][measure]) for n in sorted(last) if last[n].get(name)],
                name,
                colour,
            )
            for name, colour in zip(names, COLOURS, strict=False)
        }

    return series("cpu_s"), series("peak_gb")


def drawing(seconds: Drawn, memory: Drawn, by: str) -> str:
    """The two panels as SVG."""
    rows, at, legend = 0, LEFT, []
    for _, label, colour in seconds.values():
        width = 40 + 6.4 * len(label)
        if at + width > WIDTH and legend:
            rows, at = rows + 1, LEFT
        y = HEIGHT - 14 + 18 * rows
        legend += [
            _line(at, y, at + 18, y, colour, 3),
            _text(at + 22, y + 4, label, "start"),
        ]
        at += width
    height = HEIGHT + 18 * rows
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *Panel(LEFT, f"Processor time by {by}", "s", seconds).svg(),
        *Panel(LEFT + ACROSS + 90, f"Peak memory by {by}", "GB", memory).svg(),
        *legend,
    ]
    return "\n".join([*out, "</svg>", ""])


def _decades(values: list[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{text}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--stages", action="store_true")
    asked = parser.parse_args()
    if asked.stages:
        seconds, memory = of_stages(asked.measured)
    else:
        runs = local_runs(asked.measured)
        seconds, memory = of_cleaning(runs)
    by = "items" if asked.stages else "rows"
    asked.picture.write_text(drawing(seconds, memory, by), encoding="utf-8")
    for line, label, _ in seconds.values():
        print(f"{label}: exponents {', '.join(f'{exponent:.2f}' for exponent in exponents(line))}")
    if not asked.stages:
        pairs = [(run["rows"], run["candidates"]) for run in runs]
        slopes = ", ".join(f"{slope:.2f}" for slope in exponents(pairs))
        print(f"candidate pairs: exponents {slopes}")


if __name__ == "__main__":
    main()
