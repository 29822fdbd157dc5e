"""Settings of the evaluation stage, and human ratings."""

from pydantic import Field

from benchwright.params.section import Section


class EvaluationParams(Section):
    """The `evaluation` section of a variant."""

    # minimum share of items that a model of the panel answered
    min_coverage: float = Field(default=0.95, gt=0, le=1)
    # random subsets per kind (plain, stratified by subject) in the comparison with random subsets;
    # 0 skips the comparison
    random_subsets: int = Field(default=1_000, ge=0)
    # resamples behind each interval; 0 gives no intervals
    bootstrap_samples: int = Field(default=1_000, ge=0)


class RatingsParams(Section):
    """Human preference ratings."""

    source: str = ""  # of `history`, in words
    date: str | None = None  # of the ratings that count (YYYY-MM-DD); None: the latest
    file: str | None = None  # CSV file, instead of data/01_raw/ratings.csv
    # name of a model in the responses: its name in the ratings; "" if it has no rating
    aliases: dict[str, str] = Field(default_factory=dict)
    # without a file: date, name in the ratings, rating
    history: dict[str, dict[str, float]] = Field(default_factory=dict)
