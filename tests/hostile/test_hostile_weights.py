"""Untrusted weights: refused in one line, without running their code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.weights import ModelSource
from faults.tiny_llama import save_tiny_llama
from hostile.files import planted


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("tiny") / "model")


def _torn(folder: Path, _: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:500])


def _lying(folder: Path, _: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}")


def _pickle(folder: Path, marker: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(planted(marker))


def _pickle_as_safetensors(folder: Path, marker: Path) -> None:
    (folder / "model.safetensors").write_bytes(planted(marker))


def _code(folder: Path, marker: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoModelForCausalLM": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"import os; os.mkdir({str(marker)!r})")


def _no_json(folder: Path, _: Path) -> None:
    (folder / "config.json").write_text("{")


CHANGES = [_torn, _lying, _pickle, _pickle_as_safetensors, _code, _no_json]


@pytest.mark.live
@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_that_cannot_be_loaded_is_reported(
    whole: Path, tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    import shutil

    from benchwright.language_models.hf_transformers import TransformersModel

    folder, marker = tmp_path / "model", tmp_path / "marker"
    shutil.copytree(whole, folder)
    change(folder, marker)
    with pytest.raises(InputError, match="cannot be loaded") as caught:
        TransformersModel.load(ModelSource(str(folder)), "float32")
    assert str(folder) in str(caught.value)
    assert not marker.exists()
