"""Writing answers with Hugging Face Transformers: many at once, one token of each per pass.

Prompts with the same prefix read it once. Answers are written side by side; the next prompt takes
the place of a finished one. Which answers are written side by side changes only rounding: each has
its own positions, mask and random numbers.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchwright.language_models.protocol import Generated, Progress, Prompts, PromptText, Sampling
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
    content = "\x1f".join([str(seed), str(sample), prompt.template, prompt.shown])
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
    shares = [[generator.random()] for generator in generators]
    wanted = mass.new_tensor(shares) * mass[:, -1:]
    places = torch.searchsorted(mass, wanted, right=True)
    places = places.clamp(max=mass.shape[1] - 1)
    chosen = places if ids is None else ids.gather(1, places)
    return [int(token) for token in chosen[:, 0].tolist()]


def _nucleus(weights: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return probabilities and ids of the tokens to draw from, most probable first."""
    usual = min(_USUAL_NUCLEUS, weights.shape[1])
    top, ids = weights.topk(usual, dim=-1)
    is_short = top.sum(dim=-1) < top_p
    if usual < weights.shape[1] and bool(is_short.any()):
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

    def __init__(
        self, network: "TransformersModel", skip: int, prefix: Layers, slots: int, width: int
    ) -> None:
        self.skip = skip
        self.slots = slots
        self._network = network
        self._apart = prefix if network.looks_together and skip > 0 else None
        self.cache = RowCache(slots, width, prefix, apart=self._apart is not None)

    def read(self, contexts: Sequence[list[int]]) -> torch.Tensor:
        """Return the logits (contexts, vocabulary) after each context."""
        width = max(map(len, contexts))
        # Padding comes last: no token of a text can see it.
        padded = [context + [0] * (width - len(context)) for context in contexts]
        ids = torch.tensor(padded)[:, self.skip :]
        positions = torch.arange(self.skip, width).expand(len(ids), -1)
        hidden = self._states(ids, positions, self.cache.to_read())
        last = [len(context) - self.skip - 1 for context in contexts]
        rows = list(range(len(contexts)))
        return self._network.logits(hidden[rows, last])

    def step(self, rows: Sequence[_Row]) -> torch.Tensor:
        """Read the last token of each text; return the logits (rows, vocabulary) after it."""
        ids = torch.tensor([[row.tokens[-1]] for row in rows])
        positions = torch.tensor([[row.position] for row in rows])
        columns = positions[:, 0].to(self._network.model.device) - self.skip
        hidden = self._states(ids, positions, self.cache.to_write(columns))
        return self._network.logits(hidden[:, 0])

    def _states(self, ids: torch.Tensor, positions: torch.Tensor, cache: Any) -> torch.Tensor:
        network = self._network
        at = positions.to(network.model.device)
        keys = torch.arange(int(positions.max()) + 1, device=at.device)
        seen = keys <= at[:, :, None]
        mask = network.masks(seen[:, None], at, keys[None])
        return network.hidden_states(ids, at, mask, past=cache, apart=self._apart)


def generate(
    network: "TransformersModel",
    prompts: Prompts,
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
    answers: list[list[_Row]] = [[] for _ in prompts]
    with torch.inference_mode():
        for answer in writing.answers(fitting):
            samples = answers[answer.prompt]
            samples.append(answer)
            if len(samples) == sampling.samples:
                progress(1)
    return list(map(_generated, writing.contexts, answers))


def _generated(context: list[int], samples: list[_Row]) -> Generated:
    if not samples:
        return Generated(None, (), 0, len(context))
    samples.sort(key=lambda row: row.sample)
    return Generated(
        texts=tuple(row.text for row in samples),
        finish=tuple(row.finish for row in samples),
        generated_tokens=sum(len(row.tokens) for row in samples),
        prompt_tokens=len(context),
    )


def end_tokens(network: "TransformersModel") -> frozenset[int]:
    """Return the tokens that end a text, by the model's generation settings and its tokenizer."""
    configured = getattr(network.model.generation_config, "eos_token_id", None)
    ends = {network.tokenizer.eos_token_id}
    if isinstance(configured, list):
        ends.update(configured)
    else:
        ends.add(configured)
    return frozenset(ends - {None})


class _Writing:
    """Prompts with their tokens, and the writing of their answers."""

    def __init__(self, network: "TransformersModel", prompts: Prompts, sampling: Sampling) -> None:
        self.contexts = encode_contexts(network.tokenizer, prompts)
        self._network = network
        self._prompts = prompts
        self._sampling = sampling
        self._ends = end_tokens(network)
        longest_stop = max((len(text.encode()) for text in sampling.stop), default=0)
        self._tail = longest_stop + _SPARE

    def answers(self, fitting: Sequence[int]) -> Iterator[_Row]:
        """Yield the answers to these prompts, as they are finished."""
        if not self._network.shares:
            for row in self._rows(fitting):
                self._write_alone(row)
                yield row
            return
        groups: dict[str, list[int]] = {}
        for index in fitting:
            groups.setdefault(self._prompts[index].prefix, []).append(index)
        for prefix in sorted(groups):
            yield from self._together(groups[prefix])

    def _rows(self, indices: Sequence[int]) -> Iterator[_Row]:
        sampling = self._sampling
        for index in indices:
            context = self.contexts[index]
            limit = min(sampling.max_tokens, self._network.context - len(context))
            for sample in range(sampling.samples):
                draw = draws(sampling.seed, self._prompts[index], sample)
                yield _Row(index, sample, context, limit=limit, draw=draw)

    def _write_alone(self, row: _Row) -> None:
        """Write one answer, reading the whole text for each token."""
        model = self._network.model
        while not row.finish:
            ids = torch.tensor([row.context + row.tokens], device=model.device)
            logits = model(input_ids=ids, use_cache=False).logits[:, -1]
            self._append([row], logits.float())

    def _together(self, members: Sequence[int]) -> Iterator[_Row]:
        """Yield the answers to prompts with one prefix, as they are finished."""
        contexts = self.contexts
        longest_first = sorted(members, key=lambda i: (-len(contexts[i]), contexts[i]))
        queue = deque(self._rows(longest_first))
        reader = self._reader(members, queue)
        rows: list[_Row] = []
        while queue or rows:
            free = reader.slots - len(rows)
            if queue and (not rows or free >= max(1, reader.slots // 4)):
                yield from self._begin(reader, queue, rows)
            if rows:
                self._append(rows, reader.step(rows))
                yield from (row for row in rows if row.finish)
                rows = _close_ranks(reader.cache, rows)

    def _reader(self, members: Sequence[int], queue: "deque[_Row]") -> _Reader:
        network = self._network
        skip, prefix = network.read_prefix([self.contexts[i] for i in members])
        most = self._sampling.max_tokens
        width = len(queue[0].context) - skip
        kept = width + most // 2
        if not network.looks_together:
            kept += skip
        slots = max(1, _CACHE_FACTOR * network.batch_tokens // kept)
        longest = min(width + most, network.context - skip)
        return _Reader(network, skip, prefix, slots=min(len(queue), slots), width=longest)

    def _begin(self, reader: _Reader, queue: "deque[_Row]", rows: list[_Row]) -> Iterator[_Row]:
        """Put the next answers into the free slots; yield those that end with their first token."""
        free = reader.slots - len(rows)
        while queue and free:
            new = self._next_rows(reader, queue, free)
            free -= len(new)
            prompts = list(dict.fromkeys(row.prompt for row in new))
            logits = reader.read([self.contexts[prompt] for prompt in prompts])
            places = [prompts.index(row.prompt) for row in new]
            self._append(new, logits[places])
            going_on = []
            for row, place in zip(new, places, strict=True):
                if row.finish:
                    yield row
                else:
                    rows.append(row)
                    going_on.append(place)
            if going_on:
                reader.cache.place(range(len(rows) - len(going_on), len(rows)), going_on)

    def _next_rows(self, reader: _Reader, queue: "deque[_Row]", free: int) -> list[_Row]:
        """Take answers from the queue, of as many prompts as are read in one pass."""
        batch_tokens = self._network.batch_tokens
        length = len(queue[0].context)
        fit_pass = batch_tokens // (length - reader.skip)
        fit_cache = _CACHE_FACTOR * batch_tokens // length
        rows: list[_Row] = []
        prompts: set[int] = set()
        while queue and len(rows) < free:
            prompts.add(queue[0].prompt)
            if len(prompts) > max(1, min(fit_pass, fit_cache)):
                break
            rows.append(queue.popleft())
        return rows

    def _append(self, rows: Sequence[_Row], logits: torch.Tensor) -> None:
        """Append the next token to each row; set text and finish of those that end with it."""
        chosen = next_tokens(logits, [row.draw for row in rows], self._sampling)
        for row, token in zip(rows, chosen, strict=True):
            row.tokens.append(token)
            end = self._end(row)
            if end is not None:
                row.text, row.finish = end

    def _end(self, row: _Row) -> tuple[str, str] | None:
        """Return text and finish of an answer, None while it goes on."""
        cut = self._sampling.cut
        if row.tokens[-1] in self._ends:
            text, _ = cut(self._text(row, row.tokens[:-1]))
            return text, "stop"
        if self._sampling.stop:
            _, may_be_cut = cut(self._decode(row.tokens[-self._tail :]))
            if may_be_cut:
                text, is_cut = cut(self._text(row, row.tokens))
                if is_cut:
                    return text, "stop"
        if len(row.tokens) >= row.limit:
            return self._text(row, row.tokens), "length"
        return None

    def _text(self, row: _Row, tokens: list[int]) -> str:
        # Some tokenizers drop the space before the first token that they decode.
        anchor = row.context[-_ANCHOR:]
        before = self._decode(anchor)
        whole = self._decode(anchor + tokens)
        if whole.startswith(before):
            return whole[len(before) :]
        return self._decode(tokens)

    def _decode(self, tokens: list[int]) -> str:
        text: str = self._network.tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


def _close_ranks(cache: RowCache, rows: list[_Row]) -> list[_Row]:
    """Return the rows that go on, moved so that their slots are the first ones."""
    going_on = [slot for slot, row in enumerate(rows) if not row.finish]
    kept = rows[: len(going_on)]
    holes = [slot for slot, row in enumerate(kept) if row.finish]
    for hole, slot in zip(holes, going_on[len(kept) - len(holes) :], strict=True):
        cache.move(slot, hole)
        kept[hole] = rows[slot]
    return kept
