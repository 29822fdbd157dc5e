"""Answers generated in batches equal those of one text at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from benchwright.language_models.protocol import Generated, PromptText, Sampling
from imported_later import hf_generation, hf_transformers, torch

PREFIX = (
    "The following are multiple choice questions with answers about science.\n\n"
    "Which of these is a metal?\nA. apple\nB. iron\nAnswer: B"
)
TEXTS = (
    "\n\nWhich is a fruit?\nAnswer:",
    "\n\nA question that is much longer than the others, about what moves from warm to cold?\nA:",
    "\n\nX",
    "\n\nWhere does heat move?\nAnswer:",
    "\n\nWhere does heat go?\nAnswer:",
    "\n\nΩ≥3 – non-ASCII",
)
PROMPTS = [PromptText(prefix, text, ()) for text in TEXTS for prefix in (PREFIX, "")]
FAMILIES = ["llama", "qwen2", "mistral", "gemma3", "gemma2", "gpt2", "mamba", "bloom"]


def written(model: Any, prompts: Sequence[PromptText], sampling: Sampling) -> list[Generated]:
    [results] = model.generate_batches([prompts], sampling, lambda _: None)
    return results


@pytest.fixture(scope="module")
def wordy_model(tiny_model: Callable[[str], Any]) -> Callable[[str], Any]:
    """Tiny models that do not repeat their last token, as those with tied embeddings do."""

    def make(family: str) -> Any:
        network = tiny_model(family)
        head = network.get_output_embeddings()
        torch.manual_seed(1)
        rows = torch.nn.Linear(head.in_features, head.out_features, bias=False)
        torch.nn.init.normal_(rows.weight)
        network.set_output_embeddings(rows)
        return network

    return make


def plain_answer(model: Any, prompt: PromptText, max_tokens: int) -> Generated:
    """Oracle: greedy decoding by Transformers itself, one prompt at a time."""
    ids = model.tokenizer(prompt.prefix + prompt.text, return_tensors="pt").input_ids
    ends = sorted(hf_generation.end_tokens(model))
    out = model.model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=max_tokens,
        eos_token_id=ends,
        pad_token_id=0,
    )[0].tolist()
    new = out[ids.shape[1] :]
    ended = new[-1] in ends
    text = model.tokenizer.decode(new[:-1] if ended else new, skip_special_tokens=True)
    return Generated((text,), ("stop" if ended else "length",), len(new), ids.shape[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_answers_are_those_of_transformers(
    family: str, wordy_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    model = hf_transformers.TransformersModel(wordy_model(family), tiny_tokenizer, batch_tokens=400)
    length = 80 if family == "qwen2" else 16  # longer than the prompts
    wanted = [plain_answer(model, prompt, length) for prompt in PROMPTS]
    assert written(model, PROMPTS, Sampling(length)) == wanted
    words = {text[i : i + 4] for answer in wanted for text in answer.texts or () for i in range(40)}
    assert len(words) > 40, "the model must not say one thing only"


def test_the_space_before_an_answer_is_kept_by_a_tokenizer_that_drops_it(
    wordy_model: Callable[[str], Any],
) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    spaced = Tokenizer(models.BPE())
    spaced.pre_tokenizer = pre_tokenizers.Metaspace()
    spaced.decoder = decoders.Metaspace()
    spaced.train_from_iterator(
        ["heat moves from warm to cold because heat does so"],
        trainers.BpeTrainer(special_tokens=["<end>"], show_progress=False),
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=spaced)
    network = wordy_model("llama")
    begins = [number for number in range(1, len(tokenizer)) if "▁" in spaced.id_to_token(number)]
    with torch.no_grad():  # it writes nothing but beginnings of words
        only = torch.zeros(400, dtype=torch.bool).index_fill(0, torch.tensor(begins), True)
        network.get_output_embeddings().weight *= only[:, None]
    network.generation_config.eos_token_id = 0
    model = hf_transformers.TransformersModel(network, tokenizer)
    for text in ("heat moves from", "heat moves to"):
        [answer] = written(model, [PromptText("", text, ())], Sampling(8))
        ids = tokenizer(text, return_tensors="pt").input_ids
        out = network.generate(ids, do_sample=False, max_new_tokens=8, pad_token_id=0)
        assert answer.texts is not None
        assert answer.texts[0].startswith(" ")
        assert text + answer.texts[0] == tokenizer.decode(out[0])


@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt2"])
@pytest.mark.parametrize("apart", [True, False], ids=["prefix_apart", "prefix_copied"])
def test_slots_are_reused_without_changes(
    family: str, apart: bool, wordy_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    network = wordy_model(family)
    prompts = [p._replace(text=f"{p.text} {i}") for p in PROMPTS for i in range(2)]
    sampling = Sampling(20, stop=("e", "A", "i", "t", "Q"))
    few = hf_transformers.TransformersModel(network, tiny_tokenizer, batch_tokens=64)
    few.looks_together &= apart
    assert few.shares
    many = hf_transformers.TransformersModel(network, tiny_tokenizer, batch_tokens=4096)
    alone = [written(many, [prompt], sampling)[0] for prompt in prompts]
    assert written(few, prompts, sampling) == alone
    assert written(many, prompts, sampling) == alone
    assert len({answer.generated_tokens for answer in alone}) > 2, "answers must end at all times"


def test_a_stop_text_ends_an_answer_and_is_not_part_of_it(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    model = hf_transformers.TransformersModel(tiny_model("llama"), tiny_tokenizer)
    prompt = PROMPTS[1]
    [whole] = written(model, [prompt], Sampling(24))
    assert whole.texts is not None
    [text] = whole.texts
    stop = text[len(text) // 2 : len(text) // 2 + 3]
    [cut] = written(model, [prompt], Sampling(24, stop=("not there", stop)))
    assert cut.texts == (text[: text.index(stop)],)
    assert cut.finish == ("stop",)
    assert cut.generated_tokens < whole.generated_tokens


def test_end_of_text_token_ends_an_answer(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    network = tiny_model("llama")
    model = hf_transformers.TransformersModel(network, tiny_tokenizer)
    prompt = PROMPTS[1]
    ids = tiny_tokenizer(prompt.prefix + prompt.text, return_tensors="pt").input_ids
    new = network.generate(ids, do_sample=False, max_new_tokens=9, eos_token_id=None)[0]
    new = new[ids.shape[1] :].tolist()
    ends = [token for token in new[2:] if token not in new[:2]]
    network.generation_config.eos_token_id = [399, ends[0]]
    assert hf_generation.end_tokens(model) == {399, ends[0], tiny_tokenizer.eos_token_id}
    [answer] = written(model, [prompt], Sampling(9))
    assert answer.finish == ("stop",)
    assert answer.generated_tokens == new.index(ends[0]) + 1
    assert answer.texts == (tiny_tokenizer.decode(new[: new.index(ends[0])]),)


def test_an_answer_ends_where_the_context_does(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    prompts = [PromptText("", "heat " * n, ()) for n in (2, 10, 40)]
    lengths = [len(tiny_tokenizer(p.text).input_ids) for p in prompts]
    model = hf_transformers.TransformersModel(
        tiny_model("qwen2"), tiny_tokenizer, context=lengths[1] + 3
    )
    seen: list[int] = []
    answers = model.generate_batches([prompts, []], Sampling(1000), seen.append)
    (short, medium, long), nothing = answers
    assert (nothing, sum(seen)) == ([], 3)
    model.context = lengths[1]  # which leaves no room
    assert [each.texts is None for each in written(model, prompts[:2], Sampling(1))] == [
        False,
        True,
    ]
    assert short.finish == medium.finish == ("length",)
    assert [short.generated_tokens, medium.generated_tokens] == [
        lengths[1] + 3 - lengths[0],
        3,
    ]
    assert long == Generated(None, (), 0, lengths[2])


@pytest.mark.parametrize("family", ["llama", "gpt2", "bloom"])
def test_samples_depend_on_seed_and_prompt_only(
    family: str, tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    model = hf_transformers.TransformersModel(tiny_model(family), tiny_tokenizer, batch_tokens=128)
    sampling = Sampling(6, samples=3, temperature=1.0, top_p=0.95, seed=7)
    prompts = PROMPTS[:6]
    first = written(model, prompts, sampling)
    assert written(model, prompts[::-1], sampling)[::-1] == first
    assert [written(model, [prompt], sampling)[0] for prompt in prompts] == first
    assert written(model, prompts, sampling._replace(seed=8)) != first
    fewer = written(model, prompts, sampling._replace(samples=2))
    assert [each.texts for each in fewer] == [(each.texts or ())[:2] for each in first]
    assert all(len(set(each.texts or ())) > 1 for each in first), "samples must differ"


def test_a_chat_prompt_gets_no_special_tokens(
    tiny_model: Callable[[str], Any], tiny_tokenizer: Any
) -> None:
    class Special:
        """The tokenizer with a token before each text."""

        bos_token_id = eos_token_id = 0

        def __call__(self, text: str, add_special_tokens: bool = True, **_: Any) -> Any:
            encoded = tiny_tokenizer(text)
            if add_special_tokens and isinstance(text, str):
                encoded.data["input_ids"] = [0, *encoded.input_ids]
            return encoded

        decode = staticmethod(tiny_tokenizer.decode)

    model = hf_transformers.TransformersModel(tiny_model("llama"), tiny_tokenizer)
    model.tokenizer = Special()
    plain, chat = written(
        model, [PromptText("", "heat", (), "none"), PromptText("", "heat", (), "chat")], Sampling(1)
    )
    assert plain.prompt_tokens == chat.prompt_tokens + 1


@pytest.mark.parametrize("top_p", [1.0, 0.8])
def test_tokens_are_sampled_with_their_probability(top_p: float) -> None:
    weights = np.array([0.05, 0.5, 0.1, 0.35])
    rows = torch.tensor(np.log(weights), dtype=torch.float32).repeat(4000, 1)
    generators = [
        hf_generation.draws(0, PromptText("", str(number), ()), 0) for number in range(len(rows))
    ]
    tokens = hf_generation.next_tokens(rows, generators, Sampling(1, temperature=1.0, top_p=top_p))
    wanted = weights if top_p == 1 else np.array([0, 0.5, 0, 0.35]) / 0.85
    np.testing.assert_allclose(np.bincount(tokens, minlength=4) / len(rows), wanted, atol=0.03)
