"""Outputs of the construction report, with and without judges."""

from typing import Any

import pytest

from reports.mmlu_cf.construction_examples import making, run


@pytest.fixture(scope="session")
def unjudged() -> dict[str, Any]:
    """Plots, metrics and page where no judge was named."""
    return run(making())


@pytest.fixture(scope="session")
def judged() -> dict[str, Any]:
    """The same where two judges rated and checked."""
    return run(making(judges=True))
