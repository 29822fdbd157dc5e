"""A small Llama with random weights and its tokenizer, saved as a model folder."""

from pathlib import Path

WORDS = (
    "The following are questions about science. Question: Which of these is a fruit, a metal, a "
    "planet? Answer: apple iron Mars lemon copper Venus, because heat moves from warm to cold.\n\n"
)

END = "<end>"


def save_tiny_llama(folder: Path) -> Path:
    """Save a model of 400 byte-level tokens and two layers; the same bytes each time."""
    import torch
    import transformers as hf
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

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
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.add_special_tokens({"eos_token": END})
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = hf.LlamaConfig(
        vocab_size=400,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,
    )
    hf.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder
