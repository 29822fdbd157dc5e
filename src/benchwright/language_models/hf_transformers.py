"""Scoring with Hugging Face Transformers: shared prefix, packed options, batches by length.

Prompts with the same demonstrations read them once, from a key-value cache; on a CPU all rows look
at it together (see `shared_prefix`). The options of a prompt lie in one row after its text; by
their mask and positions they do not see each other. Short prompts share a row in the same way, so
that there is little padding. None of this changes what is computed.
"""

import gc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

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
    Prompts,
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


class Layout:
    """One batch of rows: prompts packed side by side, and which state predicts which token.

    `ids`, `positions`, `segments` and `parents` are (rows, width). Each prompt and each option is a
    segment of its row; `parents` is the segment of the prompt that a token belongs to or follows;
    padding is −1 in both. `pairs` has for each token of an option the flat index of the state that
    predicts it, the token, and the option's number, counted through the batch.
    """

    def __init__(self, rows: Sequence[Sequence[Encoded]], skip: int) -> None:
        """Lay out each prompt's context after its first `skip` tokens, then its options.

        An option's last token predicts nothing and is left out; its positions continue the
        context's.
        """
        width = max(sum(item.row_length - skip for item in row) for row in rows)
        shape = (len(rows), width)
        self.ids = np.zeros(shape, np.int64)
        self.positions = np.zeros(shape, np.int64)
        self.segments = np.full(shape, -1, np.int64)
        self.parents = np.full(shape, -1, np.int64)
        self.pairs: list[tuple[int, int, int]] = []
        self.n_options = 0
        for number, row in enumerate(rows):
            at = number * width
            segment = 0
            for item in row:
                parent = segment
                own = item.context[skip:]
                at = self._put(own, at, skip, segment=segment, parent=parent)
                end_of_context = at - 1
                for option in item.options:
                    segment += 1
                    self._ask(option, end_of_context, at)
                    start = len(item.context)
                    at = self._put(option[:-1], at, start, segment=segment, parent=parent)
                segment += 1

    def _put(self, tokens: list[int], at: int, position: int, *, segment: int, parent: int) -> int:
        """Put tokens at a flat index; return the index after them."""
        end = at + len(tokens)
        self.ids.flat[at:end] = tokens
        self.positions.flat[at:end] = range(position, position + len(tokens))
        self.segments.flat[at:end] = segment
        self.parents.flat[at:end] = parent
        return end

    def _ask(self, option: list[int], end_of_context: int, at: int) -> None:
        """Ask for the tokens of an option, which itself lies at a flat index."""
        for place, token in enumerate(option):
            state = at + place - 1 if place else end_of_context
            self.pairs.append((state, token, self.n_options))
        self.n_options += 1


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
            row = []
            beside = []
            room = width
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
        self, batches: Iterable[Prompts], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Yield the scores of each batch; see `score`."""
        for batch in batches:
            yield self.score(batch, progress)

    def generate_batches(
        self, batches: Iterable[Prompts], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Yield the written answers to each batch; see `hf_generation`."""
        for batch in batches:
            yield generate(self, batch, sampling, progress)

    def score(self, prompts: Prompts, progress: Progress = lambda _: None) -> list[PromptScore]:
        """Return the scores of `prompts`, in their order; see `PromptScore`.

        The choice of prompts decides the batches, and so the last bits of bfloat16 scores; their
        order does not.
        """
        encoded = encode(self.tokenizer, prompts)
        sums: dict[int, tuple[float, ...]] = {}
        fitting = [i for i, item in enumerate(encoded) if item.longest <= self.context]
        progress(len(prompts) - len(fitting))
        with torch.inference_mode():
            for indices, values in self._scored(prompts, encoded, fitting):
                sums.update(zip(indices, map(tuple, values), strict=True))
                progress(len(indices))
        return [
            PromptScore(sums.get(i), item.option_tokens, len(item.context))
            for i, item in enumerate(encoded)
        ]

    def _scored(
        self, prompts: Prompts, encoded: Sequence[Encoded], fitting: list[int]
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
                items = [[encoded[members[number]] for number in row] for row in rows]
                indices = [members[number] for row in rows for number in row]
                yield indices, self._forward(items, skip, cache)

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
        layout = Layout(packed, skip)
        device = self.model.device
        positions = torch.from_numpy(layout.positions).to(device)
        segments = torch.from_numpy(layout.segments).to(device)
        parents = torch.from_numpy(layout.parents).to(device)
        mask = self._mask(segments, parents, positions, skip)
        past: Any
        apart = None
        if cache and self.looks_together:
            past = shared_prefix.own_keys_only()
            apart = cache
        else:
            shape = (len(packed), -1, -1, -1)
            past = DynamicCache([(k.expand(shape), v.expand(shape)) for k, v in cache] or None)
        ids = torch.from_numpy(layout.ids)
        hidden = self.hidden_states(ids, positions, mask, past=past, apart=apart)
        state, token, option = np.array(layout.pairs, np.int64).reshape(-1, 3).T
        asked, pair_state = np.unique(state, return_inverse=True)
        states = hidden.flatten(0, 1)[torch.from_numpy(asked).to(device)]
        logprobs = self._logprobs(states, pair_state, token)
        totals = np.bincount(option, weights=logprobs, minlength=layout.n_options)
        counts = [len(item.options) for row in packed for item in row]
        return [part.tolist() for part in np.split(totals, np.cumsum(counts)[:-1])]

    def hidden_states(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, past: Any, apart: Layers | None
    ) -> torch.Tensor:
        """Return the last layer's states (rows, width, size) of `ids` (rows, width).

        `mask` is for each kind of layer, over prefix and own tokens (see `masks`); `past` is a
        cache of Transformers; `apart` is the prefix, if the attention looks at it separately.
        """
        arguments = {}
        if apart is not None:
            keys, _ = apart[0]
            mask = self._own_part(mask, keys.shape[-2])
            arguments["shared_prefix"] = apart
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
        own_segment = seen == segments[:, :, None]
        own_prompt = seen == parents[:, :, None]
        before_it = order[None, :] <= order[:, None]
        same_text = (own_segment | own_prompt) & before_it
        shared = torch.ones((*segments.shape, skip), dtype=torch.bool, device=segments.device)
        full = torch.cat([shared, same_text], dim=2)[:, None]
        in_prefix = torch.arange(skip, device=segments.device).expand(len(segments), -1)
        return self.masks(full, positions, torch.cat([in_prefix, positions], dim=1))

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
        distance = positions[:, :, None] - seen[:, None, :]
        # Padding sees at least itself: a row without any key gives NaN.
        sliding = full & (distance < window)[:, None]
        if not kinds:
            return sliding
        return {"full_attention": full, "sliding_attention": sliding}

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
            normalisers = torch.logsumexp(logits, dim=-1)
            inside = (pair_state >= start) & (pair_state < start + step)
            local = torch.from_numpy(pair_state[inside] - start).to(logits.device)
            tokens = torch.from_numpy(pair_token[inside]).to(logits.device)
            values = logits[local, tokens] - normalisers[local]
            out[inside] = values.double().cpu().numpy()
        return out

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Return float32 logits (n, vocabulary) of hidden states (n, size)."""
        logits = states.float() @ self._head_weight.T
        if self._head.bias is not None:
            logits += self._head.bias
        config = self.model.config.get_text_config(decoder=True)
        cap = getattr(config, "final_logit_softcapping", None)
        if cap:
            return torch.tanh(logits / cap) * cap
        return logits

    def _one_by_one(self, item: Encoded) -> list[float]:
        """Score one text per forward pass, without cache and mask, with the model's own logits."""
        seen: dict[tuple[int, ...], torch.Tensor] = {}
        totals = []
        for option in item.options:
            fed = tuple(option[:-1])
            if fed not in seen:  # labels of one token all need the same pass
                ids = torch.tensor([[*item.context, *fed]], device=self.model.device)
                logits = self.model(input_ids=ids, use_cache=False).logits[0]
                asked = logits[len(item.context) - 1 :].float()
                seen[fed] = torch.log_softmax(asked, dim=-1)
            logprobs = seen[fed]
            totals.append(sum(float(logprobs[j, token]) for j, token in enumerate(option)))
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
        errors = np.abs(np.subtract([plain, plain], [packed, again])) / item.option_tokens
        difference_of_equals = abs(packed[0] - packed[1])
        return bool(np.nanmax(errors) <= tolerance and difference_of_equals <= tolerance)
