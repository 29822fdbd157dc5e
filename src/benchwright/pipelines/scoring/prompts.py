"""Build the prompts: every item in every configuration and condition."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.configuration import Configuration, configuration_name, parse_configuration
from benchwright.errors import InputError
from benchwright.language_models.loading import context_limit, model_tokenizer
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.prompt import PromptParams
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.pipelines.scoring.demonstrations import DemonstrationPool, answerable
from benchwright.pipelines.scoring.rendering import (
    LABELS,
    Question,
    Rendered,
    continuations,
    questions,
    render_demonstration,
    render_prompt,
)
from benchwright.tables import Prompts

logger = logging.getLogger(__name__)

_SPECIAL_TOKENS = 8  # room for those a tokenizer adds by itself
_PLACE = "\x02prompt\x03"


def build_prompts(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    ingestion: BenchmarkParams,
    scoring: ScoringParams,
    models: ModelsParams,
    filter_models: Sequence[str],
    seed: int,
) -> pd.DataFrame:
    """Write out every text that a model will see, with the continuations to score after it.

    One row per configuration, item and condition (Hendrycks et al., 2021, for the format); empty
    where answers are only imported. Options alone are shown to the filter models only, since no
    other answers to them are read. Calibration items are shown whole. Demonstrations come from
    the item's own subject, others fill in; the item itself is never among them. Where a prompt
    does not fit the model's context, demonstrations are dropped one by one (`shots_used`). Items
    without options are not scored; how many is logged.

    Raises:
        InputError: a configuration names an unknown model, or more shots than there are
            demonstrations.
    """
    if scoring.mode == "imported":
        return Prompts.empty()
    shown = questions(demonstrations)
    pool = DemonstrationPool(shown, scoring.demonstrations, scoring.demonstration_order, seed)
    asked = _asked_questions(items, calibration_items, scoring)
    rows: list[tuple[Any, ...]] = []
    for configuration in scoring.asked():
        model = _known_model(configuration, models)
        _enough_demonstrations(configuration, pool)
        writer = PromptWriter(configuration, model, scoring, ingestion.prompt, pool)
        whole_only = not _is_filter_model(configuration, filter_models)
        rows.extend(
            writer.row(question, condition)
            for question, condition in asked
            if condition == "question" or not whole_only
        )
    return Prompts.from_rows(rows)


class PromptWriter:
    """Writes the prompts of one configuration."""

    def __init__(
        self,
        configuration: Configuration,
        model: ModelParams,
        scoring: ScoringParams,
        words: PromptParams,
        pool: DemonstrationPool,
    ) -> None:
        self._configuration = configuration
        self._model = model
        self._words = words
        self._pool = pool
        self._limit = context_limit(model, scoring)
        self._load_tokenizer: Callable[[], Any] = lambda: model_tokenizer(model, scoring)
        self._tokenizer: Any = None
        self._demonstrations: dict[tuple[str, str], str] = {}
        self._frame = _chat_frame(self.tokenizer) if model.chat_template else _Frame("", "", "none")

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer, loaded when first needed: for chat and for long prompts only."""
        if self._tokenizer is None:
            self._tokenizer = self._load_tokenizer()
        return self._tokenizer

    def row(self, question: Question, condition: str) -> tuple[Any, ...]:
        """One row of the `Prompts` table."""
        model, style, shots = self._configuration
        scored = continuations(question, style, self._model.label_space)
        labels = LABELS[: len(question.choices)]
        chosen = self._pool.choose(question, shots)
        for used in range(len(chosen), -1, -1):
            prompt = self._render(question, chosen[:used], condition)
            if self._fits(prompt, scored):
                break
        return (
            prompt_id(prompt, scored, labels, style, self._frame.template),
            configuration_name(model, style, shots),
            model,
            question.item_id,
            condition,
            style,
            shots,
            used,
            self._frame.template,
            prompt.prefix,
            prompt.text,
            list(scored),
            list(labels),
            question.answer,
        )

    def _render(self, question: Question, shown: Sequence[Question], condition: str) -> Rendered:
        texts = [self._demonstration(d, condition) for d in shown]
        style = self._configuration.style
        prompt = render_prompt(question, texts, style, condition, self._words)
        return Rendered(self._frame.before + prompt.prefix, prompt.text + self._frame.after)

    def _demonstration(self, question: Question, condition: str) -> str:
        key = (question.item_id, condition)
        if key not in self._demonstrations:
            self._demonstrations[key] = render_demonstration(
                question,
                self._configuration.style,
                condition,
                self._words,
                self._model.label_space,
            )
        return self._demonstrations[key]

    def _fits(self, prompt: Rendered, scored: Sequence[str]) -> bool:
        longest = max(scored, key=lambda text: len(text.encode()))
        text = prompt.prefix + prompt.text + longest
        # A token is at least one byte: most prompts fit without a tokenizer.
        if len(text.encode()) + _SPECIAL_TOKENS <= self._limit:
            return True
        return len(self.tokenizer(text).input_ids) <= self._limit


class _Frame(NamedTuple):
    """What a chat template puts around the prompt."""

    before: str
    after: str
    template: str


def _chat_frame(tokenizer: Any) -> _Frame:
    message = [{"role": "user", "content": _PLACE}]
    text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    before, _, after = text.partition(_PLACE)
    return _Frame(before, after, "chat")


def prompt_id(
    prompt: Rendered, scored: Sequence[str], labels: Sequence[str], style: str, template: str
) -> str:
    """A hash of what is shown and scored: equal prompts have equal ids, whatever the item."""
    content = json.dumps([prompt.prefix, prompt.text, [*scored], [*labels], style, template])
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _asked_questions(
    items: pd.DataFrame, calibration_items: pd.DataFrame, scoring: ScoringParams
) -> list[tuple[Question, str]]:
    """Each question with each condition it is asked under, by item id."""
    wanted: dict[tuple[str, str], Question] = {}
    skipped: Counter[str] = Counter()
    for question in questions(items):
        if answerable(question):
            wanted.update({(question.item_id, c): question for c in scoring.conditions})
        else:
            skipped["open-ended" if not question.choices else "more than 26 options"] += 1
    if scoring.calibration:
        calibrating = filter(answerable, questions(calibration_items))
        wanted.update({(q.item_id, "question"): q for q in calibrating})
    for reason, count in sorted(skipped.items()):
        logger.warning("%d items are not scored: %s", count, reason)
    return [(question, key[1]) for key, question in sorted(wanted.items())]


def _is_filter_model(configuration: Configuration, filter_models: Sequence[str]) -> bool:
    """Whether a filter model is read off this configuration (the cloze styles share one)."""
    named = (parse_configuration(name) for name in filter_models)
    return any(
        c._replace(style=c.style.removesuffix("_bytes").removesuffix("_tokens")) == configuration
        for c in named
    )


def _known_model(configuration: Configuration, models: ModelsParams) -> ModelParams:
    if configuration.model not in models.models:
        raise InputError(
            f"scoring.configurations: no model {configuration.model!r} in models.yml; "
            f"there are {', '.join(sorted(models.models)) or 'none'}"
        )
    return models.models[configuration.model]


def _enough_demonstrations(configuration: Configuration, pool: DemonstrationPool) -> None:
    if configuration.shots > len(pool):
        raise InputError(
            f"scoring.configurations: {configuration_name(*configuration)} asks for "
            f"{configuration.shots} demonstrations, the benchmark has {len(pool)}"
        )
