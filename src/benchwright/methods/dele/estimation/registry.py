"""Registry of the estimators."""

from collections.abc import Mapping

from benchwright.methods.dele.estimation.aipw import learn_aipw
from benchwright.methods.dele.estimation.fitted import EstimatorKind
from benchwright.methods.dele.estimation.p_irt import learn_gp_irt, learn_p_irt
from benchwright.methods.dele.estimation.ridge import learn_ridge
from benchwright.methods.dele.estimation.weighted import learn_mean, learn_weighted

# The intervals of `mean`, `weighted` and `aipw` are design-based and require a random subset. Those
# of the others, and of all with unequal weights, come from errors on training models.
ESTIMATORS: Mapping[str, EstimatorKind] = {
    "mean": EstimatorKind(learn_mean, "nothing"),
    "weighted": EstimatorKind(learn_weighted, "nothing"),
    "p_irt": EstimatorKind(learn_p_irt, "item_response"),
    "gp_irt": EstimatorKind(learn_gp_irt, "item_response"),
    "aipw": EstimatorKind(learn_aipw, "responses"),
    "ridge": EstimatorKind(learn_ridge, "responses"),
}
