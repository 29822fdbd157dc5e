"""Texts of items as numbers: TF-IDF, counts of words, coordinates for spectral clustering."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Features: TypeAlias = "NDArray[np.floating] | csr_matrix"
"""(n, d) features of n items: a dense array, or a sparse matrix."""

_NO_WORDS = re.compile("empty vocabulary")


@lru_cache(maxsize=2)  # methods of clustering read the same features of a pool one after another
def text_features(
    texts: tuple[str, ...], most_words: int, weighting: Literal["tfidf", "counts"] = "tfidf"
) -> "csr_matrix":
    """(n, v) sparse float64: the words of n texts, v ≤ `most_words`.

    Words of two and more letters or digits, in lower case, without scikit-learn's English stop
    words. TF-IDF rows have length 1, those of texts without any such word 0. Where no text has a
    word, v is 1 and all is 0. Whoever asks again gets the same matrix: do not write to it.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    kind = TfidfVectorizer if weighting == "tfidf" else CountVectorizer
    vectorizer = kind(stop_words="english", max_features=most_words, dtype=np.float64)
    try:
        return vectorizer.fit_transform(texts)
    except ValueError as error:
        if not _NO_WORDS.search(str(error)):
            raise
        return csr_matrix((len(texts), 1), dtype=np.float64)


def row_lengths(features: Features) -> NDArray[np.float64]:
    """Euclidean length (n,) of each row."""
    if isinstance(features, np.ndarray):
        return np.linalg.norm(features.astype(np.float64), axis=1)
    return np.sqrt(np.asarray(features.multiply(features).sum(axis=1), dtype=np.float64).ravel())


# Below this all eigenvectors are computed: exact, also where a graph in pieces has equal ones.
_DENSE = 500
WORKING_MIB = 64
"""Of one block of distances."""


def spectral_embedding(
    features: Features, dimensions: int, neighbours: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """(n, `dimensions`) coordinates from the graph of nearest neighbours (Shi & Malik 2000).

    Two items are joined with weight 1 if each is among the other's nearest by cosine, 1/2 if one
    is. The coordinates are the leading eigenvectors of the random walk on that graph. A full
    similarity matrix would take n² numbers; the graph takes n × `neighbours`. The eigenvectors
    come from plain Lanczos iterations: the shift-and-invert of scikit-learn's solver factorises a
    matrix that fills up, and did not end in a minute on 14,042 items.

    `features` (n, d) have no row all zero; `dimensions` are fewer than n; at most n − 1
    `neighbours` of an item are used; `generator` draws the start vector.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh
    from sklearn import config_context
    from sklearn.neighbors import kneighbors_graph

    n = features.shape[0]
    with config_context(working_memory=WORKING_MIB):
        joined = kneighbors_graph(features, min(neighbours, n - 1), metric="cosine")
    affinity = (joined + joined.T) / 2
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    walk = diags_array(scale) @ affinity @ diags_array(scale)
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(walk.toarray())
    else:
        values, vectors = eigsh(
            walk, dimensions, which="LA", v0=generator.standard_normal(n), tol=1e-6
        )
    leading = np.argsort(-values, kind="stable")[:dimensions]
    return np.asarray(vectors[:, leading] * scale[:, None], dtype=np.float64)
