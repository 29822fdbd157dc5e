"""Logs of one run in the layout of each tool, from right and wrong answers and from settings.

Fields and their order of nesting are those of logs which the tools wrote themselves; texts are this
project's own.
"""

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from answers.lm_eval_examples import scored

LETTERS = "ABCD"


@dataclass(frozen=True)
class Run:
    """What a tool may state of a run; what its format has no place for is left out.

    `metric`, `scorer` and `reducer` are "" for those of the format. `chat` is the model's own chat
    template, "" where none was used. `early` is an earlier version of the tool, which writes some
    fields in another way. `wrapped` is a model whose prompts HELM wraps itself, with a token more
    and temperature 0.0001. `server` is a model whose chat template lm-eval does not know.
    `judge` is a model that scores. `left_out` names fields that this log does not have.
    """

    model: str = "org/model-a"
    task: str = "quiz"
    metric: str = ""
    scorer: str = ""
    reducer: str = ""
    higher_is_better: bool = True
    shots: int = 5
    task_version: str = "2"
    data_revision: str = "v1.0"
    template: str = "Question: {question}\nAnswer:"
    instruction: str = ""
    chat: str = ""
    temperature: float = 0.6
    top_p: float = 0.95
    n: int = 1
    max_tokens: int = 256
    limit: int | None = None
    repeats: int = 1
    status: str = "success"
    tool_version: str = "1.4.0"
    commit: str = "0a1b2c3"
    date: str = "2026-11-20T22-25-57.198528"
    batch: int = 8
    seed: int = 0
    order: int = 0
    dtype: str = "bfloat16"
    device: str = "cuda:0"
    folder: str = "/data/runs"
    early: bool = False
    wrapped: bool = False
    server: bool = False
    judge: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The model as a part of a path."""
        return self.model.replace("/", "_")


class Item:
    """A question with four options."""

    def __init__(self, number: int, task: str) -> None:
        self.number = number
        self.question = f"In {task.partition(':')[0]}, what is {number} + {3 * number + 7}?"
        self.gold = number * 7 % 4
        right = 4 * number + 7
        self.options = [str(right + 2 * (place - self.gold)) for place in range(4)]

    def chosen(self, right: float) -> int:
        """The option of an answer."""
        return self.gold if right else (self.gold + 1) % 4


def asked(right: NDArray[np.float64], run: Run) -> list[tuple[Item, float]]:
    """Return the items up to the limit of a run with their answers, in the order of its samples."""
    order = np.arange(len(right))[: run.limit]
    if run.order:
        order = np.random.default_rng(run.order).permutation(order)
    return [(Item(int(number), run.task), float(right[number])) for number in order]


def _json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _lines(path: Path, rows: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# --- lm-evaluation-harness -----------------------------------------------------------------------


def lm_eval(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A task of log-likelihoods, version 0.4.13."""
    rows: list[dict[str, Any]] = []
    metric = run.metric or "acc"
    for item, mark in asked(right, run):
        doc = {"question": item.question, "choices": item.options, "answer": item.gold}
        logprobs = [-1.0 if option == item.chosen(mark) else -3.5 for option in range(4)]
        texts = [f" {option}" for option in item.options]
        row = scored(item.number, doc, texts, logprobs, item.gold)
        del row["acc"]
        rows.append({**row, "metrics": [metric], metric: mark})
    task = {"output_type": "multiple_choice", "doc_to_choice": "{{choices}}"}
    return _lm_eval_files(folder, rows, task, metric, run)


def lm_eval_generate(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A generating task with two filters, or with the one that the run names."""
    rows: list[dict[str, Any]] = []
    metric = run.metric or "exact_match"
    filters = [run.scorer] if run.scorer else ["strict-match", "flexible-extract"]
    for item, mark in asked(right, run):
        text = item.options[item.chosen(mark)]
        until = {"until": ["Question:"], "do_sample": False}
        for name in filters:
            row = {
                "doc_id": item.number,
                "doc": {"question": item.question, "answer": item.options[item.gold]},
                "target": item.options[item.gold],
                "arguments": {"gen_args_0": {"arg_0": item.question, "arg_1": until}},
                "resps": [[f" {text} is the number."]],
                "filtered_resps": [text],
                "filter": name,
                "metrics": [metric],
                metric: mark,
            }
            rows.append(row)
    kwargs = {
        "until": ["Question:"],
        "do_sample": run.temperature > 0,
        "temperature": run.temperature,
        "top_p": run.top_p,
        "max_gen_toks": run.max_tokens,
    }
    task = {"output_type": "generate_until", "generation_kwargs": kwargs}
    return _lm_eval_files(folder, rows, task, metric, run)


def _lm_eval_files(
    folder: Path, rows: Sequence[dict[str, Any]], task: dict[str, Any], metric: str, run: Run
) -> Path:
    place = folder / run.model.replace("/", "__")
    _lines(place / f"samples_{run.task}_{run.date}.jsonl", rows)
    config = {
        "task": run.task,
        "dataset_path": "org/quiz",
        "dataset_kwargs": {"revision": run.data_revision},
        "test_split": "test",
        "doc_to_text": run.template,
        "doc_to_target": "answer",
        "unsafe_code": False,
        "description": "",
        "target_delimiter": " ",
        "fewshot_delimiter": "\n\n",
        "num_fewshot": run.shots,
        "repeats": run.repeats,
        "metadata": {"version": run.task_version, "pretrained": run.model, "dtype": run.dtype},
        **task,
    }
    results: dict[str, Any] = {
        "results": {run.task: {"alias": run.task, "sample_len": len(rows)}},
        "group_subtasks": {run.task: []},
        "configs": {run.task: config},
        "versions": {run.task: int(run.task_version) if run.early else float(run.task_version)},
        "n-shot": {run.task: run.shots},
        "higher_is_better": {run.task: {metric: run.higher_is_better}},
        "n-samples": {run.task: {"original": 300, "effective": min(300, run.limit or 300)}},
        "config": {
            "model": "hf",
            "model_args": {"pretrained": run.model, "dtype": run.dtype},
            "model_sha": run.commit,
            "batch_size": str(run.batch),
            "device": run.device,
            "limit": run.limit,
            "gen_kwargs": f"do_sample={run.temperature > 0}" if run.early else {},
            "random_seed": run.seed,
        },
        "git_hash": run.commit,
        "transformers_version": "5.1.0",
        "lm_eval_version": run.tool_version,
        "model_source": "hf",
        "model_name": run.model,
        "system_instruction": run.instruction or None,
        "chat_template": "" if run.server else run.chat or None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": "22.9",
    }
    if run.early:
        del config["unsafe_code"]
        del results["lm_eval_version"]
    for field in run.left_out:
        results.pop(field)
    _json(place / f"results_{run.date}.json", results)
    return place


# --- Inspect -------------------------------------------------------------------------------------


def inspect_json(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A log as one JSON file."""
    header, samples = _inspect(right, run)
    path = folder / f"{run.date[:19]}-00-00_quiz_{run.seed}.json"
    _json(path, {**header, "samples": samples})
    return path


def inspect_eval(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A log as an archive."""
    header, samples = _inspect(right, run)
    path = folder / f"{run.date[:19]}-00-00_quiz_{run.seed}.eval"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        start = {name: header[name] for name in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", json.dumps(start))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return path


def _inspect(right: NDArray[np.float64], run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    scorer = run.scorer or "choice"
    samples: list[dict[str, Any]] = []
    for item, mark in asked(right, run):
        letter = LETTERS[item.chosen(mark)]
        value: Any = "C" if mark else "I"
        sample = {
            "id": f"quiz/{item.number}",
            "input": item.question,
            "choices": item.options,
            "target": LETTERS[item.gold],
            "messages": [],
            "output": {"model": run.model, "completion": f"ANSWER: {letter}"},
            "scores": {
                scorer: {
                    "value": {run.metric: float(mark)} if run.metric else value,
                    "answer": letter,
                    "explanation": f"ANSWER: {letter}",
                }
            },
            "metadata": {},
        }
        samples += [{**sample, "epoch": epoch + 1} for epoch in range(run.repeats)]
    system = {"solver": "system_message", "params": {"template": run.instruction, "params": {}}}
    passed = {"template": run.template}
    params = {"cot": False, "max_tokens": None, "shuffle": "none", **passed}
    choice = {"solver": "multiple_choice", "params": params, "params_passed": passed}
    if run.early:
        choice = {"solver": "multiple_choice", "params": passed}
    config: dict[str, Any] = {"max_connections": run.batch, "max_tokens": run.max_tokens}
    config |= {"temperature": run.temperature, "top_p": run.top_p, "seed": run.seed}
    if run.n > 1:
        config["num_choices"] = run.n
    scoring: dict[str, Any] = {
        "name": scorer,
        "scorer": scorer,
        "params": {"model": run.judge} if run.judge else {},
        "metrics": {"accuracy": {"name": "accuracy", "value": float(right.mean())}},
    }
    if run.repeats > 1:
        scoring["reducer"] = run.reducer or "mean"
    eval_config: dict[str, Any] = {"epochs": run.repeats, "limit": run.limit, "log_samples": True}
    if run.reducer or run.early:
        eval_config["epochs_reducer"] = [run.reducer or "mean"]
    header: dict[str, Any] = {
        "version": 2,
        "status": run.status,
        "eval": {
            "eval_id": f"e{run.seed}",
            "created": f"{run.date[:10]}T22:25:57+00:00",
            "task": "quiz",
            "task_version": int(run.task_version),
            "task_args": {"fewshot": run.shots},
            "dataset": {"name": "quiz", "samples": len(samples) // run.repeats, "shuffled": False},
            "model": run.model,
            "model_generate_config": {},
            "model_args": {"device": run.device},
            "config": eval_config,
            "revision": {"type": "git", "origin": "git@host:quiz", "commit": run.commit},
            "packages": {"inspect_ai": run.tool_version},
        },
        "plan": {
            "name": "plan",
            "steps": [system, choice] if run.instruction else [choice],
            "config": config,
        },
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [scoring],
        },
        "stats": {"started_at": run.date, "model_usage": {}},
    }
    for field in run.left_out:
        header["eval"].pop(field)
    return header, samples


# --- HELM ----------------------------------------------------------------------------------------


def helm(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A run folder of `multiple_choice_joint`."""
    place = folder / f"{run.task}:method=multiple_choice_joint,model={run.name}"
    metric = run.metric or "exact_match"
    adapter: dict[str, Any] = {
        "method": "multiple_choice_joint",
        "global_prefix": run.instruction,
        "global_suffix": "",
        "instructions": "The following are multiple choice questions (with answers).\n",
        "input_prefix": run.template.partition("{question}")[0],
        "input_suffix": "\n",
        "reference_prefix": "A. ",
        "reference_suffix": "\n",
        "chain_of_thought_prefix": "",
        "chain_of_thought_suffix": "\n",
        "output_prefix": "Answer: ",
        "output_suffix": "\n",
        "instance_prefix": "\n",
        "substitutions": [],
        "max_train_instances": run.shots,
        "max_eval_instances": run.limit or 1000,
        "num_outputs": 5,
        "num_train_trials": 1,
        "num_trials": 1,
        "sample_train": True,
        "model_deployment": f"huggingface/{run.name}",
        "model": run.model,
        "temperature": run.temperature,
        "max_tokens": run.max_tokens,
        "stop_sequences": ["\n"],
        "multi_label": False,
    }
    if run.wrapped:
        adapter["global_prefix"] = f"\n\nHuman: {run.instruction}"
        adapter["global_suffix"] = "\n\nAssistant:"
        adapter["max_tokens"] += 1
        adapter["temperature"] = run.temperature or 0.0001
    late = ("global_suffix", "chain_of_thought_prefix", "chain_of_thought_suffix", "num_trials")
    for field in (*run.left_out, *(late if run.early and not run.wrapped else ())):
        adapter.pop(field)
    states: list[dict[str, Any]] = []
    stats: list[dict[str, Any]] = []
    for item, mark in asked(right, run):
        references = [
            {"output": {"text": text}, "tags": ["correct"] if place == item.gold else []}
            for place, text in enumerate(item.options)
        ]
        instance = {
            "input": {"text": item.question},
            "references": references,
            "split": "test",
            "id": f"id{item.number}",
        }
        completion = {"text": f" {LETTERS[item.chosen(mark)]}", "logprob": -0.1, "tokens": []}
        state = {
            "instance": instance,
            "train_trial_index": 0,
            "output_mapping": dict(zip(LETTERS, item.options, strict=True)),
            "request": {"model": run.model, "temperature": run.temperature, "top_p": 1},
            "result": {"success": True, "completions": [completion], "cached": True},
            "num_train_instances": run.shots,
        }
        states.append(state)
        stat = {"name": {"name": metric, "split": "test"}, "count": 1, "mean": mark}
        stats.append({"instance_id": f"id{item.number}", "train_trial_index": 0, "stats": [stat]})
    total = {"name": {"name": metric, "split": "test"}, "count": 1, "mean": float(right.mean())}
    spec = {"name": place.name, "scenario_spec": {"class_name": "quiz.Quiz", "args": {}}}
    _json(place / "run_spec.json", {**spec, "adapter_spec": adapter, "groups": ["quiz"]})
    _json(place / "scenario_state.json", {"adapter_spec": adapter, "request_states": states})
    _json(place / "per_instance_stats.json", stats)
    _json(place / "stats.json", [total])
    _json(place / "instances.json", [state["instance"] for state in states])
    _json(place / "scenario.json", {"name": "quiz", "description": "", "tags": []})
    return place


# --- lighteval -----------------------------------------------------------------------------------


def lighteval(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """Details and results of version 0.13."""
    metric = run.metric or "acc"
    task = f"{run.task}|{run.shots}"
    rows: list[dict[str, Any]] = []
    for item, mark in asked(right, run):
        logprobs = [-1.0 if option == item.chosen(mark) else -3.5 for option in range(4)]
        doc = {
            "query": run.template.format(question=item.question),
            "choices": [f" {option}" for option in item.options],
            "gold_index": item.gold,
            "id": str(item.number),
            "task_name": task,
            "fewshot_samples": [{"query": f"Which is {n}?"} for n in range(run.shots)],
        }
        response = {"text": [], "logprobs": logprobs, "input_tokens": [1]}
        rows.append({"doc": doc, "metric": {metric: int(mark)}, "model_response": response})
    name = f"details_{task}_{run.date}.parquet"
    details = folder / "details" / run.model / run.date / name
    details.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), details)
    parameters = {
        "temperature": run.temperature,
        "top_p": run.top_p,
        "top_k": None,
        "max_new_tokens": run.max_tokens,
        "seed": run.seed,
    }
    model = {
        "model_name": run.model,
        "generation_parameters": parameters,
        "system_prompt": run.instruction or None,
        "revision": run.commit,
        "batch_size": run.batch,
        "dtype": run.dtype,
        "device": run.device,
        "override_chat_template": bool(run.chat),
    }
    if run.early:
        model["use_chat_template"] = model.pop("override_chat_template")
    better = {"metric_name": metric, "higher_is_better": run.higher_is_better, "category": "8"}
    config = {
        "name": "quiz",
        "prompt_function": run.template,
        "hf_repo": "org/quiz",
        "hf_revision": run.data_revision,
        "metrics": [better],
        "generation_size": 1,
        "num_fewshots": run.shots,
        "version": int(run.task_version),
    }
    general = {
        "lighteval_sha": run.tool_version,
        "max_samples": run.limit,
        "start_time": 4346.4,
        "model_config": model,
        "model_name": run.model,
    }
    for field in run.left_out:
        general.pop(field)
    early = run.early
    results = {
        "config_general": general,
        "results": {task: {metric: float(right.mean())}},
        "versions": {task: int(run.task_version)} if early else {},
        "config_tasks": {run.task if early else task: config},
        "summary_tasks": {task: {"hashes": {"hash_examples": run.commit}}},
    }
    _json(folder / "results" / run.model / f"results_{run.date}.json", results)
    return folder


# --- OpenCompass ---------------------------------------------------------------------------------


def opencompass(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A work folder with predictions, results and the configuration."""
    metric = run.metric or "accuracy"
    predictions: dict[str, Any] = {}
    details: dict[str, Any] = {"type": "GEN"}
    for place, (item, mark) in enumerate(asked(right, run)):
        options = "\n".join(
            f"{letter}. {text}" for letter, text in zip(LETTERS, item.options, strict=True)
        )
        prompt = f"{item.question}\n{options}\nAnswer:"
        letter, gold = LETTERS[item.chosen(mark)], LETTERS[item.gold]
        text = f" {letter}. is right"
        predictions[str(place)] = {"origin_prompt": prompt, "prediction": text, "gold": gold}
        details[str(place)] = {
            "prompt": prompt,
            "origin_prediction": text,
            "predictions": letter,
            "references": gold,
            "correct": bool(mark),
        }
    stamp = run.date[:19].replace("-", "").replace("T", "_")
    work = folder / stamp
    _json(work / "predictions" / run.name / "quiz.json", predictions)
    _json(
        work / "results" / run.name / "quiz.json", {metric: 100 * right.mean(), "details": details}
    )
    kind = "HuggingFacewithChatTemplate" if run.chat else "HuggingFaceBaseModel"
    scorer = run.scorer or "first_option_postprocess"
    config = f"""datasets=[
    dict(abbr='quiz',
        eval_cfg=dict(
            evaluator=dict(
                type='opencompass.openicl.icl_evaluator.AccwithDetailsEvaluator'),
            pred_postprocessor=dict(
                options='ABCD',
                type='opencompass.utils.text_postprocessors.{scorer}'),
            pred_role='BOT'),
        infer_cfg=dict(
            inferencer=dict(
                max_out_len={run.max_tokens},
                type='opencompass.openicl.icl_inferencer.GenInferencer'),
            prompt_template=dict(
                template=dict(
                    round=[
                        dict(prompt={run.template!r},
                            role='HUMAN'),
                        ]),
                type='opencompass.openicl.icl_prompt_template.PromptTemplate'),
            retriever=dict(
                fix_id_list={list(range(run.shots))},
                type='opencompass.openicl.icl_retriever.FixKRetriever')),
        name='quiz',
        path='{run.folder}/quiz.jsonl',
        type='opencompass.datasets.QuizDataset'),
    ]
models=[
    dict(abbr='{run.name}',
        batch_size={run.batch},
        generation_kwargs=dict(
            do_sample=True,
            temperature={0.1 * run.seed}),
        max_out_len={512 + run.seed},
        path='{run.folder}/{run.model}',
        run_cfg=dict(
            num_gpus=1),
        type='opencompass.models.{kind}'),
    ]
work_dir='{run.folder}/{stamp}'
"""
    path = work / "configs" / f"{stamp}_{run.seed}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(config, encoding="utf-8")
    return work


# --- Every Eval Ever -----------------------------------------------------------------------------


def every_eval_ever(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """Samples and aggregate of schema 0.3.0, converted from Inspect."""
    metric = run.metric or "accuracy"
    result = f"{run.scorer or 'choice'}:{metric}"
    place = folder / "data" / "quiz" / run.model
    name = f"c4b87729-bd88-40e3-b25d-363c23ee{run.seed:04d}"
    rows: list[dict[str, Any]] = []
    for item, mark in asked(right, run):
        row = {
            "schema_version": "0.3.0",
            "evaluation_id": f"quiz/{run.name}/1761001924.0",
            "model_id": run.model,
            "evaluation_name": "quiz",
            "evaluation_result_id": result,
            "sample_id": str(item.number),
            "sample_hash": "…",
            "interaction_type": "single_turn",
            "input": {
                "raw": item.question,
                "formatted": None,
                "reference": [LETTERS[item.gold]],
                "choices": item.options,
            },
            "output": {"raw": [LETTERS[item.chosen(mark)]], "reasoning_trace": None},
            "messages": None,
            "answer_attribution": [],
            "evaluation": {"score": mark, "is_correct": bool(mark)},
            "error": None,
            "metadata": {"stop_reason": "stop", "epoch": "1"},
        }
        rows.append(row)
    params = {"template": run.template, "cot": False, "shuffle": "none"}
    passed = {"template": run.template}
    solver: dict[str, Any]
    solver = {"solver": "multiple_choice", "params": params, "params_passed": passed}
    if run.early:
        solver = {"solver": "multiple_choice", "params": {"template": run.template}}
    steps = [json.dumps(solver)]
    if run.instruction:
        params = {"template": run.instruction}
        system = {"solver": "system_message", "params": params, "params_passed": params}
        steps.insert(0, json.dumps(system))
    arguments: dict[str, Any] = {
        "temperature": run.temperature,
        "top_p": run.top_p,
        "max_tokens": run.max_tokens,
        "reasoning": False,
        "eval_plan": {"name": "plan", "steps": steps, "config": {}},
        "eval_limits": {},
        "sandbox": {},
    }
    for field in run.left_out:
        arguments.pop(field)
    aggregate = {
        "schema_version": "0.3.0",
        "evaluation_id": f"quiz/{run.name}/1761001924.0",
        "evaluation_timestamp": "1761001924.0",
        "eval_library": {"name": "inspect", "version": f"inspect_ai:{run.tool_version}"},
        "model_info": {"name": run.model, "id": run.model},
        "evaluation_results": [
            {
                "evaluation_result_id": result,
                "evaluation_name": "quiz",
                "source_data": {"dataset_name": "quiz", "samples_number": len(right)},
                "metric_config": {
                    "metric_id": metric,
                    "metric_name": metric,
                    "metric_unit": "proportion",
                    "lower_is_better": not run.higher_is_better,
                },
                "score_details": {"score": float(right.mean())},
                "generation_config": {
                    "generation_args": arguments,
                    "additional_details": {"num_fewshot": str(run.shots)},
                },
            }
        ],
    }
    _lines(place / f"{name}_samples.jsonl", rows)
    _json(place / f"{name}.json", aggregate)
    return folder


# --- tables --------------------------------------------------------------------------------------


def _long(right: NDArray[np.float64], run: Run) -> pd.DataFrame:
    answers = asked(right, run)
    rows = {"item_id": [f"q/{item.number}" for item, _ in answers], "model": run.model}
    return pd.DataFrame({**rows, "score": [mark for _, mark in answers]})


def long_csv(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A row per answer."""
    folder.mkdir(parents=True, exist_ok=True)
    _long(right, run).to_csv(folder / "answers.csv", index=False)
    return folder / "answers.csv"


def long_parquet(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A row per answer, in Parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    _long(right, run).to_parquet(folder / "answers.parquet", index=False)
    return folder / "answers.parquet"


def wide_csv(folder: Path, right: NDArray[np.float64], run: Run) -> Path:
    """A column per model."""
    folder.mkdir(parents=True, exist_ok=True)
    made = _long(right, run)
    made = made.drop(columns="model").rename(columns={"score": run.model})
    made.to_csv(folder / "answers.csv", index=False)
    return folder / "answers.csv"


Writer = Callable[[Path, NDArray[np.float64], Run], Path]
WRITERS: dict[str, Writer] = {
    "lm-eval": lm_eval,
    "lm-eval, written": lm_eval_generate,
    "Inspect .json": inspect_json,
    "Inspect .eval": inspect_eval,
    "HELM": helm,
    "lighteval": lighteval,
    "OpenCompass": opencompass,
    "Every Eval Ever": every_eval_ever,
    "long CSV": long_csv,
    "long Parquet": long_parquet,
    "wide CSV": wide_csv,
}
