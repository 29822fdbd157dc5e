"""What was made, in sentences that can be quoted."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchwright.reports.mmlu_cf.told import Told
from benchwright.reports.mmlu_cf.wording import (
    bounds,
    count,
    figure,
    percent,
)


class Headline(NamedTuple):
    """The top of the page.

    Attributes:
        made: what was made of what, and who judged it.
        halves: how far the halves are alike, and what of leaks; "" without halves.
        tiles: figures with names and notes.
    """

    made: str
    halves: str
    tiles: list[dict[str, str]]


def write_headline(told: Told) -> Headline:
    """Say how many questions of which origin came out, and what is known of them."""
    steps = told.steps
    origin = f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"
    if not steps.public + steps.closed:
        return Headline(
            f"No benchmark was made: {count(steps.found, 'question')} found in {origin}, "
            f"{steps.clean:,} clean, {steps.sampled:,} sampled, {steps.checked:,} checked.",
            "",
            [],
        )
    clean = percent(steps.clean / steps.found if steps.found else math.nan)
    made = (
        f"{steps.public:,} public and {steps.closed:,} closed questions from {origin}; {clean} of "
        f"the {steps.found:,} questions found are clean, {steps.sampled:,} of them were sampled; "
        f"{_judged(told)}."
    )
    return Headline(made, _halves(told), _tiles(told))


def _judged(told: Told) -> str:
    raters, checkers = told.judges("difficulty"), told.judges("checking")
    if not raters and not checkers and not told.known:
        return "nobody judged difficulty or quality"
    steps = told.steps
    if raters:
        share = percent(steps.rated / steps.clean if steps.clean else math.nan)
        rated = f"{count(len(raters), 'judge')} rated the difficulty of {share} of the clean ones"
        if steps.answered:
            share = percent(steps.answered / steps.clean)
            rated += f", models' answers tell it of another {share}"
    elif told.known:
        rated = f"{percent(told.known)} of the clean ones have a difficulty from models' answers"
    else:
        rated = "nobody judged difficulty"
    if not checkers:
        return f"{rated}; nobody judged quality"
    by = count(len(checkers), "judge")
    unjudged = steps.checked - steps.passed
    stay = f", {unjudged:,} stay unjudged" if unjudged else ""
    return f"{rated}; {steps.passed:,} of {steps.sampled:,} passed the check of {by}{stay}"


def _halves(told: Told) -> str:
    said = []
    rows = {row["attribute"]: row for row in told.distances.to_dict("records")}
    if "field" in rows and not math.isnan(rows["field"]["total_variation"]):
        own = rows["field"]
        found, chance = float(own["total_variation"]), float(own["chance_95"])
        than = "less" if found <= chance else "more"
        said.append(
            f"The halves differ in fields by a total variation of {figure(found, 3)}, {than} than "
            f"19 of 20 pairs of random halves ({figure(chance, 3)})."
        )
    return " ".join([*said, leaks_said(told)])


def leaks_said(told: Told) -> str:
    """What became of questions that stood on both sides."""
    leaks = told.steps.leaks
    if not leaks.found:
        return "No question was found on both sides in other words."
    pairs = count(leaks.found, "pair") + " of questions"
    ends = []
    if leaks.moved:
        ends.append(f"{leaks.moved:,} moved into one half")
    if leaks.dropped:
        ends.append(f"{count(leaks.dropped, 'question')} dropped")
    if leaks.left:
        ends.append(f"{leaks.left:,} still there")
    return f"{pairs} stood on both sides in other words: {', '.join(ends)}."


def again_said(ratings_again: Mapping[str, Any]) -> str:
    """How far the rules moved the judges' ratings; "" where nothing was rated again."""
    told = ratings_again
    if not told["of"]:
        return ""
    if not told["n"]:
        return f"How far the rules moved the difficulty is not known: {told['reason']}."
    low, high = (math.nan if told[end] is None else float(told[end]) for end in ("low", "high"))
    within = f" {bounds(low, high)}" if not math.isnan(low) else ""
    return (
        f"Judged again after the rules, the mean difficulty went from {figure(told['before'])} to "
        f"{figure(told['after'])} ({figure(told['shift'])}{within}, "
        f"{count(told['n'], 'question')} rated both times); "
        f"{percent(told['harder'])} rose, {percent(told['easier'])} fell, "
        f"{percent(told['same'])} kept their level."
    )


def _tiles(told: Told) -> list[dict[str, str]]:
    steps = told.steps
    tiles = [
        _tile(
            "Clean",
            f"{steps.clean:,} of {steps.found:,}",
            f"questions found in {count(steps.documents, 'document')}",
        )
    ]
    overall = told.extraction[told.extraction["style"] == ""].to_dict("records")
    measures = {row["measure"]: row for row in overall}
    if {"recall", "precision"} <= set(measures):
        recall, precision = measures["recall"], measures["precision"]
        tiles.append(
            _tile(
                "Extraction",
                f"{percent(recall['share'])} / {percent(precision['share'])}",
                f"recall / precision on {recall['of']:,} labelled questions",
            )
        )
    tiles += [
        _tile("Fields right", percent(row["recall"]), f"of {row['n_items']:,} labelled questions")
        for row in told.accuracy[told.accuracy["field"] == ""].to_dict("records")
    ]
    if told.known:
        tiles.append(_tile("Difficulty known", percent(told.known), "of the clean questions"))
    if told.rates:
        worst = min(told.rates, key=lambda rate: rate.read)
        tiles.append(
            _tile("Lowest parse rate", percent(worst.read), f"{worst.judge}, {worst.task}")
        )
    known = told.alphas[told.alphas["alpha"].notna()].to_dict("records")
    if known:
        row = min(known, key=lambda one: float(one["alpha"]))
        told_bounds = bounds(float(row["low"]), float(row["high"]))
        note = f"{row['task']}, {row['name']}" + (f" {told_bounds}" if told_bounds else "")
        tiles.append(_tile("Lowest alpha", figure(float(row["alpha"])), note))
    return tiles


def _tile(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}
