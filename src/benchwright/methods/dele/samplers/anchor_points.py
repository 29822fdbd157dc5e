"""Items that stand for others with like answers (Vivek et al. 2024; Polo et al. 2024)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.samplers.anchor_clusters import AnchorClusters
from benchwright.methods.dele.samplers.answers import (
    filled_answers,
    required_answers,
    two_parameter_fit,
)
from benchwright.methods.dele.samplers.once_per_pool import OncePerPool
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.methods.dele.samplers.ranking import require_size
from benchwright.params.anchors import AnchorParams

Float = NDArray[np.float64]

# Beyond it no ability is told apart: the grid of abilities ends there.
_DIFFICULTY_REACH = 6.0
_EIGEN_MODELS = 1000  # with more models components come from random projections


def anchor_points_sampler(params: AnchorParams) -> Sampler:
    """Clusters of items whose right answers come from the same models; each gives one item.

    An item is the vector of its answers by the selection models, as principal components; a
    missing answer is put at the item's mean. The score is the mean weighted by shares of clusters.
    """
    return _sampler(
        "anchor_points", lambda correct, _: answer_components(correct, params.components), params
    )


def irt_clusters_sampler(params: AnchorParams) -> Sampler:
    """Clusters of items of like discrimination a and difficulty b; each gives one item.

    As the IRT anchors of tinyBenchmarks, with one ability. The two are not scaled: b is in
    standard deviations of ability, cut at ±6, and a per such a deviation.
    """
    return _sampler("irt_clusters", _item_parameters, params)


def answer_components(correct: NDArray[np.float32], components: int) -> Float:
    """(n, c) the leading principal components of n items' answers, c ≤ `components`.

    With no more models than components, the answers themselves: the distances are the same.
    """
    answers = np.ascontiguousarray(filled_answers(correct).T)
    n, m = answers.shape
    if m <= components or n <= components:
        return answers
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    solver = "covariance_eigh" if m <= _EIGEN_MODELS else "randomized"
    with threadpool_limits(limits=1):
        return np.asarray(
            PCA(components, svd_solver=solver, random_state=0).fit_transform(answers),
            dtype=np.float64,
        )


def _item_parameters(_: NDArray[np.float32], pool: SamplingPool) -> Float:
    """(n, 2) a and b; an item without answers has the medians.

    Raises:
        InputError: nothing can be fitted to the answers.
    """
    fit = two_parameter_fit(pool)
    known = ~np.isnan(fit.discrimination)
    if not known.any():
        raise InputError(f"sampler irt_clusters fits a two-parameter model: {fit.reason}")
    b = np.clip(fit.difficulty, -_DIFFICULTY_REACH, _DIFFICULTY_REACH)
    columns = np.stack([fit.discrimination, b], axis=1)
    return np.where(known[:, None], columns, np.median(columns[known], axis=0))


def _sampler(
    name: str,
    points_of: Callable[[NDArray[np.float32], SamplingPool], Float],
    params: AnchorParams,
) -> Sampler:
    """The sampler of anchors among points that are made of a pool in order of item id."""

    def fit(pool: SamplingPool) -> tuple[NDArray[np.intp], AnchorClusters]:
        required_answers(pool, name)
        order = np.argsort(np.array(pool.item_ids, dtype=object), kind="stable")
        by_id = SamplingPool(
            tuple(pool.item_ids[place] for place in order),
            tuple(pool.subjects[place] for place in order),
            tuple(pool.texts[place] for place in order),
            correct=pool.correct[:, order],
        )
        return order, AnchorClusters(points_of(by_id.correct, by_id), params)

    clusters_of = OncePerPool(fit, "answers")

    def sample(pool: SamplingPool, seed: int) -> Draw:
        order, clusters = clusters_of(pool)
        ids = [pool.item_ids[place] for place in order]
        ties = item_uniforms(seed, f"sampling.{name}", ids)

        def draw(size: int) -> WeightedSubset:
            require_size(size, len(pool))
            chosen = clusters.anchors(size, ties)
            return WeightedSubset(order[chosen.positions], chosen.weights)

        return draw

    return sample
