"""The prompts: every item in every configuration and condition."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, NotRequired, TypedDict, Unpack

import pandas as pd

from benchwright.core.configuration import (
    SCORED_AS,
    Configuration,
    configuration_name,
    parse_configuration,
)
from benchwright.core.errors import InputError
from benchwright.language_models.loading import context_limit, message_frame, model_tokenizer
from benchwright.language_models.tokenization import BYTES_PER_TOKEN, SPECIAL_TOKENS
from benchwright.params.benchmark import BenchmarkParams, PromptParams
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.demonstrations import (
    DemonstrationPool,
    answerable,
    demonstration_pools,
    open_ended,
)
from benchwright.scoring.rendering import (
    LABELS,
    Question,
    Rendered,
    continuations,
    questions,
    render_demonstration,
    render_prompt,
)
from benchwright.scoring.score_shards import digest
from benchwright.tables.responses import Prompts

logger = logging.getLogger(__name__)

_LETTER_TOKENS = 16  # of the answer that names a letter, where letters are sampled


class Asked(NamedTuple):
    """One question under one condition, with the demonstrations to choose from.

    `calibrates`: it only fits a temperature, which written answers do not have.
    """

    question: Question
    condition: str
    pool: DemonstrationPool
    calibrates: bool = False


class QuestionTables(TypedDict):
    """An `Items` table, two with its columns, and perhaps a `PerturbedItems` table.

    Copies are shown in full; each copy has its own demonstrations.
    """

    items: pd.DataFrame
    demonstrations: pd.DataFrame
    calibration_items: pd.DataFrame
    perturbed_items: NotRequired[pd.DataFrame]


def build_prompts(
    ingestion: BenchmarkParams,
    scoring: ScoringParams,
    models: ModelsParams,
    filter_models: Collection[str] | None,
    seed: int,
    **tables: Unpack[QuestionTables],
) -> pd.DataFrame:
    """Build every text that a model will see, with the continuations to score after it.

    One row per configuration, item and condition (format of Hendrycks et al., 2021); empty if
    answers are only imported. Options alone are shown to the filter models only (to all, if these
    are yet to be chosen). Demonstrations come from the item's subject, then from others, never the
    item itself, in an order given by the seed; if a prompt exceeds the model's context, they are
    dropped one by one (`shots_used`). The number of `unsuited` conditions is logged.

    Raises:
        InputError: a configuration names an unknown model, asks an endpoint for unsupported scores,
            or for more shots than there are demonstrations.
    """
    if scoring.mode == "imported":
        return Prompts.empty()
    asked = _asked_items(tables, scoring, seed)
    if "perturbed_items" in tables:
        asked += _asked_copies(tables["perturbed_items"], scoring, seed)
    rows: list[dict[str, Any]] = []
    skipped: Counter[str] = Counter()
    for configuration in scoring.asked(copies="perturbed_items" in tables):
        model = models.named(configuration.model, "scoring.configurations")
        _can_answer(configuration, model)
        writer = PromptWriter(configuration, model, scoring, ingestion.prompt)
        filtering = _is_filter_model(configuration, filter_models)
        for entry in asked:
            if entry.condition == "choices_only" and not filtering:
                continue
            if entry.calibrates and (configuration.style == "generate" or model.samples_letters):
                continue
            if reason := unsuited(entry.question, entry.condition, configuration.style):
                skipped[f"{configuration.style}: {reason}"] += 1
                continue
            rows.append(writer.row(entry))
    for reason, count in sorted(skipped.items()):
        logger.warning("%d questions are not asked in style %s", count, reason)
    return Prompts.from_rows(rows)


def unsuited(question: Question, condition: str, style: str) -> str:
    """Return why a question is not asked under this condition in this style, or "".

    Open-ended questions are asked in the style `generate` only, and have no options to show
    alone; `question_only` asks for the options to be written.
    """
    if open_ended(question):
        if style != "generate":
            return "it has no options"
        return "" if condition == "question" else f"{condition} of an item without options"
    if not answerable(question):
        return "it has more than 26 options" if question.choices else "no options and no answer"
    if condition == "question_only" and style != "generate":
        return f"{condition} (of the style generate only)"
    return ""


class PromptWriter:
    """Writes the prompts of one configuration."""

    def __init__(
        self,
        configuration: Configuration,
        model: ModelParams,
        scoring: ScoringParams,
        words: PromptParams,
    ) -> None:
        self._configuration = configuration
        self._model = model
        self._words = words
        self._generation = scoring.generation
        bare = scoring.label_tokens == "bare" and configuration.style == "letters"
        self._space = model.label_space and not bare
        self._limit = context_limit(model, scoring)
        self._scoring = scoring
        self._demonstrations: dict[tuple[Question, str], str] = {}
        self._frame = message_frame(model, scoring, model.chat_template)

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer, loaded when needed: for long prompts only."""
        return model_tokenizer(self._model, self._scoring)

    def row(self, asked: Asked) -> dict[str, Any]:
        """Return one row of the `Prompts` table; InputError if the demonstrations are too few."""
        model, style, shots = self._configuration
        question = asked.question
        condition = asked.condition
        if shots > len(asked.pool):
            raise InputError(
                f"scoring.configurations: {configuration_name(*self._configuration)} asks for "
                f"{shots} demonstrations, the benchmark has {len(asked.pool)}; name a split for "
                f"them, or ask without: {model}@{style}-0"
            )
        chosen = asked.pool.choose(question, shots)
        written = self._max_new_tokens(condition)
        scored = () if written else continuations(question, style, self._space)
        labels = LABELS[: len(question.choices)]
        for used in range(len(chosen), -1, -1):
            prompt = self._render(question, chosen[:used], condition)
            if self._fits(prompt, scored, written):
                break
        template = self._frame.template
        return {
            "prompt_id": prompt_id(prompt, scored, labels, style, template),
            "configuration": configuration_name(model, style, shots),
            "model": model,
            "item_id": question.item_id,
            "condition": condition,
            "style": style,
            "shots": shots,
            "shots_used": used,
            "demonstrations": json.dumps([d.item_id for d in chosen[:used]], ensure_ascii=False),
            "template": template,
            "prefix": prompt.prefix,
            "text": prompt.text,
            "continuations": list(scored),
            "labels": list(labels),
            "answer": question.answer,
            "max_new_tokens": written,
            "options": list(question.choices) if written else [],
            "answer_text": question.answer_text if written else "",
            "stop": self._stop(question, condition, used) if written else [],
        }

    def _max_new_tokens(self, condition: str) -> int:
        """Return the maximum number of written tokens; 0 if continuations are scored."""
        if condition == "question_only":
            return self._generation.recall_tokens
        if self._configuration.style == "generate":
            return self._generation.max_tokens
        return _LETTER_TOKENS if self._model.samples_letters else 0

    def _stop(self, question: Question, condition: str, shown: int) -> list[str]:
        """Return texts that end the answer.

        A model without instructions would go on with a question like the demonstrations.
        """
        stop = list(self._generation.stop)
        if self._configuration.style == "letters":
            return [*stop, self._words.separator]
        if shown and condition != "question_only":
            stop.append(
                self._words.instruction if question.choices else self._words.open_instruction
            )
        return list(filter(None, stop))

    def _render(self, question: Question, shown: Sequence[Question], condition: str) -> Rendered:
        texts = [self._demonstration(d, condition) for d in shown]
        style = self._configuration.style
        prompt = render_prompt(question, texts, style, condition, self._words)
        return Rendered(self._frame.before + prompt.prefix, prompt.text + self._frame.after)

    def _demonstration(self, question: Question, condition: str) -> str:
        key = (question, condition)
        if key not in self._demonstrations:
            style, space = self._configuration.style, self._model.label_space
            shown = render_demonstration(question, style, condition, self._words, space)
            self._demonstrations[key] = shown
        return self._demonstrations[key]

    def _fits(self, prompt: Rendered, scored: Sequence[str], written: int) -> bool:
        longest = max(scored, key=lambda text: len(text.encode()), default="")
        text = prompt.prefix + prompt.text + longest
        # A long answer may be limited to half of the context.
        limit = self._limit - min(written, self._limit // 2)
        size = len(text.encode())
        # A token is at least one byte: most prompts fit without a tokenizer.
        if size + SPECIAL_TOKENS <= limit:
            return True
        if self.tokenizer is None:
            return size / BYTES_PER_TOKEN + SPECIAL_TOKENS <= limit
        return len(self.tokenizer(text).input_ids) <= limit


def prompt_id(
    prompt: Rendered, scored: Sequence[str], labels: Sequence[str], style: str, template: str
) -> str:
    """Return a hash of what is shown and scored; equal prompts have equal ids."""
    return digest([prompt.prefix, prompt.text, list(scored), list(labels), style, template])


def _asked_items(tables: QuestionTables, scoring: ScoringParams, seed: int) -> list[Asked]:
    """Return each question with each condition it is asked under, by item id."""
    pool = demonstration_pools(questions(tables["demonstrations"]), scoring, seed)
    # In mode `first` the other conditions are recorded.
    conditions = scoring.conditions[: 1 if scoring.mode == "first" else None]
    asked: dict[tuple[str, str], Asked] = {}
    for question in questions(tables["items"]):
        for condition in conditions:
            key = (question.item_id, condition)
            asked[key] = Asked(question, condition, pool(question))
    if scoring.calibration:
        for question in filter(answerable, questions(tables["calibration_items"])):
            calibrating = Asked(question, "question", pool(question), calibrates=True)
            asked.setdefault((question.item_id, "question"), calibrating)
    return [asked[key] for key in sorted(asked)]


def _asked_copies(
    perturbed_items: pd.DataFrame, scoring: ScoringParams, seed: int
) -> Iterator[Asked]:
    """Yield each question of the copies with its demonstrations, by condition and item id."""
    for condition, copy in perturbed_items.groupby("condition"):
        shown = questions(copy[copy["role"] == "demonstration"])
        pool = demonstration_pools(shown, scoring, seed)
        for question in sorted(questions(copy[copy["role"] == "item"])):
            yield Asked(question, str(condition), pool(question))


def _is_filter_model(configuration: Configuration, filter_models: Collection[str] | None) -> bool:
    """Return whether a filter model may use this configuration (the cloze styles share one)."""
    if filter_models is None or isinstance(filter_models, str | Mapping):
        return True
    for named in map(parse_configuration, filter_models):
        if not named.style and named.model == configuration.model:
            return True
        scored_as = SCORED_AS.get(named.style, named.style)
        if named._replace(style=scored_as) == configuration:
            return True
    return False


def _can_answer(configuration: Configuration, model: ModelParams) -> None:
    endpoint = model.endpoint
    if configuration.style == "cloze" and endpoint is not None and endpoint.logprobs != "echo":
        raise InputError(
            f"scoring.configurations: {configuration_name(*configuration)} needs the "
            f"log-likelihood of whole options; the endpoint of {configuration.model} gives none "
            f"(endpoint.logprobs: {endpoint.logprobs}); use the style letters or generate"
        )
