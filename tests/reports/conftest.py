"""A browser for the tests of pages."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from refined_benchmark import report, run, small

__all__ = ["report", "run", "small"]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or service is None:
        pytest.skip("no chromium or chromedriver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--force-prefers-reduced-motion",  # no smooth scrolling, which clicks would miss
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    yield chrome
    chrome.quit()
