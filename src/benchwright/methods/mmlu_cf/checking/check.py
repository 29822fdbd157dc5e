"""Several judges check questions; those that they find good and harmless are kept."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.compute.asking import Ask
from benchwright.methods.mmlu_cf.checking.criteria import (
    HARMS,
    HIGH,
    LOW,
    Inquiry,
    asked_ratings,
    inquiries,
)
from benchwright.methods.mmlu_cf.judging.agreement import judge_agreement
from benchwright.methods.mmlu_cf.judging.named_replies import parse_named, parse_yes_no
from benchwright.methods.mmlu_cf.judging.replies import Scale, parse_rating
from benchwright.methods.mmlu_cf.judging.rounds import Said, ask_in_rounds, rounds_table
from benchwright.params.checking import CheckingParams
from benchwright.tables.mmlu_cf import (
    CheckingDecisions,
    HarmFlags,
    JudgeAgreement,
    JudgeRatings,
    JudgeRounds,
)

_SCALE = Scale(LOW, HIGH, ("rating", "overall rating", "score"))


class Checked(NamedTuple):
    """What judges said: tables `JudgeRatings`, `HarmFlags`, `JudgeRounds`."""

    ratings: pd.DataFrame
    harms: pd.DataFrame
    rounds: pd.DataFrame


def check_items(items: pd.DataFrame, judges: Mapping[str, Ask], params: CheckingParams) -> Checked:
    """Ask every judge about every item.

    A reply that lacks one of the values asked for says nothing; the judge is asked again.

    Args:
        items: item_id, question, choices (list[str]), answer (index).
        judges: each by its name.
        params: how they are asked.
    """
    asked: list[Inquiry] = []
    of_item: list[tuple[str, list[str]]] = []
    for item_id, question, choices, answer in items[
        ["item_id", "question", "choices", "answer"]
    ].itertuples(index=False):
        options = [str(choice) for choice in choices]
        for inquiry in inquiries(str(question), options, int(answer), params.ask):
            asked.append(inquiry)
            of_item.append((str(item_id), options))

    def read(place: int, reply: str) -> dict[str, int | bool] | None:
        return _read(asked[place], reply, of_item[place][1])

    ratings: list[tuple[Any, ...]] = []
    harms: list[tuple[Any, ...]] = []
    rounds: list[pd.DataFrame] = []
    for judge in sorted(judges):
        answers = ask_in_rounds(
            judges[judge], [inquiry.prompt for inquiry in asked], read, params.attempts
        )
        rounds.append(rounds_table("checking", judge, answers))
        for inquiry, (item_id, _), said in zip(asked, of_item, answers.last, strict=True):
            ratings.extend(_rating_rows(item_id, judge, inquiry, said))
            harms.extend(_harm_rows(item_id, judge, inquiry, said))
    return Checked(
        JudgeRatings.from_rows(sorted(ratings, key=lambda row: row[:3])),
        HarmFlags.from_rows(sorted(harms, key=lambda row: row[:3])),
        pd.concat(rounds, ignore_index=True) if rounds else JudgeRounds.empty(),
    )


def decide(
    item_ids: list[str], ratings: pd.DataFrame, harms: pd.DataFrame, params: CheckingParams
) -> pd.DataFrame:
    """A `CheckingDecisions` table: kept are harmless items with a mean rating above the bound.

    The mean is over the judges that rated all criteria. An item with a harm that counts is never
    kept, whether or not it was rated. One with too few ratings, or on whose harms too few judges
    spoke, is `unjudged`, and kept only if `params.unjudged` says so.

    Args:
        item_ids: of all items, in the order of the table.
        ratings: a `JudgeRatings` table.
        harms: a `HarmFlags` table.
        params: the bound, and what to do with harms and with items not judged.
    """
    rated = _complete(ratings, "rating", len(asked_ratings(params.ask)))
    spoken = _complete(harms, "flagged", len(HARMS))
    counted = _harms_that_count(harms, params)
    given = {
        str(item_id): (part["rating"].tolist(), part["judge"].nunique())
        for item_id, part in rated.groupby("item_id", sort=False)
    }
    speakers = spoken.groupby("item_id")["judge"].nunique().to_dict()
    rows: list[tuple[Any, ...]] = []
    for item_id in item_ids:
        values, judges = given.get(item_id, ([], 0))
        mean = sum(values) / len(values) if values else np.nan
        lowest = min(values, default=np.nan)
        heard = int(speakers.get(item_id, 0))
        names = counted.get(item_id, [])
        if names:
            reason = "harmful"
        elif min(judges, heard) < params.fewest_judges:
            reason = "unjudged"
        else:
            reason = "good" if mean > params.above else "low_rating"
        kept = reason == "good" or (reason == "unjudged" and params.unjudged == "keep")
        rows.append((item_id, mean, lowest, judges, heard, ", ".join(names), kept, reason))
    return CheckingDecisions.from_rows(rows)


def checking_agreement(
    ratings: pd.DataFrame, harms: pd.DataFrame, seed: int, draws: int = 500
) -> pd.DataFrame:
    """A `JudgeAgreement` table: ordinal alpha of each criterion, nominal alpha of each harm."""
    rated = ratings.rename(columns={"rating": "value"})
    flagged = harms.rename(columns={"harm": "criterion", "flagged": "value"})
    parts = [
        judge_agreement("quality", rated, "ordinal", seed, draws),
        judge_agreement("harms", flagged, "nominal", seed, draws),
    ]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else JudgeAgreement.empty()


def _read(inquiry: Inquiry, reply: str, choices: list[str]) -> dict[str, int | bool] | None:
    if inquiry.form == "named":
        return parse_named(reply, inquiry.ratings, inquiry.harms, LOW, HIGH, inquiry.shown)
    if inquiry.form == "yes_no":
        said = parse_yes_no(reply)
        return None if said is None else {inquiry.harms[0]: said}
    rating = parse_rating(reply, _SCALE, inquiry.shown, choices)
    return None if rating is None else {inquiry.ratings[0]: int(rating)}


def _rating_rows(
    item_id: str, judge: str, inquiry: Inquiry, said: Said[dict[str, int | bool]]
) -> list[tuple[Any, ...]]:
    values = said.value or {}
    return [
        (item_id, judge, name, values.get(name), said.reply, said.status, said.attempt)
        for name in inquiry.ratings
    ]


def _harm_rows(
    item_id: str, judge: str, inquiry: Inquiry, said: Said[dict[str, int | bool]]
) -> list[tuple[Any, ...]]:
    values = said.value or {}
    return [
        (item_id, judge, name, values.get(name), said.status, said.reply, said.attempt)
        for name in inquiry.harms
    ]


def _complete(said: pd.DataFrame, column: str, wanted: int) -> pd.DataFrame:
    """The rows of those judges and items of which every value is there."""
    known = said[said[column].notna()]
    full = known.groupby(["item_id", "judge"])[column].transform("size") == wanted
    return known[full]


def _harms_that_count(harms: pd.DataFrame, params: CheckingParams) -> dict[str, list[str]]:
    """The harms of each item that has any, in the order of `HARMS`."""
    order = {harm.name: place for place, harm in enumerate(HARMS)}
    spoken = harms[harms["flagged"].notna()]
    shares = spoken.groupby(["item_id", "harm"])["flagged"].mean().astype(np.float64)
    counting = shares[shares > (0.5 if params.harmful == "majority" else 0)]
    found: dict[str, list[str]] = {}
    for item_id, harm in sorted(counting.index, key=lambda key: (key[0], order[key[1]])):
        found.setdefault(item_id, []).append(harm)
    return found
