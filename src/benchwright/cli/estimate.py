"""`benchwright estimate`: scores of new models from their responses to an exported subset."""

from typing import Any

from benchwright.core.text_table import table_lines
from benchwright.core.wording import count
from benchwright.methods.dele.estimation.subset_scores import Estimated


def terminal_lines(estimated: Estimated) -> list[str]:
    """Return the lines to print, one per model."""
    subset = estimated.subset
    source = f" ({estimated.source})" if estimated.source else ""
    lines = [
        f"{subset.benchmark}: {len(subset.items):,} of {subset.of_items:,} items, sampler "
        f"{subset.sampler}, seed {subset.seed}; estimator {estimated.estimator}, "
        f"{count(estimated.training, 'training model')}{source}",
        *(f"note: {note}" for note in estimated.notes),
    ]
    rows = []
    for model in estimated.models:
        values = (model.on_subset, model.score, model.low, model.high)
        mean, score, low, high = (None if value is None else f"{value:.3f}" for value in values)
        row = {"model": model.model, "answered": f"{model.answered:,}", "on subset": mean}
        interval = f"[{low or '–'}, {high or '–'}]"
        row |= {f"all {estimated.of_items:,}": score, f"{estimated.level:.0%} interval": interval}
        rows.append(row | {"": model.reason})
    return [*lines, *table_lines(rows)]


def estimates_json(estimated: Estimated) -> dict[str, Any]:
    """Return the estimates as JSON."""
    subset: dict[str, Any] = estimated.subset.model_dump(mode="json", exclude={"items"})
    return {
        "format": 1,
        "subset": {**subset, "n_items": len(estimated.subset.items)},
        **{name: getattr(estimated, name) for name in ("estimator", "level", "of_items")},
        "training": {"models": estimated.training, "source": estimated.source},
        "notes": list(estimated.notes),
        "models": [model._asdict() for model in estimated.models],
    }
