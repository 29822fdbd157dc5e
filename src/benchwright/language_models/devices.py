"""Where a model runs, and in which precision, when the settings say `auto`."""

from typing import Literal

Device = Literal["cpu", "cuda"]
Dtype = Literal["bfloat16", "float32"]


def resolve_device(device: str) -> Device:
    """`auto` is a GPU where PyTorch sees one."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return "cuda" if device == "cuda" else "cpu"


def resolve_dtype(dtype: str, device: Device) -> Dtype:
    """`auto` is bfloat16 where the processor multiplies in it, else float32."""
    import torch

    if dtype != "auto":
        return "bfloat16" if dtype == "bfloat16" else "float32"
    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    able = torch.cpu.get_capabilities()
    return "bfloat16" if able.get("avx512_bf16") or able.get("bf16") else "float32"
