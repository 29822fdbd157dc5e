"""Judges' ratings of difficulty, 0–9 (MMLU-CF, section 3.2, step 3)."""

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
from benchwright.statistics.proportion import clustered_means, clustered_share
from benchwright.tables.mmlu_cf import DifficultyCounts, DifficultyRatings, ItemDifficulty


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
"""Five examples over the whole scale, written for this project."""


def read_examples(table: pd.DataFrame) -> tuple[WorkedExample, ...]:
    """Read a user's examples: columns question, choices (a JSON list), answer (a letter), rating.

    Raises:
        InputError: a column is missing, or a row is invalid.
    """
    columns = ["question", "choices", "answer", "rating"]
    if missing := [name for name in columns if name not in table.columns]:
        raise InputError(
            f"difficulty examples: column {missing[0]!r} is missing; the columns "
            f"{', '.join(columns)} are required"
        )
    rows = enumerate(table[columns].itertuples(index=False), start=1)
    return tuple(_example(f"difficulty examples, row {number}", *row) for number, row in rows)


def _example(
    where: str, question: object, choices: object, answer: object, rating: object
) -> WorkedExample:
    try:
        options = json.loads(choices) if isinstance(choices, str) else choices
    except ValueError:
        options = None
    texts = tuple(map(str, options)) if isinstance(options, list | tuple | np.ndarray) else ()
    if not 2 <= len(texts) <= 26 or not str(question).strip():
        raise InputError(
            f"{where}: choices is {choices!r}; write a question and a JSON list of 2–26 texts"
        )
    letter = str(answer).strip().upper()
    if len(letter) != 1 or letter not in ascii_uppercase[: len(texts)]:
        last = ascii_uppercase[len(texts) - 1]
        raise InputError(f"{where}: answer is {answer!r}; write a letter A–{last}")
    level = pd.to_numeric(pd.Series([rating]), errors="coerce").iloc[0]
    if level not in range(10):
        raise InputError(f"{where}: rating is {rating!r}; write a whole number from 0 to 9")
    return WorkedExample(str(question), texts, ascii_uppercase.index(letter), int(level))


def difficulty_candidates(items: pd.DataFrame, at_most: int | None, seed: int) -> pd.DataFrame:
    """Draw `at_most` of the items by hashes of their ids, in their order; None keeps all.

    A larger number keeps what a smaller one drew, so that no item is rated twice.
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


def difficulty_prompt(
    question: str, choices: Sequence[str], answer: int, examples: Sequence[WorkedExample]
) -> str:
    """Write the prompt of a judge: the task, worked examples with their levels, the question."""
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
    """Read the level from a reply to `difficulty_prompt`, or return None.

    Text after a further "Question:" is ignored: a model that continues the pattern of the examples
    has already stated its level. A reply that begins with another question gives none.
    """
    if reply is None:
        return None
    text = reply.split("\nQuestion:")[0]
    if text.lstrip().startswith("Question:") and question not in text:
        return None
    for example in examples:
        text = text.replace(_worked(example), "")
    shown = [_TASK, shown_question(question, choices, answer), question]
    return parse_rating(text, SCALE, shown, choices)


def rate_difficulty(
    items: pd.DataFrame, judges: Mapping[str, Ask], examples: Sequence[WorkedExample], attempts: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask every judge for the level of every item: tables `DifficultyRatings` and `JudgeRounds`.

    `items` have item_id, question, choices (list[str]) and answer (index).
    """
    ids = items["item_id"].astype(str).tolist()
    columns = ["question", "choices", "answer"]
    questions = [
        (str(question), list(map(str, choices)), int(answer))
        for question, choices, answer in items[columns].itertuples(index=False)
    ]
    prompts = [difficulty_prompt(*question, examples) for question in questions]

    def level(place: int, reply: str) -> int | None:
        return parse_level(reply, *questions[place], examples)

    asked, rounds = ask_judges("difficulty", judges, prompts, level, attempts)
    rows = [
        (ids[reply.place], judge, reply.attempt, reply.value, reply.reply, reply.status)
        for judge, replies in asked.items()
        for reply in replies.attempts
    ]
    ratings = DifficultyRatings.from_rows(sorted(rows, key=lambda row: row[:3]))
    return ratings, rounds


def last_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return each judge's last reply on each item: item_id, judge, rating, status."""
    ordered = ratings.sort_values(["item_id", "judge", "attempt"])
    last = ordered.drop_duplicates(["item_id", "judge"], keep="last")
    return last[["item_id", "judge", "rating", "status"]].reset_index(drop=True)


def combine_ratings(
    item_ids: Sequence[str],
    ratings: pd.DataFrame,
    combine: Literal["median", "mean"],
    seed: int,
    from_responses: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Combine ratings to an `ItemDifficulty` table; responses of models fill the gaps.

    `level` is the nearest whole number. Even numbers of judges can give a half; a hash of the
    item's id then rounds it up or down, without a preference. The rows are those of
    `item_ids`; `ratings` are `DifficultyRatings`, and `from_responses` 0–9 by item id, NaN if
    unknown (`difficulty_from_responses`).
    """
    of_item = {
        str(item_id): sorted(part["rating"].dropna())
        for item_id, part in last_ratings(ratings).groupby("item_id", sort=False)
    }
    coins = item_uniforms(seed, "difficulty_level", list(item_ids))
    rows: list[tuple[Any, ...]] = []
    for item_id, coin in zip(item_ids, coins, strict=True):
        levels = of_item.get(item_id)
        fallback = float((from_responses or {}).get(item_id, np.nan))
        value, source, reason = fallback, "responses", ""
        if levels:
            value, source = float(mean(levels) if combine == "mean" else median(levels)), "judges"
        elif np.isnan(fallback):
            value, source = np.nan, "not_judged"
            cause = "no judge was asked" if levels is None else "no judge's reply was readable"
            reason = f"{cause}, and models' responses give no difficulty"
        ends = (levels[0], levels[-1]) if levels else (np.nan, np.nan)
        below = float(np.floor(value))
        level = below + (coin < 0.5) if value - below == 0.5 else float(np.rint(value))
        rows.append((item_id, value, level, source, len(levels or ()), *ends, reason))
    return ItemDifficulty.from_rows(rows)


LEVEL = 0.95
_SHIFT = (
    *("before", "after", "shift", "low", "high", "same", "same_low", "same_high"),
    *("harder", "easier"),
)


def compare_ratings(
    item_difficulty: pd.DataFrame,
    final_difficulty: pd.DataFrame,
    contamination_free_items: pd.DataFrame,
) -> dict[str, Any]:
    """Measure how the rules changed the ratings of questions that judges rated both times.

    The 95% intervals are a t interval of the paired difference and Wilson's interval of the share,
    both clustered by document (`doc_id` of the items), since questions of one page are not
    independent. Return `n` pairs of `of` questions; `before` and `after`, the mean ratings 0–9;
    `shift`, after − before, with `low` and `high`; `same`, the share of equal levels, with
    `same_low` and `same_high`; the shares `harder` and `easier`; `reason`, why metrics are absent
    (None).
    """
    ratings = [
        table[table["source"].eq("judges")].set_index("item_id")
        for table in (item_difficulty, final_difficulty)
    ]
    ids = sorted(set(ratings[0].index) & set(ratings[1].index))
    result: dict[str, Any] = {"n": len(ids), "of": len(final_difficulty)}
    if not ids:
        reason = "no question was rated both before and after the rules"
        return {**result, **dict.fromkeys(_SHIFT), "reason": reason}
    old, new = (table.loc[ids] for table in ratings)
    documents = contamination_free_items.set_index("item_id")["doc_id"].reindex(ids).tolist()
    groups = [
        document if isinstance(document, str) else f" {item_id}"
        for item_id, document in zip(ids, documents, strict=True)
    ]
    _, clusters = np.unique(groups, return_inverse=True)
    difference = (new["difficulty"] - old["difficulty"]).to_numpy(np.float64)
    mean = clustered_means(difference[None, :], clusters, LEVEL)
    moved = (new["level"] - old["level"]).to_numpy(np.float64)
    same = clustered_share(moved == 0, clusters, LEVEL)
    values = (
        *(old["difficulty"].mean(), new["difficulty"].mean()),
        *(mean.mean[0], mean.low[0], mean.high[0], same.value, same.low, same.high),
        *((moved > 0).mean(), (moved < 0).mean()),
    )
    metrics = [None if np.isnan(value) else float(value) for value in values]
    return {
        **result,
        **dict(zip(_SHIFT, metrics, strict=True)),
        "reason": mean.reason or same.reason,
    }


UNKNOWN = -1


def count_levels(
    item_difficulty: pd.DataFrame,
    sampled_items: pd.DataFrame,
    checked_items: pd.DataFrame,
    final_difficulty: pd.DataFrame,
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> pd.DataFrame:
    """Count the questions of each level (−1: unknown) and step, as a `DifficultyCounts` table.

    The pool `final` is present only if the final questions were rated.
    """
    level_of = item_difficulty.set_index("item_id")["level"]
    pools = {
        "rated": level_of,
        "sampled": sampled_items["item_id"].map(level_of),
        "checked": checked_items["item_id"].map(level_of),
    }
    if len(final_difficulty):
        pools["final"] = final_difficulty["level"]
    target = level_shares(sampling_by_difficulty.mean, sampling_by_difficulty.sd)
    rows: list[tuple[Any, ...]] = []
    for pool, levels in pools.items():
        known = levels.fillna(UNKNOWN).astype(np.int64)
        for level in range(UNKNOWN, LEVELS):
            n = int((known == level).sum())
            expected = target[level] if pool == "sampled" and level >= 0 else np.nan
            rows.append((pool, level, n, n / max(len(known), 1), expected))
    return DifficultyCounts.from_rows(rows)
