"""Small items, answers and vectors for the filtering pipeline."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.filtering import FilteringParams
from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.filtering import create_pipeline
from benchwright.tables.items import Items
from benchwright.tables.responses import Responses
from benchwright.tables.similarity import Embeddings


def make_items(
    questions: list[str],
    choices: list[list[str]] | None = None,
    answers: list[int] | None = None,
    subjects: list[str] | None = None,
    ids: list[str] | None = None,
) -> pd.DataFrame:
    """Items `q/0`, `q/1`, … with choices yes and no unless given."""
    n = len(questions)
    choices = choices or [["yes", "no"]] * n
    answers = answers or [0] * n
    frame = pd.DataFrame(
        {
            "item_id": ids or [f"q/{row}" for row in range(n)],
            "split": "test",
            "subject": subjects or ["all"] * n,
            "question": questions,
            "choices": choices,
            "answer": answers,
            "answer_text": [
                options[answer] for options, answer in zip(choices, answers, strict=True)
            ],
            "correct_set": [[answer] for answer in answers],
            "passage_id": None,
            "explanation": None,
            "domain": None,
            "url": None,
            "source_id": None,
            "content_hash": "",
        }
    )
    return pd.DataFrame(Items.validate(frame))


def numbered_items(n: int, subjects: list[str] | None = None) -> pd.DataFrame:
    """A number of items with different questions."""
    return make_items([f"question number {row}" for row in range(n)], subjects=subjects)


def make_matrix(
    correct: ArrayLike,
    p_answer: ArrayLike | None = None,
    p_prediction: ArrayLike | None = None,
    models: tuple[str, ...] = (),
    condition: str = "question",
) -> ResponseMatrix:
    """Answers of models `a`, `b`, … to items `q/0`, …; probabilities unknown unless given."""
    right = np.asarray(correct, dtype=np.float32)
    unknown = np.full(right.shape, np.nan, dtype=np.float32)
    return ResponseMatrix(
        models or tuple("abcdefgh"[: len(right)]),
        tuple(f"q/{column}" for column in range(right.shape[1])),
        right,
        unknown if p_answer is None else np.asarray(p_answer, dtype=np.float32),
        unknown if p_prediction is None else np.asarray(p_prediction, dtype=np.float32),
        np.full(right.shape, -1, dtype=np.int16),
        condition,
    )


def make_embeddings(vectors: ArrayLike) -> pd.DataFrame:
    """Vectors of items `q/0`, …"""
    rows = np.asarray(vectors, dtype=np.float32)
    frame = pd.DataFrame(
        {
            "item_id": [f"q/{row}" for row in range(len(rows))],
            "text_hash": "",
            "encoder": "test",
            "vector": list(rows),
        }
    )
    return pd.DataFrame(Embeddings.validate(frame)) if len(frame) else Embeddings.empty()


def run_filtering(
    items: pd.DataFrame,
    matrix: ResponseMatrix,
    embeddings: pd.DataFrame | None = None,
    choices_only: ResponseMatrix | None = None,
    filtering: FilteringParams | None = None,
    filter_models: list[str] | None = None,
    anomalous_subjects: list[str] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """All datasets that the pipeline creates, by name."""
    ids = tuple(items["item_id"])
    data: dict[str, Any] = {
        "items": items,
        "response_matrix": matrix,
        "choices_only_matrix": choices_only or ResponseMatrix.empty(ids, "choices_only"),
        "embeddings": make_embeddings([]) if embeddings is None else embeddings,
        "params:filtering": filtering or FilteringParams(),
        "chosen_filter_models": list(matrix.models) if filter_models is None else filter_models,
        "params:filter_models": list(matrix.models),
        "params:models": ModelsParams(),
        "params:anomalous_subjects": anomalous_subjects or [],
        "params:limit": None,
        "responses": Responses.empty(),
        "params:seed": seed,
    }
    for node in create_pipeline().nodes:
        data.update(node.run({name: data[name] for name in node.inputs}))
    return data


def removed_ids(data: dict[str, Any]) -> list[str]:
    """Ids of the removed items in order."""
    return list(data["removed_items"]["item_id"])
