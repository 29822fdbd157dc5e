"""Settings of one benchmark (`conf/base/parameters/benchmarks/<name>.yml`).

A benchmark needs no code: the field mapping covers options in a list, in columns or nested; gold
answers as a number, letter, label, text or one-hot list; and subjects in a column or in the name of
a configuration or split.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from benchwright.params.filtering import FilterModelChoice
from benchwright.params.responses import ResponseFileParams
from benchwright.params.section import Section

Split = Literal["test", "validation", "dev", "train"]
SPLITS: tuple[Split, ...] = ("test", "validation", "dev", "train")
SourceKind = Literal["mirror", "local", "hub"]

CONFIG_COLUMN = "_config"
SUBJECT_COLUMN = "_subject"
SPLIT_COLUMN = "_split"
ADDED_COLUMNS = (SPLIT_COLUMN, CONFIG_COLUMN, SUBJECT_COLUMN)
"""Added columns: the canonical split, the hub's configuration, `{subject}` in a split's name."""
OPTIONAL_COLUMNS = ("subject", "passage", "explanation", "domain", "url", "source_id")
"""Columns of a table of questions that are read where they have these names."""

GoldForm = Literal[
    "index", "number", "letter", "label", "text", "one_hot", "multi_hot", "first", "final_answer"
]


class ChoicesField(Section):
    """The options of a row, in the order of the prompt.

    A name with dots reads nested values (`choices.text`), also in a list of records.
    """

    column: str | None = None
    """A column with a list of texts."""
    columns: tuple[str, ...] = ()
    """One option per column (`[A, B, C, D]`)."""
    split_columns: tuple[str, ...] = ()
    """Texts of several options, split at `separator`; they follow `columns`."""
    separator: Annotated[str, Field(min_length=1)] = ";"
    labels: str | None = None
    """A column with the list of option labels, for a gold of form `label`."""
    drop_empty_tail: bool = False
    """Ignore empty columns at the end (exams with four or five options)."""
    order: Literal["source", "hashed"] = "source"
    """`hashed` orders by a hash of seed, item id and text, for sources that list the gold first."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.column is None) == (not self.columns and not self.split_columns):
            raise ValueError("choices needs either column, or columns or split_columns")
        return self


class GoldField(Section):
    """The gold answer of a row and its form.

    `index` from 0, `number` from 1, `letter` (A, or several: AC), `label` (one of
    `choices.labels`), `text` (equal to one option), `one_hot` (a list with a single 1), `multi_hot`
    (several right options), `first` (the first option), `final_answer` (open-ended: the text
    itself).
    """

    form: GoldForm
    column: str | None = None
    after: str | None = None
    """The final answer follows the last such text (`####`)."""

    @model_validator(mode="after")
    def _column_where_needed(self) -> Self:
        if (self.column is None) != (self.form == "first"):
            raise ValueError("gold needs a column unless its form is first")
        if self.after is not None and self.form != "final_answer":
            raise ValueError("gold.after needs the form final_answer")
        return self


class FieldMapping(Section):
    """The columns of a source that form an item; names with dots read nested values."""

    question: str
    gold: GoldField
    choices: ChoicesField | None = None
    """None for an open-ended benchmark, whose gold has the form final_answer."""
    subject: str | None = None
    """A column, `_config` or `_subject`; by default the benchmark's name."""
    item_id: str | None = None
    """The default is `<benchmark>/<subject>/<row>` (docs/how_to/bring_a_benchmark.md)."""
    passage: str | None = None
    """A text before the question in the prompt."""
    explanation: str | None = None
    domain: str | None = None
    url: str | None = None
    source_id: str | None = None
    label_error: str | None = None
    """A column that says what is wrong with the gold answer, `ok` where nothing is."""

    @model_validator(mode="after")
    def _gold_fits_choices(self) -> Self:
        if (self.choices is None) != (self.gold.form == "final_answer"):
            raise ValueError("gold.form must be final_answer if and only if choices is missing")
        if self.gold.form == "label" and (self.choices is None or self.choices.labels is None):
            raise ValueError("gold.form label needs choices.labels")
        return self

    def columns(self) -> Iterator[str]:
        """Yield every column name in the mapping."""
        if (choices := self.choices) is not None:
            yield from filter(None, (choices.column, choices.labels))
            yield from (*choices.columns, *choices.split_columns)
        others = (self.question, self.gold.column, self.subject, self.item_id, self.passage)
        yield from filter(None, (*others, self.explanation, self.domain, self.url))
        yield from filter(None, (self.source_id, self.label_error))


class SplitName(NamedTuple):
    """The canonical split of a source's split; None if it is not used."""

    split: Split | None
    subject: str | None


class _Source(Section):
    fields: FieldMapping
    splits: dict[str, Split | None] = Field(default_factory=dict)
    """The source's spelling → ours, null: not used. `{subject}` in a spelling matches any text."""

    def split_name(self, spelling: str) -> SplitName | None:
        """Return the canonical split of a source's spelling, None if it is unknown."""
        if spelling in self.splits:
            return SplitName(self.splits[spelling], None)
        for pattern, split in self.splits.items():
            if "{subject}" not in pattern:
                continue
            match = re.fullmatch(re.escape(pattern).replace(r"\{subject\}", "(.+)"), spelling, re.S)
            if match:
                return SplitName(split, match.group(1))
        canonical = next((split for split in SPLITS if split == spelling), None)
        return None if canonical is None else SplitName(canonical, None)


class HubSource(_Source):
    """A dataset on the Hugging Face hub, or a folder with the same layout."""

    id: str
    """`<owner>/<name>`, or the path of a folder."""
    configs: tuple[str, ...] = ()
    """Configurations to read, in order; empty reads the default one."""
    revision: str | None = None


class FileSource(_Source):
    """A Parquet, JSON Lines, CSV or TSV file (also .gz), or one per split."""

    file: str | None = None
    files: dict[Split, str] = Field(default_factory=dict)
    split_column: str | None = None
    """The column of `file` with the split of each row, or `all_rows` is that of all of them."""
    all_rows: Split | None = None
    folder: str | None = None
    """Folder of a local source in the data folder; by default `01_raw/<benchmark>`."""
    made_by: str | None = None
    """The pipeline that writes the files, for the message where they are missing."""

    @model_validator(mode="after")
    def _one_way_to_know_the_split(self) -> Self:
        if (self.file is None) == (not self.files):
            raise ValueError("a source needs either file, or files (one per split)")
        ways = (self.split_column is not None) + (self.all_rows is not None)
        if ways != (1 if self.file is not None else 0):
            raise ValueError(
                "a source with file needs either split_column or all_rows; with files, neither"
            )
        return self

    def names(self) -> tuple[str, ...]:
        """Return the file names."""
        return (self.file,) if self.file is not None else tuple(self.files.values())


class SourcesParams(Section):
    """The sources of a benchmark, each with its field mapping.

    The mirror is read if `mirror_root` is set, else the local file, else the hub.
    """

    hub: HubSource | None = None
    mirror: FileSource | None = None
    local: FileSource | None = None

    @model_validator(mode="after")
    def _not_none(self) -> Self:
        if not self.by_kind():
            raise ValueError("sources needs at least one of hub, mirror and local")
        return self

    def by_kind(self) -> dict[SourceKind, HubSource | FileSource]:
        """Return the configured sources by kind."""
        sources: dict[SourceKind, HubSource | FileSource | None]
        sources = {"hub": self.hub, "mirror": self.mirror, "local": self.local}
        return {kind: source for kind, source in sources.items() if source is not None}


class SplitPurposes(Section):
    """The purpose of each split; evaluation splits have no other purpose."""

    evaluation: Annotated[tuple[Split, ...], Field(min_length=1)]
    demonstrations: tuple[Split, ...] = ()
    calibration: tuple[Split, ...] = ()

    @model_validator(mode="after")
    def _evaluation_is_apart(self) -> Self:
        shared = set(self.evaluation) & {*self.demonstrations, *self.calibration}
        if shared:
            raise ValueError(
                f"split {min(shared)} is for evaluation and cannot have another purpose"
            )
        return self

    def used(self) -> frozenset[Split]:
        """Return every split that is used."""
        return frozenset((*self.evaluation, *self.demonstrations, *self.calibration))


class PromptParams(Section):
    """The prompt template; the defaults are those of MMLU (Hendrycks et al., 2021).

    A prompt is the description, the demonstrations and the question, joined by `separator`. Where
    a model answers in its own words, `instruction` (or `open_instruction`) follows the question and
    `statement` (`open_statement`) ends each demonstration.
    """

    description: str = "The following are multiple choice questions (with answers) about {subject}."
    question_prefix: str = ""
    answer_prefix: str = "Answer:"
    separator: str = "\n\n"
    instruction: str = (
        'Think step by step, then end with "The answer is (X)." where X is the letter of the '
        "right option."
    )
    open_instruction: str = (
        'Think step by step, then end with "The answer is X." where X is the final answer alone.'
    )
    statement: str = "The answer is ({label})."
    open_statement: str = "The answer is {answer}."


class BenchmarkParams(Section):
    """One benchmark: its sources, splits, prompt, models and citation.

    `scoring`, `embedding`, `perturbation`, `filtering`, `evaluation`, `sampling` and `exports`
    override the variant's settings.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    title: str
    licence: str
    citation: str
    url: str = ""
    sources: SourcesParams
    splits: SplitPurposes
    n_choices: Annotated[int, Field(ge=2, le=26)] | None = None
    """Rows with a different number of options are rejected."""
    prompt: PromptParams = PromptParams()
    filter_models: (
        tuple[str, ...] | FilterModelChoice | Literal["all", "forward", "strongest"] | None
    ) = None
    """Names, a rule or its `choose`, `all`, or nothing: the variant's rule."""
    evaluation_models: Literal["all"] | tuple[str, ...] = "all"
    responses: tuple[ResponseFileParams, ...] = ()
    anomalous_subjects: tuple[str, ...] = ()
    scoring: dict[str, Any] = Field(default_factory=dict)
    embedding: dict[str, Any] = Field(default_factory=dict)
    perturbation: dict[str, Any] = Field(default_factory=dict)
    filtering: dict[str, Any] = Field(default_factory=dict)
    evaluation: dict[str, Any] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)
    exports: dict[str, Any] = Field(default_factory=dict)
