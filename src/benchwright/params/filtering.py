"""Settings of the SMART filters (`filtering:` in conf/) and of filter models."""

from typing import Annotated, Literal

from pydantic import Field

from benchwright.params.section import Section


class FilterModelChoice(Section):
    """A rule that chooses the `filter_models` of a benchmark; the default without any."""

    # `forward` takes the strongest of the weaker half, so that stronger models evaluate the result;
    # `strongest` the models of highest accuracy, as SMART does (section 5.1)
    choose: Literal["strongest", "forward"] = "forward"
    # None takes at most seven, and `forward` at least the three weakest; a number must be reached
    count: Annotated[int, Field(ge=1)] | None = None
    # one configuration of each; models of unknown family, which may be related, come last
    distinct: Literal["none", "family", "organisation"] = "family"
    answered_by: float = Field(default=0.5, ge=0, le=1)  # share of models that an item needs
    min_coverage: float = Field(default=0.95, gt=0, le=1)  # share of these items, of a model


Share = Annotated[float, Field(ge=0, le=1)]
Confidence = Annotated[float, Field(ge=0, lt=1)]


class EasyParams(Section):
    """Items that every filter model answers correctly with confidence (SMART, section 3.2)."""

    enabled: bool = True
    confidence: Confidence | None = 0.8  # None checks only correctness: `easy_unanimous`
    retain: Share = 0.10  # share of the easy items to keep, so that regressions show
    # exactly this share, over the subjects by largest remainder, or each with this probability
    retention: Literal["quota", "bernoulli"] = "quota"


class AnswerOnlyParams(Section):
    """Items that every filter model solves from the options alone (SMART, section 3.3).

    `confidence` is the probability of the right option that every model must exceed.
    """

    enabled: bool = True
    confidence: Confidence = 0.8


class SuspectLabelParams(Section):
    """Items that every filter model gets wrong with confidence; reported only (SMART, A.2).

    `confidence` is the probability of the chosen option that every model must exceed.
    """

    enabled: bool = True
    confidence: Confidence = 0.8


class DuplicatesParams(Section):
    """Copies of an item (SMART, section 3.1 and A.3)."""

    enabled: bool = True
    # what must be equal, but for case; `question` as in the paper's code
    key: Literal["question_choices_answer", "question"] = "question_choices_answer"


class OptionSupersetParams(Section):
    """Items with the same question and answer, one with the other's options and more."""

    enabled: bool = True


class SimilarParams(Section):
    """Items close in embedding space (SMART, section 3.4 and A.1)."""

    enabled: bool = True
    # leave anomalous subjects and copies out of all distances, as in the paper (section 3.1)
    prefiltered: bool = False
    k: int = Field(default=100, ge=1)  # nearest neighbours of each item
    # width of the density's kernel in standard deviations of the distances
    bandwidth: float = Field(default=0.15, gt=0)
    # `first_peak` of the density, or a fixed cosine distance
    threshold: Literal["first_peak"] | Annotated[float, Field(gt=0, le=2)] = "first_peak"
    # an upper bound for `first_peak`; the paper has none
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = 0.2
    # with a single peak, use half of its distance (only in the paper's code)
    halve_single_peak: bool = True
    # an item with its close neighbours (cliques: all close to each other), or chains of close items
    clusters: Literal["cliques", "stars", "components"] = "cliques"
    # questions more alike as strings (rapidfuzz ratio) differ by a symbol and are no paraphrases
    string_similarity_exempt: Share | None = 0.8
    remove: float = Field(default=0.5, ge=0, lt=1)  # share of each cluster to remove, rounded down


class FilteringParams(Section):
    """All filters of SMART."""

    easy: EasyParams = EasyParams()
    answer_only: AnswerOnlyParams = AnswerOnlyParams()
    suspect_label: SuspectLabelParams = SuspectLabelParams()
    duplicates: DuplicatesParams = DuplicatesParams()
    option_superset: OptionSupersetParams = OptionSupersetParams()
    similar: SimilarParams = SimilarParams()
    # every rule on all items, as in the paper: a group of copies may lose all its members. Else the
    # group rules come last, on what the others keep.
    independent: bool = False
