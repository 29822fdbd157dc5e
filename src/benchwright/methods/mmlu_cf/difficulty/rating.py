"""Judges rate how hard questions are, 0–9 (MMLU-CF, section 3.2, step 3)."""

import json
from collections.abc import Mapping, Sequence
from statistics import mean, median
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import LEVELS, level_shares
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, shown_question
from benchwright.methods.mmlu_cf.judging.replies import Scale, parse_rating
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from benchwright.statistics.clustered_mean import clustered_means, clustered_share
from benchwright.tables.mmlu_cf import (
    DifficultyCounts,
    DifficultyRatings,
    ItemDifficulty,
)


class WorkedExample(NamedTuple):
    """A question with options, the index of the right one, and its level 0–9."""

    question: str
    choices: tuple[str, ...]
    answer: int
    rating: int


BUNDLED = (
    WorkedExample(
        "Which of these animals can fly?", ("A cow", "A sparrow", "A carp", "A dog"), 1, 0
    ),
    WorkedExample(
        "Which metal is liquid at room temperature?", ("Mercury", "Copper", "Tin", "Iron"), 0, 2
    ),
    WorkedExample(
        "A shop takes 20% off a coat and then another 10% off the lower price. By how much has the "
        "price fallen in all?",
        ("30%", "25%", "28%", "32%"),
        2,
        4,
    ),
    WorkedExample(
        "A buffer holds equal concentrations of a weak acid (pKa 4.8) and its salt. To which pH "
        "does it move when a tenth of the salt is turned into acid?",
        ("4.9", "4.8", "3.8", "4.7"),
        3,
        6,
    ),
    WorkedExample(
        "For which of these groups is every automorphism inner while the centre is not trivial?",
        (
            "The symmetric group on six letters",
            "The cyclic group of order two",
            "The quaternion group of order eight",
            "The cyclic group of order five",
        ),
        1,
        9,
    ),
)
"""Five levels over the whole scale; written for this project."""


def read_examples(table: pd.DataFrame) -> tuple[WorkedExample, ...]:
    """A user's examples: columns question, choices (a JSON list), answer (a letter), rating (0–9).

    Raises:
        InputError: a column is missing, or a row cannot be read.
    """
    columns = ["question", "choices", "answer", "rating"]
    if missing := [name for name in columns if name not in table.columns]:
        needed = ", ".join(columns)
        raise InputError(
            f"difficulty examples: column {missing[0]!r} is missing; {needed} are needed"
        )
    return tuple(
        _example(number, *row)
        for number, row in enumerate(table[columns].itertuples(index=False), start=1)
    )


def _example(
    number: int, question: object, choices: object, answer: object, rating: object
) -> WorkedExample:
    where = f"difficulty examples, row {number}"
    try:
        options = json.loads(choices) if isinstance(choices, str) else choices
    except ValueError:
        options = None
    texts = tuple(map(str, options)) if isinstance(options, list | tuple | np.ndarray) else ()
    if not 2 <= len(texts) <= 26 or not str(question).strip():
        raise InputError(
            f"{where}: choices is {choices!r}; a question and a JSON list of 2–26 texts are needed"
        )
    letter = str(answer).strip().upper()
    if len(letter) != 1 or letter not in ascii_uppercase[: len(texts)]:
        last = ascii_uppercase[len(texts) - 1]
        raise InputError(f"{where}: answer is {answer!r}; a letter A–{last} is accepted")
    level = pd.to_numeric(pd.Series([rating]), errors="coerce").iloc[0]
    if level not in range(10):
        raise InputError(f"{where}: rating is {rating!r}; a whole number from 0 to 9 is accepted")
    return WorkedExample(str(question), texts, ascii_uppercase.index(letter), int(level))


def difficulty_candidates(items: pd.DataFrame, at_most: int | None, seed: int) -> pd.DataFrame:
    """Draw `at_most` of the items, by hashes of their ids, in their own order; None keeps all.

    A larger number keeps what a smaller one drew, so that replies are asked once.
    """
    if at_most is None or at_most >= len(items):
        return items
    drawn = item_uniforms(seed, "difficulty/candidates", items["item_id"].astype(str).tolist())
    chosen = np.sort(np.argsort(drawn, kind="stable")[:at_most])
    return items.iloc[chosen]


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
    return parse_rating(said, SCALE, told, choices)


def rate_difficulty(
    items: pd.DataFrame, judges: Mapping[str, Ask], examples: Sequence[WorkedExample], attempts: int
) -> RatedDifficulty:
    """Every judge's level for every item, with what it said in each attempt.

    Args:
        items: item_id, question, choices (list[str]), answer (index).
        judges: each by its name.
        examples: shown before the question.
        attempts: the most times a judge is asked where its reply cannot be read.
    """
    ids = items["item_id"].astype(str).tolist()
    shown = [
        (str(question), list(map(str, choices)), int(answer))
        for question, choices, answer in items[["question", "choices", "answer"]].itertuples(
            index=False
        )
    ]
    prompts = [difficulty_prompt(*one, examples) for one in shown]

    def level(place: int, reply: str) -> int | None:
        return parse_level(reply, *shown[place], examples)

    asked, rounds = ask_judges("difficulty", judges, prompts, level, attempts)
    rows = [
        (ids[said.place], judge, said.attempt, said.value, said.reply, said.status)
        for judge, one in asked.items()
        for said in one.attempts
    ]
    return RatedDifficulty(
        DifficultyRatings.from_rows(sorted(rows, key=lambda row: row[:3])), rounds
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
        from_responses: 0–9 by item id (`difficulty_from_responses`), NaN where there is none.
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
    below = float(np.floor(value))
    return below + (coin < 0.5) if value - below == 0.5 else float(np.rint(value))


LEVEL = 0.95


def ratings_again(
    before: pd.DataFrame, after: pd.DataFrame, documents: "pd.Series[str]"
) -> dict[str, Any]:
    """How far the rules moved the ratings, over the questions that judges rated both times.

    Intervals (95%) are t intervals of the paired difference and Wilson's of the share, both over
    documents, since questions of one page stand or fall together.

    Args:
        before: an `ItemDifficulty` table.
        after: another, of the questions as they are in the benchmark; may have no rows.
        documents: the document of each question of `after`, by item id; null where not known.

    Returns:
        `n` pairs of `of` questions; `before` and `after`, the mean ratings 0–9; `shift`, after −
        before, with `low` and `high`; `same`, the share of equal levels, with `same_low` and
        `same_high`; the shares `harder` and `easier`; `reason`, why figures are absent (None).
    """
    ratings = [
        table[table["source"].eq("judges")].set_index("item_id") for table in (before, after)
    ]
    ids = sorted(set(ratings[0].index) & set(ratings[1].index))
    told: dict[str, Any] = {"n": len(ids), "of": len(after)}
    figures = ("before", "after", "shift", "low", "high", "same", "same_low", "same_high")
    if not ids:
        reason = "no question was rated both before and after the rules"
        return {**told, **dict.fromkeys((*figures, "harder", "easier")), "reason": reason}
    old, new = (table.loc[ids] for table in ratings)
    pages = documents.reindex(ids).tolist()
    own = [
        page if isinstance(page, str) else f" {one}" for one, page in zip(ids, pages, strict=True)
    ]
    _, clusters = np.unique(own, return_inverse=True)
    difference = (new["difficulty"] - old["difficulty"]).to_numpy(np.float64)
    mean = clustered_means(difference[None, :], clusters, LEVEL)
    moved = (new["level"] - old["level"]).to_numpy(np.float64)
    same = clustered_share(moved == 0, clusters, LEVEL)
    values = (
        *(old["difficulty"].mean(), new["difficulty"].mean()),
        *(mean.mean[0], mean.low[0], mean.high[0], same.share, same.low, same.high),
    )
    told |= {name: _number(value) for name, value in zip(figures, values, strict=True)}
    shares = {"harder": _number((moved > 0).mean()), "easier": _number((moved < 0).mean())}
    return {**told, **shares, "reason": mean.reason or same.reason}


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


UNKNOWN = -1


def level_counts(
    pools: Mapping[str, "pd.Series[float]"], sampling: SamplingByDifficultyParams
) -> pd.DataFrame:
    """A `DifficultyCounts` table: all levels of each pool, −1 (not known) first.

    Args:
        pools: levels 0–9 of the questions of each pool, NaN where not known; in order.
        sampling: the distribution that the sample was to have.
    """
    target = level_shares(sampling.mean, sampling.sd)
    rows: list[tuple[Any, ...]] = []
    for pool, levels in pools.items():
        known = levels.fillna(UNKNOWN).astype(np.int64)
        for level in range(UNKNOWN, LEVELS):
            n = int((known == level).sum())
            expected = target[level] if pool == "sampled" and level >= 0 else np.nan
            rows.append((pool, level, n, n / max(len(known), 1), expected))
    return DifficultyCounts.from_rows(rows)
