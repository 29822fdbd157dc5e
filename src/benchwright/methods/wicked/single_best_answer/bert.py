"""A pretrained encoder whose last layer and head are trained (WiCkeD, appendix A)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchwright.core.array_types import Floats, Integers
from benchwright.core.errors import InputError
from benchwright.params.single_best_answer import FineTuningParams

_EPOCHS = 2
_LEARNING_RATE = 1e-4  # of AdamW
_BATCH = 16  # texts per step
_MAX_LENGTH = 256  # tokens per text; longer ones are truncated


class SequenceClassifier(NamedTuple):
    """A model that classifies a text as 0 or 1, with its tokenizer (Transformers' classes)."""

    model: Any
    tokenizer: Any

    def save(self, folder: Path) -> None:
        """Write both to a folder, the weights as safetensors."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_classifier(
    source: str | None, revision: str | None = None, *, trained: bool
) -> SequenceClassifier:
    """Load a classifier of two classes from a folder or hub id.

    `revision` is a commit on the hub. A classifier that need not be `trained` gets a new head.

    Raises:
        InputError: none is named, it cannot be loaded, or its head has not two classes.
    """
    if source is None:
        raise InputError(
            "single_best_answer.fine_tuning.model names no model; expected a folder or a hub id, "
            "such as google-bert/bert-base-uncased"
        )
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of a new head
            model, report = AutoModelForSequenceClassification.from_pretrained(
                source,
                revision=revision or "main",
                output_loading_info=True,
                dtype=torch.float32,
                use_safetensors=True,  # never a pickle
                **({} if trained else {"num_labels": 2}),
            )
        tokenizer = AutoTokenizer.from_pretrained(source, revision=revision or "main")
    except (OSError, ValueError, SafetensorError) as error:
        message = str(error).strip().splitlines()[0]
        raise InputError(
            f"single_best_answer.fine_tuning.model: {source!r} could not be loaded: {message}"
        ) from None
    if trained and (model.config.num_labels != 2 or set(report["missing_keys"])):
        raise InputError(
            f"single_best_answer.fine_tuning.model: {source!r} has no trained head of two classes; "
            "use kind: bert to train one"
        )
    return SequenceClassifier(model.eval(), tokenizer)


def fine_tune(
    texts: Sequence[str], labels: Integers, params: FineTuningParams
) -> SequenceClassifier:
    """Train the last layer, the pooler and the head; freeze all other layers.

    The order of the texts is drawn from a fixed seed; the same texts, labels and number of threads
    give the same weights.

    Raises:
        InputError: the model cannot be loaded.
    """
    import torch

    classifier = load_classifier(params.model, params.revision, trained=False)
    trainable = _unfreeze(classifier.model)
    optimiser = torch.optim.AdamW(trainable, lr=_LEARNING_RATE)
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # of dropout
        classifier.model.train()
        for _ in range(_EPOCHS):
            order = torch.randperm(len(texts), generator=generator).tolist()
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                tokens = _tokens(classifier, [texts[row] for row in rows])
                wanted = torch.tensor([int(labels[row]) for row in rows])
                loss = classifier.model(**tokens, labels=wanted).loss
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
    classifier.model.eval()
    return classifier


def classify(classifier: SequenceClassifier, texts: Sequence[str]) -> Floats:
    """Return (n,) the probability of class 1."""
    import torch

    probability = np.empty(len(texts))
    # Texts of similar length are in one batch.
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            tokens = _tokens(classifier, [texts[row] for row in rows])
            logits = classifier.model(**tokens).logits
            probability[rows] = logits.float().softmax(dim=-1)[:, 1].numpy()
    return probability


def _tokens(classifier: SequenceClassifier, texts: list[str]) -> dict[str, Any]:
    config = classifier.model.config
    length = min(_MAX_LENGTH, getattr(config, "max_position_embeddings", _MAX_LENGTH))
    options = {"padding": True, "truncation": True, "max_length": length, "return_tensors": "pt"}
    return dict(classifier.tokenizer(texts, **options))


def _unfreeze(model: Any) -> list[Any]:
    """Freeze the embeddings and all layers but the last; return the parameters left to train."""
    from torch.nn import ModuleList

    layers = [part for part in model.base_model.modules() if isinstance(part, ModuleList)]
    if not layers:
        raise InputError(f"{type(model).__name__} has no list of layers to freeze")
    stack = max(layers, key=len)
    pooler = getattr(model.base_model, "pooler", None)
    parts = [stack[-1]] if pooler is None else [stack[-1], pooler]
    kept = {id(parameter) for part in parts for parameter in part.parameters()}
    inside = {id(parameter) for parameter in model.base_model.parameters()}
    for parameter in model.parameters():
        parameter.requires_grad = id(parameter) in kept or id(parameter) not in inside
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
