"""The page of the sampling stage in a real browser (skipped where Chromium is absent)."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BOXES = """
    const box = e => e.getBoundingClientRect();
    return [...document.querySelectorAll(".plot")].map(plot => ({
        id: plot.id,
        svg: !!plot.querySelector("svg"),
        right: Math.max(...[...plot.querySelectorAll(".legendtext, .xtick text, .annotation-text")]
            .map(e => box(e).right - box(plot).right), -1),
        low: Math.max(...[...plot.querySelectorAll(".legend")].map(
            e => box(e).bottom - box(plot).bottom), -1),
        crossed: [...plot.querySelectorAll(".legend")].filter(legend =>
            [...plot.querySelectorAll(".annotation-text, .xtick text")].some(note =>
                box(legend).bottom > box(note).top + 2 && box(note).bottom > box(legend).top + 2
                && box(legend).right > box(note).left && box(note).right > box(legend).left)).length
    }));
"""


@pytest.fixture(scope="module")
def opened(results: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or service is None:
        pytest.skip("no chromium or chromedriver")
    from selenium import webdriver

    folder = tmp_path_factory.mktemp("sampling_report")
    path: Path = folder / "sampling_report.html"
    path.write_text(results["sampling_report"], encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--force-prefers-reduced-motion",  # no smooth scrolling, which clicks would miss
        "--enable-unsafe-swiftshader",  # the map of items is drawn by WebGL
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


def look(driver: Any, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    driver.refresh()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "dark"), pytest.param(768, "light", marks=pytest.mark.long), (1280, "light")],
)
def test_no_label_is_cut_off_or_covered(opened: Any, width: int, scheme: str) -> None:
    look(opened, width, scheme)
    assert [entry for entry in opened.get_log("browser") if "WebGL" not in entry["message"]] == []
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    plots = opened.execute_script(BOXES)
    assert len(plots) == 4
    assert all(plot["svg"] for plot in plots)
    assert [plot["id"] for plot in plots if plot["right"] > 1 or plot["low"] > 1] == []
    assert [plot["id"] for plot in plots if plot["crossed"]] == []
    dark = opened.execute_script(
        "return getComputedStyle(document.documentElement).backgroundColor"
    )
    assert (sum(map(int, dark[4:-1].split(","))) < 200) == (scheme == "dark")
