"""Settings of MMLU-CF, from documents to a sealed benchmark (docs/reference/mmlu_cf.md).

`collection`, `cleaning`, `fields`, `difficulty`, `sampling_by_difficulty`, `checking`, `splitting`,
`sealing`, `half_gap`, `memorisation`, `open_benchmark` in conf/.
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from benchwright.core.configuration import STYLES, parse_configuration
from benchwright.params.section import Distinct, Section


class BatchClusterParams(Section):
    """The Ray cluster of `engine: ray` (docs/how_to/run_on_ray.md).

    Attributes:
        address: of an existing cluster (`auto`, `host:6379`); None starts one on this machine.
        allow_spill: allow an existing cluster to write document and question texts to disk if its
            store is full. A cluster started here keeps them in memory.
    """

    address: str | None = None
    allow_spill: bool = False


class BatchEngineParams(Section):
    """Where the batches of a stage run; results do not depend on it.

    Attributes:
        engine: `local`, in this process or in `workers` processes of this machine, or `ray`.
        workers: batches or shards processed concurrently, each on one core.
    """

    engine: Literal["local", "ray"] = "local"
    workers: int = Field(default=1, ge=1)
    ray: BatchClusterParams = BatchClusterParams()


class ReadingParams(Section):
    """Limits of reading document shards.

    Attributes:
        batch_documents, batch_bytes: maximum size of a batch.
        document_bytes: larger documents are skipped and counted.
        expansion: maximum ratio of a shard's size to its compressed size.
    """

    batch_documents: int = Field(default=1_000, ge=1)
    batch_bytes: int = Field(default=64 << 20, ge=1)
    document_bytes: int = Field(default=8 << 20, ge=1)
    expansion: int = Field(default=1_000, ge=1)


class ExtractionParams(Section):
    """Limits of extraction.

    Attributes:
        document_characters: longer documents are truncated.
        line_characters: labels inside longer lines are ignored.
        prefilter: skip documents without any sign of a question before parsing.
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
    """Maximum characters of each text, and maximum number of options."""

    question: int = Field(default=10_000, ge=1)
    choice: int = Field(default=2_000, ge=1)
    passage: int = Field(default=50_000, ge=1)
    explanation: int = Field(default=50_000, ge=1)
    answer: int = Field(default=2_000, ge=1)
    choices: int = Field(default=26, ge=2, le=26)


class LanguageParams(Section):
    """Thresholds above which a question counts as not English.

    Attributes:
        foreign_letters: share of letters from other scripts.
        probability: probability of another language.
        letters: questions with fewer letters are never rejected for their language.
    """

    foreign_letters: float = Field(default=0.2, ge=0, le=1)
    probability: float = Field(default=0.9, ge=0.5, le=1)
    letters: int = Field(default=25, ge=1)


class NearDuplicateParams(Section):
    """MinHash LSH over question and choices, with exact Jaccard similarity for each pair.

    Attributes:
        similarity: minimum Jaccard similarity of question and choices together.
        part_similarity: minimum similarity of each part: the passage, the beginning and the last
            sentence of the question, and the choices. A shared long passage is then not enough.
        permutations: length of a MinHash signature.
        bands: bands of the signature; items are compared if a band is equal.
        neighbours: number of earlier items in a bucket that each item is compared with.
    """

    similarity: float = Field(default=0.7, gt=0, le=1)
    part_similarity: float = Field(default=0.5, gt=0, le=1)
    permutations: int = Field(default=64, ge=8, le=512)
    bands: int = Field(default=16, ge=1)
    neighbours: int = Field(default=5, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _whole_bands(self) -> Self:
        if self.permutations % self.bands:
            raise ValueError(f"bands ({self.bands}) must divide permutations ({self.permutations})")
        return self


class CleaningParams(BatchEngineParams):
    """Rules for extracted questions (MMLU-CF, section 3.2, step 2), and where they run.

    Attributes:
        off: rules that do not run.
        n_choices: accepted numbers of choices.
        question_characters: minimum length of a question.
        strict_lower_case: also reject a first word such as "pH", "mRNA" or the variable "x".
        conflicting_answers: `reject` all items with the same question and choices but different
            answers, or `keep_one`.
    """

    off: tuple[RuleName, ...] = ()
    n_choices: tuple[Annotated[int, Field(ge=2, le=26)], ...] = Field(default=(4,), min_length=1)
    question_characters: int = Field(default=10, ge=1)
    strict_lower_case: bool = False
    conflicting_answers: Literal["reject", "keep_one"] = "reject"
    limits: LengthLimits = LengthLimits()
    language: LanguageParams = LanguageParams()
    near_duplicates: NearDuplicateParams = NearDuplicateParams()


class JudgesParams(Section):
    """Chat models that judge.

    Attributes:
        judges: names under `models.models`; empty skips judging.
        attempts: maximum number of attempts until a reply can be read.
        temperature: of all attempts but the first.
        max_tokens: maximum length of a reply.
    """

    judges: Annotated[tuple[str, ...], Distinct] = ()
    attempts: int = Field(default=3, ge=1, le=20)
    temperature: float = Field(default=0.7, gt=0, le=2)
    max_tokens: int = Field(default=24, ge=1)


class FieldsParams(JudgesParams):
    """One of 14 fields for each question (MMLU-CF, section 3.1 and Figure 6).

    Attributes:
        by: a `classifier` on sentence vectors, or `judges`.
        kind: `logistic` regression, or the `nearest_centroid` by cosine.
        encoder: sentence encoder, by its name under `models.encoders`.
        text: the encoded text.
        strength: inverse of the L2 penalty of logistic regression.
        folds: of the cross-validation that calibrates probabilities.
        min_calibration_examples: labelled examples needed to calibrate; the bundled set has 140.
    """

    by: Literal["classifier", "judges"] = "classifier"
    kind: Literal["logistic", "nearest_centroid"] = "logistic"
    encoder: str = "all-minilm-l6-v2"
    text: Literal["question", "question_and_choices"] = "question_and_choices"
    strength: float = Field(default=10.0, gt=0)
    folds: int = Field(default=5, ge=2, le=20)
    min_calibration_examples: int = Field(default=500, ge=1)


class DifficultyParams(JudgesParams):
    """Ratings 0–9 by judges (MMLU-CF, section 3.2, step 3).

    Attributes:
        at_most: maximum number of questions to rate, chosen at random; others get no level and are
            not sampled. None rates all.
        shots: worked examples before the question.
        examples_file: a CSV or Parquet table of such examples, replacing the bundled ones.
        combine: how several judges' ratings are combined.
        rate_final: also rate the questions after the contamination-free rules.
        fallback: without any rating: difficulty from models' `responses`, or `none`.
        answering: zero-shot configurations whose models answer for the fallback.
        answers_file: a CSV or Parquet table of answers for it: item_id, model, correct.
        min_models: models with answers that the fallback needs.
    """

    at_most: int | None = Field(default=None, ge=1)
    shots: int = Field(default=5, ge=0)
    examples_file: str | None = None
    combine: Literal["median", "mean"] = "median"
    rate_final: bool = True
    fallback: Literal["responses", "none"] = "responses"
    answering: Annotated[tuple[str, ...], Distinct] = ()
    answers_file: str | None = None
    min_models: int = Field(default=5, ge=2)

    @model_validator(mode="after")
    def _answer_without_demonstrations(self) -> Self:
        for name in self.answering:
            if parse_configuration(name).shots != 0:
                raise ValueError(
                    f"difficulty.answering: {name!r} is not <model>@<style>-0 with a style of "
                    f"{', '.join(STYLES)}; there are no demonstrations to show"
                )
        return self


class SamplingByDifficultyParams(Section):
    """A sample by difficulty under quotas (MMLU-CF, section 3.2, step 3).

    Attributes:
        size: questions in the sample (the paper: 50,000 of 1.66 million).
        mean, sd: of the normal distribution over the levels 0–9; the paper does not state sd.
        fields: `equal` numbers of questions per field, or `proportional` to the available ones.
    """

    size: int = Field(default=50_000, ge=0)
    mean: float = 6.0
    sd: float = Field(default=1.5, gt=0)
    fields: Literal["equal", "proportional"] = "equal"


class CheckingParams(JudgesParams):
    """Quality and harmlessness (MMLU-CF, section 3.2, step 4, and Table 4).

    Attributes:
        ask: `together` asks for all ratings and harms of a question in one prompt; `each` has a
            prompt per criterion and harm; `overall` has one prompt for a single rating, as in the
            paper's Table 4, and one for the harms.
        above: mean rating, 1–5, that a question must exceed.
        harmful: a harm counts if `any` judge reports it, or more than half of those who replied
            (`majority`).
        min_judges: minimum number of ratings; with fewer, a question is not judged.
        unjudged: whether to keep questions that are not judged.
        size: questions in the benchmark, sampled from those that passed as under
            `sampling_by_difficulty`; None takes all (the paper: 20,000 of 50,000).
    """

    ask: Literal["together", "each", "overall"] = "together"
    above: float = Field(default=4.0, ge=1, le=5)
    harmful: Literal["any", "majority"] = "any"
    min_judges: int = Field(default=1, ge=1)
    unjudged: Literal["keep", "drop"] = "drop"
    size: int | None = Field(default=None, ge=2)
    max_tokens: int = Field(default=160, ge=1)


class LeakageParams(Section):
    """How paraphrases of one question across the halves are found.

    Attributes:
        candidate: cosine similarity, −1–1, from which a pair is considered.
        certain: cosine similarity from which a pair with equal numbers is a leak without a judge.
        overlap: share of common words (Jaccard) from which a pair is a leak if there is no judge.
        judge: a chat model under `models.models` that decides on pairs in between; None uses
            `overlap`.
        attempts: maximum number of attempts until a reply can be read.
        repair: `move` puts both questions into one half, `remove` removes one.
        rounds: maximum number of rounds of search and repair.
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
                f"certain ({self.certain}) must not be less than candidate ({self.candidate})"
            )
        return self


class SplittingParams(Section):
    """Two halves with the same fields and difficulty (MMLU-CF, sections 3.2 and 4.5).

    Attributes:
        validation_share: share of the questions in the public half.
        leakage: search for paraphrases across the halves.
        level: coverage of the intervals of the gap between the halves.
        alpha: probability of any false alarm of the monitor, over all models.
    """

    validation_share: float = Field(default=0.5, gt=0, lt=1)
    leakage: LeakageParams = LeakageParams()
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)


class SealingParams(Section):
    """Name, key and smallest reported group of a sealed benchmark.

    Attributes:
        name: of the benchmark; part of the keyed ids and of the canaries.
        key_env: environment variable that holds the key.
        key_file: a file that holds only the key, used instead.
        judge_store: keep judges' replies on disk, `encrypted` with the same key, so that a killed
            run can resume, or in `memory`.
        min_group: fewest questions of a field whose accuracy is reported.
    """

    # Errors must not show a key that was given in the wrong place.
    model_config = ConfigDict(hide_input_in_errors=True)

    name: str = Field(default="mmlu_cf", pattern=r"^[a-z][a-z0-9_]*$")
    key_env: str = Field(default="BENCHWRIGHT_SEAL_KEY", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: str | None = None
    judge_store: Literal["encrypted", "memory"] = "encrypted"
    min_group: int = Field(default=50, ge=2)


class HalfGapParams(Section):
    """The monitor of the gap between the halves (MMLU-CF, section 4.5).

    Attributes:
        sealed: the benchmark, if there are results of several: its name, or the first characters of
            the SHA-256 of its `test.sealed`.
        level: coverage of the intervals.
        alpha: of the two-sided test, over all configurations.
        bounds: bounds of |Δ| below which configurations are counted.
    """

    sealed: str | None = None
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    bounds: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field((0.005, 0.01), min_length=1)


class MemorisationParams(Section):
    """The memorisation probe (MMLU-CF, Figure 1).

    Attributes:
        fuzzy: normalised edit similarity, 0–100, from which a written option matches the item's.
        level: coverage of the intervals.
        alpha: of the test against the control, over all models.
        examples: items per model on the page: this many with the most reproduced options, and as
            many random ones.
    """

    fuzzy: float = Field(default=90.0, gt=0, le=100)
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    examples: int = Field(default=3, ge=0, le=100)


class OpenBenchmarkParams(Section):
    """The export of an open benchmark.

    Attributes:
        demonstrations: maximum number of questions per field that become demonstrations.
        demonstration_share: maximum share of a field that becomes demonstrations.
    """

    demonstrations: int = Field(default=5, ge=0)
    demonstration_share: float = Field(default=0.25, ge=0, lt=1)
