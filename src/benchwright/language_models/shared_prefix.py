"""Attention of many rows to one shared prefix, without a copy of the prefix for every row.

The keys and values of the prefix are looked at by all rows at once, as if the rows were one long
sequence; each row's own keys are looked at apart. Both are softmax averages with known
normalisers, so their sum is exact: with log-normalisers l₁ and l₂ the whole is
o₁·σ(l₁−l₂) + o₂·σ(l₂−l₁) (the decomposition of FlashAttention, Dao et al., 2022, section 3.1;
for shared prefixes Juravsky et al., 2024, "Hydragen", section 3).
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NAME = "benchwright_shared_prefix"
"""The name under which Transformers knows this attention."""

Layers = Sequence[tuple["torch.Tensor", "torch.Tensor"]]
"""Keys and values of the prefix, layer by layer: (1, key heads, prefix, head size) each."""


def install(model: Any) -> bool:
    """Let `model` use this attention; False where it cannot, which leaves it as it was."""
    import torch
    from transformers import AttentionInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

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


def own_keys_only(layers: Layers) -> Any:
    """A cache that knows the prefix's length and hands each layer nothing but its new keys."""
    from transformers.cache_utils import Cache

    return Cache(layers=[_layer_class()(keys, values) for keys, values in layers])


@functools.cache
def _layer_class() -> Any:
    from transformers.cache_utils import DynamicLayer

    class PrefixLayer(DynamicLayer):
        """A layer whose length is the prefix's and which keeps nothing that is added."""

        def __init__(self, keys: "torch.Tensor", values: "torch.Tensor") -> None:
            super().__init__()
            self.lazy_initialization(keys, values)
            self.keys, self.values = keys, values

        def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> Any:
            return key_states, value_states

    return PrefixLayer


def attention_forward(
    module: Any,
    query: "torch.Tensor",
    key: "torch.Tensor",
    value: "torch.Tensor",
    attention_mask: "torch.Tensor | None",
    scaling: float | None = None,
    dropout: float = 0.0,
    shared_prefix: Layers | None = None,
    **others: Any,
) -> tuple["torch.Tensor", None]:
    """Attention as Transformers asks for it; without `shared_prefix` it is the ordinary one.

    Args:
        module: the attention layer.
        query: (rows, heads, width, head size).
        key: (rows, key heads, width, head size), of the rows' own tokens.
        value: the same.
        attention_mask: (rows, 1, width, width) over the own tokens, every row seeing all of the
            prefix; or (rows, 1, width, prefix + width), where not every row does.
        scaling: of the scores.
        dropout: none.
        shared_prefix: the prefix, layer by layer.
        others: for the ordinary attention.

    Returns:
        (rows, width, heads, head size), None.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if shared_prefix is not None:
        prefix_key, prefix_value = shared_prefix[module.layer_idx]
        mask_is_own = attention_mask is not None and attention_mask.shape[-1] == key.shape[-2]
        if mask_is_own and others.get("softcap") is None and others.get("s_aux") is None:
            out = prefix_attention(
                query, prefix_key, prefix_value, key, value, attention_mask, scaling
            )
            return out.transpose(1, 2).contiguous(), None
        rows = len(key)
        key = _after(prefix_key, key, rows)
        value = _after(prefix_value, value, rows)
    out, _ = sdpa_attention_forward(
        module, query, key, value, attention_mask, scaling=scaling, dropout=dropout, **others
    )
    return out, None


def _after(prefix: "torch.Tensor", own: "torch.Tensor", rows: int) -> "torch.Tensor":
    import torch

    return torch.cat([prefix.expand(rows, -1, -1, -1), own], dim=-2)


def prefix_attention(
    query: "torch.Tensor",
    prefix_key: "torch.Tensor",
    prefix_value: "torch.Tensor",
    key: "torch.Tensor",
    value: "torch.Tensor",
    mask: "torch.Tensor | None",
    scaling: float | None = None,
) -> "torch.Tensor":
    """Attention to a shared prefix and to one's own tokens.

    Args:
        query: (rows, heads, width, size); heads is a multiple of the key heads.
        prefix_key: (1, key heads, prefix, size), seen by all queries of all rows.
        prefix_value: the same.
        key: (rows, key heads, width, size), seen as `mask` allows.
        value: the same.
        mask: added to the scores of the own keys, (rows, 1, width, width), in query's dtype.
        scaling: of the scores; None divides by the square root of the size.

    Returns:
        (rows, heads, width, size).
    """
    import torch

    attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    rows, heads, width, size = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    # All queries that share a key head form one long sequence.
    grouped = query.view(rows, kv_heads, group, width, size).transpose(0, 1)
    together = grouped.reshape(1, kv_heads, rows * group * width, size)
    far, far_norm = attend(together, prefix_key, prefix_value, 0.0, False, scale=scaling)
    far = far.view(kv_heads, rows, group, width, size).transpose(0, 1)
    far_norm = far_norm.view(kv_heads, rows, group, width).transpose(0, 1)
    near, near_norm = attend(
        query,
        key.repeat_interleave(group, dim=1) if group > 1 else key,
        value.repeat_interleave(group, dim=1) if group > 1 else value,
        0.0,
        False,
        attn_mask=mask,
        scale=scaling,
    )
    share = torch.sigmoid(far_norm.reshape(rows, heads, width) - near_norm)[..., None]
    mixed = torch.lerp(near.float(), far.reshape(rows, heads, width, size).float(), share)
    return mixed.to(query.dtype)
