"""The sampling stage, run once for all tests of its page."""

from typing import Any

import pytest

from methods.dele.evidence.sampling_examples import make_answers
from reports.dele.sampling_stage import run


@pytest.fixture(scope="session")
def results() -> dict[str, Any]:
    return run(make_answers())
