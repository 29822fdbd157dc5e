"""Parameters of the SMART filters and of filter models (`filtering:` in conf)."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from benchwright.params.section import Section


class FilterModelChoice(Section):
    """`filter_models` of a benchmark as a rule in place of a list of names.

    Attributes:
        choose: `strongest` takes the models of highest accuracy, as SMART does (section 5.1);
            `forward` the strongest of the weaker half, so that only stronger models judge what
            they chose.
        count: how many models.
        distinct: of which at most one is taken: each `family`, each `organisation` (SMART), or
            each model only (`none`). On a leaderboard of fine-tunes organisations are not
            different models; `family` takes models of known family only.
        answered_by: only items that at least this share (0–1) of all models answered are looked
            at.
        min_coverage: a model can be chosen when it answered at least this share (0–1) of those.
    """

    choose: Literal["strongest", "forward"]
    count: int = Field(default=7, ge=1)
    distinct: Literal["none", "family", "organisation"] = "organisation"
    answered_by: float = Field(default=0.5, ge=0, le=1)
    min_coverage: float = Field(default=0.95, gt=0, le=1)


Share = Annotated[float, Field(ge=0, le=1)]
Confidence = Annotated[float, Field(ge=0, lt=1)]


class AnomalousParams(Section):
    """Subjects unlike the rest, named by the benchmark, are removed whole (SMART, section 3.1)."""

    enabled: bool = True


class EasyParams(Section):
    """Items that every filter model answers rightly and surely (SMART, section 3.2).

    Attributes:
        confidence: probability of the right answer that every model must exceed (strictly). None
            asks for right answers only, for files without probabilities; the rule is then called
            `easy_unanimous`.
        retain: share of the easy items that stays, so that later models cannot forget them.
        retention: `quota` keeps exactly round(retain × easy items), spread over the subjects by
            largest remainder; `bernoulli` keeps each with that probability.
    """

    enabled: bool = True
    confidence: Confidence | None = 0.8
    retain: Share = 0.10
    retention: Literal["quota", "bernoulli"] = "quota"


class AnswerOnlyParams(Section):
    """Items that every filter model solves from the options alone (SMART, section 3.3).

    Attributes:
        confidence: probability of the right answer that every model must exceed (strictly).
    """

    enabled: bool = True
    confidence: Confidence = 0.8


class SuspectLabelParams(Section):
    """Items that every filter model gets wrong and surely: reported, never removed (SMART, A.2).

    Attributes:
        confidence: probability of its own choice that every model must exceed (strictly).
    """

    enabled: bool = True
    confidence: Confidence = 0.8


class DuplicatesParams(Section):
    """Copies of an item (SMART, section 3.1 and A.3).

    Attributes:
        key: what must be equal, case and white space aside. `question_choices_answer`: question,
            set of choices and text of the answer. `question`: the question alone, as in the code
            released with the paper, which also takes "Which of these is true?" for one question.
    """

    enabled: bool = True
    key: Literal["question_choices_answer", "question"] = "question_choices_answer"


class SimilarParams(Section):
    """Items close in embedding space (SMART, section 3.4 and A.1).

    Attributes:
        k: nearest neighbours of each item that are looked at.
        exact_up_to: with more items than that, neighbours are searched approximately by faiss
            (`pip install 'benchwright[scale]'`), and the share that was found is reported.
        bandwidth: width of the density's kernel in standard deviations of the distances.
        grid: points at which the density is evaluated.
        threshold: `first_peak` of the density, or a fixed cosine distance.
        halve_single_peak: with one peak only, take half of its distance (released code; the paper
            does not say so).
        clusters: `stars`, an item and its close neighbours, in order of id, each item once; or
            connected `components`, which can be long chains.
        string_similarity_exempt: pairs of questions more alike than this (0–1, rapidfuzz ratio) are
            variants by a symbol, not paraphrases: they are left out of the stars, and an item's
            nearest neighbours are skipped in the density as long as they are such. None: neither.
        remove: share of each cluster that goes, rounded down.
        sensitivity_bandwidths: bandwidths for the table that shows how the threshold would move.
        convergence_k: numbers of neighbours for the table that shows where the threshold settles.
    """

    enabled: bool = True
    k: int = Field(default=100, ge=1)
    exact_up_to: int = Field(default=50_000, ge=0)
    bandwidth: float = Field(default=0.15, gt=0)
    grid: int = Field(default=1000, ge=10)
    threshold: Literal["first_peak"] | Annotated[float, Field(gt=0, le=2)] = "first_peak"
    halve_single_peak: bool = True
    clusters: Literal["stars", "components"] = "stars"
    string_similarity_exempt: Share | None = 0.8
    remove: float = Field(default=0.5, ge=0, lt=1)
    sensitivity_bandwidths: tuple[Annotated[float, Field(gt=0)], ...] = (
        0.05,
        0.10,
        0.15,
        0.20,
        0.25,
        0.30,
    )
    convergence_k: tuple[Annotated[int, Field(ge=1)], ...] = (5, 10, 25, 50, 100, 200)

    @field_validator("sensitivity_bandwidths", "convergence_k")
    @classmethod
    def _rising(cls, value: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        if list(value) != sorted(set(value)):
            raise ValueError(f"{info.field_name} must rise, each once")
        return value


class AblationParams(Section):
    """What fewer filter models would have removed (SMART, section 5.1 and Table 6).

    Attributes:
        fewer: how many of the filter models are left out at most; 3 of 7 gives sizes 4, 5 and 6.
        subsets: random subsets of each size; all of them where there are no more.
    """

    enabled: bool = True
    fewer: int = Field(default=3, ge=1)
    subsets: int = Field(default=10, ge=1)


class FilteringParams(Section):
    """All filters of SMART and how they are put together.

    Attributes:
        independent: True judges every rule on all items and keeps what none removes (paper and
            released code; a group of copies may then lose all its members). False lets the group
            rules decide last, among what the other rules leave.
    """

    anomalous: AnomalousParams = AnomalousParams()
    easy: EasyParams = EasyParams()
    answer_only: AnswerOnlyParams = AnswerOnlyParams()
    suspect_label: SuspectLabelParams = SuspectLabelParams()
    duplicates: DuplicatesParams = DuplicatesParams()
    similar: SimilarParams = SimilarParams()
    ablation: AblationParams = AblationParams()
    independent: bool = False
