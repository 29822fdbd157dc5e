"""Question, options and gold of a log's source row, known by its columns."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from benchwright.answers.option_orders import how_asked, order_of, plain_text
from benchwright.answers.prompt_matching import listing, without_labels
from benchwright.ingestion.source_fields import (
    Row,
    Rule,
    Unusable,
    read,
    read_choices,
    read_gold,
    read_optional,
    read_question,
    read_required,
)
from benchwright.logs.json_values import as_literal
from benchwright.logs.options import are_letters, option_position
from benchwright.logs.sample import Sample
from benchwright.params.benchmark import ChoicesField, FieldMapping, GoldField


class Reading(NamedTuple):
    """A question as a log's row has it."""

    question: str
    choices: tuple[str, ...] = ()
    subject: str | None = None
    right: tuple[int, ...] = ()  # positions of the right options by the row, () if unknown
    labels: tuple[str, ...] = ()  # of the options, if they are not letters


class _Layout(NamedTuple):
    questions: tuple[str, ...]  # columns of the question, a passage first
    mapping: FieldMapping
    gold: str  # a column whose form the value shows: a position from 0, a letter or a text


def _layout(
    question: str, choices: str, gold: str, form: Any = None, subject: str | None = None
) -> _Layout:
    questions, columns = tuple(question.split("|")), tuple(choices.split("|"))
    options = ChoicesField(columns=columns) if len(columns) > 1 else ChoicesField(column=choices)
    if form == "label":
        options = ChoicesField(column=choices, labels=choices.replace("text", "label"))
    field = GoldField(form=form, column=gold) if form else GoldField(form="first")
    mapping = FieldMapping(question=questions[-1], choices=options, gold=field, subject=subject)
    return _Layout(questions, mapping, "" if form else gold)


_LAYOUTS = (
    _layout("query", "choices", "gold", None, "activity_label"),  # HellaSwag, AGIEval in lm-eval
    _layout("ctx", "endings", "label", "index", "activity_label"),  # HellaSwag
    _layout("goal", "sol1|sol2", "label", "index"),  # PIQA
    _layout("sentence", "option1|option2", "answer", "number"),  # WinoGrande
    _layout("question_stem", "choices.text", "answerKey", "label"),  # OpenBookQA
    _layout("question", "choices.text", "answerKey", "label"),  # ARC, CommonsenseQA
    _layout("question", "mc1_targets.choices", "mc1_targets.labels", "multi_hot"),  # TruthfulQA
    _layout("question", "opa|opb|opc|opd", "cop", "index", "subject_name"),  # MedMCQA
    _layout("sent1", "ending0|ending1|ending2|ending3", "label", "index"),  # SWAG, MedQA
    _layout("question", "A|B|C|D", "answer", "letter"),  # C-Eval
    _layout("question", "A|B|C|D", "answer", "number", "Category"),  # KMMLU
    _layout("Question", "A|B|C|D", "Answer", "letter"),  # CMMLU
    _layout("Question", "choice1|choice2|choice3|choice4", "answer"),  # GPQA in lm-eval
    _layout(
        *("Question", "Correct Answer|Incorrect Answer 1|Incorrect Answer 2|Incorrect Answer 3"),
        *("Correct Answer", "text"),
    ),
    _layout("narrative|question", "choices", "answer_index"),  # MuSR
    _layout("premise|question", "choice1|choice2", "label", "index"),  # COPA
    _layout("premise|question", "alternative_1|alternative_2", "label", "index"),  # KoBEST
    _layout("context", "ending_1|ending_2|ending_3|ending_4", "label", "index"),  # KoBEST
    _layout("context|question", "answerA|answerB|answerC", "label", "number"),  # SocialIQA
    _layout(
        *("flores_passage|question", "mc_answer1|mc_answer2|mc_answer3|mc_answer4"),
        *("correct_answer_num", "number"),
    ),
    _layout(
        *("question", "distractor1|distractor2|distractor3|correct_answer"),
        *("correct_answer", "text"),
    ),  # SciQ
    _layout("qtext", "answers.atext", "ra", "number"),  # HeadQA
    _layout("article|question", "options", "answer"),  # RACE
    _layout("context|question", "options", "label"),  # LogiQA
    _layout("question", "options", "answer", None, "category"),  # MMLU-Pro
    _layout("question", "choices", "answer", None, "subject"),  # MMLU
    _layout("question", "choices", "gold", None, "subject"),
    _layout("question", "choices", "label", None, "subject"),
)
"""Rows of benchmarks, also as tasks of lm-eval store them; the more special ones come first."""

_QUESTIONS = (
    *("word|context_1|context_2", "word|sentence1|sentence2", "premise|hypothesis"),
    *("sentence1|sentence2", "paragraph|question", "passage|question", "context|question"),
    *("question", "Question", "query", "ctx", "goal", "problem", "input", "sentence", "text"),
)
"""Columns of questions whose options are not in the row but in the log, or follow the question."""


@lru_cache(maxsize=256)
def _layouts_of(columns: frozenset[str]) -> tuple[tuple[_Layout, ...], tuple[str, ...]]:
    """Return the layouts whose columns a row has, and the columns of its question."""
    layouts = []
    for layout in _LAYOUTS:
        options = layout.mapping.choices or ChoicesField(column="choices")
        needed = {*layout.questions, *options.columns} | {options.column} - {None}
        if {str(name).split(".")[0] for name in needed} <= columns:
            layouts.append(layout)
    question = next((q for q in _QUESTIONS if columns.issuperset(q.split("|"))), "")
    return tuple(layouts), tuple(filter(None, question.split("|")))


def readings(sample: Sample, mappings: Sequence[FieldMapping] = ()) -> Iterator[Reading]:
    """Yield what a sample and its row say of the question, the most certain first.

    Options and gold are those of the sample, of the row by each of the mappings, by the layouts
    that are known by their columns, or the texts whose log-likelihoods were taken. Options that a
    question lists are cut off.
    """
    doc = sample.doc
    if sample.question:
        subject = None if doc is None else doc.get("subject")
        subject = subject if isinstance(subject, str) else None
        asked = Reading(sample.question, sample.choices, subject, sample.gold)
        yield from filter(None, (_without_list(asked), asked if sample.choices else None))
    if doc is None:
        return
    for mapping in mappings:
        try:
            question, _ = read_question(doc, mapping)
            choices = () if mapping.choices is None else read_choices(doc, mapping.choices, None)
            yield Reading(question, tuple(choices), read_optional(doc, mapping.subject))
        except Unusable:
            continue
    layouts, columns = _layouts_of(frozenset(doc))
    for layout in layouts:
        try:
            reading = _read_layout(doc, layout)
        except Unusable:
            continue
        yield from filter(None, (_without_list(reading), reading))
    if not columns:
        return
    try:
        yield from _without_options(sample, Reading(_joined(doc, columns)))
    except Unusable:
        return


def _without_options(sample: Sample, reading: Reading) -> Iterator[Reading]:
    """Yield what a question without options asks: between texts, its list, or an open answer."""
    texts = tuple(map(plain_text, sample.continuations or ()))
    named = len(set(texts)) == len(texts) > 1 and all(texts) and how_asked(sample, texts)
    if named and "cloze" in named and "letters" not in named and not are_letters(texts):
        yield reading._replace(choices=texts)
    yield from filter(None, (_without_list(reading),))
    if sample.doc is not None and {"question", "answer"} <= sample.doc.keys():
        yield reading


def _joined(row: Row, columns: Sequence[str]) -> str:
    texts = (read_required(row, name, "question", Rule.MISSING_QUESTION) for name in columns)
    return "\n\n".join(texts)


def _without_list(reading: Reading) -> Reading | None:
    """Return a reading without the options that its question lists; None if it lists none."""
    found = listing(reading.question, reading.choices)
    if found is None or not found.before.strip():
        return None
    choices = reading.choices or found.choices
    return reading._replace(question=found.before, choices=choices, labels=found.labels)


def _read_layout(row: Row, layout: _Layout) -> Reading:
    mapping = layout.mapping
    options = mapping.choices or ChoicesField(column="choices")
    if options.column and isinstance(text := read(row, options.column), str):
        row = {**row, options.column: as_literal(text)}  # as in MuSR
    choices = without_labels(read_choices(row, options, None))
    labels = read(row, options.labels) if options.labels else None
    reading = Reading(
        _joined(row, layout.questions), tuple(choices), read_optional(row, mapping.subject)
    )
    if layout.gold:
        return reading._replace(right=_named(read(row, layout.gold), choices))
    labels = tuple(map(str, labels)) if isinstance(labels, list) else ()
    return reading._replace(right=_gold(row, mapping, choices), labels=labels)


def _gold(row: Row, mapping: FieldMapping, choices: list[str]) -> tuple[int, ...]:
    try:
        return tuple(read_gold(row, mapping, choices))
    except Unusable:
        return ()


def _named(value: Any, choices: Sequence[str]) -> tuple[int, ...]:
    """Return the options that positions from 0, letters or texts name; () if one names none."""
    found = []
    for each in value if isinstance(value, list) else [value]:
        is_index = isinstance(each, int) and not isinstance(each, bool)
        found.append(each if is_index else option_position(str(each), choices))
    return tuple(found) if found and all(0 <= p < len(choices) for p in found) else ()


def right_options(sample: Sample, reading: Reading) -> tuple[int, ...]:
    """Return the right options of a reading, () if unknown.

    A log with log-likelihoods counts its texts from 0; elsewhere a number is a label, and the row
    knows better than the target which option it labels.
    """
    choices = reading.choices
    if sample.gold:
        return sample.gold if max(sample.gold) < len(choices) else ()
    target = plain_text(sample.target)
    order = order_of(how_asked(sample, choices), "") if sample.continuations else None
    if order is not None:
        texts = [plain_text(text) for text in sample.continuations or ()]
        value = as_literal(target)
        named = _named(value if isinstance(value, int | list) else target, texts)
        if named and (target not in texts or texts.index(target) in named):
            return tuple(sorted(order[position] for position in named))
    if reading.right:
        return reading.right
    position = option_position(target, choices, labels=reading.labels) if target else -1
    return () if position < 0 else (position,)
