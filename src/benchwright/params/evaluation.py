"""Settings of the evaluation stage, and human ratings."""

from pydantic import Field

from benchwright.params.section import Section


class EvaluationParams(Section):
    """The `evaluation` section of a variant."""

    min_coverage: float = Field(default=0.95, gt=0, le=1)  # of the items, by a model of the panel
    random_subsets: int = Field(default=1_000, ge=0)  # of each kind; 0 skips the comparison
    bootstrap_samples: int = Field(default=1_000, ge=0)  # 0 gives no intervals


class RatingsParams(Section):
    """Human preference ratings."""

    source: str = ""  # of `history`, in words
    date: str | None = None  # of the ratings that count (YYYY-MM-DD); None: the latest
    file: str | None = None  # CSV file, instead of data/01_raw/ratings.csv
    aliases: dict[str, str] = Field(default_factory=dict)  # model: its name in the ratings, or ""
    history: dict[str, dict[str, float]] = Field(default_factory=dict)  # date: name: rating
