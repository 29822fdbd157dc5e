"""How the score of a new model is estimated from few answers (`estimation:` in conf)."""

from typing import Literal

from pydantic import Field

from benchwright.params.section import Section


class EstimationParams(Section):
    """The `estimation` section (docs/explanation/estimation.md).

    Attributes:
        level: coverage that intervals aim at, in (0, 1).
        folds: parts of the training models; each part is estimated from the others, and the errors
            made there give the intervals of p_irt, gp_irt, ridge and of weighted subsets.
        neighbours: an interval rests on the errors of this many training models with the most
            similar estimates; of all of them where there are fewer.
        forward_share: the best part of the training models, estimated from the others; its errors
            stand for those of new models that are better than all training models.
        penalty: of the ridge regression of aipw, per training model.
        interval: of p_irt, from errors on training models, or the model's own, which is too narrow
            on real answers.
    """

    level: float = Field(default=0.95, gt=0, lt=1)
    folds: int = Field(default=5, ge=2)
    neighbours: int = Field(default=200, ge=20)
    forward_share: float = Field(default=0.3, gt=0, lt=1)
    penalty: float = Field(default=0.01, gt=0)
    interval: Literal["calibrated", "model"] = "calibrated"
