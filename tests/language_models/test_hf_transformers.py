"""Shared, packed and batched scores equal those of one text at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.language_models.protocol import PromptScore, PromptText
from imported_later import hf_transformers, shared_prefix, torch

PREFIX = (
    "The following are multiple choice questions with answers about science.\n\n"
    "Which of these is a metal?\nA. apple\nB. iron\nAnswer: B\n\n"
    "Which of these is a planet?\nA. Mars\nB. lemon\nAnswer: A"
)
ITEMS = [
    ("\n\nWhich is a fruit?\nAnswer:", (" apple", " iron because heat moves", " the planet Mars")),
    ("\n\nWhere does heat move?\nAnswer:", (" from warm to cold", " from cold to warm")),
    ("\n\nA question that is much longer than the others, about what?\nAnswer:", (" A", " B")),
    ("\n\nX\nAnswer:", (" none of these", " none of these", "", " Ω≥3 – non-ASCII")),
]


def joint_logprobs(model: Any, tokenizer: Any, prompt: PromptText) -> list[float]:
    """Oracle: the joint text of each option in one plain forward pass."""
    out = []
    start = len(tokenizer(prompt.prefix + prompt.text).input_ids)
    for continuation in prompt.continuations:
        ids = tokenizer(prompt.prefix + prompt.text + continuation).input_ids
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].float()
        logprobs = torch.log_softmax(logits, dim=-1)
        out.append(sum(float(logprobs[i - 1, ids[i]]) for i in range(start, len(ids))))
    return out


def assert_equal(scores: list[PromptScore], wanted: list[list[float]], tolerance: float) -> None:
    for score, logprobs in zip(scores, wanted, strict=True):
        assert score.logprobs is not None
        np.testing.assert_allclose(score.logprobs, logprobs, atol=tolerance)


@pytest.mark.parametrize(
    "family", ["llama", "qwen2", "mistral", "gemma3", "gemma2", "gpt2", "mamba", "bloom"]
)
@pytest.mark.parametrize("prefix", [PREFIX, ""], ids=["shots", "no_shots"])
def test_scores_equal_those_of_the_joint_text(
    family: str, prefix: str, tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    network = tiny_model(family)
    model = hf_transformers.TransformersModel(network, tiny_tokenizer, batch_tokens=160)
    prompts = [PromptText(prefix, text, options) for text, options in ITEMS]
    wanted = [joint_logprobs(network, tiny_tokenizer, prompt) for prompt in prompts]
    assert_equal(model.score(prompts), wanted, 1e-3)
    assert model.shares is (family not in {"mamba", "bloom"})
    if family in {"llama", "qwen2", "mistral", "gemma3"}:
        assert network.config._attn_implementation == shared_prefix.NAME


def test_order_and_batch_size_change_only_rounding(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    network = tiny_model("gemma3")
    prompts = [PromptText(PREFIX if i % 2 else "", *item) for i, item in enumerate(ITEMS)]
    large = hf_transformers.TransformersModel(network, tiny_tokenizer, batch_tokens=4096).score(
        prompts
    )
    small = hf_transformers.TransformersModel(network, tiny_tokenizer, batch_tokens=64)
    turned = small.score(prompts[::-1])[::-1]
    assert_equal(turned, [list(score.logprobs or ()) for score in large], 1e-3)
    assert small.score(prompts) == turned, "another order must give the same bits"


def test_prompts_beyond_the_context_are_not_scored(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    model = hf_transformers.TransformersModel(tiny_model("llama"), tiny_tokenizer, context=60)
    seen: list[int] = []
    prompts = [PromptText("", "heat " * 80, (" A",)), PromptText("", "heat moves", (" A", " B"))]
    long, short = model.score(prompts, seen.append)
    assert sum(seen) == 2
    assert long.logprobs is None
    assert long.prompt_tokens > 60
    assert short.logprobs is not None
    assert len(short.logprobs) == 2


def test_bfloat16_letters_do_not_tie(tiny_model: Callable[[str], Any], tiny_tokenizer: Any) -> None:
    model = hf_transformers.TransformersModel(
        tiny_model("llama").to(torch.bfloat16), tiny_tokenizer, batch_tokens=512
    )
    prompts = [PromptText("", f"{text} {i}", (" A", " B")) for i in range(40) for text, _ in ITEMS]
    scores = [score.logprobs or (0.0, 0.0) for score in model.score(prompts)]
    assert sum(a == b for a, b in scores) == 0


def test_model_without_shared_attention_gets_copies_of_the_prefix(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = shared_prefix.attention_forward

    def deaf(*arguments: Any, shared_prefix: Any = None, **others: Any) -> Any:
        return forward(*arguments, **others)

    monkeypatch.setattr("benchwright.language_models.shared_prefix.attention_forward", deaf)
    network = tiny_model("llama")
    model = hf_transformers.TransformersModel(network, tiny_tokenizer)
    assert model.shares
    assert network.config._attn_implementation == "sdpa"
    prompts = [PromptText(PREFIX, text, options) for text, options in ITEMS]
    wanted = [joint_logprobs(network, tiny_tokenizer, prompt) for prompt in prompts]
    assert_equal(model.score(prompts), wanted, 1e-3)


@given(
    lengths=st.lists(st.integers(1, 900), min_size=1, max_size=60),
    batch_tokens=st.integers(64, 4096),
    skip=st.integers(0, 3000),
)
def test_rows_hold_every_prompt_once_and_batches_keep_to_their_size(
    lengths: list[int], batch_tokens: int, skip: int
) -> None:
    lengths = sorted(lengths, reverse=True)
    batches = list(hf_transformers.fill_rows(lengths, batch_tokens, skip))
    placed = [number for rows in batches for row in rows for number in row]
    assert sorted(placed) == list(range(len(lengths)))
    for rows in batches:
        widths = [sum(lengths[number] for number in row) for row in rows]
        assert len(rows) == 1 or len(rows) * max(widths) <= batch_tokens
        assert min(map(len, rows)) >= 1


def test_short_prompts_share_rows_without_seeing_each_other(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[tuple[int, int]] = []
    layout = hf_transformers.Layout

    def noted(rows: Any, skip: int) -> Any:
        made = layout(rows, skip)
        shapes.append(made.ids.shape)
        return made

    monkeypatch.setattr("benchwright.language_models.hf_transformers.Layout", noted)
    network = tiny_model("llama")
    model = hf_transformers.TransformersModel(network, tiny_tokenizer)
    prompts = [PromptText(PREFIX, f"\n\nQuestion {n}\nAnswer:", (" A", " B")) for n in range(12)]
    shapes.clear()
    wanted = [joint_logprobs(network, tiny_tokenizer, prompt) for prompt in prompts]
    assert_equal(model.score(prompts), wanted, 1e-3)
    [(rows, width)] = shapes
    assert rows < 6
    assert width <= 256
