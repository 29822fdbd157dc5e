"""Score the prompts that the store lacks, extract the answers, and keep them as a log."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.answer_text import Answer
from benchwright.scoring.final_answers import canonical_number, same_answer
from benchwright.scoring.model_engine import answer_shards
from benchwright.scoring.read_answer import read_answer
from benchwright.scoring.rendering import LABELS
from benchwright.scoring.score_shards import Shard, absent, holds, plan_shards
from benchwright.tables.responses import Generations, RecordedAnswers, Responses

logger = logging.getLogger(__name__)

Store = Mapping[str, pd.DataFrame]


def score_prompts(
    prompts: pd.DataFrame, score_cache: Store, models: ModelsParams, scoring: ScoringParams
) -> Iterator[dict[str, pd.DataFrame]]:
    """Ask the models for the log-likelihood of every option of every prompt, or a written answer.

    Stored answers are not asked again. The rest is asked shard by shard, each saved at once.
    Yield one at a time: its name → a table with `COLUMNS` or `WRITTEN_COLUMNS`.

    Raises:
        InputError: a model's weights or its server are unavailable.
    """
    if prompts.empty:
        return
    counts = (prompts[name].nunique() for name in ("item_id", "model", "configuration"))
    logger.info(
        "scoring: prompts %s, questions %s, models %s, configurations %s; those in the store are "
        "not asked again; the time left follows",
        *(f"{count:,}" for count in (len(prompts), *counts)),
    )
    yield from _scored(prompts, score_cache, models, scoring)


def _scored(
    prompts: pd.DataFrame, store: Store, models: ModelsParams, scoring: ScoringParams
) -> Iterator[dict[str, pd.DataFrame]]:
    shards = plan_shards(prompts, models, scoring).shards
    for name, table in answer_shards(shards, store, models.models, scoring, "scoring"):
        yield {name: table}


def ask_prompts(
    prompts: pd.DataFrame,
    store: Store,
    keep: Callable[[str, pd.DataFrame], None],
    models: ModelsParams,
    scoring: ScoringParams,
) -> "Collected":
    """Ask what a store lacks, as `score_prompts`, `keep` it there, and return all answers."""
    for shard in _scored(prompts, store, models, scoring):
        for name, frame in shard.items():
            keep(name, frame)
    return collect_responses(prompts, store, models, scoring)


class Collected(NamedTuple):
    """Answers by item, and the texts they were extracted from."""

    live_responses: pd.DataFrame
    generations: pd.DataFrame


def collect_responses(
    prompts: pd.DataFrame, model_scores: Store, models: ModelsParams, scoring: ScoringParams
) -> Collected:
    """Return the answers to every item: one row per prompt with raw log-likelihoods, not judged.

    `extraction` is `too_long` if a prompt exceeds the model's context even without demonstrations,
    and `failed` if no option or final answer could be extracted: such an answer is unknown, not
    wrong. Of several samples the prediction is the most frequent one (unknown if two are), and
    `correct` the share of right ones among those extracted; a single sample is judged later.

    Raises:
        InputError: the store lacks scores of these prompts.
    """
    if prompts.empty:
        return Collected(Responses.empty(), Generations.empty())
    plan = plan_shards(prompts, models, scoring)
    stored = _stored_answers(plan.shards, model_scores)
    responses: list[dict[str, Any]] = []
    generations: list[dict[str, Any]] = []
    for key, row in zip(plan.keys, prompts.itertuples(index=False), strict=True):
        answer = stored[key]
        texts = _list(answer.get("texts"))
        read = _read(texts or [], answer.get("finish", ()), row)
        responses.append(_response(answer, texts, row, read))
        for sample, text in enumerate(texts or ()):
            value, how = read[sample] if read else (None, "not read")
            written = {
                "model": row.model,
                "style": row.style,
                "shots": row.shots,
                "condition": row.condition,
                "item_id": row.item_id,
                "sample": sample,
                "text": text,
                "finish": answer["finish"][sample],
                "extracted": LABELS[value] if isinstance(value, int) else value,
                "rule": str(how),
                "prompt_id": row.prompt_id,
            }
            generations.append(written)
    table = Responses.from_rows(responses)
    _warn_of_lost(table)
    return Collected(table, Generations.from_rows(generations))


def _stored_answers(shards: Sequence[Shard], model_scores: Store) -> dict[Any, Any]:
    """Return what is stored for each key."""
    stored: dict[Any, Any] = {}
    for shard in shards:
        frame = model_scores.get(shard.name)
        if frame is None or not holds(frame, shard):
            raise InputError(
                f"{shard.model}: scores of {len(shard.keys)} prompts are not in the store; run the "
                "scoring stage again, with the same settings"
            )
        stored |= frame.set_index("key").to_dict("index")
    return stored


def _warn_of_lost(responses: pd.DataFrame) -> None:
    reasons = {
        "failed": "answers name no option or final answer and count as unknown",
        "too_long": "prompts do not fit the model's context even without demonstrations",
    }
    asked = responses.groupby(["model", "style", "shots", "condition"])["extraction"]
    for (model, style, shots, condition), states in asked:
        name = configuration_name(str(model), str(style), int(str(shots)))
        for state, reason in reasons.items():
            lost = int((states == state).sum())
            if lost:
                of = f"{lost} of {len(states)} ({100 * lost / len(states):.1f}%)"
                logger.warning("%s, %s: %s %s", name, condition, of, reason)


def _list(values: Any) -> list[Any] | None:
    return None if absent(values) else list(values)


def _read(texts: Sequence[str], finishes: Sequence[str], row: Any) -> list[Answer]:
    """Read the answer of each text; none under `question_only`, where nothing is chosen."""
    if row.condition == "question_only":
        return []
    options = list(row.options)
    numeric = canonical_number(row.answer_text) is not None
    read = []
    for text, finish in zip(texts, finishes, strict=True):
        finished = finish == "stop" or row.style == "letters"
        read.append(read_answer(text, options, finished, numeric=numeric))
    return read


def _response(
    stored: Mapping[str, Any], texts: list[str] | None, row: Any, read: list[Answer]
) -> dict[str, Any]:
    logprobs = _list(stored.get("logprobs"))
    judged = _Judged(extraction="ok" if logprobs else "failed")
    if texts is not None:
        judged = _judged(len(texts), read, row)
    elif logprobs is None:
        judged = _Judged(extraction="too_long")
    return {
        "item_id": row.item_id,
        "condition": row.condition,
        "style": row.style,
        "shots": row.shots,
        "model": row.model,
        "repeat": 1,
        "logprobs": logprobs or None,
        "option_bytes": option_bytes(row.continuations) if texts is None else None,
        "option_tokens": list(stored.get("option_tokens", ())) if texts is None else None,
        "prediction": judged.prediction,
        "correct": judged.correct,
        "shots_used": row.shots_used,
        "prompt_tokens": stored["prompt_tokens"],
        "generated_tokens": stored.get("generated_tokens", 0),
        "extraction": judged.extraction,
        "prompt_id": row.prompt_id,
        "source": "live",
    }


class _Judged(NamedTuple):
    """What the written answers to one prompt amount to."""

    extraction: str
    prediction: int = -1  # −1 unknown
    correct: float = np.nan  # share of right samples; NaN unknown


def _judged(samples: int, read: list[Answer], row: Any) -> _Judged:
    if row.condition == "question_only":
        return _Judged("none")
    known = [answer.value for answer in read if answer.value is not None]
    if not known:
        return _Judged("failed")
    if not len(row.options):
        right = [same_answer(str(value), str(row.answer_text)) for value in known]
        return _Judged("ok", correct=float(np.mean(right)))
    correct = np.nan
    if samples > 1 and row.answer >= 0:
        correct = float(np.mean(np.equal(known, row.answer)))
    (first, n), *others = Counter(known).most_common()
    is_tied = others and others[0][1] == n
    return _Judged("ok", -1 if is_tied else int(first), correct)


def option_bytes(scored: Sequence[str]) -> list[int]:
    """Return UTF-8 bytes of each option without the space before it, at least 1."""
    return [max(1, len(text.removeprefix(" ").encode())) for text in scored]


def record_responses(
    live_responses: pd.DataFrame, items: pd.DataFrame, calibration_items: pd.DataFrame
) -> pd.DataFrame:
    """Return live answers as a log: raw log-likelihoods, sorted by model, style and item.

    Calibration items are included. Each row has the hash of its item's content, by which an import
    notices a changed item. Prompts that did not fit and answers that are unknown are left out.
    """
    content = pd.concat([items, calibration_items]).set_index("item_id")["content_hash"]
    known = live_responses["logprobs"].notna() | live_responses["correct"].notna()
    answered = live_responses[known | (live_responses["prediction"] >= 0)]
    table = answered.assign(content_hash=answered["item_id"].map(content))
    table = table[RecordedAnswers.columns()].sort_values(
        ["model", "style", "shots", "condition", "item_id"], ignore_index=True
    )
    return pd.DataFrame(RecordedAnswers.validate(table))
