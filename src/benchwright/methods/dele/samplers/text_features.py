"""Words of items as numbers: TF-IDF and counts."""

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
