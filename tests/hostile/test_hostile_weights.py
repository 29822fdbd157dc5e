"""Untrusted weights: refused in one line, without running their code."""

import hashlib
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.language_models.gguf_header import gguf_fields
from benchwright.language_models.weights import ModelSource
from faults.tiny_llama import save_tiny_llama
from hostile.files import planted
from hostile.fuzz_targets import TARGETS


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


def gguf(folder: Path, content: bytes) -> Path:
    path = folder / "x.gguf"
    path.write_bytes(content)
    return path


def test_a_header_is_read_as_by_the_package(tmp_path: Path) -> None:
    path = gguf(tmp_path, TARGETS["gguf"].seeds[0])
    assert gguf_fields(path) == {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.tokens": 2,
    }
    assert weights.starts_with_bos(path)


def test_a_torn_file_of_weights_is_reported_before_conversion(tmp_path: Path) -> None:
    import numpy as np
    from gguf import GGUFWriter

    path = tmp_path / "whole.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tensor("a", np.ones((4, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert not weights.starts_with_bos(path)
    content = path.read_bytes()
    for length in (0, 3, 4, 20, len(content) // 2, len(content) - 40):
        with pytest.raises(InputError, match=r"x\.gguf: is no complete GGUF file"):
            weights.starts_with_bos(gguf(tmp_path, content[:length]))


@pytest.mark.parametrize(
    ("at", "value"),
    [(4, 9), (8, 2**60), (16, 2**60), (24, 2**60)],
    ids=["version", "tensors", "entries", "a name's length"],
)
def test_numbers_that_do_not_fit_the_file_are_refused(tmp_path: Path, at: int, value: int) -> None:
    content = bytearray(TARGETS["gguf"].seeds[0])
    size = 4 if at == 4 else 8
    content[at : at + size] = value.to_bytes(size, "little")
    with pytest.raises(InputError, match=r"x\.gguf: is no complete GGUF file"):
        gguf_fields(gguf(tmp_path, bytes(content)))


def archive(folder: Path, write: Callable[[zipfile.ZipFile], Any]) -> Path:
    path = folder / "encoder.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        write(packed)
    return path


def test_archives_unpack_only_into_their_folder(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("encoder/link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    def write(packed: zipfile.ZipFile) -> None:
        packed.writestr("encoder/model.safetensors", b"x")
        packed.writestr("encoder/../../escaped.json", b"x")
        packed.writestr("/escaped.json", b"x")
        packed.writestr(link, str(tmp_path / "secret"))

    target = tmp_path / "deep" / "target"
    target.mkdir(parents=True)
    hashes = weights._extract(archive(tmp_path, write), "encoder", target)
    assert sorted(hashes) == ["link.json", "model.safetensors"]
    assert not (target / "link.json").is_symlink()
    assert hashes["model.safetensors"] == hashlib.sha256(b"x").hexdigest()
    assert not list(tmp_path.rglob("escaped.json"))


def test_an_archive_bomb_is_refused(tmp_path: Path) -> None:
    path = archive(
        tmp_path, lambda packed: packed.writestr("encoder/model.safetensors", b"\0" * 100_000_000)
    )
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match="would unpack to 100,000,000 bytes"):
        weights._extract(path, "encoder", tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
