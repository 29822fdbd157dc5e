"""Judges of questions: what they are shown, how they are asked, how far they agree."""

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from string import ascii_uppercase
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.compute.asking import ask_model
from benchwright.core.seeding import stage_generator
from benchwright.datasets.score_store import StoredShards
from benchwright.language_models.protocol import Ask
from benchwright.params.mmlu_cf import JudgesParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.statistics.krippendorff import Scale, krippendorff_alpha, krippendorff_interval
from benchwright.tables.mmlu_cf import JudgeAgreement, JudgeRounds


def shown_options(choices: Sequence[str]) -> str:
    """The options, lettered, one on a line."""
    return "\n".join(
        f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )


def shown_question(question: str, choices: Sequence[str], answer: int) -> str:
    """The question, its options, and the letter of the right one (none where `answer` is −1)."""
    right = ascii_uppercase[answer] if 0 <= answer < len(choices) else "not given"
    return f"Question: {question}\n{shown_options(choices)}\nRight answer: {right}"


def with_passage(items: pd.DataFrame) -> pd.DataFrame:
    """A copy of a `CleanItems` table whose questions begin with their passages."""
    questions = [
        f"{passage.strip()}\n\n{question}"
        if isinstance(passage, str) and passage.strip()
        else question
        for passage, question in zip(items["passage"], items["question"], strict=True)
    ]
    return items.assign(question=pd.Series(questions, index=items.index, dtype=object))


T = TypeVar("T")


class Said(NamedTuple, Generic[T]):
    """What came of one question to a judge in one attempt.

    Attributes:
        place: which text was asked.
        attempt: from 1.
        reply: as the model wrote it; None where the text does not fit its context.
        value: what was read off the reply; None where nothing was.
        status: parsed, unparsed or too_long.
    """

    place: int
    attempt: int
    reply: str | None
    value: T | None
    status: str


class Rounds(NamedTuple, Generic[T]):
    """All attempts in order, and the last one on each text (n,)."""

    attempts: list[Said[T]]
    last: list[Said[T]]


def ask_in_rounds(
    ask: Ask, texts: Sequence[str], parse: Callable[[int, str], T | None], attempts: int
) -> Rounds[T]:
    """Ask all texts, then those whose replies said nothing readable, up to so many times.

    A text that does not fit the model's context is not asked again.

    Args:
        ask: the judge.
        texts: n messages.
        parse: the place of a text and the reply to it → what it says, or None.
        attempts: the most times each is asked, at least 1.

    Raises:
        ValueError: `attempts` is below 1.
    """
    if attempts < 1:
        raise ValueError(f"attempts is {attempts}; 1 or more is accepted")
    told: list[Said[T]] = []
    last: dict[int, Said[T]] = {}
    open_places = list(range(len(texts)))
    for attempt in range(1, attempts + 1):
        if not open_places:
            break
        replies = ask([texts[place] for place in open_places], attempt)
        for place, reply in zip(open_places, replies, strict=True):
            value = None if reply is None else parse(place, reply)
            status = "too_long" if reply is None else "unparsed" if value is None else "parsed"
            last[place] = Said(place, attempt, reply, value, status)
            told.append(last[place])
        open_places = [place for place in open_places if last[place].status == "unparsed"]
    return Rounds(told, [last[place] for place in range(len(texts))])


def ask_judges(
    task: str,
    judges: Mapping[str, Ask],
    texts: Sequence[str],
    parse: Callable[[int, str], T | None],
    attempts: int,
) -> tuple[dict[str, Rounds[T]], pd.DataFrame]:
    """What each judge says by name, in order, and a `JudgeRounds` table; see `ask_in_rounds`."""
    said = {name: ask_in_rounds(judges[name], texts, parse, attempts) for name in sorted(judges)}
    return said, rounds_table(task, said)


def rounds_table(task: str, rounds: Mapping[str, Rounds[T]]) -> pd.DataFrame:
    """A `JudgeRounds` table: how many replies were asked for and read in each attempt."""
    rows: list[tuple[Any, ...]] = []
    for judge, asked in rounds.items():
        for attempt in sorted({said.attempt for said in asked.attempts}):
            statuses = [said.status for said in asked.attempts if said.attempt == attempt]
            counts = [statuses.count(status) for status in ("parsed", "unparsed", "too_long")]
            n = len(statuses)
            rows.append((task, judge, attempt, n, *counts, counts[0] / n))
    return JudgeRounds.from_rows(rows)


logger = logging.getLogger(__name__)


def ask_in_memory(
    name: str,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    *,
    max_tokens: int,
    temperature: float,
    what: str,
) -> Ask:
    """A model of conf as a function, in this process, with its replies in the run's own store.

    `engine: ray` is passed over: its object store spills to disk. A server is warned of.

    Args:
        name: under `models.models`.
        models: all models.
        scoring: device, precision and sizes of batches.
        store: of the run.
        max_tokens: the most the model may write per reply.
        temperature: of attempts after the first.
        what: what is done, for the progress bar and errors.

    Raises:
        InputError: the name is not known.
    """
    ask = ask_model(
        name,
        models,
        scoring.model_copy(update={"engine": "local"}),
        store,
        max_tokens=max_tokens,
        temperature=temperature,
        what=what,
    )
    if name in models.models and models.models[name].endpoint is not None:
        logger.warning(
            "%s: %s is a server: questions of the closed half go there, and it may keep them",
            *(what, name),
        )
    return ask


def named_judges(
    params: JudgesParams,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    what: str,
) -> Mapping[str, Ask]:
    """The judges that a section of conf names, by name; see `ask_in_memory`."""
    return {
        name: ask_in_memory(
            name,
            models,
            scoring,
            store,
            max_tokens=params.max_tokens,
            temperature=params.temperature,
            what=what,
        )
        for name in params.judges
    }


def judge_agreement(
    task: str, judged: pd.DataFrame, scale: Scale, seed: int, draws: int = 500
) -> pd.DataFrame:
    """A `JudgeAgreement` table: Krippendorff's alpha and plain agreement per criterion.

    Args:
        task: what was judged, e.g. "difficulty".
        judged: item_id, judge, criterion, value (NaN where a judge's reply said nothing).
        scale: of the values.
        seed: of the resamples of items.
        draws: resamples for the interval of alpha.
    """
    rows: list[tuple[Any, ...]] = []
    for criterion, part in judged.groupby("criterion", sort=True):
        table = part.pivot(index="judge", columns="item_id", values="value")  # noqa: PD010
        table = table.sort_index(axis=0).sort_index(axis=1).astype(np.float64)
        names = [str(name) for name in table.index]
        values = table.to_numpy()
        together = _figures(values, scale, task, seed, draws)
        rows.append((task, criterion, "", "", *together[:-2], np.nan, together[-1]))
        rows.extend(
            (task, criterion, names[a], names[b], *_figures(pair, scale, task, seed, draws))
            for a, b in combinations(range(len(names)), 2)
            for pair in [values[[a, b]]]
        )
    return JudgeAgreement.from_rows(rows)


def _figures(
    values: NDArray[np.float64], scale: Scale, task: str, seed: int, draws: int
) -> tuple[Any, ...]:
    """n_items, alpha, low, high, equal, apart, difference, reason of judges × items."""
    alpha = krippendorff_alpha(values, scale)
    generator = stage_generator(seed, f"judge_agreement/{task}")
    bounds = krippendorff_interval(values, scale, draws, generator)
    gaps = np.concatenate(
        [values[a] - values[b] for a, b in combinations(range(len(values)), 2)] or [np.empty(0)]
    )
    gaps = gaps[~np.isnan(gaps)]
    apart = [np.nan] * 3
    if len(gaps):
        apart = [float(one.mean()) for one in (gaps == 0, np.abs(gaps), gaps)]
    reason = alpha.reason or bounds.reason
    return alpha.units, alpha.value, bounds.low, bounds.high, *apart, reason
