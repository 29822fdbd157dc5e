"""Leaks: the same question in both halves (MMLU-CF, section 3.2, step 4).

Nearest neighbours of embeddings are the candidates. A judge decides on those that are neither
certain nor dissimilar.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.splitting.split import groups_of, shared_ids, split_halves
from benchwright.scoring.asking import ask_in_rounds

LEAKS = frozenset({"certain", "same_words", "judged_same"})
"""Verdicts that two questions are the same."""

JUDGE_PROMPT = (
    "Here are two exam questions.\n\n"
    "Question 1:\n{first}\n\nQuestion 2:\n{second}\n\n"
    "Would someone who knows the answer to one of them thereby know the answer to the other, "
    "because both ask the same thing? Answer with one word, Yes or No."
)

_WORD = re.compile(r"\w+")
# "12", "3.5", "1,000".
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CANDIDATE = 0.80  # cosine from which a pair is considered
_CERTAIN = 0.97  # cosine from which a pair with equal numbers is a leak without a judge
_OVERLAP = 0.6  # share of common words from which a pair is a leak if there is no judge
_BLOCK = 256  # rows of cosines at a time
_ATTEMPTS = 3  # until a reply of the judge can be read


class Pair(NamedTuple):
    """Two ids in order, and the cosine similarity of their vectors."""

    first: str
    second: str
    similarity: float


def item_texts(items: pd.DataFrame) -> list[str]:
    """Return the question and the options of each item, one per line."""
    rows = zip(items["question"], items["choices"], strict=True)
    return ["\n".join([str(question), *map(str, choices)]) for question, choices in rows]


def similar_pairs(
    item_ids: Sequence[str], vectors: NDArray[np.float32], similarity: float
) -> list[Pair]:
    """Find all pairs of at least this cosine similarity; `vectors` are (n, d)."""
    order = np.argsort(np.asarray(item_ids, dtype=object), kind="stable")
    exact = vectors[order].astype(np.float64)
    pairs = []
    for start in range(0, len(order), _BLOCK):
        cosines = (exact[start : start + _BLOCK] @ exact.T).round(6)
        for row, place in np.argwhere(np.triu(cosines >= similarity, start + 1)).tolist():
            first = item_ids[order[start + row]]
            second = item_ids[order[place]]
            pairs.append(Pair(first, second, float(cosines[row, place])))
    return pairs


def same_numbers(first: str, second: str) -> bool:
    """Return whether two texts contain the same numbers, equally often."""
    return Counter(_NUMBER.findall(first)) == Counter(_NUMBER.findall(second))


def parse_same(reply: str) -> bool | None:
    """Read a judge's yes or no; None if the reply begins with neither or contains both."""
    words = _WORD.findall(reply.casefold())
    said = {"yes", "no"}.intersection(words)
    return words[0] == "yes" if said and said == {words[0]} else None


def judge_pairs(
    pairs: Sequence[Pair], texts: Mapping[str, str], ask: Ask | None = None
) -> dict[Pair, str]:
    """Decide for each pair whether it is the same question.

    A pair with equal numbers and a similarity of at least .97 is. The judge decides on the
    others; without a readable reply, common words and equal numbers do. `texts` are question and
    options by id. Verdicts are `certain`, `same_words`, `other_words`, `judged_same` and
    `judged_different`.
    """
    verdicts: dict[Pair, str] = {}
    for pair in pairs:
        verdicts[pair] = _compare_words(pair, texts[pair.first], texts[pair.second])
    if ask is None:
        return verdicts
    open_pairs = [pair for pair in pairs if verdicts[pair] != "certain"]
    prompts = [
        JUDGE_PROMPT.format(first=texts[pair.first], second=texts[pair.second])
        for pair in open_pairs
    ]
    asked = ask_in_rounds(ask, prompts, lambda _, reply: parse_same(reply), _ATTEMPTS)
    for pair, last in zip(open_pairs, asked.last, strict=True):
        if last.value is not None:
            verdicts[pair] = "judged_same" if last.value else "judged_different"
    return verdicts


def _compare_words(pair: Pair, first: str, second: str) -> str:
    if not same_numbers(first, second):
        return "other_words"
    if pair.similarity >= _CERTAIN:
        return "certain"
    words = set(_WORD.findall(first.casefold()))
    others = set(_WORD.findall(second.casefold()))
    overlaps = len(words & others) >= _OVERLAP * len(words | others)
    return "same_words" if overlaps else "other_words"


def split_without_leaks(
    items: pd.DataFrame,
    vectors: NDArray[np.float32],
    seed: int,
    ask: Ask | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Halve the items so that no question is in both halves in different words.

    Similar pairs are judged before the split, except those of one document or passage, which share
    a half anyway; pairs that are the same question share one too. `items` are as for
    `split_halves`, with question and choices; `vectors` (n, d) in the order of rows. Return the
    `SplitAssignment`, and the number of `pairs` by `verdict`: the pairs themselves tell closed
    questions to whoever has the documents.
    """
    ids = items["item_id"].astype(str).tolist()
    group = dict(zip(ids, groups_of(ids, shared_ids(items)), strict=True))
    near = similar_pairs(ids, vectors, _CANDIDATE)
    apart = [pair for pair in near if group[pair.first] != group[pair.second]]
    verdicts = judge_pairs(apart, dict(zip(ids, item_texts(items), strict=True)), ask)
    same = [pair[:2] for pair, verdict in verdicts.items() if verdict in LEAKS]
    counts = sorted(Counter(verdicts.values()).items())
    return split_halves(items, seed, same), pd.DataFrame(counts, columns=["verdict", "pairs"])
