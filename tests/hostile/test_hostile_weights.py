"""Untrusted weights: refused in one line, without running their code."""

import json
import shutil
from pathlib import Path

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.weights import ModelSource
from faults.tiny_llama import save_tiny_llama
from hostile.files import planted


@pytest.mark.live
def test_a_folder_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    from benchwright.language_models.hf_transformers import TransformersModel

    whole, marker = save_tiny_llama(tmp_path / "whole"), tmp_path / "marker"
    own = {"model_type": "own", "auto_map": {"AutoModelForCausalLM": "own.Own"}}
    config = json.loads((whole / "config.json").read_text()) | own
    weights = (whole / "model.safetensors").read_bytes()
    files: dict[str, dict[str, bytes]] = {
        "torn": {"model.safetensors": weights[:500]},
        "lying": {"model.safetensors": b"\xff" * 8 + b"{}"},
        "a pickle": {"model.safetensors": b"", "pytorch_model.bin": planted(marker)},
        "a pickle as safetensors": {"model.safetensors": planted(marker)},
        "code": {
            "config.json": json.dumps(config).encode(),
            "own.py": f"import os; os.mkdir({str(marker)!r})".encode(),
        },
        "no JSON": {"config.json": b"{"},
    }
    for kind, contents in files.items():
        folder = shutil.copytree(whole, tmp_path / kind)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
            if not content:
                (folder / name).unlink()
        with pytest.raises(InputError, match="cannot be loaded") as caught:
            TransformersModel.load(ModelSource(str(folder)), "float32")
        assert str(folder) in str(caught.value)
        assert not marker.exists()
