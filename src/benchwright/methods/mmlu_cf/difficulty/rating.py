"""Judges' ratings of difficulty, 0–9 (MMLU-CF, section 3.2, step 3)."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import LEVELS, level_shares
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, judged_values, shown_question
from benchwright.methods.mmlu_cf.judging.replies import read_reply
from benchwright.params.mmlu_cf import SamplingByDifficultyParams


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


def difficulty_candidates(items: pd.DataFrame, at_most: int | None, seed: int) -> pd.DataFrame:
    """Draw `at_most` of the items by hashes of their ids, in their order; None keeps all.

    A larger number keeps what a smaller one drew, so that no item is rated twice.
    """
    if at_most is None or at_most >= len(items):
        return items
    drawn = item_uniforms(seed, "difficulty/candidates", items["item_id"].astype(str).tolist())
    chosen = np.sort(np.argsort(drawn, kind="stable")[:at_most])
    return items.iloc[chosen]


DIFFICULTY = ["item_id", "difficulty", "level", "source"]

_SCALE = {"difficulty": {str(level): level for level in range(LEVELS)}}
_TASK = (
    "How difficult is the last question below? Give its level from 0, the easiest, to 9, the most "
    "difficult. Do not answer the question. Reply with JSON and nothing else: "
    '{"difficulty": <level>}.'
)


def difficulty_prompt(
    question: str, choices: Sequence[str], answer: int, examples: Sequence[WorkedExample]
) -> str:
    """Write the prompt of a judge: the task, worked examples with their levels, the question."""
    last = f"{shown_question(question, choices, answer)}\nReply:"
    return "\n\n".join([_TASK, *map(_worked, examples), last])


def _worked(example: WorkedExample) -> str:
    shown = shown_question(example.question, example.choices, example.answer)
    return f'{shown}\nReply: {{"difficulty": {example.rating}}}'


def parse_level(reply: str | None, question: str, choices: Sequence[str]) -> int | None:
    """Read the level from a reply to `difficulty_prompt`, or return None.

    Text after a further "Question:" is ignored: a model that continues the pattern of the examples
    has already stated its level. A reply that begins with another question gives none.
    """
    if reply is None:
        return None
    text = reply.split("\nQuestion:")[0]
    if text.lstrip().startswith("Question:") and question not in text:
        return None
    read = read_reply(text, _SCALE, choices)
    return None if read is None else read["difficulty"]


def rate_difficulty(
    items: pd.DataFrame, judges: Mapping[str, Ask], examples: Sequence[WorkedExample], attempts: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask every judge for the level of every item: `judged_values` and `ROUNDS`.

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
        return parse_level(reply, *questions[place][:2])

    asked, rounds = ask_judges("difficulty", judges, prompts, level, attempts)
    values = [
        (item_id, judge, "difficulty", reply.value)
        for judge, replies in asked.items()
        for item_id, reply in zip(ids, replies.last, strict=True)
    ]
    return judged_values(values), rounds


def combine_ratings(
    item_ids: Sequence[str],
    ratings: pd.DataFrame,
    seed: int,
    from_responses: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Combine ratings to their median; responses of models fill the gaps.

    A hash of seed and item id rounds a half up or down. `ratings` are `judged_values`,
    `from_responses` levels by item id, NaN if unknown. Return item_id, difficulty (0–9 or NaN),
    level (the nearest whole number) and source (`judges`, `responses` or `not_judged`).
    """
    by_judges = ratings.groupby("item_id")["value"].median().dropna().to_dict()
    by_models = from_responses or {}
    coins = item_uniforms(seed, "difficulty_level", item_ids)
    rows: list[tuple[str, float, float, str]] = []
    for item_id, coin in zip(item_ids, coins, strict=True):
        value = by_judges.get(item_id, by_models.get(item_id, nan))
        source = "judges" if item_id in by_judges else "responses"
        if np.isnan(value):
            source = "not_judged"
        below = float(np.floor(value))
        level = below + (coin < 0.5) if value - below == 0.5 else float(np.rint(value))
        rows.append((item_id, value, level, source))
    return pd.DataFrame(rows, columns=DIFFICULTY)


def count_levels(
    item_difficulty: pd.DataFrame,
    sampled_items: pd.DataFrame,
    checked_items: pd.DataFrame,
    final_difficulty: pd.DataFrame,
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> pd.DataFrame:
    """Count the questions of each level (−1: unknown) and step: pool, level, n, share, expected.

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
        known = levels.fillna(-1).astype(np.int64)
        for level in range(-1, LEVELS):
            n = int((known == level).sum())
            expected = target[level] if pool == "sampled" and level >= 0 else nan
            rows.append((pool, level, n, n / max(len(known), 1), expected))
    return pd.DataFrame(rows, columns=["pool", "level", "n", "share", "expected"])
