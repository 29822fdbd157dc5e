"""A random BERT of a few thousand weights, in a folder, and faster training of it."""

from pathlib import Path

FAST = {"_EPOCHS": 10, "_LEARNING_RATE": 0.03, "_BATCH": 12}
"""Settings of `bert` with which few texts train the tiny model."""


def write_tiny_bert(folder: Path, words: tuple[str, ...]) -> Path:
    """Three layers of 16 dimensions, no classification head, a vocabulary of `words`."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *words)
    unknown, filler = names[1], names[0]
    numbers = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=unknown))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=filler, unk_token=unknown
    ).save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        BertModel(
            BertConfig(
                vocab_size=len(names),
                hidden_size=16,
                num_hidden_layers=3,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=32,
                pad_token_id=0,
            )
        ).save_pretrained(folder)
    return folder
