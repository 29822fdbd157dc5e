"""Judges of questions: prompts, rounds of asking, agreement."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.option_letters import LETTERS, lettered
from benchwright.core.seeding import stage_generator
from benchwright.core.stored_shards import StoredShards
from benchwright.language_models.protocol import Ask
from benchwright.params.mmlu_cf import JudgesParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.asking import Rounds, T, ask_in_rounds, ask_model
from benchwright.statistics.krippendorff import Scale, krippendorff_alpha

logger = logging.getLogger(__name__)

ROUNDS = ["task", "judge", "attempt", "asked", "parsed", "unparsed", "too_long", "parse_rate"]
VALUES = ["item_id", "judge", "criterion", "value"]
AGREEMENT = [
    "task",
    "criterion",
    "judge",
    "other",
    "n_items",
    "alpha",
    "low",
    "high",
    "reason",
]
_DRAWS = 500  # of the bootstrap over items


def shown_question(question: str, choices: Sequence[str], answer: int) -> str:
    """Return the question, its options and the letter of the right one (none if `answer` is −1)."""
    right = LETTERS[answer] if 0 <= answer < len(choices) else "not given"
    return f"Question: {question}\n{lettered(choices)}\nRight answer: {right}"


def with_passage(items: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of a `CleanItems` table whose questions begin with their passages."""
    questions = []
    for passage, question in zip(items["passage"], items["question"], strict=True):
        passed = isinstance(passage, str) and passage.strip()
        questions.append(f"{passed}\n\n{question}" if passed else question)
    return items.assign(question=pd.Series(questions, index=items.index, dtype=object))


def ask_judges(
    task: str,
    judges: Mapping[str, Ask],
    texts: Sequence[str],
    parse: Callable[[int, str], T | None],
    attempts: int,
) -> tuple[dict[str, Rounds[T]], pd.DataFrame]:
    """Ask each judge with `ask_in_rounds`; return replies by judge and their `ROUNDS`."""
    rounds = {name: ask_in_rounds(judges[name], texts, parse, attempts) for name in sorted(judges)}
    return rounds, rounds_table(task, rounds)


def rounds_table(task: str, rounds: Mapping[str, Rounds[T]]) -> pd.DataFrame:
    """Count the replies asked for and read, by task, judge and attempt; see `ROUNDS`."""
    rows: list[tuple[Any, ...]] = []
    for judge, asked in rounds.items():
        for attempt in sorted({reply.attempt for reply in asked.attempts}):
            counts = Counter(reply.status for reply in asked.attempts if reply.attempt == attempt)
            n = counts.total()
            read = counts["parsed"]
            unread = (counts["unparsed"], counts["too_long"])
            rows.append((task, judge, attempt, n, read, *unread, read / n))
    return pd.DataFrame(rows, columns=ROUNDS)


def judged_values(rows: Iterable[tuple[str, str, str, float | None]]) -> pd.DataFrame:
    """Return item_id, judge, criterion and value (NaN without a readable reply), in order."""
    ordered = sorted(rows, key=lambda row: row[:3])
    return pd.DataFrame(ordered, columns=VALUES).astype({"value": np.float64})


def ask_in_memory(
    name: str,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    *,
    max_tokens: int,
    what: str,
) -> Ask:
    """Return a model as `ask_model`, but not on Ray, which spills to disk; warn of a server."""
    local = scoring.model_copy(update={"engine": "local"})
    ask = ask_model(name, models, local, store, max_tokens=max_tokens, what=what)
    warn_of_server(name, models, what)
    return ask


def warn_of_server(name: str, models: ModelsParams, what: str) -> None:
    """Warn if a model is a server, since it would receive questions of the closed half."""
    if name in models.models and models.models[name].endpoint is not None:
        message = "%s: %s is a server: it receives questions of the closed half and may store them"
        logger.warning(message, what, name)


def named_judges(
    params: JudgesParams,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    what: str,
    *,
    closed: bool = True,
) -> Mapping[str, Ask]:
    """Return the judges that a section of conf names; of `closed` questions, `ask_in_memory`."""
    ask = ask_in_memory if closed else ask_model
    most = params.max_tokens
    return {
        name: ask(name, models, scoring, store, max_tokens=most, what=what)
        for name in params.judges
    }


def judge_agreement(task: str, judged: pd.DataFrame, scale: Scale, seed: int) -> pd.DataFrame:
    """Compute Krippendorff's alpha per criterion, of all judges and of each pair; see `AGREEMENT`.

    `judge` and `other` are "" for all judges. `judged` are those of `judged_values`. The interval
    is a bootstrap over items with this seed.
    """
    rows: list[tuple[Any, ...]] = []
    for criterion, part in judged.groupby("criterion", sort=True):
        table = part.pivot(index="judge", columns="item_id", values="value")  # noqa: PD010
        table = table.sort_index(axis=0).sort_index(axis=1)
        values = table.to_numpy(np.float64)
        groups = [("", "", values)]
        for first, second in combinations(table.index, 2):
            groups.append((first, second, table.loc[[first, second]].to_numpy()))
        for judge, other, of_judges in groups:
            generator = stage_generator(seed, f"judge_agreement/{task}")
            alpha = krippendorff_alpha(of_judges, scale, _DRAWS, generator)
            measured = (alpha.units, alpha.value, alpha.low, alpha.high, alpha.reason)
            rows.append((task, criterion, judge, other, *measured))
    return pd.DataFrame(rows, columns=AGREEMENT)
