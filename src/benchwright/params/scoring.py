"""Settings of models, encoders and scoring (`models:` and `scoring:` in conf)."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from benchwright.core.configuration import (
    SCORED_AS,
    STYLES,
    Configuration,
    parse_configuration,
)
from benchwright.core.errors import InputError, expected
from benchwright.params.section import Names, Section

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Backend = Literal[
    "transformers",  # in this process
    "vllm",  # in this process
    "openai",  # a server
]


class _MayHoldSecrets(Section):
    """A section whose errors hide values, which may be a misplaced key."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class PackageFile(Section):
    """A GGUF file in installed packages, optionally split into `parts`.

    `package` and `file` (relative to site-packages) may contain `{part}` (1, 2, …) and `{index}`
    (0, 1, …), with a format such as `{part:02d}`; parts are joined in that order. `sha256` is that
    of the whole file. `requirements` is the file that installs the packages.
    """

    package: str
    file: str
    sha256: Sha256
    parts: int = Field(default=1, ge=1, le=999)
    requirements: str = "weights.txt"


class PackageFolder(Section):
    """A folder of an installed package with `model.safetensors`, whose hash is `sha256`."""

    package: str
    folder: str
    sha256: Sha256
    requirements: str = "weights.txt"


class HubWeights(Section):
    """A model on the Hugging Face hub at a fixed commit, since a branch can change."""

    hub: str
    revision: Commit
    trust_remote_code: bool = False


class PathWeights(Section):
    """A folder in Transformers' format, or a `.gguf` file, on this machine."""

    path: str
    sha256: Sha256 | None = None
    trust_remote_code: bool = False


def _kind(given: Any) -> str | None:
    """Return the kind of weights, so that errors refer to that kind only."""
    fields = given if isinstance(given, dict) else vars(given)
    return next((kind for kind in ("file", "folder", "hub", "path") if kind in fields), None)


WeightsParams = Annotated[
    Annotated[PackageFile, Tag("file")]
    | Annotated[PackageFolder, Tag("folder")]
    | Annotated[HubWeights, Tag("hub")]
    | Annotated[PathWeights, Tag("path")],
    Discriminator(
        _kind,
        custom_error_type="weights",
        custom_error_message="weights need package and file or folder, hub, or path",
    ),
]


class VllmParams(Section):
    """Settings of vLLM for one model."""

    tensor_parallel: int = Field(default=1, ge=1)  # GPUs per copy of the model
    gpu_memory: float = Field(default=0.9, gt=0, le=1)  # share that vLLM may use
    max_sequences: int = Field(default=256, ge=1)  # maximum number of concurrent prompts
    enforce_eager: bool = False  # skip compilation, for a faster start and slower scoring


class EndpointParams(_MayHoldSecrets):
    """An OpenAI-compatible server: OpenAI's, `vllm serve`, llama.cpp's and many others."""

    # URL including the version, e.g. `http://localhost:8000/v1`.
    url: Annotated[str, StringConstraints(pattern=r"^https?://\S+[^\s/]$")]
    model: str | None = None  # name of the model on the server; None for the same name
    # `completions` sends the prompt as text, `chat` as one user message
    api: Literal["completions", "chat"] = "completions"
    # `echo` reads log-likelihoods from the echoed prompt (completions only; letters and cloze);
    # `top` uses those of the labels among the 20 most probable first tokens (letters only); `none`
    # samples answers (letters only)
    logprobs: Literal["echo", "top", "none"] = "echo"
    # environment variable with the key; shown only if it is set, since a key may be typed here
    key_env: SecretStr | None = None
    concurrency: int = Field(default=8, ge=1, le=1024)  # concurrent requests
    timeout: float = Field(default=60, gt=0)  # seconds before a request is retried
    retries: int = Field(default=6, ge=0, le=100)  # after 429, 5xx, a timeout, a broken connection
    max_wait: float = Field(default=60, gt=0)  # seconds between attempts, whatever the server says
    extra_body: dict[str, Any] = Field(default_factory=dict)  # additional fields of each request

    @field_validator("url")
    @classmethod
    def _holds_no_password(cls, value: str) -> str:
        if "@" in value.split("/")[2]:  # the host, after the scheme
            raise ValueError("url must not contain a user or password; use key_env for the key")
        return value

    @model_validator(mode="after")
    def _chat_echoes_nothing(self) -> Self:
        if self.api == "chat" and self.logprobs == "echo":
            raise ValueError("a chat endpoint cannot echo prompts; set logprobs to top or none")
        return self


class ModelParams(Section):
    """One language model."""

    backend: Backend = "transformers"
    weights: WeightsParams | None = None  # optional for an `openai` model, for its tokenizer
    vllm: VllmParams = VllmParams()
    endpoint: EndpointParams | None = None  # the server of an `openai` model
    family: str  # base architecture and training run; filters may take one model per family
    organisation: str | None = None
    size_b: float | None = Field(default=None, gt=0)  # billions of parameters
    instruct: bool = False
    date: str | None = None  # of release, `YYYY-MM` or `YYYY-MM-DD`
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"  # `auto` is that of `scoring`
    chat_template: bool = False  # format the prompt by it, as one user message
    label_space: bool = True  # before continuations (`" A"`); off for most chat templates
    # tokens; longer prompts lose demonstrations. None is what the weights support, at most 32,768;
    # 8,192 for a server without weights
    context: int | None = Field(default=None, ge=16)

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if (self.backend == "openai") != (self.endpoint is not None):
            raise ValueError("backend openai needs an endpoint, and other backends accept none")
        if self.backend != "openai" and self.weights is None:
            raise ValueError(f"backend {self.backend} needs weights")
        if self.endpoint is not None and self.chat_template and self.endpoint.api != "chat":
            raise ValueError("chat_template needs endpoint.api: chat for an openai model")
        return self

    @property
    def samples_letters(self) -> bool:
        """Whether letters are sampled, since the model returns no log-probabilities."""
        return self.endpoint is not None and self.endpoint.logprobs == "none"


class EncoderParams(Section):
    """A sentence encoder, or a language model whose hidden states are used."""

    weights: WeightsParams | None = None  # a folder in sentence-transformers' format
    model: str | None = None  # instead, the name of a language model under `models.models`
    pooling: Literal["last_token", "mean"] | None = None  # of the states of its last layer
    # ISO 639-1 codes of the languages that it was trained on; None: many, or unknown
    languages: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.weights is None) == (self.model is None):
            raise ValueError("an encoder needs either weights or a model with pooling")
        if (self.model is None) != (self.pooling is None):
            raise ValueError("model needs pooling (last_token or mean), and pooling needs model")
        return self


class ModelsParams(_MayHoldSecrets):
    """All models and encoders, by name.

    `families` sets the family by model name or pattern (`*`), for models that are not listed here
    and whose names suggest no family or a wrong one. Exact names take precedence, then longer
    patterns.
    """

    families: dict[str, Annotated[str, StringConstraints(min_length=1)]] = Field(
        default_factory=dict
    )
    models: dict[str, ModelParams] = Field(default_factory=dict)
    encoders: dict[str, EncoderParams] = Field(default_factory=dict)

    def named(self, name: str, setting: str) -> ModelParams:
        """Return a model by its name, which the setting gives; raise InputError if unknown."""
        if name not in self.models:
            raise InputError(f"{setting}: unknown model {name!r}; {expected(name, self.models)}")
        return self.models[name]


class GenerationParams(Section):
    """Settings of generated responses (style `generate`, and sampled letters)."""

    max_tokens: int = Field(default=4096, ge=1, le=131_072)  # (WiCkeD, section 4.2)
    # responses per prompt; with several, the score is the share of right ones
    samples: int = Field(default=1, ge=1, le=1024)
    temperature: float = Field(default=0.0, ge=0, le=2)  # 0 is greedy
    top_p: float = Field(default=1.0, gt=0, le=1)  # probability mass of the tokens to sample from
    # texts that end a response
    stop: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = ()
    recall_tokens: int = Field(default=128, ge=1)  # under `question_only`
    seed: int = Field(default=0, ge=0)  # of sampling; another seed gives new responses

    @model_validator(mode="after")
    def _samples_differ(self) -> Self:
        if self.samples > 1 and self.temperature == 0:
            raise ValueError("several samples need a temperature above 0; otherwise they are equal")
        return self


class RayParams(Section):
    """The Ray cluster of `engine: ray`."""

    address: str | None = None  # `auto`, `ray://host:10001`; None starts one on this machine
    actors: int = Field(default=1, ge=1)  # copies of the model that score in parallel
    gpus_per_actor: float = Field(default=0, ge=0)  # below 1, actors share a GPU
    cpus_per_actor: float = Field(default=1, gt=0)  # processor cores, also the number of threads


Condition = Literal["question", "choices_only", "question_only"]


class ScoringParams(Section):
    """What is scored live, and with which settings."""

    # `imported` loads no model; `first` scores only the first configuration under the first
    # condition, and copies of items and written answers
    mode: Literal["imported", "first", "live"] = "imported"
    # `<model>@<style>-<shots>`, joined by `+` in `--params`
    configurations: Names = ()
    # the part of each item in the prompt: the whole item; the options (filter models only); the
    # question, whose options the model writes (style generate only)
    conditions: tuple[Condition, ...] = ("question", "choices_only")
    # from the item's own subject (others fill in if it has too few) or from all
    demonstrations: Literal["per_subject", "all"] = "per_subject"
    label_tokens: Literal["spaced", "bare"] = "spaced"  # `" A"`, or `"A"` as in SMART's code
    calibration: bool = True  # also score the calibration items, which fit each temperature
    # `auto` is bfloat16 if the processor supports it, else float32
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"  # `auto` uses a GPU if there is one
    # of one forward pass; part of the store's key, since low bits of bfloat16 scores depend on it
    batch_tokens: int = Field(default=2048, ge=64)
    shard_size: int = Field(default=256, ge=1)  # prompts in a file of the store, at most
    generation: GenerationParams = GenerationParams()
    engine: Literal["local", "ray"] = "local"  # this process, or actors
    ray: RayParams = RayParams()

    @model_validator(mode="after")
    def _configurations_parse(self) -> Self:
        for name in self.configurations:
            if parse_configuration(name).shots < 0:
                raise ValueError(
                    f"scoring.configurations: {name!r} is not <model>@<style>-<shots> with a "
                    f"style of {', '.join(STYLES)}, e.g. gemma-3-270m@cloze-3"
                )
        if self.mode != "imported" and not self.configurations:
            raise ValueError(f"scoring.mode is {self.mode}, but scoring.configurations is empty")
        return self

    def asked(self, *, copies: bool = True) -> tuple[Configuration, ...]:
        """Return the distinct configurations, sorted by model; cloze styles share one scoring.

        In mode `first`, without `copies` of items, they are the first one and written answers.
        """
        parsed = [parse_configuration(name) for name in self.configurations]
        if self.mode == "first" and not copies:
            parsed = parsed[:1] + [c for c in parsed[1:] if c.style == "generate"]
        return tuple(sorted({c._replace(style=SCORED_AS.get(c.style, c.style)) for c in parsed}))


class EmbeddingParams(Section):
    """The sentence encoder and its settings."""

    enabled: bool = True  # False encodes nothing (for variants without embeddings)
    encoder: str = "all-minilm-l6-v2"  # its name under `models.encoders`
    # encoders in the pipeline `encoders`; joined by `+` in `--params`
    compare: Names = ("all-minilm-l6-v2", "smollm2-135m-last", "smollm2-135m-mean")
    # `auto` is bfloat16 if the processor supports it, else float32
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"  # `auto` uses a GPU if there is one
