"""The estimators by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from benchwright.methods.dele.estimation.aipw import learn_aipw
from benchwright.methods.dele.estimation.fitted import (
    Estimator,
    EstimatorKind,
    Learn,
    SubsetEstimator,
)
from benchwright.methods.dele.estimation.p_irt import learn_gp_irt, learn_p_irt
from benchwright.methods.dele.estimation.ridge import learn_ridge
from benchwright.methods.dele.estimation.weighted import learn_mean, learn_weighted
from benchwright.params.estimation import EstimationParams


def _kind(
    learn: Learn,
    uses: Literal["nothing", "item_response", "answers"],
    interval: Literal["design", "training"],
) -> EstimatorKind:
    def make(params: EstimationParams) -> Estimator:
        return SubsetEstimator(learn, params)

    make_estimator: Callable[[EstimationParams], Estimator] = make
    return EstimatorKind(make_estimator, uses, interval)


# With unequal weights the intervals of `weighted` and `aipw` rest on training models too.
ESTIMATORS: Mapping[str, EstimatorKind] = MappingProxyType(
    {
        "mean": _kind(learn_mean, "nothing", "design"),
        "weighted": _kind(learn_weighted, "nothing", "design"),
        "p_irt": _kind(learn_p_irt, "item_response", "training"),
        "gp_irt": _kind(learn_gp_irt, "item_response", "training"),
        "aipw": _kind(learn_aipw, "answers", "design"),
        "ridge": _kind(learn_ridge, "answers", "training"),
    }
)
