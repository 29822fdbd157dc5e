"""Writing answers with Hugging Face Transformers: many at once, one token of each per pass.

Prompts with the same prefix read it once. Answers are written side by side; the next prompt takes
the place of a finished one. Which answers are written side by side changes only rounding: each has
its own positions, mask and random numbers.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

from benchwright.language_models.protocol import Generated, Progress, PromptText, Sampling
from benchwright.language_models.shared_prefix import Layers, RowCache
from benchwright.language_models.tokenization import encode_contexts

_USUAL_NUCLEUS = 512  # most probable tokens, which nearly always have the mass top_p
_CACHE_FACTOR = 8  # tokens of keys and values per token of a batch
_ANCHOR = 8  # tokens before an answer that are decoded with it, so that its first space stays
_SPARE = 8  # tokens beyond a stop text's bytes in which it is looked for


class Network(Protocol):
    """What writing needs of a `TransformersModel`."""

    model: Any
    tokenizer: Any
    context: int
    batch_tokens: int
    shares: bool
    looks_together: bool

    def read_prefix(self, contexts: list[list[int]]) -> tuple[int, list[Any]]: ...
    def logits(self, states: torch.Tensor) -> torch.Tensor: ...
    def masks(self, full: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor) -> Any: ...
    def hidden_states(
        self, ids: Any, positions: torch.Tensor, mask: Any, past: Any, apart: Layers | None
    ) -> torch.Tensor: ...


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
    """An answer that is being written; `text` and `finish` come at its end."""

    prompt: int
    sample: int
    context: list[int]
    limit: int
    draw: np.random.Generator
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish: str = ""

    @property
    def position(self) -> int:
        return len(self.context) + len(self.tokens) - 1


class _Reader:
    """Reads prompts after a common prefix, and reads on, one token of each text per pass."""

    def __init__(self, network: Network, skip: int, prefix: Layers, slots: int, width: int) -> None:
        self._network = network
        self._skip = skip
        self._apart = prefix if network.looks_together and skip > 0 else None
        self.cache = RowCache(slots, width, prefix, self._apart is not None)

    def read(self, contexts: Sequence[list[int]]) -> torch.Tensor:
        """Return the logits (contexts, vocabulary) after each context."""
        lengths = [len(context) - self._skip for context in contexts]
        ids = np.zeros((len(contexts), max(lengths)), np.int64)
        for row, context in zip(ids, contexts, strict=True):
            row[: len(context) - self._skip] = context[self._skip :]
        # Padding comes last: no token of a text can see it.
        positions = np.tile(np.arange(self._skip, self._skip + max(lengths)), (len(contexts), 1))
        hidden = self._states(ids, positions, self.cache.to_read())
        rows = torch.arange(len(contexts), device=hidden.device)
        last = torch.tensor(lengths, device=hidden.device) - 1
        return self._network.logits(hidden[rows, last])

    def step(self, rows: Sequence[_Row]) -> torch.Tensor:
        """Read the last token of each text; return the logits (rows, vocabulary) after it."""
        ids = np.array([[row.tokens[-1]] for row in rows], np.int64)
        positions = np.array([[row.position] for row in rows], np.int64)
        columns = torch.from_numpy(positions[:, 0]).to(self._network.model.device) - self._skip
        hidden = self._states(ids, positions, self.cache.to_write(columns))
        return self._network.logits(hidden[:, 0])

    def _states(self, ids: Any, positions: Any, cache: Any) -> torch.Tensor:
        network = self._network
        at = torch.from_numpy(positions).to(network.model.device)
        keys = torch.arange(int(positions.max()) + 1, device=at.device)
        mask = network.masks((keys <= at[:, :, None])[:, None], at, keys[None])
        return network.hidden_states(ids, at, mask, cache, self._apart)


def generate(
    network: Network,
    prompts: Sequence[PromptText],
    sampling: Sampling,
    progress: Progress,
) -> list[Generated]:
    """Write the answers to `prompts`, in their order; see `Generated`.

    The choice of prompts changes answers by rounding alone, their order not at all. Architectures
    that cannot share rows write one answer at a time.
    """
    writing = _Writing(network, prompts, sampling)
    fitting = [i for i, tokens in enumerate(writing.contexts) if len(tokens) < network.context]
    progress(len(prompts) - len(fitting))
    answers: dict[int, dict[int, _Row]] = {}
    with torch.inference_mode():
        for answer in writing.answers(fitting):
            samples = answers.setdefault(answer.prompt, {})
            samples[answer.sample] = answer
            if len(samples) == sampling.samples:
                progress(1)
    out = []
    for index, context in enumerate(writing.contexts):
        if index not in answers:
            out.append(Generated(None, (), 0, len(context)))
            continue
        drawn = [answers[index][number] for number in range(sampling.samples)]
        texts, finish = tuple(s.text for s in drawn), tuple(s.finish for s in drawn)
        out.append(Generated(texts, finish, sum(len(s.tokens) for s in drawn), len(context)))
    return out


def end_tokens(network: Network) -> frozenset[int]:
    """Return the tokens that end a text, by the model's generation settings and its tokenizer."""
    configured = getattr(network.model.generation_config, "eos_token_id", None)
    ends = configured if isinstance(configured, list) else [configured]
    return frozenset(int(t) for t in (*ends, network.tokenizer.eos_token_id) if t is not None)


class _Writing:
    """Prompts with their tokens, and the writing of their answers."""

    def __init__(self, network: Network, prompts: Sequence[PromptText], sampling: Sampling) -> None:
        self.contexts = encode_contexts(network.tokenizer, prompts)
        self._network = network
        self._prompts = prompts
        self._sampling = sampling
        self._ends = end_tokens(network)
        self._tail = max((len(text.encode()) for text in sampling.stop), default=0) + _SPARE

    def answers(self, fitting: Sequence[int]) -> Iterator[_Row]:
        """Yield the answers to these prompts, as they are finished."""
        if not self._network.shares:
            for row in self._rows(fitting):
                yield from self._alone(row)
            return
        groups: dict[str, list[int]] = {}
        for index in fitting:
            groups.setdefault(self._prompts[index].prefix, []).append(index)
        for prefix in sorted(groups):
            yield from self._together(groups[prefix])

    def _rows(self, indices: Sequence[int]) -> Iterator[_Row]:
        for index in indices:
            context = self.contexts[index]
            limit = min(self._sampling.max_tokens, self._network.context - len(context))
            for sample in range(self._sampling.samples):
                draw = draws(self._sampling.seed, self._prompts[index], sample)
                yield _Row(index, sample, context, limit, draw)

    def _alone(self, row: _Row) -> list[_Row]:
        """Write one answer, reading the whole text for each token."""
        model = self._network.model
        done: list[_Row] = []
        while not done:
            ids = torch.tensor([row.context + row.tokens], device=model.device)
            logits = model(input_ids=ids, use_cache=False).logits[:, -1]
            _, done = self._append([row], logits.float())
        return done

    def _together(self, members: Sequence[int]) -> Iterator[_Row]:
        """Yield the answers to prompts with one prefix, as they are finished."""
        network, contexts = self._network, self.contexts
        skip, prefix = network.read_prefix([contexts[i] for i in members])
        longest_first = sorted(members, key=lambda i: (-len(contexts[i]), contexts[i]))
        queue = deque(self._rows(longest_first))
        width = len(queue[0].context) - skip
        kept = width + self._sampling.max_tokens // 2 + (0 if network.looks_together else skip)
        slots = min(len(queue), max(1, _CACHE_FACTOR * network.batch_tokens // kept))
        longest = min(width + self._sampling.max_tokens, network.context - skip)
        reader = _Reader(network, skip, prefix, slots, longest)
        rows: list[_Row] = []
        while queue or rows:
            free = slots - len(rows)
            if queue and (not rows or free >= max(1, slots // 4)):
                while free and queue:
                    new, sources, logits = self._read(reader, queue, free, skip)
                    free -= len(new)
                    going_on, done = self._append(new, logits)
                    yield from done
                    if going_on:
                        taken = range(len(rows), len(rows) + len(going_on))
                        reader.cache.place(taken, [sources[i] for i in going_on])
                    rows.extend(new[i] for i in going_on)
            if rows:
                going_on, done = self._append(rows, reader.step(rows))
                yield from done
                rows = _close_ranks(reader.cache, rows, going_on)

    def _read(
        self, reader: _Reader, queue: "deque[_Row]", free: int, skip: int
    ) -> tuple[list[_Row], list[int], torch.Tensor]:
        """Read the next prompts; return their rows, the context and the logits of each row."""
        batch_tokens = self._network.batch_tokens
        width = len(queue[0].context) - skip
        most = max(1, min(batch_tokens // width, _CACHE_FACTOR * batch_tokens // (skip + width)))
        rows: list[_Row] = []
        read: dict[int, int] = {}
        while queue and len(rows) < free and (queue[0].prompt in read or len(read) < most):
            rows.append(queue.popleft())
            read.setdefault(rows[-1].prompt, len(read))
        sources = [read[row.prompt] for row in rows]
        return rows, sources, reader.read([self.contexts[prompt] for prompt in read])[sources]

    def _append(self, rows: Sequence[_Row], logits: torch.Tensor) -> tuple[list[int], list[_Row]]:
        """Append the next token to each row; return places of those that go on, and the others."""
        going_on, done = [], []
        chosen = next_tokens(logits, [row.draw for row in rows], self._sampling)
        for number, (row, token) in enumerate(zip(rows, chosen, strict=True)):
            row.tokens.append(token)
            end = self._end(row)
            if end is None:
                going_on.append(number)
            else:
                row.text, row.finish = end
                done.append(row)
        return going_on, done

    def _end(self, row: _Row) -> tuple[str, str] | None:
        """Return text and finish of an answer, None while it goes on."""
        cut = self._sampling.cut
        if row.tokens[-1] in self._ends:
            return cut(self._text(row, row.tokens[:-1]))[0], "stop"
        if self._sampling.stop and cut(self._decode(row.tokens[-self._tail :]))[1]:
            text, is_cut = cut(self._text(row, row.tokens))
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
        text: str = self._network.tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


def _close_ranks(cache: RowCache, rows: list[_Row], going_on: list[int]) -> list[_Row]:
    """Return the rows that go on, moved so that their slots are the first ones."""
    kept = {number: rows[number] for number in going_on if number < len(going_on)}
    holes = (number for number in range(len(going_on)) if number not in kept)
    for source in going_on[len(kept) :]:
        target = next(holes)
        cache.move(source, target)
        kept[target] = rows[source]
    return [kept[number] for number in range(len(going_on))]
