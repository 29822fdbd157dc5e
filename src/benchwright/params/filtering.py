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
    # take at most one configuration of each `family`, `organisation` (SMART) or model (`none`).
    # Models of unknown family come after those of the families, since they may be related.
    distinct: Literal["none", "family", "organisation"] = "family"
    # consider items that at least this share of all models answered
    answered_by: float = Field(default=0.5, ge=0, le=1)
    # consider models that answered at least this share of those items
    min_coverage: float = Field(default=0.95, gt=0, le=1)


Share = Annotated[float, Field(ge=0, le=1)]
Confidence = Annotated[float, Field(ge=0, lt=1)]


class EasyParams(Section):
    """Items that every filter model answers correctly with confidence (SMART, section 3.2)."""

    enabled: bool = True
    # probability of the right option that every model must exceed. None checks only correctness,
    # for files without probabilities; the rule is then `easy_unanimous`.
    confidence: Confidence | None = 0.8
    # share of the easy items to keep, so that regressions of later models show
    retain: Share = 0.10
    # `quota` keeps exactly round(retain × easy items), spread over the subjects by largest
    # remainder; `bernoulli` keeps each with that probability
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
    # fields that must be equal. `question_choices_answer`: question, set of choices and answer
    # text, but for case and white space. `question`: the question alone, but for case, as in the
    # paper's code, which also treats all "Which of these is true?" as one question.
    key: Literal["question_choices_answer", "question"] = "question_choices_answer"


class OptionSupersetParams(Section):
    """Items with the same question and answer, one with the other's options and more."""

    enabled: bool = True


class SimilarParams(Section):
    """Items close in embedding space (SMART, section 3.4 and A.1)."""

    enabled: bool = True
    # True leaves items of anomalous subjects and redundant copies out of all distances, as in the
    # paper, which removes them before its other filters (section 3.1)
    prefiltered: bool = False
    k: int = Field(default=100, ge=1)  # nearest neighbours of each item
    # width of the density's kernel in standard deviations of the distances
    bandwidth: float = Field(default=0.15, gt=0)
    # `first_peak` of the density, or a fixed cosine distance
    threshold: Literal["first_peak"] | Annotated[float, Field(gt=0, le=2)] = "first_peak"
    # with `first_peak`, pairs farther apart are not similar, whatever the density says. None, as in
    # the paper, has no such bound.
    max_distance: Annotated[float, Field(gt=0, le=2)] | None = 0.2
    # with a single peak, use half of its distance (only in the paper's code)
    halve_single_peak: bool = True
    # `stars`, an item with its close neighbours, assigned in order of id; or connected
    # `components`, which can be long chains
    clusters: Literal["stars", "components"] = "stars"
    # pairs of questions with a higher string similarity (0–1, rapidfuzz ratio) differ by a symbol
    # and are no paraphrases: stars and the density of distances exclude them. None includes them.
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
    # True applies every rule to all items and keeps those that no rule removes, as in the paper; a
    # group of copies may then lose all its members. False applies the group rules last, to the
    # items that the other rules keep.
    independent: bool = False
