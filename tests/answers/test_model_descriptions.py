import math
from pathlib import Path

import pandas as pd
import pytest

from benchwright.answers.model_descriptions import describe_models, describe_name
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.scoring import ModelsParams


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("meta-llama/Llama-2-70b-hf", "llama-2"),
        ("cognitivecomputations/dolphin-2.9-llama3-8b", "llama-3"),
        ("meta-llama/Meta-Llama-3.1-70B-Instruct", "llama-3.1"),
        ("huggyllama/llama-30b", "llama"),
        ("codellama/CodeLlama-34b-hf", "codellama"),
        ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama"),
        ("itpossible/Chinese-Mistral-7B-v0.1", "mistral-7b"),
        ("HuggingFaceH4/zephyr-7b-beta", "mistral-7b"),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", "mixtral-8x22b"),
        ("Azure99/blossom-v4-qwen1_5-4b", "qwen1.5"),
        ("Qwen/Qwen2.5-7B", "qwen2.5"),
        ("01-ai/Yi-1.5-9B-Chat", "yi-1.5"),
        ("google/gemma-2b", "gemma"),
        ("gemma3:270m", "gemma-3"),
        ("internlm/internlm2_5-7b-chat", "internlm2.5"),
        ("smollm2-135m-instruct", "smollm2"),
        ("databricks/dbrx-instruct", "dbrx"),
        ("helm:openai/gpt-4-1106-preview", "gpt-4"),
        # a capital letter starts a word
        ("vicgalle/TruthfulQwen1.5-1.8B", "qwen1.5"),
        ("kyujinpy/PlatYi-34B-Llama-Q", "yi"),
        ("Locutusque/TinyMistral-248M", "tinymistral"),
        ("freecs/Tiny-Llama-3-7b", "llama-3"),
        # short forms and lines of fine-tunes
        ("Gryphe/MythoMax-L2-13b", "llama-2"),
        ("Nitral-AI/Poppy_Porpoise-0.72-L3-8B", "llama-3"),
        ("garage-bAInd/Platypus2-70B", "llama-2"),
        ("jondurbin/airoboros-13b-gpt4-1.4", "llama"),
        ("jondurbin/airoboros-l2-13b-gpt4-1.4.1", "llama-2"),
        ("WizardLM/WizardLM-13B-V1.1", "llama"),
        ("microsoft/WizardLM-2-7B", "mistral-7b"),
        ("openchat/openchat_3.5", "mistral-7b"),
        ("HuggingFaceH4/zephyr-7b-gemma-v0.1", "gemma"),
        ("cloudyu/Mixtral_7Bx2_MoE", "mistral-7b"),
        ("DrNicefellow/Mixtral-6x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("h2oai/h2o-danube2-1.8b-chat", "danube2"),
        ("distilgpt2", "gpt2"),
        # the name says more than a word in it
        ("cloudyu/Mixtral_34Bx2_MoE_60B", "yi"),
        ("LeroyDyer/Mixtral_AI_CyberTron", "mistral-7b"),
        ("upstage/SOLAR-0-70b-16bit", "llama-2"),
        ("lmsys/vicuna-7b-v1.5", "llama-2"),
        ("lmsys/vicuna-7b-v1.3", "llama"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "qwen2.5"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1"),
        ("chavinlo/gpt4-x-alpaca", "llama"),
        ("google/flan-t5-xxl", "t5"),
        ("ibm-granite/granite-3.1-8b-base", "granite-3"),
        # behind an interface
        ("gpt-3.5-turbo-0613", "gpt-3.5"),
        ("ChatGPT-4o-latest (2024-09-03)", "gpt-4o"),
        ("o1-mini-2024-09-12", "o1"),
        ("helm:anthropic/claude-3-5-sonnet", "claude-3.5"),
        ("Claude Opus 4 (20250514)", "claude-4"),
        ("Gemini-2.0-Flash-Exp", "gemini-2.0"),
        # a name without a base: its organisation
        ("nobody/assistant-13b-gpt4-1.4", "nobody"),
        ("nobody/MobiLlama-1B", "nobody"),
        ("nobody/solo1-7B", "nobody"),
        ("acme-8b", "acme"),
        ("acme-3B-instruct", "acme"),
    ],
)
def test_family_follows_from_the_name(model: str, family: str) -> None:
    assert describe_name(model).family == family


@pytest.mark.parametrize(
    "model",
    [
        "psn_irt:student_0",
        "mystery",
        "",
    ],
)
def test_unknown_model_without_a_size_is_its_own_family(model: str) -> None:
    assert describe_name(model).family == model


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("Qwen/Qwen1.5-1.8B", 1.8),
        ("smollm2-135m-instruct", 0.135),
        ("mistralai/Mixtral-8x7B-v0.1", 56),
        ("openlm-research/open_llama_3b_v2", 3),
        ("x/seraphim-10.7b-bf16", 10.7),
        ("a/b-4bit", math.nan),
        ("microsoft/Phi-3-mini-4k-instruct", math.nan),
        ("TinyLlama-1.1B-step-50K-105b", 1.1),
    ],
)
def test_size_follows_from_the_name(model: str, size: float) -> None:
    assert describe_name(model).size_b == pytest.approx(size, nan_ok=True)


@pytest.mark.parametrize(
    ("model", "instruct"),
    [
        ("google/gemma-7b-it", True),
        ("google/gemma-7b", False),
        ("Qwen/Qwen-7B-Chat", True),
        ("smollm2-135m-instruct", True),
        ("meta-math/MetaMath-Mistral-7B", False),
        ("org/with-items", False),
    ],
)
def test_instruct_follows_from_the_name(model: str, instruct: bool) -> None:
    assert describe_name(model).instruct == instruct


def test_organisation_is_before_the_slash() -> None:
    assert describe_name("Qwen/Qwen-7B").organisation == "Qwen"
    assert describe_name("helm:openai/gpt-4o-2024-05-13").organisation == "openai"
    assert describe_name("psn_irt:student_0").organisation is None


def test_settings_take_precedence_over_the_name() -> None:
    models = ModelsParams.model_validate(
        {
            "models": {
                "small": {
                    "weights": {"path": "weights/small"},
                    "family": "home-grown",
                    "instruct": True,
                    "date": "2025-01",
                },
                "llama-3-8b": {"weights": {"path": "w"}, "family": "llama-3", "size_b": 8.03},
            }
        }
    )
    names = ("llama-3-8b", "org/Qwen2-7B", "small@cloze-3", "small@letters-0")
    table = describe_models(ResponseMatrix.of(names, ("q",)), models)
    assert table.model.tolist() == ["llama-3-8b", "org/Qwen2-7B", "small"]
    assert table.family.tolist() == ["llama-3", "qwen2", "home-grown"]
    assert table.size_b.tolist() == pytest.approx([8.03, 7, math.nan], nan_ok=True)
    assert table.instruct.tolist() == [False, False, True]
    assert table.date.tolist()[2] == "2025-01"
    assert table.organisation.tolist()[1] == "org"


def families_of(names: tuple[str, ...], families: dict[str, str] | None = None) -> list[str]:
    models = ModelsParams(families=families or {})
    return describe_models(ResponseMatrix.of(names, ("q",)), models).family.tolist()


def test_configured_families_take_precedence_over_the_name() -> None:
    names = ("a/Secret-Llama-7b", "b/plain", "helm:writer/palmyra-x-v3@letters-5")
    given = {
        "A/secret-llama-7B": "exact",
        "*llama*": "by pattern",
        "b/*": "by organisation",
        "palmyra-*": "without organisation",
    }
    assert families_of(names, families=given) == [
        "exact",
        "by organisation",
        "without organisation",
    ]


def test_longest_pattern_takes_precedence() -> None:
    names = ("org/llama-3-8b",)
    given = {"*llama*": "wide", "org/llama-3*": "narrow"}
    assert families_of(names, families=given) == ["narrow"]
    assert families_of(names, families=dict(reversed(given.items()))) == ["narrow"]


# Architectures of the families that have one of their own.
ARCHITECTURES = {
    "mistral-7b": {"MistralForCausalLM", "MixtralForCausalLM", "MistralModel"},
    "llama-2": {"LlamaForCausalLM", "LlamaModel", "MixtralForCausalLM"},
    "llama-3": {"LlamaForCausalLM", "MixtralForCausalLM"},
    "gemma": {"GemmaForCausalLM", "GemmaModel"},
    "yi": {"LlamaForCausalLM", "MixtralForCausalLM"},
    "qwen1.5": {"Qwen2ForCausalLM", "Qwen2MoeForCausalLM", "LlamaForCausalLM"},
    "pythia": {"GPTNeoXForCausalLM"},
    "phi-2": {"PhiForCausalLM"},
    "opt": {"OPTForCausalLM", "OPTForSequenceClassification"},
    "gpt2": {"GPT2LMHeadModel"},
}


@pytest.mark.real_data
def test_families_from_real_names_match_the_architectures(shared_data: Path) -> None:
    table = pd.read_parquet(shared_data / "responses" / "leaderboard_v1_models.parquet")
    table["family"] = [describe_name(name).family for name in table["name"]]
    assert (table["family"] != table["name"]).mean() > 0.5
    report = table[table["family"].isin(ARCHITECTURES) & (table["arch"] != "error")]
    right = [arch in ARCHITECTURES[f] for f, arch in zip(report.family, report.arch, strict=True)]
    assert len(right) > 1_500
    assert sum(right) / len(right) > 0.98
