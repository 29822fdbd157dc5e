"""Which token comes next: the most probable one, or one drawn by a number in [0, 1)."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchwright.language_models.protocol import PromptText, Sampling

if TYPE_CHECKING:
    import torch

_USUAL_NUCLEUS = 512  # tokens that nearly always hold the mass of top_p


def draws(seed: int, prompt: PromptText, sample: int) -> np.random.Generator:
    """The random numbers of one answer: they depend on seed, prompt and sample alone."""
    content = "\x1f".join([str(seed), str(sample), prompt.template, prompt.prefix + prompt.text])
    digest = hashlib.blake2b(content.encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def next_tokens(
    logits: "torch.Tensor", generators: Sequence[np.random.Generator], sampling: Sampling
) -> list[int]:
    """The next token of each row.

    Args:
        logits: (rows, vocabulary), float32.
        generators: one per row; each gives one number, none at temperature 0.
        sampling: temperature and top_p (Holtzman et al., 2020): of the tokens by falling
            probability, the first that together have at least that mass.
    """
    import torch

    if sampling.temperature == 0:
        return [int(token) for token in logits.argmax(dim=-1).tolist()]
    weights = torch.softmax(logits.double() / sampling.temperature, dim=-1)
    ids: torch.Tensor | None = None
    if sampling.top_p < 1:
        weights, ids = _nucleus(weights, sampling.top_p)
    mass = weights.cumsum(dim=-1)
    numbers = torch.tensor([[generator.random()] for generator in generators], dtype=torch.float64)
    wanted = numbers.to(mass.device) * mass[:, -1:]
    places = torch.searchsorted(mass, wanted, right=True).clamp(max=mass.shape[1] - 1)
    chosen = places if ids is None else ids.gather(1, places)
    return [int(token) for token in chosen[:, 0].tolist()]


def _nucleus(weights: "torch.Tensor", top_p: float) -> "tuple[torch.Tensor, torch.Tensor]":
    """Probabilities and ids of the tokens that are drawn from, most probable first."""
    import torch

    usual = min(_USUAL_NUCLEUS, weights.shape[1])
    top, ids = weights.topk(usual, dim=-1)
    if usual < weights.shape[1] and bool((top.sum(dim=-1) < top_p).any()):
        top, ids = weights.sort(dim=-1, descending=True, stable=True)
    before = top.cumsum(dim=-1) - top
    return torch.where(before < top_p, top, 0.0), ids
