"""The comparison of perturbed copies, run once for all tests."""

from types import SimpleNamespace

import pytest

from methods.wicked.comparison.comparison_examples import panel_stage


@pytest.fixture(scope="session")
def stage() -> SimpleNamespace:
    return panel_stage()
