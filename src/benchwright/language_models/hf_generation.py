"""Writing answers with Hugging Face Transformers: many at once, one token of each per pass.

Prompts with the same prefix read it once. Answers are written side by side; the next prompt takes
the place of a finished one. Which answers are written side by side changes only rounding: each has
its own positions, mask and random numbers.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from benchwright.language_models.protocol import Generated, Progress, PromptText, Sampling
from benchwright.language_models.shared_prefix import Layers, RowCache
from benchwright.language_models.tokenization import encode_contexts

if TYPE_CHECKING:
    from benchwright.language_models.hf_transformers import TransformersModel

_USUAL_NUCLEUS = 512  # most probable tokens, which nearly always have the mass top_p
_CACHE_FACTOR = 8  # tokens of keys and values per token of a batch
_ANCHOR = 8  # tokens before an answer that are decoded with it, so that its first space stays
_SPARE = 8  # tokens beyond a stop text's bytes in which it is looked for


def draws(seed: int, prompt: PromptText, sample: int) -> np.random.Generator:
    """Return the random numbers of one answer, which depend on seed, prompt and sample alone."""
    content = "\x1f".join([str(seed), str(sample), prompt.template, prompt.prefix + prompt.text])
    digest = hashlib.blake2b(content.encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def next_tokens(
    logits: torch.Tensor, generators: Sequence[np.random.Generator], sampling: Sampling
) -> list[int]:
    """Choose the next token of each row, from float32 logits (rows, vocabulary).

    With `top_p`, of the tokens by falling probability the first that together have at least that
    mass are drawn from (Holtzman et al., 2020). Each generator gives one number, none at
    temperature 0.
    """
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


def _nucleus(weights: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return probabilities and ids of the tokens to draw from, most probable first."""
    usual = min(_USUAL_NUCLEUS, weights.shape[1])
    top, ids = weights.topk(usual, dim=-1)
    if usual < weights.shape[1] and bool((top.sum(dim=-1) < top_p).any()):
        top, ids = weights.sort(dim=-1, descending=True, stable=True)
    before = top.cumsum(dim=-1) - top
    return torch.where(before < top_p, top, 0.0), ids


@dataclass
class _Row:
    """An answer that is being written."""

    prompt: int
    sample: int
    context: list[int]
    limit: int
    draw: np.random.Generator
    tokens: list[int] = field(default_factory=list)

    @property
    def position(self) -> int:
        """Position of the last written token."""
        return len(self.context) + len(self.tokens) - 1


class _Asked(NamedTuple):
    """Prompts with their tokens, and how to answer them."""

    network: "TransformersModel"
    prompts: Sequence[PromptText]
    contexts: Sequence[list[int]]
    sampling: Sampling

    @property
    def drawn(self) -> int:
        """Different answers per prompt; at temperature 0 all samples are equal."""
        return self.sampling.samples if self.sampling.temperature > 0 else 1

    def row(self, index: int, sample: int) -> _Row:
        context = self.contexts[index]
        limit = min(self.sampling.max_tokens, self.network.context - len(context))
        draw = draws(self.sampling.seed, self.prompts[index], sample)
        return _Row(index, sample, context, limit, draw)


class _Answer(NamedTuple):
    """A finished answer."""

    prompt: int
    sample: int
    text: str
    finish: str
    n_tokens: int


class _Ends:
    """Decides where answers end and decodes them."""

    def __init__(self, network: "TransformersModel", sampling: Sampling) -> None:
        self._tokenizer = network.tokenizer
        self._sampling = sampling
        self._tail = max((len(text.encode()) for text in sampling.stop), default=0) + _SPARE
        self.tokens = end_tokens(network)

    def of(self, row: _Row) -> tuple[str, str] | None:
        """Return text and finish of an answer, None while it goes on."""
        if row.tokens[-1] in self.tokens:
            return self._sampling.cut(self._text(row, row.tokens[:-1]))[0], "stop"
        stops = self._sampling.stop
        if stops and self._sampling.cut(self._decode(row.tokens[-self._tail :]))[1]:
            text, is_cut = self._sampling.cut(self._text(row, row.tokens))
            if is_cut:
                return text, "stop"
        if len(row.tokens) >= row.limit:
            return self._text(row, row.tokens), "length"
        return None

    def _text(self, row: _Row, tokens: list[int]) -> str:
        # Some tokenizers drop the space before the first token that they decode.
        before = self._decode(row.context[-_ANCHOR:])
        whole = self._decode([*row.context[-_ANCHOR:], *tokens])
        return whole[len(before) :] if whole.startswith(before) else self._decode(tokens)

    def _decode(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


class _Writer:
    """Reads prompts after a common prefix and writes one token of each text per pass."""

    def __init__(self, network: "TransformersModel", skip: int, prefix: Layers, slots: int) -> None:
        self._network = network
        self._skip = skip
        self._apart = prefix if network.looks_together and skip > 0 else None
        self.cache = RowCache(slots, prefix, self._apart is not None)

    def read(self, contexts: Sequence[list[int]]) -> torch.Tensor:
        """Return the logits (contexts, vocabulary) after each context."""
        width = max(map(len, contexts)) - self._skip
        ids = np.zeros((len(contexts), width), np.int64)
        for row, context in zip(ids, contexts, strict=True):
            row[: len(context) - self._skip] = context[self._skip :]
        # Padding comes last: no token of a text can see it.
        positions = np.tile(np.arange(self._skip, self._skip + width), (len(contexts), 1))
        hidden = self._states(ids, positions, self.cache.to_read())
        last = torch.tensor([len(context) - self._skip - 1 for context in contexts])
        rows = torch.arange(len(contexts), device=hidden.device)
        return self._network.logits(hidden[rows, last.to(hidden.device)])

    def step(self, tokens: Sequence[int], positions: Sequence[int]) -> torch.Tensor:
        """Append one token to each text; return the logits (rows, vocabulary) after it."""
        columns = torch.tensor(list(positions), device=self._network.model.device) - self._skip
        cache = self.cache.to_write(columns)
        ids, at = np.array(tokens, np.int64)[:, None], np.array(positions, np.int64)[:, None]
        return self._network.logits(self._states(ids, at, cache)[:, 0])

    def _states(self, ids: Any, positions: Any, cache: Any) -> torch.Tensor:
        network = self._network
        device = network.model.device
        at = torch.from_numpy(positions).to(device)
        keys = torch.arange(int(positions.max()) + 1, device=device)
        mask = network.masks((keys <= at[:, :, None])[:, None], at, keys[None])
        return network.hidden_states(ids, at, mask, cache, self._apart)


def generate(
    network: "TransformersModel",
    prompts: Sequence[PromptText],
    sampling: Sampling,
    progress: Progress,
) -> list[Generated]:
    """Write the answers to `prompts`, in their order; see `Generated`.

    The choice of prompts changes answers by rounding alone, their order not at all. Architectures
    that cannot share rows write one answer at a time.
    """
    asked = _Asked(network, prompts, encode_contexts(network.tokenizer, prompts), sampling)
    fitting = [i for i, tokens in enumerate(asked.contexts) if len(tokens) < network.context]
    progress(len(prompts) - len(fitting))
    answers: dict[int, dict[int, _Answer]] = {}
    write = _side_by_side if network.shares else _one_by_one
    with torch.inference_mode():
        for answer in write(asked, fitting):
            samples = answers.setdefault(answer.prompt, {})
            samples[answer.sample] = answer
            if len(samples) == asked.drawn:
                progress(1)
    return [_generated(asked, index, answers.get(index)) for index in range(len(prompts))]


def _generated(asked: _Asked, index: int, drawn: dict[int, _Answer] | None) -> Generated:
    n_tokens = len(asked.contexts[index])
    if drawn is None:
        return Generated(None, (), 0, n_tokens)
    samples = [drawn[number % asked.drawn] for number in range(asked.sampling.samples)]
    texts, finish = tuple(s.text for s in samples), tuple(s.finish for s in samples)
    return Generated(texts, finish, sum(s.n_tokens for s in samples), n_tokens)


def _side_by_side(asked: _Asked, fitting: Sequence[int]) -> Iterator[_Answer]:
    groups: dict[str, list[int]] = {}
    for index in fitting:
        groups.setdefault(asked.prompts[index].prefix, []).append(index)
    for prefix in sorted(groups):
        yield from _write_group(asked, groups[prefix])


def _one_by_one(asked: _Asked, fitting: Sequence[int]) -> Iterator[_Answer]:
    """Write each answer alone, reading the whole text for each token."""
    network, _, _, sampling = asked
    ends = _Ends(network, sampling)
    for row in (asked.row(index, sample) for index in fitting for sample in range(asked.drawn)):
        done: list[_Answer] = []
        while not done:
            ids = torch.tensor([row.context + row.tokens], device=network.model.device)
            logits = network.model(input_ids=ids, use_cache=False).logits[:, -1]
            _, done = _append([row], logits.float(), ends, sampling)
        yield from done


def end_tokens(network: "TransformersModel") -> frozenset[int]:
    """Return the tokens that end a text, by the model's generation settings and its tokenizer."""
    configured = getattr(network.model.generation_config, "eos_token_id", None)
    ends = configured if isinstance(configured, list) else [configured]
    return frozenset(int(t) for t in (*ends, network.tokenizer.eos_token_id) if t is not None)


def _write_group(asked: _Asked, members: Sequence[int]) -> Iterator[_Answer]:
    """Yield the answers to prompts with one prefix, as they are finished."""
    network, _, contexts, sampling = asked
    skip, prefix = network.read_prefix([contexts[i] for i in members])
    longest_first = sorted(members, key=lambda i: (-len(contexts[i]), contexts[i]))
    queue = deque(
        asked.row(index, sample) for index in longest_first for sample in range(asked.drawn)
    )
    width = len(queue[0].context) - skip
    kept = width + sampling.max_tokens // 2 + (0 if network.looks_together else skip)
    slots = min(len(queue), max(1, _CACHE_FACTOR * network.batch_tokens // kept))
    writer = _Writer(network, skip, prefix, slots)
    ends = _Ends(network, sampling)
    rows: list[_Row] = []
    while queue or rows:
        free = slots - len(rows)
        if queue and (not rows or free >= max(1, slots // 4)):
            for new, sources, logits in _read(network, writer, queue, free, skip):
                going_on, done = _append(new, logits, ends, sampling)
                yield from done
                first = len(rows)
                if going_on:
                    slots_taken = range(first, first + len(going_on))
                    writer.cache.place(slots_taken, [sources[i] for i in going_on])
                rows.extend(new[i] for i in going_on)
        if rows:
            logits = writer.step([r.tokens[-1] for r in rows], [r.position for r in rows])
            going_on, done = _append(rows, logits, ends, sampling)
            yield from done
            rows = _close_ranks(writer, rows, going_on)


def _read(
    network: "TransformersModel", writer: _Writer, queue: "deque[_Row]", free: int, skip: int
) -> Iterator[tuple[list[_Row], list[int], torch.Tensor]]:
    """Read the next prompts; yield their rows, the context of each, and the logits of each row."""
    while free and queue:
        width = len(queue[0].context) - skip
        most = network.batch_tokens // width
        most = max(1, min(most, _CACHE_FACTOR * network.batch_tokens // (skip + width)))
        rows: list[_Row] = []
        sources: list[int] = []
        contexts: list[list[int]] = []
        read: dict[int, int] = {}
        while queue and free and (queue[0].prompt in read or len(read) < most):
            row = queue.popleft()
            if row.prompt not in read:
                read[row.prompt] = len(contexts)
                contexts.append(row.context)
            rows.append(row)
            sources.append(read[row.prompt])
            free -= 1
        yield rows, sources, writer.read(contexts)[sources]


def _append(
    rows: Sequence[_Row], logits: torch.Tensor, ends: _Ends, sampling: Sampling
) -> tuple[list[int], list[_Answer]]:
    """Append the next token to each row; return the rows that go on and the finished answers."""
    going_on, done = [], []
    chosen = next_tokens(logits, [row.draw for row in rows], sampling)
    for number, (row, token) in enumerate(zip(rows, chosen, strict=True)):
        row.tokens.append(token)
        end = ends.of(row)
        if end is None:
            going_on.append(number)
        else:
            done.append(_Answer(row.prompt, row.sample, *end, len(row.tokens)))
    return going_on, done


def _close_ranks(writer: _Writer, rows: list[_Row], going_on: list[int]) -> list[_Row]:
    """Return the rows that go on, moved so that their slots are the first ones."""
    kept = {number: rows[number] for number in going_on if number < len(going_on)}
    holes = (number for number in range(len(going_on)) if number not in kept)
    for source in going_on:
        if source >= len(going_on):
            target = next(holes)
            writer.cache.move(source, target)
            kept[target] = rows[source]
    return [kept[number] for number in range(len(going_on))]
