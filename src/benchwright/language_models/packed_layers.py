"""Linear layers whose bfloat16 weights lie as the processor's matrix products read them."""

import functools
from typing import Any

import torch


def pack_linear_layers(model: Any, besides: Any = None) -> None:
    """Reorder the weights of a model's linear layers once, instead of in every product.

    Products of contiguous states keep every bit (by oneDNN, which PyTorch uses for bfloat16 on
    processors). Layers on a GPU, in float32 or of another class stay as they are, and so does the
    layer `besides`. A packed layer can be neither trained nor saved.
    """
    ops = torch.ops.mkldnn
    needed = ("_is_mkldnn_bf16_supported", "_reorder_linear_weight", "_linear_pointwise")
    if not all(hasattr(ops, name) for name in needed):
        return
    if not ops._is_mkldnn_bf16_supported():
        return
    for layer in model.modules():
        if type(layer) is not torch.nn.Linear or layer is besides:
            continue
        weight = layer.weight.detach()
        if weight.device.type == "cpu" and weight.dtype == torch.bfloat16:
            packed = ops._reorder_linear_weight(weight.contiguous())
            layer.weight = torch.nn.Parameter(packed, requires_grad=False)
            layer.forward = functools.partial(_product, packed, layer.bias)


def _product(weight: torch.Tensor, bias: torch.Tensor | None, states: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return result
