"""When written options count as remembered (`memorisation:` in conf)."""

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MemorisationParams(_Section):
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
