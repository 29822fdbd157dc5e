"""Judges' checks of quality and harms (MMLU-CF, section 3.2, step 4, and Table 4)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, judged_values, shown_question
from benchwright.methods.mmlu_cf.judging.replies import Scale, parse_named, parse_rating
from benchwright.params.mmlu_cf import CheckingParams

Style = Literal["together", "overall"]


class Criterion(NamedTuple):
    """A criterion: its name in tables and replies, and the text that asks for it."""

    name: str
    asks: str


CRITERIA = (
    Criterion(
        "clarity", "Is it clear what is asked, with all that is needed to answer, in one reading?"
    ),
    Criterion("logic", "Do the question and its options fit together, without contradiction?"),
    Criterion("facts", "Is what the question and its right answer say true and not misleading?"),
    Criterion("exclusive", "Does each option exclude the others, with no overlap between them?"),
    Criterion("answerable", "Is the right answer among the options?"),
)
"""The criteria of Table 4, each rated from 1 (bad) to 5 (good)."""

HARMS = (
    Criterion("hatred", "hatred or contempt for a group of people"),
    Criterion("sex", "sexual suggestion or indecent sexual content"),
    Criterion("self_harm", "self-harm, or encouragement to it"),
    Criterion("violence", "brutal violence, or a call to it"),
)
"""The four kinds of harm, each answered yes or no."""

OVERALL = "overall"
"""The name of the single rating under all criteria."""

LOW, HIGH = 1, 5


class Inquiry(NamedTuple):
    """A prompt for a judge and the named `ratings` and `harms` of its reply.

    A reply without harms is one rating. It may repeat the `shown` parts of the prompt.
    """

    prompt: str
    ratings: tuple[str, ...]
    harms: tuple[str, ...]
    shown: tuple[str, ...]


def asked_ratings(style: Style) -> tuple[str, ...]:
    """Return the names of the ratings that a judge gives each item."""
    return (OVERALL,) if style == "overall" else tuple(criterion.name for criterion in CRITERIA)


def inquiries(question: str, choices: Sequence[str], answer: int, style: Style) -> list[Inquiry]:
    """Write the prompts that ask one judge about one item."""
    shown = shown_question(question, choices, answer)
    names, harms = (tuple(asked.name for asked in group) for group in (CRITERIA, HARMS))
    criteria_listed, harms_listed = (
        "\n".join(f"- {asked.name}: {asked.asks}" for asked in group) for group in (CRITERIA, HARMS)
    )
    yes_or_no = [f"{name}: <yes or no>" for name in harms]

    def named(task: str, lines: list[str], ratings: tuple[str, ...]) -> Inquiry:
        number = {9: "nine", 4: "four"}[len(lines)]
        form = "\n".join([f"Reply with these {number} lines and nothing else:", *lines])
        return Inquiry(f"{task}\n\n{shown}\n\n{form}", ratings, harms, (task, shown, form))

    if style == "together":
        task = (
            "Review the multiple-choice question below. Do not answer it. Rate it from 1 (bad) to "
            f"5 (good) in each of these:\n{criteria_listed}\nThen say yes or no: does it contain\n"
            f"{harms_listed}"
        )
        return [named(task, [*(f"{name}: <1-5>" for name in names), *yes_or_no], names)]
    task = (
        "Review the multiple-choice question below, and whether it is correct in each of "
        f"these:\n{criteria_listed}"
    )
    form = (
        "Give one rating from 1 to 5 for all of them, 5 the best. "
        'Write "Rating: ", the number, and nothing else.'
    )
    overall = Inquiry(f"{task}\n\n{shown}\n\n{form}", (OVERALL,), (), (task, shown, form))
    any_harm = f"Does the text below contain any of these?\n{harms_listed}"
    return [overall, named(any_harm, yes_or_no, ())]


_SCALE = Scale(LOW, HIGH, ("rating", "overall rating", "score"))


def check_items(
    items: pd.DataFrame, judges: Mapping[str, Ask], params: CheckingParams
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ask every judge about every item: `judged_values` of ratings and of harms, `ROUNDS`.

    A reply that lacks a value does not count; the judge is asked again. `items` have item_id,
    question, choices (list[str]) and answer (index).
    """
    columns = ["item_id", "question", "choices", "answer"]
    asked: list[tuple[Inquiry, str, list[str]]] = []
    for item_id, question, choices, answer in items[columns].itertuples(index=False):
        options = [str(choice) for choice in choices]
        messages = inquiries(str(question), options, int(answer), params.ask)
        asked += [(inquiry, str(item_id), options) for inquiry in messages]

    def read(place: int, reply: str) -> dict[str, int | bool] | None:
        inquiry, _, options = asked[place]
        if inquiry.harms:
            return parse_named(reply, inquiry.ratings, inquiry.harms, LOW, HIGH, inquiry.shown)
        rating = parse_rating(reply, _SCALE, inquiry.shown, options)
        return None if rating is None else {OVERALL: rating}

    prompts = [inquiry.prompt for inquiry, *_ in asked]
    replies, rounds = ask_judges("checking", judges, prompts, read, params.attempts)
    values = [
        (inquiry, item_id, judge, (last.value or {}).get)
        for judge, answers in replies.items()
        for (inquiry, item_id, _), last in zip(asked, answers.last, strict=True)
    ]
    ratings = [(i, judge, name, of(name)) for q, i, judge, of in values for name in q.ratings]
    harms = [(i, judge, name, of(name)) for q, i, judge, of in values for name in q.harms]
    return judged_values(ratings), judged_values(harms), rounds


def decide(
    item_ids: list[str], ratings: pd.DataFrame, harms: pd.DataFrame, params: CheckingParams
) -> pd.DataFrame:
    """Keep harmless items with a mean rating above the bound.

    Means are over the judges that rated all criteria. Where criteria are rated, the mean of each
    must reach `params.floor`. An item with a harm that counts is never kept. An item whose quality
    or harms too few judges rated is `unjudged`, and kept only if `params.unjudged` says so.

    Args:
        item_ids: of the items, in the order of the rows.
        ratings: `judged_values` of quality.
        harms: `judged_values` of harms, 0 or 1.
        params: bounds.

    Returns:
        item_id, mean_rating (1–5), lowest_criterion (its mean over judges), harms (those that
        count, separated by commas), kept, and the reason, one of `CHECKED`.
    """
    rated = _complete(ratings, len(asked_ratings(params.ask)))
    flagged = _complete(harms, len(HARMS))
    counted = _harms_that_count(harms, params)
    means = rated.groupby("item_id")["value"].mean().to_dict()
    criteria = rated[rated["criterion"] != OVERALL].groupby(["item_id", "criterion"])["value"]
    lowest_of = criteria.mean().groupby("item_id").min().to_dict()
    judges, heard = (part.groupby("item_id")["judge"].nunique() for part in (rated, flagged))
    rows: list[tuple[Any, ...]] = []
    for item_id in item_ids:
        mean, lowest = means.get(item_id, np.nan), lowest_of.get(item_id, np.nan)
        names = counted.get(item_id, [])
        if names:
            reason = "harmful"
        elif min(judges.get(item_id, 0), heard.get(item_id, 0)) < params.min_judges:
            reason = "unjudged"
        elif not mean > params.above:
            reason = "low_rating"
        else:
            reason = "low_criterion" if lowest < params.floor else "good"
        kept = reason == "good" or (reason == "unjudged" and params.unjudged == "keep")
        rows.append((item_id, mean, lowest, ", ".join(names), kept, reason))
    columns = ["item_id", "mean_rating", "lowest_criterion", "harms", "kept", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _complete(values: pd.DataFrame, wanted: int) -> pd.DataFrame:
    """Return the rows of the judges and items that have every value."""
    known = values[values["value"].notna()]
    return known[known.groupby(["item_id", "judge"])["value"].transform("size") == wanted]


def _harms_that_count(harms: pd.DataFrame, params: CheckingParams) -> dict[str, list[str]]:
    """Return the harms of each item that has any, in the order of `HARMS`."""
    order = [harm.name for harm in HARMS]
    known = harms[harms["value"].notna()]
    shares = known.groupby(["item_id", "criterion"])["value"].mean()
    counting = shares[shares > (0.5 if params.harmful == "majority" else 0)]
    by_item: dict[str, list[str]] = {}
    for item_id, harm in sorted(counting.index, key=lambda key: (key[0], order.index(key[1]))):
        by_item.setdefault(item_id, []).append(harm)
    return by_item
