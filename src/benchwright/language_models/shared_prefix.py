"""Key-value caches that share a prefix: attention to it, and a slot per text that is written.

All rows look at the keys and values of the prefix at once, as if the rows were one long sequence;
each row looks at its own keys separately. Both are softmax averages with known normalisers, so
their sum is exact: with log-normalisers l₁ and l₂ the whole is o₁·σ(l₁−l₂) + o₂·σ(l₂−l₁) (the
decomposition of FlashAttention, Dao et al., 2022, section 3.1; for shared prefixes Juravsky et al.,
2024, "Hydragen", section 3).
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

NAME = "benchwright_shared_prefix"
"""The name under which Transformers knows this attention."""

KeysAndValues = tuple[torch.Tensor, torch.Tensor]

Layers = Sequence[KeysAndValues]
"""Keys and values of the prefix, layer by layer: (1, key heads, prefix, head size) each."""


def install(model: Any) -> bool:
    """Let `model` use this attention; return False, and change nothing, if it cannot."""
    if model.device.type != "cpu" or not hasattr(
        torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu"
    ):
        return False
    AttentionInterface.register(NAME, attention_forward)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
    before = model.config._attn_implementation
    try:
        model.set_attn_implementation(NAME)
    except (ValueError, AttributeError, KeyError):
        model.set_attn_implementation(before)
        return False
    return bool(model.config._attn_implementation == NAME)


def own_keys_only() -> Any:
    """Return a cache that hands each layer only its new keys and keeps nothing."""
    return Cache(layer_class_to_replicate=NewKeysLayer)


class NewKeysLayer(DynamicLayer):
    """A layer of `own_keys_only`."""

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> Any:
        return key_states, value_states


def attention_forward(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    shared_prefix: Layers | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Compute attention as Transformers asks for it; without `shared_prefix`, the ordinary one.

    `query` is (rows, heads, width, head size); `key` and `value` of the rows' own tokens are (rows,
    key heads, width, head size). `attention_mask` is (rows, 1, width, width) over the own tokens if
    every row sees all of the prefix, else (rows, 1, width, prefix + width). The result is (rows,
    width, heads, head size), None.
    """
    if shared_prefix is not None:
        prefix_key, prefix_value = shared_prefix[module.layer_idx]
        mask_is_own = attention_mask is not None and attention_mask.shape[-1] == key.shape[-2]
        if mask_is_own and others.get("softcap") is None and others.get("s_aux") is None:
            out = prefix_attention(
                query, prefix_key, prefix_value, key, value, attention_mask, scaling
            )
            return out.transpose(1, 2).contiguous(), None
        key = after_prefix(prefix_key, key)
        value = after_prefix(prefix_value, value)
    out, _ = sdpa_attention_forward(
        module, query, key, value, attention_mask, scaling=scaling, dropout=dropout, **others
    )
    return out, None


def after_prefix(prefix: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Return each row's own keys or values after those of the prefix."""
    return torch.cat([prefix.expand(len(own), -1, -1, -1), own], dim=2)


def prefix_attention(
    query: torch.Tensor,
    prefix_key: torch.Tensor,
    prefix_value: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None = None,
) -> torch.Tensor:
    """Compute attention to a shared prefix and to each row's own tokens.

    `query` and the result are (rows, heads, width, size), heads a multiple of the key heads; the
    prefix is (1, key heads, prefix, size), seen by all queries; `key` and `value` are (rows, key
    heads, width, size). `mask` (rows, 1, width, width) is added to the scores of the own keys, in
    query's dtype; `scaling` None divides scores by the square root of the size.
    """
    attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    rows, heads, width, size = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    queries = group * width
    # All queries that share a key head form one long sequence; no key is copied for its queries.
    grouped = query.reshape(rows, kv_heads, queries, size)
    together = grouped.transpose(0, 1).reshape(1, kv_heads, rows * queries, size)
    far, far_norm = attend(together, prefix_key, prefix_value, scale=scaling)
    far = far.view(kv_heads, rows, queries, size).transpose(0, 1)
    far_norm = far_norm.view(kv_heads, rows, queries).transpose(0, 1)
    if mask is not None:
        mask = mask.repeat(1, 1, group, 1)
    near, near_norm = attend(grouped, key, value, attn_mask=mask, scale=scaling)
    share = torch.sigmoid(far_norm - near_norm)[..., None]
    mixed = torch.lerp(near.float(), far.float(), share)
    return mixed.view(query.shape).to(query.dtype)


class RowCache:
    """Keys and values of up to `slots` texts with a common prefix; rows 0, 1, … are in use.

    A text's tokens lie in its slot without gaps, in the order of their positions. Texts of any
    length, up to `width` tokens after the prefix, are written side by side; another text takes the
    place of a finished one. Nothing is copied from token to token. `apart`: the attention looks at
    the prefix separately; otherwise it is copied into each slot.
    """

    def __init__(self, slots: int, width: int, prefix: Layers, apart: bool) -> None:
        self._prefix = prefix
        self._copied = 0
        if prefix and not apart:
            keys, _ = prefix[0]
            self._copied = keys.shape[-2]
        self._slots = slots
        self._width = width + self._copied
        self._kept: list[KeysAndValues] = []  # by layer
        self._fresh: dict[int, KeysAndValues] = {}
        self._columns: torch.Tensor | None = None
        self._seen = 0

    def to_read(self) -> Any:
        """Return a cache for Transformers that reads new texts after the prefix, for `place`."""
        self._columns = None
        self._fresh = {}
        return self._for_transformers()

    def to_write(self, columns: torch.Tensor) -> Any:
        """Return a cache that gives each row one token after its `columns` (rows,) own tokens."""
        self._columns = columns + self._copied
        self._seen = int(self._columns.max()) + 1
        return self._for_transformers()

    def _for_transformers(self) -> Any:
        numbers = count()
        return Cache(layer_class_to_replicate=lambda: RowLayer(self, next(numbers)))

    def place(self, slots: Sequence[int], rows: Sequence[int]) -> None:
        """Put rows of the texts read last into slots."""
        for layer, (keys, values) in sorted(self._fresh.items()):
            if layer == len(self._kept):
                self._kept.append((self._empty(keys), self._empty(values)))
            kept_keys, kept_values = self._kept[layer]
            end = self._copied + keys.shape[2]
            kept_keys[list(slots), :, self._copied : end] = keys[list(rows)]
            kept_values[list(slots), :, self._copied : end] = values[list(rows)]
            if self._copied:
                prefix_keys, prefix_values = self._prefix[layer]
                kept_keys[list(slots), :, : self._copied] = prefix_keys
                kept_values[list(slots), :, : self._copied] = prefix_values

    def move(self, source: int, target: int) -> None:
        """Copy one slot into another."""
        for keys, values in self._kept:
            keys[target, :, : self._seen] = keys[source, :, : self._seen]
            values[target, :, : self._seen] = values[source, :, : self._seen]

    def update(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> KeysAndValues:
        """Store a layer's new keys and values (rows, heads, width, size); return all of them."""
        if self._columns is None:
            self._fresh[layer] = (keys, values)
            if not self._copied:
                return keys, values
            prefix_keys, prefix_values = self._prefix[layer]
            return after_prefix(prefix_keys, keys), after_prefix(prefix_values, values)
        n_rows = len(keys)
        rows = torch.arange(n_rows, device=keys.device)
        kept_keys, kept_values = self._kept[layer]
        kept_keys[rows, :, self._columns] = keys[:, :, 0]
        kept_values[rows, :, self._columns] = values[:, :, 0]
        return kept_keys[:n_rows, :, : self._seen], kept_values[:n_rows, :, : self._seen]

    def _empty(self, like: torch.Tensor) -> torch.Tensor:
        _, heads, _, size = like.shape
        return like.new_zeros((self._slots, heads, self._width, size))


class RowLayer(DynamicLayer):
    """One layer of a `RowCache`, as Transformers asks it."""

    def __init__(self, cache: RowCache, number: int) -> None:
        super().__init__()
        self._cache = cache
        self._number = number

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> Any:
        return self._cache.update(self._number, key_states, value_states)
