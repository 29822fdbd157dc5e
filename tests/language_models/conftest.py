"""Small models with random weights, so that equality can be tested in float32 and in seconds."""

from collections.abc import Callable
from typing import Any

import pytest

WORDS = (
    "The following are multiple choice questions with answers about science. Question: Which of "
    "these is a fruit, a metal, a planet? Answer: apple iron Mars because heat moves from warm to "
    "cold\n\nA. lemon\nB. copper\nC. Venus\nD. none of these\nAnswer: A\nAnswer: B\n\n"
)


@pytest.fixture(scope="session")
def tiny_tokenizer() -> Any:
    """A byte-level BPE tokenizer of some 400 tokens, without a beginning-of-text token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>")


@pytest.fixture(scope="session")
def tiny_model() -> Callable[[str], Any]:
    """Make a model of a family with random weights; `gemma3` looks back 16 tokens only."""
    import transformers as hf

    def make(family: str) -> Any:
        import torch

        torch.manual_seed(0)
        shape = {
            "vocab_size": 400,
            "hidden_size": 48,
            "intermediate_size": 96,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 12,
            "initializer_range": 0.3,
            "attn_implementation": "sdpa",
        }
        if family == "llama":
            return hf.LlamaForCausalLM(hf.LlamaConfig(**shape))
        if family == "qwen2":
            return hf.Qwen2ForCausalLM(hf.Qwen2Config(**shape))
        if family == "mistral":
            return hf.MistralForCausalLM(hf.MistralConfig(**shape, sliding_window=16))
        if family == "gemma3":
            kinds = ["sliding_attention", "full_attention", "sliding_attention"]
            config = hf.Gemma3TextConfig(**shape, sliding_window=16, layer_types=kinds)
            return hf.Gemma3ForCausalLM(config)
        if family == "gemma2":
            config = hf.Gemma2Config(**shape, sliding_window=16, final_logit_softcapping=3.0)
            return hf.Gemma2ForCausalLM(config)
        if family == "gpt2":
            config = hf.GPT2Config(vocab_size=400, n_embd=48, n_layer=2, n_head=4)
            return hf.GPT2LMHeadModel(config)
        if family == "mamba":
            config = hf.MambaConfig(vocab_size=400, hidden_size=48, num_hidden_layers=2)
            return hf.MambaForCausalLM(config)
        if family == "bloom":
            config = hf.BloomConfig(vocab_size=400, hidden_size=48, n_layer=2, n_head=4)
            return hf.BloomForCausalLM(config)
        raise ValueError(family)

    return make
