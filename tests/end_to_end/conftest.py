"""Complete runs of the project in separate data folders."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from kedro.runner import SequentialRunner

from benchwright.similarity import vectors

Run = Callable[..., Path]

FEW_DRAWS = {"random_subsets": 20, "bootstrap_samples": 20}


@pytest.fixture(scope="session")
def run_project(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Run a pipeline and return its data folder.

    `data` reuses the folder of an earlier run; `scores_of` starts from the scores of one.
    """

    def run(
        pipeline: str = "smart",
        data: Path | None = None,
        scores_of: Path | None = None,
        runner: Any = None,
        **params: Any,
    ) -> Path:
        if data is None:
            data = tmp_path_factory.mktemp("data")
            (data / "01_raw").symlink_to(repository / "data" / "01_raw")
        if scores_of is not None:
            shutil.copytree(scores_of / "06_models", data / "06_models")
        bootstrap_project(repository)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BENCHWRIGHT_MLFLOW", "off")
            patch.setattr(vectors, "encode", encode_once)
            with KedroSession.create(
                project_path=repository, runtime_params={"data_root": str(data), **params}
            ) as session:
                session.run(pipeline_names=[pipeline], runner=runner or SequentialRunner())
        return data

    encode_once = remembering(vectors.encode)
    return run


def remembering(encode: Callable[..., Any]) -> Callable[..., Any]:
    """Encode each text once; the vector of a text does not depend on those around it."""
    known: dict[tuple[str, ...], Any] = {}

    def encode_once(texts: Sequence[str], *how: Any, **options: Any) -> Any:
        keys = {text: (text, repr(how), repr(sorted(options.items()))) for text in texts}
        new = [text for text, key in keys.items() if key not in known]
        if not texts:
            return encode(texts, *how, **options)
        if new:
            added = encode(new, *how, **options)
            known.update(zip((keys[text] for text in new), added, strict=True))
        return np.stack([known[keys[text]] for text in texts])

    return encode_once


@pytest.fixture(scope="session")
def recorded_demo(run_project: Callable[..., Path]) -> Path:
    """The demo, refined from its recorded answers, without model calls."""
    return run_project(score="imported", evaluation=FEW_DRAWS)
