"""Judges' checks of quality and harms (MMLU-CF, section 3.2, step 4, and Table 4)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, judged_values, shown_question
from benchwright.methods.mmlu_cf.judging.replies import YES_OR_NO, read_reply
from benchwright.params.mmlu_cf import CheckingParams


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
"""The criteria of Table 4, under which one rating is asked for, from 1 (bad) to 5 (good)."""

HARMS = (
    Criterion("hatred", "hatred or contempt for a group of people"),
    Criterion("sex", "sexual suggestion or indecent sexual content"),
    Criterion("self_harm", "self-harm, or encouragement to it"),
    Criterion("violence", "brutal violence, or a call to it"),
)
"""The four kinds of harm, each answered yes or no."""

OVERALL = "overall"
"""The name of the rating under all criteria."""

HIGH = 5
_RATING = {"rating": {str(rating): float(rating) for rating in range(1, HIGH + 1)}}
_HARMS = {harm.name: YES_OR_NO for harm in HARMS}
_RATE = (
    "Review the multiple-choice question below, and whether it is correct in each of these:\n"
    + "\n".join(f"- {criterion.name}: {criterion.asks}" for criterion in CRITERIA),
    "Give one rating from 1 to 5 for all of them, 5 the best. Reply with JSON and nothing else: "
    '{"rating": <1 to 5>}.',
)
_FLAG = (
    "Does the text below contain any of these?\n"
    + "\n".join(f"- {harm.name}: {harm.asks}" for harm in HARMS),
    "Reply with JSON and nothing else: {"
    + ", ".join(f'"{harm.name}": "<yes or no>"' for harm in HARMS)
    + "}.",
)


def check_items(
    items: pd.DataFrame, judges: Mapping[str, Ask], params: CheckingParams
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ask every judge about every item: `judged_values` of ratings and of harms, `ROUNDS`.

    One message asks for the rating, one for the harms. A reply that lacks a value does not count;
    the judge is asked again. `items` have item_id, question, choices (list[str]) and answer
    (index).
    """
    asked: list[tuple[str, list[str], bool]] = []  # of each prompt: item, options, for harms
    prompts = []
    for item in items.to_dict("records"):
        options = [str(choice) for choice in item["choices"]]
        shown = shown_question(str(item["question"]), options, int(item["answer"]))
        for harmful, (task, form) in enumerate((_RATE, _FLAG)):
            asked.append((str(item["item_id"]), options, bool(harmful)))
            prompts.append(f"{task}\n\n{shown}\n\n{form}")

    def read(place: int, reply: str) -> Mapping[str, float] | None:
        _, options, harmful = asked[place]
        return read_reply(reply, _HARMS if harmful else _RATING, options)

    replies, rounds = ask_judges("checking", judges, prompts, read, params.attempts)
    ratings: list[tuple[str, str, str, Any]] = []
    harms: list[tuple[str, str, str, Any]] = []
    for judge, answers in replies.items():
        for (item_id, _, harmful), last in zip(asked, answers.last, strict=True):
            found = last.value or {}
            if harmful:
                harms += [(item_id, judge, name, found.get(name)) for name in _HARMS]
            else:
                ratings.append((item_id, judge, OVERALL, found.get("rating")))
    return judged_values(ratings), judged_values(harms), rounds


def decide(
    item_ids: list[str], ratings: pd.DataFrame, harms: pd.DataFrame, params: CheckingParams
) -> pd.DataFrame:
    """Keep harmless items with a mean rating above the bound.

    An item with a harm is never kept. An item whose quality or harms no judge rated is `unjudged`,
    and kept only if `params.unjudged` says so. `ratings` and `harms` are `judged_values`. Return
    item_id, mean_rating (1–5), harms (that any judge reports, separated by commas), kept, and the
    reason, one of `CHECKED`, in the order of the ids.
    """
    reported = harms.loc[harms["value"] > 0, ["item_id", "criterion"]]
    harmful = set(reported.itertuples(index=False, name=None))
    means = ratings.groupby("item_id")["value"].mean().dropna()
    heard = set(harms.loc[harms["value"].notna(), "item_id"])
    rows: list[tuple[Any, ...]] = []
    for item_id in item_ids:
        mean = means.get(item_id, np.nan)
        names = [harm.name for harm in HARMS if (item_id, harm.name) in harmful]
        if names:
            reason = "harmful"
        elif item_id not in means or item_id not in heard:
            reason = "unjudged"
        else:
            reason = "good" if mean > params.above else "low_rating"
        kept = reason == "good" or (reason == "unjudged" and params.unjudged == "keep")
        rows.append((item_id, mean, ", ".join(names), kept, reason))
    return pd.DataFrame(rows, columns=["item_id", "mean_rating", "harms", "kept", "reason"])
