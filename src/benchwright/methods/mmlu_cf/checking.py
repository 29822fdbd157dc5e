"""Judges' checks of quality and harms (MMLU-CF, section 3.2, step 4, and Table 4)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, shown_question
from benchwright.methods.mmlu_cf.judging.replies import (
    Scale,
    parse_named,
    parse_rating,
    parse_yes_no,
)
from benchwright.params.mmlu_cf import CheckingParams
from benchwright.tables.mmlu_cf import CheckingDecisions, HarmFlags, JudgeRatings

Style = Literal["together", "each", "overall"]


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
    """A prompt for a judge and the format of its reply.

    The reply holds the named `ratings` and `harms`: several values by name (`named`), or one. It
    may repeat the `shown` parts of the prompt.
    """

    prompt: str
    ratings: tuple[str, ...]
    harms: tuple[str, ...]
    form: Literal["named", "rating", "yes_no"]
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
        return Inquiry(f"{task}\n\n{shown}\n\n{form}", ratings, harms, "named", (task, shown, form))

    def rating(task: str, form: str, name: str) -> Inquiry:
        form = f'{form} Write "Rating: ", the number, and nothing else.'
        prompt = f"{task}\n\n{shown}\n\n{form}"
        return Inquiry(prompt, (name,), (), "rating", (task, shown, form))

    def yes_no(harm: Criterion) -> Inquiry:
        task = f"Does the text below contain {harm.asks}? Reply with one word, yes or no."
        prompt = f"{task}\n\n{shown}\n\nYes or no:"
        return Inquiry(prompt, (), (harm.name,), "yes_no", (task, shown))

    if style == "together":
        task = (
            "Review the multiple-choice question below. Do not answer it. Rate it from 1 (bad) to "
            f"5 (good) in each of these:\n{criteria_listed}\nThen say yes or no: does it contain\n"
            f"{harms_listed}"
        )
        return [named(task, [*(f"{name}: <1-5>" for name in names), *yes_or_no], names)]
    if style == "overall":
        task = (
            "Review the multiple-choice question below, and whether it is correct in each of "
            f"these:\n{criteria_listed}"
        )
        form = "Give one rating from 1 to 5 for all of them, 5 the best."
        any_harm = f"Does the text below contain any of these?\n{harms_listed}"
        return [rating(task, form, OVERALL), named(any_harm, yes_or_no, ())]
    review = "Review the multiple-choice question below. Do not answer it."
    form = "Rate it from 1 (not at all) to 5 (fully)."
    return [
        *(rating(f"{review} {asked.asks}", form, asked.name) for asked in CRITERIA),
        *map(yes_no, HARMS),
    ]


_SCALE = Scale(LOW, HIGH, ("rating", "overall rating", "score"))


def check_items(
    items: pd.DataFrame, judges: Mapping[str, Ask], params: CheckingParams
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ask every judge about every item: tables `JudgeRatings`, `HarmFlags`, `JudgeRounds`.

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
        return _read(inquiry, reply, options)

    prompts = [inquiry.prompt for inquiry, *_ in asked]
    replies, rounds = ask_judges("checking", judges, prompts, read, params.attempts)
    ratings: list[tuple[Any, ...]] = []
    harms: list[tuple[Any, ...]] = []
    for judge, answers in replies.items():
        for (inquiry, item_id, _), last in zip(asked, answers.last, strict=True):
            value = (last.value or {}).get
            ratings += [
                (item_id, judge, name, value(name), last.reply, last.status, last.attempt)
                for name in inquiry.ratings
            ]
            harms += [
                (item_id, judge, name, value(name), last.status, last.reply, last.attempt)
                for name in inquiry.harms
            ]
    return (
        JudgeRatings.from_rows(sorted(ratings, key=lambda row: row[:3])),
        HarmFlags.from_rows(sorted(harms, key=lambda row: row[:3])),
        rounds,
    )


def decide(
    item_ids: list[str], ratings: pd.DataFrame, harms: pd.DataFrame, params: CheckingParams
) -> pd.DataFrame:
    """Keep harmless items with a mean rating above the bound, as a `CheckingDecisions` table.

    Means are over the judges that rated all criteria. Where criteria are rated, the mean of each
    must reach `params.floor`. An item with a harm that counts is never kept. An item whose quality
    or harms too few judges rated is `unjudged`, and kept only if `params.unjudged` says so. The
    rows are those of `item_ids`; `ratings` are `JudgeRatings`, `harms` `HarmFlags`.
    """
    rated = _complete(ratings, "rating", len(asked_ratings(params.ask)))
    flagged = _complete(harms, "flagged", len(HARMS))
    counted = _harms_that_count(harms, params)
    ratings_of = {
        str(item_id): (part["rating"].mean(), part["judge"].nunique())
        for item_id, part in rated.groupby("item_id", sort=False)
    }
    criteria = rated[rated["criterion"] != OVERALL].groupby(["item_id", "criterion"])["rating"]
    lowest_of = criteria.mean().groupby("item_id").min().to_dict()
    harm_judges = flagged.groupby("item_id")["judge"].nunique().to_dict()
    rows: list[tuple[Any, ...]] = []
    for item_id in item_ids:
        mean, judges = ratings_of.get(item_id, (np.nan, 0))
        lowest = lowest_of.get(item_id, np.nan)
        heard = int(harm_judges.get(item_id, 0))
        names = counted.get(item_id, [])
        if names:
            reason = "harmful"
        elif min(judges, heard) < params.min_judges:
            reason = "unjudged"
        elif not mean > params.above:
            reason = "low_rating"
        else:
            reason = "low_criterion" if lowest < params.floor else "good"
        kept = reason == "good" or (reason == "unjudged" and params.unjudged == "keep")
        rows.append((item_id, mean, lowest, judges, heard, ", ".join(names), kept, reason))
    return CheckingDecisions.from_rows(rows)


def _read(inquiry: Inquiry, reply: str, choices: list[str]) -> dict[str, int | bool] | None:
    if inquiry.form == "named":
        return parse_named(reply, inquiry.ratings, inquiry.harms, LOW, HIGH, inquiry.shown)
    if inquiry.form == "yes_no":
        flag = parse_yes_no(reply)
        return None if flag is None else {inquiry.harms[0]: flag}
    rating = parse_rating(reply, _SCALE, inquiry.shown, choices)
    return None if rating is None else {inquiry.ratings[0]: rating}


def _complete(replies: pd.DataFrame, column: str, wanted: int) -> pd.DataFrame:
    """Return the rows of the judges and items that have every value."""
    known = replies[replies[column].notna()]
    return known[known.groupby(["item_id", "judge"])[column].transform("size") == wanted]


def _harms_that_count(harms: pd.DataFrame, params: CheckingParams) -> dict[str, list[str]]:
    """Return the harms of each item that has any, in the order of `HARMS`."""
    order = [harm.name for harm in HARMS]
    known = harms[harms["flagged"].notna()]
    shares = known.groupby(["item_id", "harm"])["flagged"].mean().astype(np.float64)
    counting = shares[shares > (0.5 if params.harmful == "majority" else 0)]
    by_item: dict[str, list[str]] = {}
    for item_id, harm in sorted(counting.index, key=lambda key: (key[0], order.index(key[1]))):
        by_item.setdefault(item_id, []).append(harm)
    return by_item
