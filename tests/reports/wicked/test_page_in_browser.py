"""The report of perturbed benchmarks in a real browser (skipped where Chromium is absent)."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def opened(stage: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or service is None:
        pytest.skip("no chromium or chromedriver")
    from selenium import webdriver

    folder = tmp_path_factory.mktemp("comparison_report")
    path: Path = folder / "comparison_report.html"
    path.write_text(stage.outputs["comparison_report"], encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--user-data-dir={folder / 'profile'}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    chrome.get(path.as_uri())
    yield chrome
    chrome.quit()


def narrow(driver: Any, width: int) -> None:
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.refresh()


def labels(driver: Any) -> list[dict[str, float]]:
    """Return positions of the names next to the plots, and the edges of the plots."""
    script = """
        return [...document.querySelectorAll(".plot")].flatMap(plot => {
            const whole = plot.getBoundingClientRect();
            return [...plot.querySelectorAll(".ytick text, .y2tick text, .xtick text")].map(e => {
                const box = e.getBoundingClientRect();
                return {left: box.left - whole.left, right: whole.right - box.right,
                        width: box.width};
            });
        });
    """
    return driver.execute_script(script)


@pytest.mark.parametrize("width", [390, 1280])
def test_page_works_from_disk_at_every_width(opened: Any, width: int) -> None:
    narrow(opened, width)
    assert opened.get_log("browser") == []
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    perturbed = "return [...document.querySelectorAll('.plot')].map(p => !!p.querySelector('svg'))"
    assert opened.execute_script(perturbed) == [True] * 4
    clipped = [each for each in labels(opened) if each["left"] < -1 or each["right"] < -1]
    assert clipped == []
    loaded = "return performance.getEntriesByType('resource').map(e => e.name)"
    assert [u for u in opened.execute_script(loaded) if not u.startswith("data:")] == []


def test_html_in_a_question_is_text(opened: Any) -> None:
    assert opened.execute_script("return document.images.length") == 0
    assert opened.find_element("css selector", "h1").text == "Demo <i>benchmark</i>"
