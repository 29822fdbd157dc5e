"""Linear layers with reordered weights."""

from typing import Any

import pytest

from imported_later import packed_layers, torch


@pytest.fixture(autouse=True)
def _needs_bfloat16() -> None:
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("no bfloat16 on this processor")


def layers(dtype: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(48, 100, dtype=dtype),
        torch.nn.GELU(),
        torch.nn.Linear(100, 48, bias=False, dtype=dtype),
    ).eval()


@pytest.mark.parametrize("shape", [(1, 48), (7, 48), (2, 300, 48)])
def test_packed_layers_keep_every_bit(shape: tuple[int, ...]) -> None:
    plain, packed = layers(torch.bfloat16), layers(torch.bfloat16)
    packed_layers.pack_linear_layers(packed)
    assert packed[0].weight.is_mkldnn
    assert packed[2].weight.is_mkldnn
    states = torch.randn(shape).bfloat16()
    with torch.inference_mode():
        assert torch.equal(packed(states), plain(states))
        apart = states.expand(2, *shape)  # its rows are not one after another in memory
        torch.testing.assert_close(packed(apart), plain(apart), rtol=0.02, atol=0.02)


def test_float32_and_the_named_layer_stay() -> None:
    exact, model = layers(torch.float32), layers(torch.bfloat16)
    packed_layers.pack_linear_layers(exact)
    packed_layers.pack_linear_layers(model, besides=model[2])
    assert [part.weight.is_mkldnn for part in (*exact[::2], *model[::2])] == [0, 0, 1, 0]
