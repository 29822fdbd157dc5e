"""Models, encoders, and how models are asked: `models` and `scoring` in the parameters."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from benchwright.configuration import STYLES, Configuration, parse_configuration

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


class _Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PackageFile(_Params):
    """One GGUF file that comes in installed packages, whole or cut into `parts`.

    `package` and `file` (relative to site-packages) may contain `{part}` (1, 2, …) and `{index}`
    (0, 1, …), with a format such as `{part:02d}`; pieces are joined in that order and the whole
    must have the given `sha256`. `requirements` is the file that installs the packages.
    """

    package: str
    file: str
    sha256: Sha256
    parts: int = Field(default=1, ge=1, le=999)
    requirements: str = "weights.txt"


class PackageFolder(_Params):
    """A folder of an installed package with `model.safetensors`, whose hash is `sha256`."""

    package: str
    folder: str
    sha256: Sha256
    requirements: str = "weights.txt"


class HubWeights(_Params):
    """A model on the Hugging Face hub at one commit (a branch could change under a score)."""

    hub: str
    revision: Commit
    trust_remote_code: bool = False


class PathWeights(_Params):
    """A folder in Transformers' format, or a `.gguf` file, on this machine."""

    path: str
    sha256: Sha256 | None = None
    trust_remote_code: bool = False


def _kind(given: Any) -> str | None:
    """Which kind of weights is meant, so that an error speaks of that one only."""
    kinds = ("file", "folder", "hub", "path")
    if isinstance(given, dict):
        return next((kind for kind in kinds if kind in given), None)
    return next((kind for kind in kinds if hasattr(given, kind)), None)


WeightsParams = Annotated[
    Annotated[PackageFile, Tag("file")]
    | Annotated[PackageFolder, Tag("folder")]
    | Annotated[HubWeights, Tag("hub")]
    | Annotated[PathWeights, Tag("path")],
    Discriminator(
        _kind,
        custom_error_type="weights",
        custom_error_message="weights need package and file, package and folder, hub, or path",
    ),
]


class ModelParams(_Params):
    """One language model.

    Attributes:
        backend: what runs it.
        weights: where its weights come from.
        family: base architecture and training run; filters may take one model per family.
        size_b: billions of parameters.
        date: of release, `YYYY-MM` or `YYYY-MM-DD`.
        dtype: `auto` takes the scoring section's choice.
        chat_template: put the prompt into the model's chat template, as one user message.
        label_space: a space before each continuation (`" A"`); off for most chat templates.
        context: tokens the model can read; longer prompts lose demonstrations one by one.
    """

    backend: Literal["transformers"] = "transformers"
    weights: WeightsParams
    family: str
    organisation: str | None = None
    size_b: float | None = Field(default=None, gt=0)
    instruct: bool = False
    date: str | None = None
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    chat_template: bool = False
    label_space: bool = True
    context: int = Field(default=2048, ge=16)


class EncoderParams(_Params):
    """One sentence encoder."""

    weights: WeightsParams
    dimensions: int | None = Field(default=None, ge=1)


class ModelsParams(_Params):
    """All models and encoders, by name."""

    models: dict[str, ModelParams] = Field(default_factory=dict)
    encoders: dict[str, EncoderParams] = Field(default_factory=dict)


class ScoringParams(_Params):
    """What is scored live, and how.

    Attributes:
        mode: `imported` loads no model: answers come from logs only.
        configurations: `<model>@<style>-<shots>`, in any order.
        conditions: what the model sees of each item; calibration items are always shown whole.
        demonstrations: whose worked examples come first: the item's own subject (others fill in
            where it has too few) or all subjects alike.
        demonstration_order: by id, as most harnesses do (`source`), or by a seeded hash.
        calibration: also score the calibration items, which fit each temperature.
        dtype: `auto` is bfloat16 where the processor computes in it, float32 elsewhere.
        device: `auto` takes a GPU where there is one.
        batch_tokens: tokens of one forward pass, padding included; part of the store's key,
            since low bits of bfloat16 scores depend on it.
        shard_size: most prompts in one file of the store, and most work lost by a crash.
        max_tokens: shortens every model's context; None leaves it.
    """

    mode: Literal["imported", "live"] = "imported"
    configurations: tuple[str, ...] = ()
    conditions: tuple[Literal["question", "choices_only"], ...] = ("question", "choices_only")
    demonstrations: Literal["per_subject", "all"] = "per_subject"
    demonstration_order: Literal["source", "seeded"] = "source"
    calibration: bool = True
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    batch_tokens: int = Field(default=2048, ge=64)
    shard_size: int = Field(default=256, ge=1)
    max_tokens: int | None = Field(default=None, ge=16)

    @model_validator(mode="after")
    def _configurations_parse(self) -> Self:
        for name in self.configurations:
            if parse_configuration(name).shots < 0:
                raise ValueError(
                    f"scoring.configurations: {name!r} is not <model>@<style>-<shots> with a "
                    f"style of {', '.join(STYLES)}, e.g. gemma-3-270m@cloze-3"
                )
        if self.mode == "live" and not self.configurations:
            raise ValueError("scoring.mode is live, but scoring.configurations is empty")
        return self

    def asked(self) -> tuple[Configuration, ...]:
        """What models are asked, each once, sorted by model: the cloze styles share one scoring."""
        parsed = [parse_configuration(name) for name in self.configurations]
        return tuple(
            sorted({c if c.style == "letters" else c._replace(style="cloze") for c in parsed})
        )
