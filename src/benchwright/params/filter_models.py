"""How filter models are chosen by their answers, where a benchmark does not name them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FilterModelChoice(BaseModel):
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

    model_config = ConfigDict(extra="forbid", frozen=True)

    choose: Literal["strongest", "forward"]
    count: int = Field(default=7, ge=1)
    distinct: Literal["none", "family", "organisation"] = "organisation"
    answered_by: float = Field(default=0.5, ge=0, le=1)
    min_coverage: float = Field(default=0.95, gt=0, le=1)
