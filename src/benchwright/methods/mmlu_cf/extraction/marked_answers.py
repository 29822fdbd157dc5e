"""Answers that the markup gives: classes, attributes, ticks, and emphasis that singles one out."""

from bisect import bisect_left
from collections.abc import Sequence

from benchwright.methods.mmlu_cf.extraction.lines import Container
from benchwright.methods.mmlu_cf.extraction.options import Run


def marked(run: Run) -> list[int]:
    """Return the options that the markup calls correct (class, attribute, tick), unless all are."""
    for kind in ("correct", "ticked"):
        places = run.marked(kind)
        if places and len(places) < len(run.options):
            return places
    return []


def emphasised(runs: Sequence[Run], *, alone: bool) -> tuple[str, dict[int, list[int]]]:
    """Return what shows options as correct (a star, colour, bold or italics), and these by run.

    It does if at least two and at least 60% of the runs have exactly one such option; bold does in
    a single run, if `alone` on its page.
    """
    for kind in ("star", "colour", "bold", "italic"):
        places = {n: run.marked(kind) for n, run in enumerate(runs)}
        single = sum(len(marked) == 1 for marked in places.values())
        enough = single > 1 or (single == 1 and alone and kind == "bold")
        if enough and single >= 0.6 * len(runs):
            return kind, {
                n: some for n, some in places.items() if 0 < len(some) < len(runs[n].options)
            }
    return "", {}


def named_by_attribute(runs: Sequence[Run], containers: Sequence[Container]) -> dict[int, int]:
    """Return the option that an attribute around its run names by value or text, by run."""
    named: dict[int, int] = {}
    starts = [run.options[0].line for run in runs]
    for container in containers:
        place = bisect_left(starts, container.first)
        if place < len(runs) and runs[place].last < container.last:
            values = [option.value for option in runs[place].options]
            for names in (values, runs[place].texts):
                if names.count(container.value.strip()) == 1:
                    named[place] = names.index(container.value.strip())
    return named
