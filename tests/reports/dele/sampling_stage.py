"""Run the sampling stage on the synthetic benchmark."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.sampling import create_pipeline
from methods.dele.evidence.sampling_examples import (
    make_families,
    make_items,
    make_matrix,
    make_params,
)

PARAMS = make_params(
    samplers="random+word_length+kmeans_tfidf+share_wrong",
    repeats=2,
    adaptive={"splits": 1, "lowest_rate": 10, "highest_rate": 50},
    evidence={
        "at_rates": (10.0, 22.5),
        "band_subsets": 20,
        "estimate_subsets": 2,
        "subject_items": 30,
    },
)
BENCHMARK = BenchmarkParams.model_validate(
    {
        "name": "x",
        "title": "A <b>bold</b> benchmark",
        "licence": "MIT",
        "citation": "c",
        "url": "",
        "sources": {
            "local": {
                "file": "items.jsonl",
                "all_rows": "test",
                "fields": {
                    "question": "q",
                    "choices": {"column": "c"},
                    "gold": {"column": "a", "form": "index"},
                },
            }
        },
        "splits": {"evaluation": ["test"]},
    }
)


def run(answers: NDArray[np.float32]) -> dict[str, Any]:
    """Return inputs and outputs of all nodes of the stage, by name."""
    data: dict[str, Any] = {
        "response_matrix": make_matrix(answers),
        "items": make_items(answers.shape[1]),
        "models_table": make_families(len(answers)),
        "sampling_vector_cache": pd.DataFrame(),
        "params:ingestion": BENCHMARK,
        "params:variant": "dele",
        "params:sampling": PARAMS,
        "params:models": ModelsParams(),
        "params:seed": 0,
    }
    for node in create_pipeline().nodes:  # in an order in which each finds its inputs
        data |= node.run({name: data[name] for name in node.inputs})
    return data
