"""A model's score on the whole benchmark from its answers to some items."""

from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import PreparedTraining, Training

__all__ = ["ESTIMATORS", "Estimates", "PreparedTraining", "Training"]
