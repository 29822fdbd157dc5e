"""Names of panels and metrics, as the sampling report shows them."""

PANELS = {
    "held_out": "held-out models",
    "forward": "stronger models, items chosen by weaker ones",
    "all": "models, in-sample",
    "selection": "models that chose the items, in-sample",
}
"""Panels of models, as part of a phrase after a number."""

METRICS = {
    "tau_b": "Kendall tau-b",
    "spearman": "Spearman",
    "pearson": "Pearson of scores",
    "wasserstein": "Wasserstein distance",
    "mean_absolute_error": "mean absolute error",
    "error_sd": "spread of score errors over models",
    "rate_variance": "variance of Spearman over rates",
    "bias": "bias",
}
