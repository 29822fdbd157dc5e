"""From documents to a benchmark with a closed half: the sections of conf for MMLU-CF.

`collection`, `cleaning`, `fields`, `difficulty`, `sampling_by_difficulty`, `checking`, `splitting`,
`sealing`, `half_gap`, `memorisation`, `open_benchmark` (docs/reference/mmlu_cf.md).
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from benchwright.core.configuration import STYLES, parse_configuration
from benchwright.params.batch_engine import BatchEngineParams
from benchwright.params.section import Section


class ReadingParams(Section):
    """How shards of documents are read.

    Attributes:
        batch_documents, batch_bytes: a batch ends before it holds more.
        document_bytes: a larger document is left out and counted.
        expansion: a compressed shard may hold at most so many times its size.
    """

    batch_documents: int = Field(default=1_000, ge=1)
    batch_bytes: int = Field(default=64 << 20, ge=1)
    document_bytes: int = Field(default=8 << 20, ge=1)
    expansion: int = Field(default=1_000, ge=1)


class ExtractionParams(Section):
    """Limits of extraction.

    Attributes:
        document_characters: of a longer document, the rest is not read.
        line_characters: labels inside longer lines are not looked for.
        prefilter: pass over documents that show no sign of a question, before they are parsed.
    """

    document_characters: int = Field(default=4_000_000, ge=1)
    line_characters: int = Field(default=20_000, ge=1)
    prefilter: bool = True


class CollectionParams(BatchEngineParams):
    """Reading documents and extracting questions (MMLU-CF, section 3.2, step 1).

    With several workers, or on Ray, each shard is read and extracted by one of them.
    """

    reading: ReadingParams = ReadingParams()
    extraction: ExtractionParams = ExtractionParams()


RuleName = Literal[
    "too_long", "unreadable", "n_choices", "empty_choices", "label_set", "labels",
    "short_question", "answer_format", "question_numbering", "choice_numbering", "choice_order",
    "question_complete", "answer_within_choices", "roman_numerals", "lower_case_start",
    "non_english", "exact_duplicate", "near_duplicate",
]  # fmt: skip
"""The rules in the order in which they run."""


class LengthLimits(Section):
    """Characters above which a row is rejected before any other rule reads it.

    Attributes:
        question, choice, passage, explanation, answer: of one text.
        choices: the most options (they are lettered A–Z).
    """

    question: int = Field(default=10_000, ge=1)
    choice: int = Field(default=2_000, ge=1)
    passage: int = Field(default=50_000, ge=1)
    explanation: int = Field(default=50_000, ge=1)
    answer: int = Field(default=2_000, ge=1)
    choices: int = Field(default=26, ge=2, le=26)


class LanguageParams(Section):
    """When a question counts as not English.

    Attributes:
        foreign_letters: share of letters of other scripts above which it does, 0–1.
        probability: of the most probable language, where that is not English, 0–1.
        letters: a question with fewer letters is not rejected for its language.
    """

    foreign_letters: float = Field(default=0.2, ge=0, le=1)
    probability: float = Field(default=0.9, ge=0.5, le=1)
    letters: int = Field(default=25, ge=1)


class NearDuplicateParams(Section):
    """MinHash LSH over question and choices, each pair checked by exact Jaccard similarity.

    Attributes:
        similarity: Jaccard similarity of question and choices together from which two items are
            near-duplicates, 0–1.
        part_similarity: what the passage, the beginning and the last sentence of the question, and
            the choices must reach each by themselves, so that a long passage that two items share
            does not make them duplicates.
        permutations: length of a MinHash signature.
        bands: of the signature; two items are compared where a whole band is equal.
        neighbours: in a band's bucket, how many items before it each is compared with.
        seed: of the hash functions.
    """

    similarity: float = Field(default=0.7, gt=0, le=1)
    part_similarity: float = Field(default=0.5, gt=0, le=1)
    permutations: int = Field(default=64, ge=8, le=512)
    bands: int = Field(default=16, ge=1)
    neighbours: int = Field(default=5, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _whole_bands(self) -> "NearDuplicateParams":
        if self.permutations % self.bands:
            raise ValueError(
                f"bands: {self.bands} does not divide permutations ({self.permutations})"
            )
        return self


class CleaningParams(BatchEngineParams):
    """Rules for extracted questions (MMLU-CF, section 3.2, step 2), and where they run.

    Attributes:
        off: rules that do not run.
        n_choices: numbers of choices that are kept.
        question_characters: a shorter question is rejected.
        strict_lower_case: also reject a first word such as "pH", "mRNA" or the variable "x".
        conflicting_answers: what becomes of items with the same question and choices but different
            answers: `reject` all of them, or `keep` one.
    """

    off: tuple[RuleName, ...] = ()
    n_choices: tuple[int, ...] = Field(default=(4,), min_length=1)
    question_characters: int = Field(default=10, ge=1)
    strict_lower_case: bool = False
    conflicting_answers: Literal["reject", "keep"] = "reject"
    limits: LengthLimits = LengthLimits()
    language: LanguageParams = LanguageParams()
    near_duplicates: NearDuplicateParams = NearDuplicateParams()

    @model_validator(mode="after")
    def _possible(self) -> "CleaningParams":
        if wrong := [n for n in self.n_choices if not 2 <= n <= 26]:
            raise ValueError(f"n_choices: {wrong[0]} is not between 2 and 26")
        return self


class JudgesParams(Section):
    """Chat models that judge.

    Attributes:
        judges: their names under `models.models`; without any, nobody judges.
        attempts: the most times each is asked where its reply cannot be read.
        temperature: of the second attempt and later ones.
        max_tokens: the most a judge may write.
    """

    judges: tuple[str, ...] = ()
    attempts: int = Field(default=3, ge=1, le=20)
    temperature: float = Field(default=0.7, gt=0, le=2)
    max_tokens: int = Field(default=24, ge=1)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len(set(self.judges)) < len(self.judges):
            raise ValueError("judges names a model twice")
        return self


class FieldsParams(JudgesParams):
    """One of 14 fields for each question (MMLU-CF, section 3.1 and Figure 6).

    Attributes:
        by: a `classifier` on sentence vectors, or `judges`.
        kind: `logistic` regression, or the `nearest_centroid` by cosine.
        encoder: sentence encoder, by its name under `models.encoders`.
        text: what is encoded.
        strength: of the L2 penalty of logistic regression is 1/`strength`.
        folds: of the cross-validation that calibrates probabilities.
        fewest_to_calibrate: with fewer labelled examples probabilities are not calibrated; the
            bundled 140 are too few.
    """

    by: Literal["classifier", "judges"] = "classifier"
    kind: Literal["logistic", "nearest_centroid"] = "logistic"
    encoder: str = "all-minilm-l6-v2"
    text: Literal["question", "question_and_choices"] = "question_and_choices"
    strength: float = Field(default=10.0, gt=0)
    folds: int = Field(default=5, ge=2, le=20)
    fewest_to_calibrate: int = Field(default=500, ge=1)


class DifficultyParams(JudgesParams):
    """Ratings 0–9 by judges (MMLU-CF, section 3.2, step 3).

    Attributes:
        at_most: questions that judges rate and models answer, drawn at random; the others have no
            level and are not sampled. None asks about all.
        shots: worked examples shown before the question, of those there are.
        examples_file: a CSV or Parquet table of such examples, in place of the bundled ones.
        combine: what several judges' ratings come to: their `median` or `mean`.
        again: the judges also rate the questions as they are after the contamination-free rules.
        fallback: where no judge gave a rating: difficulty from models' `responses`, or `none`.
        answering: configurations without demonstrations whose models answer for the fallback.
        answers_file: a CSV or Parquet table of answers for it: item_id, model, correct.
        fewest_models: with answers, for the fallback.
    """

    at_most: int | None = Field(default=None, ge=1)
    shots: int = Field(default=5, ge=0)
    examples_file: str | None = None
    combine: Literal["median", "mean"] = "median"
    again: bool = True
    fallback: Literal["responses", "none"] = "responses"
    answering: tuple[str, ...] = ()
    answers_file: str | None = None
    fewest_models: int = Field(default=5, ge=2)

    @model_validator(mode="after")
    def _answer_without_demonstrations(self) -> Self:
        for name in self.answering:
            if parse_configuration(name).shots != 0:
                raise ValueError(
                    f"difficulty.answering: {name!r} is not <model>@<style>-0 with a style of "
                    f"{', '.join(STYLES)}; there are no demonstrations to show"
                )
        if len(set(self.answering)) < len(self.answering):
            raise ValueError("difficulty.answering names a configuration twice")
        return self


class SamplingByDifficultyParams(Section):
    """A sample by difficulty under quotas (MMLU-CF, section 3.2, step 3).

    Attributes:
        size: questions in the sample (the paper: 50,000 of 1.66 million).
        mean: of the normal distribution over the levels 0–9.
        sd: its standard deviation; the paper gives none.
        fields: as many questions of each field (`equal`), or in proportion to what there is.
    """

    size: int = Field(default=50_000, ge=0)
    mean: float = 6.0
    sd: float = Field(default=1.5, gt=0)
    fields: Literal["equal", "proportional"] = "equal"


class CheckingParams(JudgesParams):
    """Quality and harmlessness (MMLU-CF, section 3.2, step 4, and Table 4).

    Attributes:
        ask: `together` asks for all ratings and harms of a question at once, `each` once for every
            criterion and harm, `overall` for one rating under all criteria, as the paper's Table 4,
            and for the harms at once.
        above: the mean rating, 1–5, that a question must exceed.
        harmful: whether a harm counts where `any` judge sees it, or more than half of those who
            spoke on it (`majority`).
        fewest_judges: with fewer ratings a question counts as not judged.
        unjudged: what becomes of such questions.
        size: questions of those that passed that make the benchmark, sampled as before under
            `sampling_by_difficulty`; None takes all (the paper: 20,000 of 50,000).
    """

    ask: Literal["together", "each", "overall"] = "together"
    above: float = Field(default=4.0, ge=1, le=5)
    harmful: Literal["any", "majority"] = "any"
    fewest_judges: int = Field(default=1, ge=1)
    unjudged: Literal["keep", "drop"] = "drop"
    size: int | None = Field(default=None, ge=2)
    max_tokens: int = Field(default=160, ge=1)


class LeakageParams(Section):
    """Which pairs of questions across the halves are one question in other words.

    Attributes:
        candidate: cosine similarity from which a pair is looked at, −1–1.
        certain: from here a pair is a leak without being judged, where its numbers agree.
        overlap: share of common words (Jaccard) from which an unjudged pair counts as a leak.
        judge: a chat model under `models.models` that decides the pairs between; None leaves it
            to the words.
        attempts: the most times it is asked about a pair whose reply cannot be read.
        repair: `move` keeps both in one half, `remove` drops one.
        rounds: of finding and moving, at most.
    """

    candidate: float = Field(default=0.80, ge=-1, le=1)
    certain: float = Field(default=0.97, ge=-1, le=1)
    overlap: float = Field(default=0.6, gt=0, le=1)
    judge: str | None = None
    attempts: int = Field(default=3, ge=1, le=20)
    repair: Literal["move", "remove"] = "move"
    rounds: int = Field(default=10, ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.certain < self.candidate:
            raise ValueError(
                f"certain ({self.certain}) is below candidate ({self.candidate}): no pair would "
                "be certain without being a candidate"
            )
        return self


class SplittingParams(Section):
    """Two halves with the same fields and difficulty (MMLU-CF, sections 3.2 and 4.5).

    Attributes:
        validation_share: of the questions that become public.
        leakage: what may not stand on both sides.
        level: coverage of the intervals of the gap between the halves.
        alpha: chance of any false alarm of the monitor, over all models.
    """

    validation_share: float = Field(default=0.5, gt=0, lt=1)
    leakage: LeakageParams = LeakageParams()
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)


class SealingParams(Section):
    """Name, key's place and smallest reported group of a sealed benchmark.

    Attributes:
        name: of the benchmark; part of the keyed ids and of the canaries.
        key_env: environment variable that holds the key.
        key_file: instead, a file that holds nothing else.
        judge_store: what judges say is kept on disk under the same key (`encrypted`), so that a
            run that was killed goes on where it was, or in `memory`.
        min_group: fewest questions of a field whose accuracy is told by itself.
    """

    # A key in the wrong place is not to show in an error.
    model_config = ConfigDict(hide_input_in_errors=True)

    name: str = Field(default="mmlu_cf", pattern=r"^[a-z][a-z0-9_]*$")
    key_env: str = Field(default="BENCHWRIGHT_SEAL_KEY", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: str | None = None
    judge_store: Literal["encrypted", "memory"] = "encrypted"
    min_group: int = Field(default=50, ge=2)


Bound = Annotated[float, Field(gt=0, lt=1)]


class HalfGapParams(Section):
    """The monitor of the gap between the halves (MMLU-CF, section 4.5).

    Attributes:
        sealed: of which benchmark, where there are scores of several: its name, or the first
            characters of the SHA-256 of its `test.sealed`.
        level: coverage of the intervals.
        alpha: of the test, two-sided, over all configurations.
        bounds: of |Δ|, as shares, below which configurations are counted.
    """

    sealed: str | None = None
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    bounds: tuple[Bound, ...] = Field(default=(0.005, 0.01), min_length=1)


class MemorisationParams(Section):
    """The memorisation probe (MMLU-CF, Figure 1).

    Attributes:
        fuzzy: similarity of a written option with the item's from which it counts as the same,
            0–100 (normalised edit similarity).
        level: coverage of the intervals.
        alpha: of the test against the control, over all models.
        examples: items of each model on the page: so many with the most options in place, and so
            many drawn by seed; 0 shows none.
    """

    fuzzy: float = Field(default=90.0, gt=0, le=100)
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    examples: int = Field(default=3, ge=0, le=100)


class OpenBenchmarkParams(Section):
    """The file of an open benchmark.

    Attributes:
        demonstrations: the most questions of a field that are set aside as examples for prompts.
        demonstration_share: the largest share of a field that they may be, 0–1, so that a small
            field keeps most of its questions for evaluation.
    """

    demonstrations: int = Field(default=5, ge=0)
    demonstration_share: float = Field(default=0.25, ge=0, lt=1)
