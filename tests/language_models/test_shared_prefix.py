"""Separate attention to a shared prefix and to own tokens equals joint attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from imported_later import shared_prefix

if TYPE_CHECKING:
    import torch


def whole(
    query: torch.Tensor,
    prefix: tuple[torch.Tensor, torch.Tensor],
    suffix: tuple[torch.Tensor, torch.Tensor],
    mask: torch.Tensor,
    scaling: float | None,
) -> torch.Tensor:
    """Oracle: the prefix copied before every row's own keys."""
    import torch

    rows, heads = query.shape[:2]
    key, value = (
        torch.cat([far.expand(rows, -1, -1, -1), near], dim=2).repeat_interleave(
            heads // near.shape[1], dim=1
        )
        for far, near in zip(prefix, suffix, strict=True)
    )
    seen = torch.zeros((*mask.shape[:-1], prefix[0].shape[2]), dtype=mask.dtype)
    full = torch.cat([seen, mask], dim=-1)
    return torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=full, scale=scaling
    )


@given(
    rows=st.integers(1, 4),
    kv_heads=st.integers(1, 3),
    group=st.integers(1, 4),
    width=st.integers(1, 9),
    prefix=st.integers(1, 40),
    scaling=st.sampled_from([None, 0.05, 1.0]),
    seed=st.integers(0, 1000),
)
def test_shared_attention_equals_attention_to_joined_keys(
    rows: int, kv_heads: int, group: int, width: int, prefix: int, scaling: float, seed: int
) -> None:
    import torch

    draw = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw)

    query = 3 * random(rows, kv_heads * group, width, 16)
    far = random(1, kv_heads, prefix, 16), random(1, kv_heads, prefix, 16)
    near = random(rows, kv_heads, width, 16), random(rows, kv_heads, width, 16)
    allowed = (random(rows, 1, width, width) > 0) | torch.eye(width, dtype=torch.bool)
    mask = torch.where(allowed, 0.0, float("-inf"))
    mixed = shared_prefix.prefix_attention(query, *far, *near, mask, scaling)
    torch.testing.assert_close(mixed, whole(query, far, near, mask, scaling), atol=1e-5, rtol=1e-4)


class Layer:
    """The attributes of a layer that attention uses."""

    layer_idx = 0
    num_key_value_groups = 2
    is_causal = True
    training = False


def test_mask_decides_if_rows_see_part_of_the_prefix() -> None:
    import torch

    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, 3, 16), torch.randn(2, 2, 3, 16), torch.randn(2, 2, 3, 16)
    far = torch.randn(1, 2, 5, 16), torch.randn(1, 2, 5, 16)
    allowed = torch.rand(2, 1, 3, 8) > 0.4
    allowed[..., 5:] |= torch.eye(3, dtype=torch.bool)
    out, _ = shared_prefix.attention_forward(
        Layer(), query, key, value, allowed, shared_prefix=[far]
    )
    wanted = torch.nn.functional.scaled_dot_product_attention(
        query,
        torch.cat([far[0].expand(2, -1, -1, -1), key], 2).repeat_interleave(2, 1),
        torch.cat([far[1].expand(2, -1, -1, -1), value], 2).repeat_interleave(2, 1),
        attn_mask=allowed,
    )
    torch.testing.assert_close(out, wanted.transpose(1, 2))
