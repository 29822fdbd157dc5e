"""Scoring with Hugging Face Transformers: shared prefix, packed options, batches by length.

Prompts with the same demonstrations read them once, from a key-value cache; on a CPU all rows look
at it together (see `shared_prefix`). The options of a prompt lie in one row after its text; by
their mask and positions they do not see each other. Short prompts share a row in the same way, so
that there is little padding. None of this changes what is computed.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, DynamicCache

from benchwright.language_models import shared_prefix
from benchwright.language_models.hf_generation import generate
from benchwright.language_models.packed_layers import pack_linear_layers
from benchwright.language_models.protocol import (
    Generated,
    Progress,
    PromptScore,
    PromptText,
    Sampling,
)
from benchwright.language_models.shared_prefix import Layers
from benchwright.language_models.tokenization import Encoded, common_length, encode
from benchwright.language_models.weights import (
    Device,
    Dtype,
    ModelSource,
    load_errors,
    load_tokenizer,
)

_HEAD_ELEMENTS = 1 << 25  # float32 logits at a time: 128 MiB
_MIN_SHARED = 8  # tokens; a shorter prefix is not worth a separate pass
_ROW = 256  # tokens of a row that short prompts fill together
_CONTEXT_FACTOR = 8  # tokens of keys and values per token of a batch
_CHECK = PromptText(
    "Colours of fruit.\n\nQuestion: lemon\nAnswer: bright yellow like the sun",
    "\n\nQuestion: cherry\nAnswer:",
    (" dark red like wine", " dark red like wine", " blue", " bright yellow like the sun"),
)


class _Layout(NamedTuple):
    """One batch of rows: ids, positions and segments (rows, width), and the states to read.

    Each prompt and each option is a segment; `parents` is the segment of the prompt that a token
    belongs to or follows; padding is −1 in both. `states` are flat indices of the hidden states
    that predict something. Pair p asks state `pair_state[p]` for token `pair_token[p]` and belongs
    to option `pair_option[p]`, counted through the batch, row by row.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    segments: NDArray[np.int64]
    parents: NDArray[np.int64]
    states: NDArray[np.int64]
    pair_state: NDArray[np.int64]
    pair_token: NDArray[np.int64]
    pair_option: NDArray[np.int64]


def lay_out(rows: Sequence[Sequence[Encoded]], skip: int) -> _Layout:
    """Pack prompts into rows: each one's context after its first `skip` tokens, then its options.

    An option's last token predicts nothing and is left out; its positions continue the context's.
    """
    width = max(sum(item.row_length - skip for item in row) for row in rows)
    shape = (len(rows), width)
    ids, positions = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    segments, parents = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
    states: list[int] = []
    pairs: list[tuple[int, int, int]] = []
    n_options = 0

    def put(number: int, at: int, tokens: list[int], position: int, kin: tuple[int, int]) -> int:
        span = number, slice(at, at + len(tokens))
        ids[span] = tokens
        positions[span] = range(position, position + len(tokens))
        segments[span], parents[span] = kin
        return at + len(tokens)

    for number, row in enumerate(rows):
        at = segment = 0
        for item in row:
            parent, n = segment, len(item.context)
            at = put(number, at, item.context[skip:], skip, (segment, parent))
            states.append(number * width + at - 1)
            last_of_context = len(states) - 1
            for option in item.options:
                segment += 1
                for j, token in enumerate(option):
                    if j:
                        states.append(number * width + at + j - 1)
                    pairs.append((len(states) - 1 if j else last_of_context, token, n_options))
                at = put(number, at, option[:-1], n, (segment, parent))
                n_options += 1
            segment += 1
    columns = np.array(pairs, np.int64).reshape(-1, 3).T
    return _Layout(ids, positions, segments, parents, np.array(states), *columns)


def fill_rows(lengths: Sequence[int], batch_tokens: int, skip: int) -> Iterator[list[list[int]]]:
    """Yield batches of rows of prompts: the longest prompt first, then others that fit its row.

    `lengths` are tokens of each prompt after the shared prefix of `skip` tokens, longest first.
    Rows times width is at most `batch_tokens`, unless one prompt is longer. A batch has for each
    row the numbers of its prompts.
    """
    left = list(range(len(lengths)))
    while left:
        width = max(lengths[left[0]], min(_ROW, batch_tokens))
        most = min(batch_tokens // width, _CONTEXT_FACTOR * batch_tokens // (skip + width))
        rows: list[list[int]] = []
        while left and len(rows) < max(1, most):
            row, beside, room = [], [], width
            for number in left:
                if lengths[number] <= room:
                    row.append(number)
                    room -= lengths[number]
                else:
                    beside.append(number)
            rows.append(row)
            left = beside
        yield rows


class TransformersModel:
    """A causal language model that scores continuations; see `LanguageModel`.

    Scores equal one-by-one scoring of the joint text up to rounding: 1e-3 in float32, a few tenths
    per token in bfloat16. A self-test at loading checks whether the model may share a prefix and a
    row (`shares`) and look at a prefix from all rows together (`looks_together`). The output layer
    works in float32, because bfloat16 logits tie. One forward pass has `batch_tokens`.
    """

    def __init__(
        self, model: Any, tokenizer: Any, context: int = 2048, batch_tokens: int = 2048
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.context = context
        self.batch_tokens = batch_tokens
        self._head = model.get_output_embeddings()
        self._head_weight = self._head.weight.detach().float()
        pack_linear_layers(model, besides=self._head)
        # The fastest way that passes the self-test.
        before = model.config._attn_implementation
        self.looks_together = shared_prefix.install(model)
        self.shares = self._sharing_agrees()
        if self.looks_together and not self.shares:
            self.looks_together = False
            model.set_attn_implementation(before)
            self.shares = self._sharing_agrees()

    @classmethod
    def load(
        cls,
        source: ModelSource,
        dtype: Dtype,
        device: Device = "cpu",
        context: int = 2048,
        batch_tokens: int = 2048,
    ) -> Self:
        """Load a model."""
        # cuDNN builds a plan for every shape of a batch: half of the time on an H100.
        torch.backends.cuda.enable_cudnn_sdp(False)
        with load_errors(source.name_or_path):
            model = AutoModelForCausalLM.from_pretrained(
                source.name_or_path,
                dtype=getattr(torch, dtype),
                attn_implementation="sdpa",
                use_safetensors=True,
                **source.options,
            )
        return cls(model.to(device), load_tokenizer(source), context, batch_tokens)

    def close(self) -> None:
        del self.model, self._head, self._head_weight
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def score_batches(
        self, batches: Iterable[Sequence[PromptText]], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Yield the scores of each batch; see `score`."""
        for batch in batches:
            yield self.score(batch, progress)

    def generate_batches(
        self, batches: Iterable[Sequence[PromptText]], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Yield the written answers to each batch; see `hf_generation`."""
        for batch in batches:
            yield generate(self, batch, sampling, progress)

    def score(
        self, prompts: Sequence[PromptText], progress: Callable[[int], object] | None = None
    ) -> list[PromptScore]:
        """Return the scores of `prompts`, in their order; see `PromptScore`.

        The choice of prompts decides the batches, and so the last bits of bfloat16 scores; their
        order does not.
        """
        report = progress or (lambda _: None)
        encoded = encode(self.tokenizer, prompts)
        sums: dict[int, tuple[float, ...]] = {}
        fitting = [i for i, item in enumerate(encoded) if item.longest <= self.context]
        report(len(prompts) - len(fitting))
        with torch.inference_mode():
            for indices, values in self._scored(prompts, encoded, fitting):
                sums.update(zip(indices, map(tuple, values), strict=True))
                report(len(indices))
        return [
            PromptScore(sums.get(i), item.option_tokens, len(item.context))
            for i, item in enumerate(encoded)
        ]

    def _scored(
        self, prompts: Sequence[PromptText], encoded: Sequence[Encoded], fitting: list[int]
    ) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Yield indices of prompts and their options' log-likelihoods, batch by batch."""
        if not self.shares:
            for index in fitting:
                yield [index], [self._one_by_one(encoded[index])]
            return
        groups: dict[str, list[int]] = {}
        for index in fitting:
            groups.setdefault(prompts[index].prefix, []).append(index)
        for prefix in sorted(groups):
            members = sorted(groups[prefix], key=lambda i: (-encoded[i].row_length, encoded[i]))
            skip, cache = self.read_prefix([encoded[i].context for i in members])
            lengths = [encoded[i].row_length - skip for i in members]
            for rows in fill_rows(lengths, self.batch_tokens, skip):
                chosen = [[members[number] for number in row] for row in rows]
                items = [[encoded[i] for i in row] for row in chosen]
                yield [i for row in chosen for i in row], self._forward(items, skip, cache)

    def read_prefix(self, contexts: list[list[int]]) -> tuple[int, list[Any]]:
        """Return the number of tokens that all contexts share, and their keys and values."""
        # At least one token of each context stays behind, to predict the first of its options.
        shared = min(common_length(contexts), min(map(len, contexts)) - 1)
        if len(contexts) == 1 or shared < _MIN_SHARED:
            return 0, []

        cache = DynamicCache()  # of full length in every layer: the mask knows about windows
        ids = torch.tensor([contexts[0][:shared]], device=self.model.device)
        self.model.base_model(input_ids=ids, past_key_values=cache, use_cache=True)
        return shared, [(layer.keys, layer.values) for layer in cache.layers]

    def _forward(
        self, packed: list[list[Encoded]], skip: int, cache: list[Any]
    ) -> list[list[float]]:
        """Return the log-likelihoods of the options of each prompt, row by row."""
        layout = lay_out(packed, skip)
        ids, positions, segments, parents, at = (
            torch.from_numpy(part).to(self.model.device) for part in layout[:5]
        )
        mask = self._mask(segments, parents, positions, skip)
        past: Any
        if apart := bool(cache) and self.looks_together:
            past = shared_prefix.own_keys_only()
        else:
            shape = (len(packed), -1, -1, -1)
            past = DynamicCache([(k.expand(shape), v.expand(shape)) for k, v in cache] or None)
        hidden = self.hidden_states(ids, positions, mask, past, cache if apart else None)
        states = hidden.flatten(0, 1)[at]
        logprobs = self._logprobs(states, layout.pair_state, layout.pair_token)
        counts = [len(item.options) for row in packed for item in row]
        totals = np.bincount(layout.pair_option, weights=logprobs, minlength=sum(counts))
        ends = np.cumsum(counts)[:-1]
        return [part.tolist() for part in np.split(totals, ends)]

    def hidden_states(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, past: Any, apart: Layers | None
    ) -> torch.Tensor:
        """Return the last layer's states (rows, width, size) of `ids` (rows, width).

        `mask` is for each kind of layer, over prefix and own tokens (see `masks`); `past` is a
        cache of Transformers; `apart` is the prefix, if the attention looks at it separately.
        """
        arguments: dict[str, Any] = {}
        if apart is not None:
            mask = self._own_part(mask, apart[0][0].shape[-2])
            arguments = {"shared_prefix": apart}
        states: torch.Tensor = self.model.base_model(
            input_ids=ids.to(self.model.device),
            position_ids=positions,
            attention_mask=mask,
            past_key_values=past,
            use_cache=True,
            **arguments,
        ).last_hidden_state
        return states

    def _mask(
        self,
        segments: torch.Tensor,
        parents: torch.Tensor,
        positions: torch.Tensor,
        skip: int,
    ) -> Any:
        """Return the attention mask (rows, 1, width, skip + width) within each text."""
        width = segments.shape[1]
        order = torch.arange(width, device=segments.device)
        seen = segments[:, None, :]
        same_text = (seen == segments[:, :, None]) | (seen == parents[:, :, None])
        same_text &= order[None, :] <= order[:, None]
        shared = torch.ones((*segments.shape, skip), dtype=torch.bool, device=segments.device)
        full = torch.cat([shared, same_text], dim=2)[:, None]
        before = torch.arange(skip, device=segments.device).expand(len(segments), -1)
        return self.masks(full, positions, torch.cat([before, positions], dim=1))

    def masks(self, full: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor) -> Any:
        """Return a mask for each kind of layer, since some look back no further than a window.

        `full` (rows, 1, width, keys) is the unlimited mask; `positions` (rows, width) are those
        of the queries, `seen` (rows, keys) or (1, keys) those of the keys.
        """
        config = self.model.config.get_text_config(decoder=True)
        window = getattr(config, "sliding_window", None)
        kinds = set(getattr(config, "layer_types", None) or ())
        if not window or kinds == {"full_attention"}:
            return full
        near = (positions[:, :, None] - seen[:, None, :] < window)[:, None]
        # Padding sees at least itself: a row without any key gives NaN.
        sliding = full & near
        return {"full_attention": full, "sliding_attention": sliding} if kinds else sliding

    def _own_part(self, mask: Any, skip: int) -> Any:
        """Return the masks of the own tokens, if every row sees all of the prefix."""
        if isinstance(mask, dict):
            return {kind: self._own_part(part, skip) for kind, part in mask.items()}
        if not bool(mask[..., :skip].all()):
            return mask
        return torch.where(mask[..., skip:], 0.0, float("-inf")).to(self.model.dtype)

    def _logprobs(
        self, states: torch.Tensor, pair_state: Any, pair_token: Any
    ) -> NDArray[np.float64]:
        """Return the log-probability of each pair's token, from float32 logits."""
        out = np.empty(len(pair_state))
        step = max(1, _HEAD_ELEMENTS // len(self._head_weight))
        for start in range(0, len(states), step):
            logits = self.logits(states[start : start + step])
            inside = (pair_state >= start) & (pair_state < start + step)
            local = torch.from_numpy(pair_state[inside] - start).to(logits.device)
            tokens = torch.from_numpy(pair_token[inside]).to(logits.device)
            values = logits[local, tokens] - torch.logsumexp(logits, dim=-1)[local]
            out[inside] = values.double().cpu().numpy()
        return out

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Return float32 logits (n, vocabulary) of hidden states (n, size)."""
        logits = states.float() @ self._head_weight.T
        if self._head.bias is not None:
            logits += self._head.bias
        config = self.model.config.get_text_config(decoder=True)
        cap = getattr(config, "final_logit_softcapping", None)
        return torch.tanh(logits / cap) * cap if cap else logits

    def _one_by_one(self, item: Encoded) -> list[float]:
        """Score one text per forward pass, without cache and mask, with the model's own logits."""
        seen: dict[tuple[int, ...], torch.Tensor] = {}
        totals = []
        for option in item.options:
            fed = tuple(option[:-1])
            if fed not in seen:  # labels of one token all need the same pass
                ids = torch.tensor([[*item.context, *fed]], device=self.model.device)
                logits = self.model(input_ids=ids, use_cache=False).logits[0]
                seen[fed] = torch.log_softmax(logits[len(item.context) - 1 :].float(), dim=-1)
            totals.append(sum(float(seen[fed][j, token]) for j, token in enumerate(option)))
        return totals

    def _sharing_agrees(self) -> bool:
        """Return whether shared and packed scores equal the plain ones for this architecture.

        Two of the options are equal, so that one which saw the other would score differently.
        """
        [item] = encode(self.tokenizer, [_CHECK])
        # An ignored mask costs several nats per token; bfloat16 rounds by tenths.
        tolerance = 0.01 if self.model.dtype == torch.float32 else 0.5
        with torch.inference_mode():
            plain = self._one_by_one(item)
            try:
                skip, cache = self.read_prefix([item.context, item.context])
                packed, again = self._forward([[item, item]], skip, cache)
            except (RuntimeError, ValueError, TypeError, AttributeError, LookupError):
                return False
        differences = np.abs(np.subtract([plain, plain], [packed, again])) / item.option_tokens
        return bool(np.nanmax(differences) <= tolerance and abs(packed[0] - packed[1]) <= tolerance)
