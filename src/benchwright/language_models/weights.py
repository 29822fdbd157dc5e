"""Model weights from packages, the Hugging Face hub or a folder; device and precision to load them.

Weights in packages are third-party uploads: their files are joined and read as data, their code is
never imported, and nothing is used before its SHA-256 has been checked.
"""

import contextlib
import hashlib
import json
import logging
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from filelock import FileLock

from benchwright.core.atomic_files import folder_aside, written_aside
from benchwright.core.errors import InputError
from benchwright.language_models.gguf_header import gguf_fields
from benchwright.params.scoring import (
    HubWeights,
    PackageArchive,
    PackageFile,
    PackageFolder,
    PathWeights,
    WeightsParams,
)
from benchwright.project_conf import enclosing_project

logger = logging.getLogger(__name__)

Device = Literal["cpu", "cuda"]
Dtype = Literal["bfloat16", "float32"]


def resolve_device(device: str) -> Device:
    """Resolve `auto` to a GPU if PyTorch sees one."""
    if device != "auto":
        return "cuda" if device == "cuda" else "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def resolve_dtype(dtype: str, device: str) -> Dtype:
    """Resolve `auto` to bfloat16 if the processor multiplies in it, else float32."""
    if dtype != "auto":
        return "bfloat16" if dtype == "bfloat16" else "float32"
    import torch

    if resolve_device(device) == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    capabilities = torch.cpu.get_capabilities()
    return "bfloat16" if capabilities.get("avx512_bf16") or capabilities.get("bf16") else "float32"


_BLOCK = 1 << 20
# What an encoder's folder is read from; other files of an archive stay in it.
_READ = (".json", ".model", ".safetensors", ".txt")
_TOKENIZER = "tokenizer.ggml.model"
_EXPANSION, _SLACK = 20, 64 << 20
_CONVERSION = "gguf-1"  # raise the number when the conversion changes what comes out


class ModelSource(NamedTuple):
    """A local folder, or a hub id with its commit."""

    name_or_path: str
    revision: str | None = None
    trust_remote_code: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of `from_pretrained`."""
        return {"revision": self.revision, "trust_remote_code": self.trust_remote_code}


@contextlib.contextmanager
def load_errors(name: str) -> Iterator[None]:
    """Report a folder that cannot be loaded in one line.

    Loaders must set `use_safetensors`: other formats are pickles, which can run code.

    Raises:
        InputError: the folder is incomplete, inconsistent, without safetensors, or needs code.
    """
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, LookupError, SafetensorError) as error:
        message = " ".join(str(error).split())[:160]
        raise InputError(
            f"weights of {name} cannot be loaded ({type(error).__name__}: {message}); give a "
            "complete folder in Transformers' format with safetensors weights, not pickles"
        ) from error


def load_tokenizer(source: ModelSource) -> Any:
    """Load the tokenizer of a model, without the model."""
    from transformers import AutoTokenizer

    with load_errors(source.name_or_path):
        return AutoTokenizer.from_pretrained(source.name_or_path, **source.options)


def supported_context(source: ModelSource) -> int:
    """Return the tokens that a model's configuration allows; 2,048 if it states none."""
    from transformers import AutoConfig

    with load_errors(source.name_or_path):
        config = AutoConfig.from_pretrained(source.name_or_path, **source.options)
    return int(getattr(config.get_text_config(), "max_position_embeddings", None) or 2048)


def default_cache() -> Path:
    """Return the folder of converted weights.

    It is `$BENCHWRIGHT_CACHE`, else `data/06_models/cache` in the project of the current folder,
    else `~/.cache/benchwright`.
    """
    if given := os.environ.get("BENCHWRIGHT_CACHE"):
        return Path(given).absolute()
    project = enclosing_project()
    return project / "data/06_models/cache" if project else Path.home() / ".cache/benchwright"


def revision(spec: WeightsParams) -> str:
    """Return a short text that identifies the weights exactly; part of every score's key.

    It is the start of the SHA-256 of packages and local paths (hashed once per file version), and
    `<id>@<commit>` for the hub. Packages and hub models need not be installed for it.
    """
    if isinstance(spec, HubWeights):
        return f"{spec.hub}@{spec.revision}"
    if not isinstance(spec, PathWeights):
        return spec.sha256[:16]
    return spec.sha256[:16] if spec.sha256 else _path_digest(_existing(spec.path))[:16]


def locate_gguf(spec: WeightsParams, cache: Path) -> Path:
    """Return the GGUF file of `spec`, its SHA-256 checked; pieces are joined into `cache`.

    Raises:
        InputError: a package is not installed or a hash differs.
    """
    if isinstance(spec, PathWeights):
        file = _existing(spec.path)
        if spec.sha256:
            _check(file, spec.sha256, cache, f"use the file with that hash for {file.name}")
        return file
    if not isinstance(spec, PackageFile):
        raise InputError(f"{spec!r} has no GGUF file; name `package` and `file`, or a `path`")
    return _whole_file(spec, cache, ".gguf")


def locate_encoder(spec: WeightsParams, cache: Path | None = None) -> Path | str:
    """Return the folder of a sentence encoder, or its hub id (then load it at `spec.revision`).

    The SHA-256 of `model.safetensors` is checked once and remembered until the file changes.
    An archive is joined, checked as a whole, and unpacked into `cache`.

    Raises:
        InputError: a package is not installed or a hash differs.
    """
    cache = cache or default_cache()
    if isinstance(spec, HubWeights):
        return spec.hub
    if isinstance(spec, PackageArchive):
        return _unpacked_folder(spec, cache)
    if isinstance(spec, PackageFolder):
        folder, advice = _package_path(spec, spec.folder), _advice(spec)
    elif isinstance(spec, PathWeights):
        folder = _existing(spec.path)
        advice = f"check {folder}"
    else:
        raise InputError(f"{spec!r} is no encoder; name `package` and `folder`, `hub`, or `path`")
    if spec.sha256:
        _check(folder / "model.safetensors", spec.sha256, cache, advice)
    return folder


def model_source(spec: WeightsParams, dtype: Dtype, cache: Path | None = None) -> ModelSource:
    """Return what to load for a language model; GGUF weights are converted on first use."""
    cache = cache or default_cache()
    if isinstance(spec, HubWeights):
        return ModelSource(spec.hub, spec.revision, spec.trust_remote_code)
    if isinstance(spec, PackageFolder):
        return ModelSource(str(locate_encoder(spec, cache)))
    if isinstance(spec, PathWeights) and Path(spec.path).is_dir():
        return ModelSource(str(locate_encoder(spec, cache)), None, spec.trust_remote_code)
    return ModelSource(str(converted_folder(spec, dtype, cache)))


def conversion(spec: WeightsParams) -> str:
    """Return how the weights are changed before use, "" if they are not; part of a score's key."""
    gguf = isinstance(spec, PackageFile) or (
        isinstance(spec, PathWeights) and spec.path.endswith(".gguf")
    )
    return f"{_CONVERSION}/transformers-{version('transformers')}" if gguf else ""


def converted_folder(spec: WeightsParams, dtype: Dtype, cache: Path) -> Path:
    """Return a folder in Transformers' format with the dequantised weights of a GGUF file.

    It is made once per file and dtype (25–65 s for the small models), written aside, under a lock,
    and renamed when complete, so that two processes may ask at once.
    """

    def convert(gguf: Path, folder: Path) -> dict[str, Any]:
        logger.info("converting weights to %s once, which takes up to a minute", dtype)
        _dequantise(gguf, folder, dtype)
        sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
        return {"source": gguf.name, "conversion": conversion(spec), "files": sizes}

    record = cache / f"{revision(spec)}-{dtype}" / "conversion.json"
    is_whole = partial(
        _is_whole, record, {"conversion": conversion(spec)}, lambda file: file.stat().st_size
    )
    return _made_once(record, is_whole, partial(locate_gguf, spec, cache), convert)


def _made_once(
    record: Path,
    is_whole: Callable[[], bool],
    source: Callable[[], Path],
    make: Callable[[Path, Path], dict[str, Any]],
) -> Path:
    """Return the folder of `record`; make it again unless it is whole.

    `make` fills a folder from the file that `source` returns, which is removed afterwards if it is
    next to the folder, and returns the record.
    """
    target = record.parent
    if is_whole():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if is_whole():
            return target
        file = source()
        with folder_aside(target) as folder:
            content = json.dumps(make(file, folder), indent=2)
            (folder / record.name).write_text(content, encoding="utf-8")
            if target.exists():  # incomplete, changed or of another version
                shutil.rmtree(target)
        if file.parent == target.parent:
            file.unlink()  # the joined pieces
    return target


def _is_whole(file: Path, facts: Mapping[str, str], mark: Callable[[Path], Any]) -> bool:
    """Return whether a record has these facts and the mark of each of its files."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return facts.items() <= record.items() and all(
            mark(file.parent / name) == known for name, known in record["files"].items()
        )
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def _dequantise(gguf: Path, folder: Path, dtype: Dtype) -> None:
    if find_spec("accelerate") is None:  # Transformers refuses to read GGUF files without it
        raise InputError("converting GGUF weights needs the package accelerate: pip install it")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with_bos = starts_with_bos(gguf)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    # Without dequantize=True the weights stay packed and cannot be saved.
    model = AutoModelForCausalLM.from_pretrained(
        **source,
        dtype=getattr(torch, dtype),
        quantization_config=GgufConfig(dequantize=True),
    )
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(**source)
    tokenizer.add_bos_token = with_bos  # lost on the way; Gemma needs it
    tokenizer.save_pretrained(folder)


def starts_with_bos(gguf: Path) -> bool:
    """Return whether the file asks for a beginning-of-text token (SentencePiece models by default).

    Raises:
        InputError: the file is no complete GGUF file of a language model.
    """
    fields = gguf_fields(gguf)
    if _TOKENIZER not in fields:
        raise InputError(f"{gguf}: has no {_TOKENIZER}; a language model with tokenizer is needed")
    return bool(fields.get("tokenizer.ggml.add_bos_token", fields[_TOKENIZER] == "llama"))


def _unpacked_folder(spec: PackageArchive, cache: Path) -> Path:
    """Return the encoder's folder, unpacked once; each file is checked against the archive's."""

    def unpack(archive: Path, folder: Path) -> dict[str, Any]:
        try:
            hashes = _extract(archive, spec.folder, folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            raise InputError(f"{spec.package}: {spec.file} is no zip archive") from None
        if "model.safetensors" not in hashes:
            raise InputError(f"{spec.package} has no {spec.folder}/model.safetensors in it")
        return {"archive": spec.sha256, "folder": spec.folder, "files": hashes}

    record = cache / f"{spec.sha256[:16]}-unpacked" / "unpacked.json"
    facts = {"archive": spec.sha256, "folder": spec.folder}
    is_whole = partial(_is_whole, record, facts, lambda file: _remembered_sha256(file, cache))
    return _made_once(record, is_whole, partial(_whole_file, spec, cache, ".zip"), unpack)


def _extract(archive: Path, inside: str, folder: Path) -> dict[str, str]:
    """Unpack the files below `inside` into `folder`; return the SHA-256 of each."""
    hashes = {}
    with zipfile.ZipFile(archive) as packed:
        chosen = _encoder_files(packed.namelist(), inside)
        # zipfile gives no more of a file than its entry says.
        size = sum(packed.getinfo(name).file_size for name in chosen)
        if size > _EXPANSION * archive.stat().st_size + _SLACK:
            raise InputError(
                f"{archive.name} would unpack to {size:,} bytes; weights pack to a {_EXPANSION}th "
                "at best, so it is not unpacked"
            )
        for name, relative in chosen.items():
            file = folder / relative
            file.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(name) as source, file.open("wb") as unpacked:
                shutil.copyfileobj(source, unpacked, _BLOCK)
            hashes[relative] = _sha256(file)
    return hashes


def _encoder_files(names: list[str], folder: str) -> dict[str, str]:
    """Return names in the archive with their paths below `folder`, none outside it."""
    inside = {
        name: PurePosixPath(name).relative_to(folder)
        for name in names
        if PurePosixPath(name).is_relative_to(folder) and name.endswith(_READ)
    }
    return {name: str(path) for name, path in inside.items() if ".." not in path.parts}


def _whole_file(spec: PackageFile, cache: Path, suffix: str) -> Path:
    """Return the one file of `spec`, its SHA-256 checked; pieces are joined into `cache`."""
    if spec.parts > 1:
        return _assemble(spec, cache, suffix)
    file = _package_path(spec, spec.file.format(part=1, index=0), part=1)
    _check(file, spec.sha256, cache, _advice(spec))
    return file


def _assemble(spec: PackageFile, cache: Path, suffix: str) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    target = cache / f"{spec.sha256[:16]}{suffix}"
    if target.exists():
        _check(target, spec.sha256, cache, f"delete {target} and try again")
        return target
    pieces = [
        _package_path(spec, spec.file.format(part=part, index=part - 1), part)
        for part in range(1, spec.parts + 1)
    ]
    with written_aside(target) as aside:
        with aside.open("wb") as whole:
            for piece in pieces:
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, whole, _BLOCK)
        seen = _sha256(aside)
        if seen != spec.sha256:
            raise InputError(_differs(spec.package, seen, spec.sha256, _advice(spec)))
    return target


def _package_path(spec: PackageFile | PackageFolder, relative: str, part: int = 1) -> Path:
    name = spec.package.format(part=part, index=part - 1)
    try:
        path = Path(str(distribution(name).locate_file(relative)))
    except PackageNotFoundError:
        raise InputError(f"the package {name} is not installed: {_advice(spec)}") from None
    if not path.exists():
        raise InputError(f"the package {name} has no {relative}: {_advice(spec)}")
    return path


def _advice(spec: PackageFile | PackageFolder) -> str:
    return f"pip install --no-deps --require-hashes -r {spec.requirements}"


def _differs(name: str, seen: str, wanted: str, advice: str) -> str:
    return f"{name} has SHA-256 {seen[:12]}…, not {wanted[:12]}…: {advice}"


def _existing(path: str) -> Path:
    file = Path(path).expanduser().absolute()
    if not file.exists():
        raise InputError(f"weights.path {path!r} does not exist")
    return file


def _check(file: Path, sha256: str, cache: Path, advice: str) -> None:
    if not file.is_file():
        raise InputError(f"{file} is missing: {advice}")
    seen = _remembered_sha256(file, cache)
    if seen != sha256:
        raise InputError(_differs(str(file), seen, sha256, advice))


def _remembered_sha256(file: Path, cache: Path) -> str:
    """Return the file's SHA-256, cached while its path, size and time stay the same."""
    state = file.stat()
    identity = f"{file}\x1f{state.st_size}\x1f{state.st_mtime_ns}"
    note = cache / "hashes" / hashlib.sha256(identity.encode()).hexdigest()[:32]
    with contextlib.suppress(OSError):
        return note.read_text(encoding="ascii")
    digest = _sha256(file)
    with written_aside(note) as aside:
        aside.write_text(digest, encoding="ascii")
    return digest


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _path_digest(path: Path) -> str:
    """Return one hash over the weights, configuration and tokenizer files at a path."""
    cache = default_cache()
    if path.is_file():
        return _remembered_sha256(path, cache)
    kinds = (".safetensors", ".json", ".model", ".txt", ".jinja", ".bin")
    files = sorted(f for f in path.rglob("*") if f.is_file() and f.suffix in kinds)
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(path)}\x1f{_remembered_sha256(file, cache)}\n".encode())
    return whole.hexdigest()
