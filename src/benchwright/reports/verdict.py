"""The verdict of a report as data: what it answers, before any evidence.

A run saves it as JSON beside the report. The page, the end of a run and MLflow show it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

Tile = tuple[str, str]
"""A figure and its label."""


class Verdict(TypedDict):
    """The verdict of a report; text between backticks is code."""

    kind: str  # of the report
    headline: str  # the answer, in one sentence
    tiles: list[Tile]
    judgements: list[str]  # sentences under the headline
    notes: list[str]  # warnings
    next_step: str  # what to do now, or ""


def write_verdict(
    headline: str,
    *,
    kind: str = "",
    tiles: Sequence[Tile] = (),
    judgements: Sequence[str] = (),
    notes: Sequence[str] = (),
    next_step: str = "",
) -> Verdict:
    """Return a verdict, whose parts are empty where they are not given."""
    return Verdict(
        kind=kind,
        headline=headline,
        tiles=list(tiles),
        judgements=list(judgements),
        notes=list(notes),
        next_step=next_step,
    )


def read_verdicts(files: Mapping[str, Path]) -> list[Verdict]:
    """Read the verdicts among the saved files of a run, which are given by dataset."""
    found = [files[name] for name in sorted(files) if name.endswith("verdict")]
    return [json.loads(file.read_text("utf-8")) for file in found]


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return a verdict as plain lines; figures and notes begin with a dash."""
    tiles = [f"- {figure}: {label}" for figure, label in verdict["tiles"]]
    notes = [f"- {note}" for note in verdict["notes"]]
    lines = [verdict["headline"], *tiles, *verdict["judgements"], *notes]
    return [plain_line(line) for line in lines]


def plain_line(text: str) -> str:
    """Return a text on one line, without the backticks around code."""
    return " ".join(text.replace("`", "").split())
