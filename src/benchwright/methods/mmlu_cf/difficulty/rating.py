"""Judges rate how hard questions are, 0–9 (MMLU-CF, section 3.2, step 3)."""

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.compute.asking import Ask
from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.difficulty.worked_examples import WorkedExample
from benchwright.methods.mmlu_cf.judging.replies import Scale, parse_rating
from benchwright.methods.mmlu_cf.judging.rounds import ask_in_rounds, rounds_table
from benchwright.methods.mmlu_cf.judging.shown_question import shown_question
from benchwright.tables.mmlu_cf import DifficultyRatings, ItemDifficulty, JudgeRounds

SCALE = Scale(0, 9, ("rating", "difficulty", "difficulty level", "level", "score"))

_TASK = (
    "How difficult is the last question below? Give its level from [0], the easiest, to [9], the "
    "most difficult. Do not answer the question. Write nothing but the level, in square brackets."
)


class RatedDifficulty(NamedTuple):
    """A `DifficultyRatings` table and a `JudgeRounds` table."""

    ratings: pd.DataFrame
    rounds: pd.DataFrame


def difficulty_prompt(
    question: str, choices: Sequence[str], answer: int, examples: Sequence[WorkedExample]
) -> str:
    """What a judge is told: the task, the worked examples with their levels, the question."""
    last = f"{shown_question(question, choices, answer)}\nDifficulty:"
    return "\n\n".join([_TASK, *map(_worked, examples), last])


def _worked(example: WorkedExample) -> str:
    shown = shown_question(example.question, example.choices, example.answer)
    return f"{shown}\nDifficulty: [{example.rating}]"


def parse_level(
    reply: str | None,
    question: str,
    choices: Sequence[str],
    answer: int,
    examples: Sequence[WorkedExample] = (),
) -> int | None:
    """The level that a reply to `difficulty_prompt` gives, or None.

    What follows a further "Question:" is not read: a model that goes on with the pattern of the
    examples has said its level before. A reply that begins with another question says nothing.
    """
    if reply is None:
        return None
    said = reply.split("\nQuestion:")[0]
    if said.lstrip().startswith("Question:") and question not in said:
        return None
    for example in examples:
        said = said.replace(_worked(example), "")
    told = [_TASK, shown_question(question, choices, answer), question]
    read = parse_rating(said, SCALE, told, choices)
    return None if read is None else int(read)


def rate_difficulty(
    items: pd.DataFrame,
    judges: Mapping[str, Ask],
    examples: Sequence[WorkedExample],
    attempts: int,
) -> RatedDifficulty:
    """Every judge's level for every item, with what it said in each attempt.

    Args:
        items: item_id, question, choices (list[str]), answer (index).
        judges: each by its name.
        examples: shown before the question.
        attempts: the most times a judge is asked where its reply cannot be read.
    """
    ids = [str(item_id) for item_id in items["item_id"]]
    shown = [
        (str(question), [str(choice) for choice in choices], int(answer))
        for question, choices, answer in zip(
            items["question"], items["choices"], items["answer"], strict=True
        )
    ]
    prompts = [difficulty_prompt(*one, examples) for one in shown]

    def level(place: int, reply: str) -> int | None:
        return parse_level(reply, *shown[place], examples)

    rows: list[tuple[Any, ...]] = []
    rounds: list[pd.DataFrame] = []
    for judge in sorted(judges):
        asked = ask_in_rounds(judges[judge], prompts, level, attempts)
        rounds.append(rounds_table("difficulty", judge, asked))
        rows.extend(
            (ids[said.place], judge, said.attempt, said.value, said.reply, said.status)
            for said in asked.attempts
        )
    ratings = DifficultyRatings.from_rows(sorted(rows, key=lambda row: row[:3]))
    return RatedDifficulty(
        ratings, pd.concat(rounds, ignore_index=True) if rounds else JudgeRounds.empty()
    )


def last_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Each judge's last word on each item: item_id, judge, rating, status."""
    ordered = ratings.sort_values(["item_id", "judge", "attempt"])
    last = ordered.drop_duplicates(["item_id", "judge"], keep="last")
    return last[["item_id", "judge", "rating", "status"]].reset_index(drop=True)


def item_difficulty(
    item_ids: Sequence[str],
    ratings: pd.DataFrame,
    combine: Literal["median", "mean"],
    seed: int,
    from_responses: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """An `ItemDifficulty` table: the judges' median or mean, else the responses', else none.

    `level` is the nearest whole number; of one half in between, which even numbers of judges give,
    a hash of the item's id takes the upper or the lower, so that neither is preferred.

    Args:
        item_ids: of all questions, in the order of the table.
        ratings: a `DifficultyRatings` table.
        combine: of several judges.
        seed: of the halves.
        from_responses: 0–9 by item id (`irt_fallback`), NaN where there is none.
    """
    said = last_ratings(ratings)
    of_item = {
        str(item_id): sorted(part["rating"].dropna())
        for item_id, part in said.groupby("item_id", sort=False)
    }
    coins = item_uniforms(seed, "difficulty_level", list(item_ids))
    rows: list[tuple[Any, ...]] = []
    for item_id, coin in zip(item_ids, coins, strict=True):
        given = of_item.get(item_id)
        fallback = float((from_responses or {}).get(item_id, np.nan))
        value, source, reason = fallback, "responses", ""
        if given:
            value, source = float(mean(given) if combine == "mean" else median(given)), "judges"
        elif np.isnan(fallback):
            value, source = np.nan, "not_judged"
            nobody = "no judge was asked" if given is None else "no judge's reply could be read"
            reason = f"{nobody}, and models' answers give no difficulty"
        ends = (given[0], given[-1]) if given else (np.nan, np.nan)
        level = _level(value, float(coin))
        rows.append((item_id, value, level, source, len(given or ()), *ends, reason))
    return ItemDifficulty.from_rows(rows)


def _level(value: float, coin: float) -> float:
    if np.isnan(value):
        return np.nan
    below = float(np.floor(value))
    if value - below == 0.5:
        return below + (coin < 0.5)
    return float(np.rint(value))
