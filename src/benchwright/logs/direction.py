"""Metrics that are lower, or higher, for better answers."""

from collections.abc import Mapping

LOWER_IS_BETTER = frozenset(
    {
        "ter", "wer", "cer", "mer", "wil", "perplexity", "word_perplexity", "byte_perplexity",
        "bits_per_byte", "loss", "nll", "brier", "brier_score", "mae", "mse", "rmse", "latency",
        "edit_distance", "levenshtein", "error", "error_rate", "ece", "toxicity",
    }
)  # fmt: skip
"""Names of metrics that are lower for better answers, whatever a log says or leaves out."""
HIGHER_IS_BETTER = frozenset(
    {
        "acc", "acc_norm", "accuracy", "exact_match", "quasi_exact_match", "em", "qem", "f1",
        "choice", "match", "includes", "exact", "answer", "pattern", "score",
    }
)  # fmt: skip
"""Names of metrics and scorers that are higher for better answers, where a log does not say."""


def is_lower_better(metric: str, stated: Mapping[str, bool]) -> bool:
    """Return whether a metric is lower for better answers, as a log states or its name says."""
    if metric in stated:
        return not stated[metric]
    name = metric.casefold().replace("-", "_")
    return name in LOWER_IS_BETTER or name.endswith(("_error", "_error_rate", "_loss"))
