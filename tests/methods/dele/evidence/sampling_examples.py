"""A synthetic benchmark with models of several families, for tests of the sampling stage."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.dele.evidence.panels import SamplingPanels, choose_panels
from benchwright.methods.dele.evidence.study import SamplingStudy, prepare_study
from benchwright.params.sampling import SamplingParams
from benchwright.tables.items import Items

WORDS = ["the", "cat", "sat", "on", "a", "photosynthesis", "mat", "while", "economies", "rivers"]


def make_items(n: int = 60, subjects: int = 2) -> pd.DataFrame:
    generator = np.random.default_rng(7)
    rows = []
    for place in range(n):
        words = generator.choice(WORDS, size=3 + place % 9)
        rows.append(
            {
                "item_id": f"i{place:03d}",
                "split": "test",
                "subject": f"s{place % subjects}",
                "question": " ".join(words) + f" q{place}?",
                "choices": ["one", "two", "three", "four"],
                "answer": place % 4,
                "answer_text": ["one", "two", "three", "four"][place % 4],
                "correct_set": [place % 4],
                "content_hash": f"h{place}",
            }
        )
    return pd.DataFrame(rows).reindex(columns=Items.columns())


def make_answers(n: int = 60, models: int = 24, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    ability = np.sort(generator.normal(size=(models, 1)), axis=0)
    difficulty = generator.normal(size=n)
    return (ability + generator.normal(size=(models, n)) > difficulty).astype(np.float32)


def make_matrix(correct: NDArray[np.float32]) -> ResponseMatrix:
    names = tuple(f"m{row:02d}" for row in range(correct.shape[0]))
    ids = tuple(f"i{place:03d}" for place in range(correct.shape[1]))
    return ResponseMatrix.of(names, ids, correct=correct)


def make_families(models: int, size: int = 2) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in range(models)],
            "family": [f"f{row // size}" for row in range(models)],
            "organisation": ["org"] * models,
        }
    )


def make_params(**changed: object) -> SamplingParams:
    given: dict[str, object] = {
        "samplers": "random+stratified+word_length+irt_clusters+share_wrong",
        "encoders": (),
        "rates": (10.0, 25.0, 50.0, 100.0),
        "repeats": 4,
        "adaptive": {"splits": 3, "lowest_rate": 10, "highest_rate": 50},
        "evidence": {"at_rates": (10.0, 25.0), "estimate_subsets": 2},
        **changed,
    }
    return SamplingParams.model_validate(given)


def make_panels(
    correct: NDArray[np.float32] | None = None,
    params: SamplingParams | None = None,
    items: pd.DataFrame | None = None,
) -> SamplingPanels:
    answers = make_answers() if correct is None else correct
    return choose_panels(
        make_matrix(answers),
        make_items(answers.shape[1]) if items is None else items,
        make_families(len(answers)),
        params or make_params(),
        0,
    )


def make_study(
    panels: SamplingPanels | None = None,
    params: SamplingParams | None = None,
    items: pd.DataFrame | None = None,
    seed: int = 0,
) -> SamplingStudy:
    panels = panels or make_panels(params=params)
    items = make_items(panels.all_items) if items is None else items
    return prepare_study(items, panels, {}, params or make_params(), seed)
