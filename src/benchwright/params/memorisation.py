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
    """

    fuzzy: float = Field(default=90.0, gt=0, le=100)
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
