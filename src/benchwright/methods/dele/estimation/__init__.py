"""A model's score on the whole benchmark from its answers to some items (docs/estimation.md)."""

from benchwright.methods.dele.estimation.fitted import (
    Estimates,
    Estimator,
    EstimatorKind,
    FittedEstimator,
)
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import PreparedTraining, Training, prepare

__all__ = [
    "ESTIMATORS",
    "Estimates",
    "Estimator",
    "EstimatorKind",
    "FittedEstimator",
    "PreparedTraining",
    "Training",
    "prepare",
]
