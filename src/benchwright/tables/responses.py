"""Prompts, the answers of models, and what was imported."""

import pandas as pd
import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Columns, NotEmpty, Table


class Prompts(Table):
    """One row per (configuration, item, condition): the text a model sees and what is scored.

    `prefix` is the demonstrations' text, shared by many rows and kept once (a categorical); `text`
    is what follows it, so the model reads `prefix + text`. `continuations` are the strings whose
    log-likelihood is taken; there are none where the model answers in its own words, with at most
    `max_new_tokens` tokens. `configuration` is `<model>@<style>-<shots>`. `labels` and `answer`
    are those of the options as shown.
    """

    prompt_id: Series[str]
    configuration: Series[str]
    model: Series[str]
    item_id: Series[str]
    condition: Series[str]
    style: Series[str] = pa.Field(isin=["letters", "cloze", "generate"])
    shots: Series[int] = pa.Field(ge=0)
    shots_used: Series[int] = pa.Field(ge=0)  # fewer where the context is too short for all
    demonstrations: Series[pd.CategoricalDtype]  # ids of those used, as a JSON list
    template: Series[str]
    prefix: Series[pd.CategoricalDtype]
    text: Series[str]
    continuations: Series[object]  # list[str]
    labels: Series[object]  # list[str]
    answer: Series[int]
    max_new_tokens: Series[int] = pa.Field(ge=0)  # 0 where continuations are scored
    options: Series[object]  # list[str] as shown, if the answer is extracted from text
    answer_text: Series[str]  # the same
    stop: Series[object]  # list[str], texts that end what is written


class Responses(Table):
    """One model's answer to one item; key (item_id, condition, style, shots, model, repeat)."""

    class Config(Table.Config):
        add_missing_columns = True

    item_id: Series[str]
    condition: Series[str]
    style: Series[str]  # "letters", "cloze", … or "" where an import does not say
    shots: Series[int]  # −1 where an import does not say
    model: Series[str]
    repeat: Series[int] = pa.Field(ge=1, default=1)  # epochs and trials of a log count from 1
    logprobs: Series[object] = pa.Field(nullable=True)  # list[float] per option, or None
    option_bytes: Series[object] = pa.Field(nullable=True)  # list[int] per option, or None
    option_tokens: Series[object] = pa.Field(nullable=True)
    prediction: Series[int] = pa.Field(ge=-1)  # option index; −1 unknown
    p_answer: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    p_prediction: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    correct: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    shots_used: Series[int]  # −1 unknown
    prompt_tokens: Series[int]  # −1 unknown
    generated_tokens: Series[int]
    extraction: Series[str] = pa.Field(isin=["ok", "failed", "too_long", "none"])
    prompt_id: Series[str] = pa.Field(nullable=True)
    source: Series[str]  # "live" or the name of the file it came from


Generations = Columns(
    (str, "model", "style"),
    (int, "shots"),
    (str, "condition", "item_id"),
    (int, "sample"),
    # rule: how it was read, one of `scoring.answer_text.ReadAs`
    (str, "text", "finish", "extracted", "rule", "prompt_id"),
)
"""What models wrote; key (model, style, shots, condition, item_id, sample).

`extracted` is the option's letter or the final answer that was extracted, None without one.
"""

ScoringBudget = Columns(
    (str, "configuration", "condition"),
    (int, "prompts", "distinct", "stored", "too_long", "shots_dropped", "tokens"),
    (int, "tokens_computed", "written_at_most"),
    (str, "counted"),
)
"""What a run would ask, counted before anything is scored; key (configuration, condition).

`tokens` are those of all prompts as if each were read alone; `tokens_computed` those that are
left when equal prompts are asked once, shared prefixes are read once and stored answers are
not asked again. `written_at_most` is the limit on what is written.
"""


class RecordedAnswers(NotEmpty):
    """Live answers kept as a log: a tidy file that the responses stage imports."""

    item_id: Series[str]
    content_hash: Series[str]
    condition: Series[str]
    style: Series[str]
    shots: Series[int]
    model: Series[str]
    logprobs: Series[object] = pa.Field(nullable=True)  # list[float] per option, or None
    option_bytes: Series[object] = pa.Field(nullable=True)  # list[int] per option, or None
    option_tokens: Series[object] = pa.Field(nullable=True)
    prediction: Series[int] = pa.Field(ge=-1)  # of a written answer; −1 beside log-likelihoods
    correct: Series[float] = pa.Field(nullable=True, ge=0, le=1)


class Models(Table):
    """One row per model, from conf/base/parameters/models.yml or read from the name."""

    model: Series[str] = pa.Field(unique=True)
    family: Series[str]
    organisation: Series[str] = pa.Field(nullable=True)
    size_b: Series[float] = pa.Field(nullable=True)
    instruct: Series[bool]
    date: Series[str] = pa.Field(nullable=True)


ImportReport = Columns(
    (str, "file", "layout"),
    (int, "models", "rows", "joined_by_id", "joined_by_hash", "not_joined", "doubled"),
    # contradicting: `correct` disagrees with prediction and gold; dropped: a value out of
    # range, or no answer at all; failed: samples of a log without an answer: an error, a
    # refusal; unreadable: joined; the tool found no option in what the model wrote; several: joined
    # answers that name several options
    (int, "contradicting", "dropped", "failed", "unreadable", "several"),
    (float, "accuracy", "log_score"),  # log_score: the log's own
    (str, "detail"),
)
"""What became of each imported file, counted in rows (item × model).

`rows` is the sum of joined_by_id, joined_by_hash, not_joined, doubled, dropped and failed.
"""

AnswerCoverage = Columns(
    (str, "configuration", "condition", "source"),
    # exact_ties: the best score shared by several options; the first was taken;
    # not_extracted: written answers from which no option or final answer was read
    (int, "answered", "exact_ties", "not_extracted", "too_long"),
)
"""What each configuration answered under each condition; key (configuration, condition)."""

Calibration = Columns(
    (str, "configuration"),
    (int, "n"),
    (float, "temperature"),
)
"""The softmax temperature of each configuration, fitted on the calibration split."""
