"""How many tokens a model may read, where conf does not say."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.loading import context_limit
from benchwright.params.scoring import ModelParams, ScoringParams

LLAMA = {"model_type": "llama", "max_position_embeddings": 4096}
LONG = {"model_type": "gemma3", "text_config": {"max_position_embeddings": 131_072}}
ENDPOINT = {"url": "http://localhost:1/v1", "api": "chat", "logprobs": "none"}


def limit(folder: Path, config: dict[str, Any], **stated: int) -> int:
    (folder / "config.json").write_text(json.dumps(config))
    model = {"weights": {"path": str(folder)}, "family": "f", **stated}
    scoring = ScoringParams(dtype="float32", device="cpu")
    return context_limit(ModelParams.model_validate(model), scoring)


@pytest.mark.parametrize(("config", "expected"), [(LLAMA, 4096), (LONG, 32_768)])
def test_context_is_what_the_weights_support_up_to_a_bound(
    tmp_path: Path, config: dict[str, Any], expected: int
) -> None:
    assert limit(tmp_path, config) == expected


def test_a_stated_context_takes_precedence(tmp_path: Path) -> None:
    assert limit(tmp_path, LONG, context=100_000) == 100_000


def test_servers_have_a_default_and_folders_a_configuration(tmp_path: Path) -> None:
    served = {"backend": "openai", "endpoint": ENDPOINT, "family": "f"}
    assert context_limit(ModelParams.model_validate(served), ScoringParams()) == 8192
    model = {"weights": {"path": str(tmp_path)}, "family": "f"}
    with pytest.raises(InputError, match="cannot be loaded"):
        context_limit(ModelParams.model_validate(model), ScoringParams(dtype="float32"))
