"""What a trained classifier says of items."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.bert import (
    classify,
    load_classifier,
    texts_to_classify,
)
from benchwright.methods.wicked.single_best_answer.classifier import LogisticClassifier
from benchwright.methods.wicked.single_best_answer.features import (
    feature_table,
    judgeable,
    texts_to_encode,
)
from benchwright.params.scoring import ModelsParams
from benchwright.params.single_best_answer import FineTuningParams
from benchwright.similarity.text_vectors import encode_texts, vector_key


class Predictions(NamedTuple):
    """Probabilities (n,) of n items, NaN where an item cannot be judged, and the vectors' cache."""

    probability: NDArray[np.float64]
    vectors: pd.DataFrame


def predict(
    items: pd.DataFrame,
    classifier: Mapping[str, Any],
    cache: pd.DataFrame,
    models: ModelsParams,
) -> Predictions:
    """The probability that an item has a single best answer.

    Items with fewer than two options or without a known gold cannot be judged.

    Args:
        items: with question, choices and answer.
        classifier: what the pipeline `sba` wrote.
        cache: a `TextVectors` table.
        models: where the encoder's weights are.

    Raises:
        InputError: the classifier was trained with another encoder than conf has now, or its
            weights are not there.
    """
    able = judgeable(items)
    probability = np.full(len(items), np.nan)
    asked = items[able]
    if not len(asked):
        return Predictions(probability, cache)
    if classifier["kind"] != "embedding":
        tuning = FineTuningParams.model_validate(classifier["fine_tuning"])
        own = classifier.get("weights_folder")
        source, revision = (own, None) if own else (tuning.model or "", tuning.revision)
        loaded = load_classifier(source, revision, trained=True)
        probability[able] = classify(loaded, texts_to_classify(asked, tuning.text), tuning)
        return Predictions(probability, cache)
    groups, encoder = classifier["groups"], classifier["encoder"]
    vectors: Mapping[str, NDArray[np.float32]] = {}
    if encoder is not None:
        now = vector_key(encoder, models)
        if now != classifier["encoder_key"]:
            raise InputError(
                f"the single-best-answer classifier was trained with {classifier['encoder_key']}, "
                f"conf has {now}; kedro run --pipeline sba trains it again"
            )
        encoded = encode_texts(texts_to_encode(asked, groups), cache, encoder, models)
        vectors, cache = encoded.vectors, encoded.cache
    fitted = LogisticClassifier.from_json(classifier["logistic"])
    probability[able] = fitted.probabilities(feature_table(asked, vectors, groups))
    return Predictions(probability, cache)
