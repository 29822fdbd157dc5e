"""How far apart items are that ask the same, and the threshold δ on small benchmarks.

    python benchmarks/similar_bound.py <folder of real data> --vectors <folder>

`similar_pairs.csv` has pairs that a language model read without their distances (robustness.md):
`same` (who knows one answer knows the other), `topic` (the same topic, another question) or
`other`. The second part draws small benchmarks from a large one and groups similar items, with and
without `max_distance`. Vectors are read from `<vectors>/<benchmark>.parquet`, made there if absent.
"""

import argparse
import logging
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchwright.methods.smart.similar import (
    estimate_threshold,
    find_neighbours,
    group_similar_items,
)
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity.vectors import encode_items
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.similarity import Embeddings
from real_data import real_data

SPLITS = {"arc": "test", "commonsense_qa": "val", "mmlu": "test"}
PAIRS = Path(__file__).with_name("similar_pairs.csv")
MODELS = Path(__file__).parents[1] / "conf/base/parameters/models.yml"
Groups = tuple[tuple[str, ...], ...]
EDGES = np.array([0, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.60])
LARGEST = 0.2


def load_items(root: Path, benchmark: str) -> pd.DataFrame:
    """Return the evaluation items of a benchmark."""
    items = pd.read_parquet(root / f"benchmarks/{benchmark}.parquet")
    return items[items["split"] == SPLITS[benchmark]].reset_index(drop=True)


def load_vectors(items: pd.DataFrame, file: Path, encoder: str) -> pd.DataFrame:
    """Return the vectors of the items from the file, which is written if it is absent."""
    if not file.exists():
        models = ModelsParams.model_validate(yaml.safe_load(MODELS.read_text())["models"])
        made = encode_items(items, Embeddings.empty(), encoder, EmbeddingParams(), models)
        file.parent.mkdir(parents=True, exist_ok=True)
        made.to_parquet(file)
    vectors = pd.read_parquet(file)
    return vectors[vectors["item_id"].isin(items["item_id"])]


def distances(pairs: pd.DataFrame, vectors: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of which both items have a vector, with their cosine distance."""
    vector_of = dict(zip(vectors["item_id"], vectors["vector"], strict=True))
    known = pairs[pairs["a"].isin(vector_of) & pairs["b"].isin(vector_of)]
    both = zip(known["a"], known["b"], strict=True)
    apart = [1 - float(vector_of[a] @ vector_of[b]) for a, b in both]
    return known.assign(distance=apart)


def print_rates(pairs: pd.DataFrame) -> None:
    """Print how many of the pairs at each distance ask the same, with 95% intervals."""
    for low, high in pairwise(EDGES):
        read = pairs.loc[pairs["distance"].between(low, high, inclusive="left"), "read_as"]
        if len(read):
            same, topic = ((read == word).sum() for word in ("same", "topic"))
            a, b, _ = wilson_interval(int(same), len(read))
            print(
                f"{low:.2f}-{high:.2f} {len(read):4} pairs  "
                f"same {same / len(read):.2f} [{a:.2f}, {b:.2f}]  topic {topic / len(read):.2f}"
            )


def print_crossing(pairs: pd.DataFrame, draws: int, seed: int = 0) -> None:
    """Print the distance at which half of the pairs ask the same, and its 95% interval.

    A logistic curve over the distance; the interval is from a bootstrap over pairs.
    """
    from sklearn.linear_model import LogisticRegression

    x, y = pairs[["distance"]].to_numpy(), (pairs["read_as"] == "same").to_numpy()
    generator = np.random.default_rng(seed)
    found = []
    for draw in range(draws + 1):
        rows = generator.integers(len(x), size=len(x)) if draw else np.arange(len(x))
        if y[rows].all() or not y[rows].any():
            continue
        curve = LogisticRegression(C=1e6).fit(x[rows], y[rows])
        found.append(-curve.intercept_[0] / curve.coef_[0, 0])
    low, high = np.quantile(found[1:], [0.025, 0.975])
    if found[0] > 0:
        print(f"half of the pairs ask the same at {found[0]:.3f} [{low:.3f}, {high:.3f}]")
    else:
        print("at no distance do half of the pairs ask the same")


def small_benchmarks(
    items: pd.DataFrame, vectors: pd.DataFrame, pairs: pd.DataFrame, n: int, seeds: int
) -> str:
    """Return δ, share removed and share that ask the same, of `seeds` draws of n items."""
    of_item = vectors.set_index("item_id")
    rows = []
    for seed in range(seeds):
        drawn = items.sample(min(n, len(items)), random_state=seed).sort_values("item_id")
        near = of_item.loc[drawn["item_id"]].reset_index()
        row = []
        for largest in (None, LARGEST):
            params = FilteringParams(
                similar=SimilarParams(max_distance=largest, sensitivity_bandwidths=(0.15,))
            )
            neighbours = find_neighbours(drawn, near, params, 0)[0]
            _, threshold, _ = estimate_threshold(drawn, neighbours, params)
            groups = group_similar_items(drawn, neighbours, threshold, params).groups
            same = estimate_same(nearest_in_group(groups, near), pairs)
            removed = sum(len(group) // 2 for group in groups) / len(drawn)
            row += [threshold["threshold"] or np.nan, removed, same.sum(), len(same)]
        rows.append(row)
    table = np.array(rows, dtype=float)
    deltas = table[np.isfinite(table[:, 0]), 0]
    low, middle, high = np.quantile(deltas, [0.1, 0.5, 0.9]) if len(deltas) else [np.nan] * 3
    text = f"n {n:5}  δ {middle:.3f} [{low:.3f}, {high:.3f}]"
    for name, first in (("paper", 0), (f"at most {LARGEST:g}", 4)):
        same, links = table[:, first + 2].sum(), table[:, first + 3].sum()
        text += f"  {name}: removed {table[:, first + 1].mean():.1%}, same " + (
            f"{same / links:.0%}" if links else "-"
        )
    return text


def nearest_in_group(groups: Groups, vectors: pd.DataFrame) -> np.ndarray:
    """Return the distance of each grouped item to the nearest other item of its group."""
    of_item, nearest = vectors.set_index("item_id")["vector"], [np.empty(0)]
    for group in groups:
        members = np.stack(of_item.loc[list(group)].tolist())
        apart = 1 - members @ members.T
        np.fill_diagonal(apart, np.inf)
        nearest.append(apart.min(axis=1))
    return np.concatenate(nearest)


def estimate_same(apart: np.ndarray, pairs: pd.DataFrame) -> np.ndarray:
    """Return for each distance the share of the pairs read at such a distance that ask the same."""
    place = np.clip(np.searchsorted(EDGES, pairs["distance"], "right"), 1, len(EDGES) - 1)
    share = (pairs["read_as"] == "same").groupby(place).mean()
    share = share.reindex(range(1, len(EDGES))).interpolate(limit_direction="both")
    at = np.clip(np.searchsorted(EDGES, apart, "right"), 1, len(EDGES) - 1)
    estimate: np.ndarray = share.to_numpy()[at - 1] * (apart < EDGES[-1])
    return estimate


def main() -> None:
    """Print the rates of each benchmark, the bound, and the small benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of benchmarks/")
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--encoder", default="all-minilm-l6-v2")
    parser.add_argument("--benchmarks", nargs="+", default=list(SPLITS))
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 50, 100, 200, 500, 1000])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--draws", type=int, default=200)
    given = parser.parse_args()
    root, every = real_data(given.root), []
    for benchmark in given.benchmarks:
        items = load_items(root, benchmark)
        vectors = load_vectors(items, given.vectors / f"{benchmark}.parquet", given.encoder)
        pairs = distances(pd.read_csv(given.pairs), vectors)
        every.append(pairs)
        print(f"\n{benchmark}: {len(items):,} items, {len(pairs)} pairs read")
        print_rates(pairs)
        print_crossing(pairs, given.draws)
        for n in given.sizes:
            print(small_benchmarks(items, vectors, pairs, n, given.seeds))
    together = pd.concat(every)
    print("\nall")
    print_rates(together)
    print_crossing(together, given.draws)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main()
