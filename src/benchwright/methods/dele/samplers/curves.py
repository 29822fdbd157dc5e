"""What samplers keep of ranks and scores, at many rates and repeats (DELE, section 4)."""

import sys
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.statistics.preservation import Judges, Preservation, preservation_by_panel

FIGURES = Preservation._fields

_BLOCK_BYTES = 1 << 25  # of the weights of draws that are judged together


def sizes_of_rates(rates: Sequence[float], n: int) -> NDArray[np.intp]:
    """Items at each rate (percent of n, 0–100]): rounded half up, at least 1, at most n."""
    sizes = np.floor(np.asarray(rates, dtype=np.float64) / 100 * n + 0.5).astype(np.intp)
    return np.clip(sizes, min(1, n), n)


def repeat_seed(seed: int, sampler: str, repeat: int) -> int:
    """The seed of one repeat of one sampler; no two share their chance."""
    return int(stage_generator(seed, f"sampling/{sampler}/{repeat}").integers(1 << 62))


def sampler_figures(
    pool: SamplingPool,
    samplers: Mapping[str, Sampler],
    judges: Judges,
    rates: Sequence[float],
    repeats: int | Mapping[str, int],
    seed: int,
    *,
    tau: bool = True,
) -> pd.DataFrame:
    """Every sampler at every rate, again and again, judged by every panel.

    Args:
        pool: the items, and the answers of the models that may choose some.
        samplers: by name.
        judges: panels of models with their answers in the order of the pool's items, and what the
            benchmark's own score is.
        rates: percent of the items.
        repeats: draws of each sampler, or by name; those that leave only ties to chance repeat too.
        seed: of all draws.
        tau: also compute tau-b.

    Returns:
        Columns sampler, panel, rate, size, repeat, and the fields of `Preservation`, sorted by the
        first three and repeat.
    """
    from tqdm import tqdm

    sizes = sizes_of_rates(rates, len(pool))
    # Repeats whose weights fit into a block are judged together.
    step = max(1, _BLOCK_BYTES // (8 * max(len(sizes) * len(pool), 1)))
    keys: list[tuple[str, str, int, int]] = []
    parts: list[Preservation] = []
    times = {name: repeats if isinstance(repeats, int) else repeats[name] for name in samplers}
    with tqdm(
        total=sum(times.values()), desc="samplers", unit="draw", file=sys.stderr, mininterval=1
    ) as bar:
        for name in sorted(samplers):
            for start in range(0, times[name], step):
                some = range(start, min(start + step, times[name]))
                seeds = [repeat_seed(seed, name, repeat) for repeat in some]
                draws = (samplers[name](pool, own) for own in seeds)
                weights, plain = _weights_of(draws, len(some), sizes.tolist(), len(pool))
                found = preservation_by_panel(judges, weights, tau=tau, sizes=plain)
                keys += [(name, panel, some.start, len(some)) for panel in found]
                parts += found.values()
                bar.update(len(some))
    return _table(keys, parts, np.asarray(rates, dtype=np.float64), sizes)


def _weights_of(
    draws: Iterable[Draw], count: int, sizes: Sequence[int], n: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Weights (count × r, n) of the draws' subsets of r sizes, and as `preservation_by_panel`
    wants it the number of items of those whose items count alike.
    """
    weights = np.zeros((count * len(sizes), n))
    plain = np.empty(len(weights), dtype=np.intp)
    subsets = (draw(int(size)) for draw in draws for size in sizes)
    for row, subset in enumerate(subsets):
        weights[row, subset.positions] = subset.weights
        alike = bool((subset.weights == subset.weights[0]).all())
        plain[row] = len(subset.weights) if alike else 0
    return weights, plain


def _table(
    keys: Sequence[tuple[str, str, int, int]],
    parts: Sequence[Preservation],
    rates: NDArray[np.float64],
    sizes: NDArray[np.intp],
) -> pd.DataFrame:
    """The figures as one table: `keys` are sampler, panel, first repeat and number of repeats."""
    columns = ["sampler", "panel", "rate", "size", "repeat", *FIGURES]
    if not parts:
        return pd.DataFrame(columns=columns)
    samplers, panels, _, counts = (list(column) for column in zip(*keys, strict=True))
    rows = np.array(counts) * len(rates)
    repeats = [np.arange(first, first + some) for _, _, first, some in keys]
    draws = sum(counts)
    figures = {name: np.concatenate([getattr(part, name) for part in parts]) for name in FIGURES}
    table = pd.DataFrame(
        {
            "sampler": np.repeat(np.array(samplers, dtype=object), rows),
            "panel": np.repeat(np.array(panels, dtype=object), rows),
            "rate": np.tile(rates, draws),
            "size": np.tile(sizes, draws),
            "repeat": np.repeat(np.concatenate(repeats), len(rates)),
            **figures,
        }
    )
    return table.sort_values(["sampler", "panel", "rate", "repeat"], ignore_index=True)
