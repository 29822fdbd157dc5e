"""What samplers keep of ranks and scores, at many rates and repeats (DELE, section 4)."""

import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.sampling.pool import Draw, Sampler, SamplingPool
from benchwright.seeding import stage_generator
from benchwright.statistics.preservation import Preservation, preservation

FIGURES = Preservation._fields


def sizes_of_rates(rates: Sequence[float], n: int) -> NDArray[np.intp]:
    """Items at each rate (percent of n, 0–100]): rounded half up, at least 1, at most n."""
    sizes = np.floor(np.asarray(rates, dtype=np.float64) / 100 * n + 0.5).astype(np.intp)
    return np.clip(sizes, min(1, n), n)


def repeat_seed(seed: int, sampler: str, repeat: int) -> int:
    """The seed of one repeat of one sampler; no two share their chance."""
    return int(stage_generator(seed, f"sampling/{sampler}/{repeat}").integers(1 << 62))


def subset_weights(draw: Draw, sizes: Sequence[int], n: int) -> NDArray[np.float64]:
    """Weights (r, n) of the n items in the subsets of r sizes; each row sums to 1."""
    out = np.zeros((len(sizes), n))
    for row, size in enumerate(sizes):
        subset = draw(int(size))
        out[row, subset.positions] = subset.weights
    return out


def sampler_figures(
    pool: SamplingPool,
    samplers: Mapping[str, Sampler],
    panels: Mapping[str, NDArray[np.float32]],
    rates: Sequence[float],
    repeats: int | Mapping[str, int],
    seed: int,
    *,
    tau: bool = True,
    whole: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Every sampler at every rate, again and again, judged by every panel.

    Args:
        pool: the items, and the answers of the models that may choose some.
        samplers: by name.
        panels: by name, answers (m, n) of judging models in the order of the pool's items.
        rates: percent of the items.
        repeats: draws of each sampler, or by name; those that leave only ties to chance repeat too.
        seed: of all draws.
        tau: also compute tau-b.
        whole: (n,) weights of the items in the benchmark's own score; all equal where None.

    Returns:
        Columns sampler, panel, rate, size, repeat, and the fields of `Preservation`, sorted by the
        first three and repeat.
    """
    from tqdm import tqdm

    n = len(pool)
    sizes = sizes_of_rates(rates, n)
    parts: list[pd.DataFrame] = []
    times = {name: repeats if isinstance(repeats, int) else repeats[name] for name in samplers}
    with tqdm(
        total=sum(times.values()), desc="samplers", unit="draw", file=sys.stderr, mininterval=1
    ) as bar:
        for name in sorted(samplers):
            for repeat in range(times[name]):
                draw = samplers[name](pool, repeat_seed(seed, name, repeat))
                weights = subset_weights(draw, sizes.tolist(), n)
                for panel, correct in panels.items():
                    found = preservation(correct, weights, tau=tau, whole=whole)
                    parts.append(
                        pd.DataFrame(
                            {
                                "sampler": name,
                                "panel": panel,
                                "rate": np.asarray(rates, dtype=np.float64),
                                "size": sizes,
                                "repeat": repeat,
                                **found._asdict(),
                            }
                        )
                    )
                bar.update()
    if not parts:
        return pd.DataFrame(columns=["sampler", "panel", "rate", "size", "repeat", *FIGURES])
    order = ["sampler", "panel", "rate", "repeat"]
    return pd.concat(parts, ignore_index=True).sort_values(order, ignore_index=True)
