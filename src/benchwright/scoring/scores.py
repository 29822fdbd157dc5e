"""Score the prompts that the store lacks, read off the answers, and keep them as a log."""

import itertools
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.compute.model_engine import answer_batches
from benchwright.compute.score_shards import (
    COLUMNS,
    WRITTEN_COLUMNS,
    absent,
    holds,
    plan_shards,
    shard_table,
)
from benchwright.core.configuration import configuration_name
from benchwright.language_models.protocol import Batch
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.prompting.rendering import LABELS
from benchwright.scoring.answer_statements import before_next_question
from benchwright.scoring.extraction import extract_final_answer, extract_letter
from benchwright.scoring.final_answers import canonical_number, same_answer
from benchwright.tables.responses import Generations, RecordedAnswers, Responses

logger = logging.getLogger(__name__)

Store = Mapping[str, pd.DataFrame]


def score_prompts(
    prompts: pd.DataFrame, score_cache: Store, models: ModelsParams, scoring: ScoringParams
) -> Iterator[dict[str, pd.DataFrame]]:
    """Ask the models: the log-likelihood of every option of every prompt, or a written answer.

    What the store has is not asked again. The rest is asked shard by shard, each saved as soon as
    it is there, so that a run that was stopped goes on where it was. Models are loaded one after
    another. A progress bar counts prompts, those from the store included.

    Yields:
        One shard at a time: its name → a table with `COLUMNS` or `WRITTEN_COLUMNS`.

    Raises:
        InputError: a model's weights are not installed or are not the expected ones, or its server
            cannot be reached.
    """
    from tqdm import tqdm

    if prompts.empty:
        return
    shards = plan_shards(prompts, models, scoring).shards
    missing = [shard for shard in shards if not holds(score_cache.get(shard.name), shard)]
    total = sum(len(shard.keys) for shard in shards)
    found = total - sum(len(shard.keys) for shard in missing)
    with tqdm(
        total=total, initial=found, desc="scoring", unit="prompt", file=sys.stderr, mininterval=1
    ) as bar:
        for name, group in itertools.groupby(missing, key=lambda shard: shard.model):
            bar.set_description(f"scoring {name}")
            own = list(group)
            batches = [Batch(shard.sampling, shard.prompts) for shard in own]
            for number, answers in answer_batches(
                name, models.models[name], scoring, batches, bar.update
            ):
                yield {own[number].name: shard_table(own[number], answers)}


class _Stored(NamedTuple):
    """What the store has of one prompt: scores, or what was written."""

    logprobs: list[float] | None
    option_tokens: list[int]
    prompt_tokens: int
    texts: list[str] | None = None
    finish: Sequence[str] = ()
    generated_tokens: int = 0


def _stored(frame: pd.DataFrame) -> Iterator[tuple[str, _Stored]]:
    if "texts" in frame:
        columns = (frame[name] for name in WRITTEN_COLUMNS)
        for key, texts, finish, generated, asked in zip(*columns, strict=True):
            written = None if absent(texts) else [str(text) for text in texts]
            yield key, _Stored(None, [], int(asked), written, list(finish), int(generated))
        return
    columns = (frame[name] for name in COLUMNS)
    for key, logprobs, tokens, asked in zip(*columns, strict=True):
        yield key, _Stored(_as_list(logprobs), [int(n) for n in tokens], int(asked))


def _as_list(values: Any) -> list[float] | None:
    return None if absent(values) else [float(value) for value in np.asarray(values)]


class Collected(NamedTuple):
    """Answers by item, and what was written to give them."""

    live_responses: pd.DataFrame
    generations: pd.DataFrame


def collect_responses(
    prompts: pd.DataFrame, model_scores: Store, models: ModelsParams, scoring: ScoringParams
) -> Collected:
    """Give every item its answers: one row per prompt, raw log-likelihoods, nothing judged yet.

    The next stage calibrates and judges. `extraction` is `too_long` where a
    prompt does not fit the model's context even without demonstrations, and `failed` where no
    option or final answer could be read off what the model wrote: such an answer is unknown, not
    wrong. Of several samples the prediction is the most frequent one (unknown where two are), and
    `correct` the share of right ones among those that could be read; of one, whether the option is
    right is for the next stage. Scores of other runs in the store are left alone.

    Raises:
        KeyError: the store lacks scores of these prompts (run the whole scoring stage).
    """
    if prompts.empty:
        return Collected(Responses.empty(), Generations.empty())
    plan = plan_shards(prompts, models, scoring)
    stored: dict[str, _Stored] = {}
    for shard in plan.shards:
        frame = model_scores.get(shard.name)
        if frame is None or not holds(frame, shard):
            raise KeyError(f"the score store lacks shard {shard.name} of {shard.model}")
        stored.update(_stored(frame))
    responses: list[tuple[Any, ...]] = []
    generations: list[tuple[Any, ...]] = []
    for key, row in zip(plan.keys, prompts.itertuples(index=False), strict=True):
        found = stored[key]
        read = _read(found, row)
        responses.append(_response(found, row, read))
        generations += _written(found, row, read)
    table = Responses.from_rows(responses)
    _warn_of_lost(table)
    return Collected(table, Generations.from_rows(generations))


def _warn_of_lost(responses: pd.DataFrame) -> None:
    """Say how many answers are unknown, and why, configuration by configuration."""
    reasons = {
        "failed": "answers name no option or final answer and count as unknown",
        "too_long": "prompts do not fit the model's context even without demonstrations",
    }
    asked = responses.groupby(["model", "style", "shots", "condition"])["extraction"]
    for key, states in asked:
        model, style, shots, condition = map(str, key)
        for state, reason in reasons.items():
            lost = int((states == state).sum())
            if lost:
                name = configuration_name(model, style, int(shots))
                logger.warning(
                    "%s, %s: %d of %d (%.1f%%) %s",
                    *(name, condition, lost, len(states), 100 * lost / len(states), reason),
                )


class _Read(NamedTuple):
    """What was read off one written answer."""

    option: int
    answer: str | None
    rule: str


def _read(found: _Stored, row: Any) -> list[_Read]:
    """What each written answer says; nothing under `question_only`, where nothing is chosen."""
    if found.texts is None or row.condition == "question_only":
        return []
    read = []
    for text, finish in zip(found.texts, found.finish, strict=True):
        finished = finish == "stop" or row.style == "letters"
        options = list(row.options)
        if options:
            own_part = before_next_question(text, options)
            chosen = extract_letter(own_part, options, finished=finished or own_part != text)
            option = -1 if chosen.answer is None else chosen.answer
            read.append(_Read(option, None if option < 0 else LABELS[option], chosen.rule))
        else:
            numeric = canonical_number(row.answer_text) is not None
            said = extract_final_answer(text, finished=finished, numeric=numeric)
            read.append(_Read(-1, said.answer, said.rule))
    return read


def _response(found: _Stored, row: Any, read: list[_Read]) -> tuple[Any, ...]:
    """One row of the `Responses` table."""
    lists = [found.logprobs, option_bytes(row.continuations), found.option_tokens]
    if found.texts is not None or not found.logprobs:
        lists = [None, *([None, None] if found.texts is not None else lists[1:])]
    prediction, correct, extraction = _judged(found, read, row)
    return (
        *(row.item_id, row.condition, row.style, row.shots, row.model),
        *lists,
        *(prediction, np.nan, np.nan, correct, row.shots_used),
        *(found.prompt_tokens, found.generated_tokens, extraction, row.prompt_id, "live"),
    )


def _judged(found: _Stored, read: list[_Read], row: Any) -> tuple[int, float, str]:
    """Prediction (−1 unknown), share of right samples (NaN unknown) and state of an answer."""
    if found.logprobs is not None:
        return -1, np.nan, "ok" if found.logprobs else "failed"
    if found.texts is None:
        return -1, np.nan, "too_long"
    if row.condition == "question_only":
        return -1, np.nan, "none"
    told = [one for one in read if one.answer is not None]
    if not told:
        return -1, np.nan, "failed"
    if len(row.options):
        several = len(found.texts) > 1 and row.answer >= 0
        right = [one.option == row.answer for one in told] if several else []
        return _most_frequent([one.option for one in told]), _share(right), "ok"
    gold_text = str(row.answer_text)
    return -1, _share([same_answer(str(one.answer), gold_text) for one in told]), "ok"


def _share(right: Sequence[bool]) -> float:
    return float(np.mean(right)) if right else np.nan


def _most_frequent(options: Sequence[int]) -> int:
    """The option named most often; −1 where two are."""
    (first, n), *others = Counter(options).most_common()
    return -1 if others and others[0][1] == n else first


def _written(found: _Stored, row: Any, read: list[_Read]) -> list[tuple[Any, ...]]:
    """Rows of the `Generations` table."""
    asked = (row.model, row.style, row.shots, row.condition, row.item_id)
    rows = []
    for sample, text in enumerate(found.texts or ()):
        one = read[sample] if read else _Read(-1, None, "not read")
        rows.append(
            (*asked, sample, text, found.finish[sample], one.answer, one.rule, row.prompt_id)
        )
    return rows


def option_bytes(scored: Sequence[str]) -> list[int]:
    """UTF-8 bytes of each option without the space before it, at least 1."""
    return [max(1, len(text.removeprefix(" ").encode())) for text in scored]


def record_answers(
    live_responses: pd.DataFrame, items: pd.DataFrame, calibration_items: pd.DataFrame
) -> pd.DataFrame:
    """Write live answers down as a log: raw log-likelihoods, sorted by model, style and item.

    Calibration items are part of it, so that temperatures can be fitted again. Each row carries the
    hash of its item's content, by which an import notices that an item has changed since. Prompts
    that did not fit are left out, and so are written answers from which nothing could be read.
    """
    content = pd.concat([items, calibration_items]).set_index("item_id")["content_hash"]
    known = live_responses["logprobs"].notna() | live_responses["correct"].notna()
    answered = live_responses[known | (live_responses["prediction"] >= 0)]
    table = answered.assign(content_hash=answered["item_id"].map(content))
    table = table[RecordedAnswers.columns()].sort_values(
        ["model", "style", "shots", "condition", "item_id"], ignore_index=True
    )
    return pd.DataFrame(RecordedAnswers.validate(table))
