"""Small models with random weights for exact tests in float32."""

from collections.abc import Callable
from typing import Any

import pytest

WORDS = (
    "The following are multiple choice questions with answers about science. Question: Which of "
    "these is a fruit, a metal, a planet? Answer: apple iron Mars because heat moves from warm to "
    "cold\n\nA. lemon\nB. copper\nC. Venus\nD. none of these\nAnswer: A\nAnswer: B\n\n"
)


END = "<end>"


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
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END)


@pytest.fixture(scope="session")
def tiny_model() -> Callable[[str], Any]:
    """Make a model of a family with random weights; `gemma3` looks back 16 tokens only."""
    import transformers as hf

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
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    window = {**shape, "sliding_window": 16}
    configs: dict[str, Callable[[], Any]] = {
        "llama": lambda: hf.LlamaConfig(**shape),
        "qwen2": lambda: hf.Qwen2Config(**shape),
        "mistral": lambda: hf.MistralConfig(**window),
        "gemma3": lambda: hf.Gemma3TextConfig(**window, layer_types=kinds),
        "gemma2": lambda: hf.Gemma2Config(**window, final_logit_softcapping=3.0),
        "gpt2": lambda: hf.GPT2Config(vocab_size=400, n_embd=48, n_layer=2, n_head=4),
        "mamba": lambda: hf.MambaConfig(vocab_size=400, hidden_size=48, num_hidden_layers=2),
        "bloom": lambda: hf.BloomConfig(vocab_size=400, hidden_size=48, n_layer=2, n_head=4),
    }

    def make(family: str) -> Any:
        import torch

        torch.manual_seed(0)
        return hf.AutoModelForCausalLM.from_config(configs[family]())

    return make
