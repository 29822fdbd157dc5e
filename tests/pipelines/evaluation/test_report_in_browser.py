"""The report in a real browser, opened from disk (skipped where Chromium is absent)."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture(scope="module")
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
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def report(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(run()["report"], encoding="utf-8")
    return path


@pytest.fixture
def opened(report: Path, driver: Any) -> Any:
    """The report of the small benchmark, opened from disk."""
    driver.get(report.as_uri())
    return driver


def rows(driver: Any) -> list[str]:
    script = "return [...document.querySelectorAll('#item-rows tr')].map(r => r.innerText)"
    return driver.execute_script(script)


def set_value(driver: Any, name: str, value: str) -> None:
    script = (
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event(e.tagName === 'INPUT' ? 'input' : 'change'))"
    )
    driver.execute_script(script, name, value)


def test_the_page_works_from_disk(opened: Any) -> None:
    drawn = "return document.querySelectorAll('.plot .main-svg').length"
    assert opened.execute_script(drawn) >= 6
    assert len(opened.find_elements("css selector", "h2")) == 11
    assert opened.get_log("browser") == []
    loaded = opened.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_the_search_box_and_the_menus_filter_the_items(opened: Any) -> None:
    assert len(rows(opened)) == 25
    set_value(opened, "search", "question 37")
    assert [row.split()[0] for row in rows(opened)] == ["demo/037"]
    assert "1 of 60 listed items" in opened.find_element("id", "found").text
    set_value(opened, "search", "nothing like this")
    assert rows(opened) == []
    set_value(opened, "search", "")
    set_value(opened, "decision", "removed")
    assert len(rows(opened)) == 10
    set_value(opened, "rule", "similar")
    assert [row.split()[0] for row in rows(opened)] == ["demo/020"]
    set_value(opened, "rule", "retained_easy")
    set_value(opened, "decision", "")
    assert [row.split()[0] for row in rows(opened)] == ["demo/009"]


def test_pages_are_turned_with_the_keyboard(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    first = rows(opened)
    opened.find_element("id", "next").send_keys(Keys.ENTER)
    assert not set(rows(opened)) & set(first)
    assert not opened.find_element("id", "previous").get_property("disabled")


def test_an_item_that_looks_like_html_is_shown_as_text(opened: Any) -> None:
    set_value(opened, "search", "alert(1)")
    assert len(rows(opened)) == 1
    assert "<script>alert(1)</script>" in rows(opened)[0]
    assert opened.execute_script("return document.images.length") == 0


def test_a_rule_in_the_table_leads_to_its_items(opened: Any) -> None:
    opened.execute_script("document.querySelector('[data-show=similar]').click()")
    assert [row.split()[0] for row in rows(opened)] == ["demo/020"]


def test_a_phone_needs_no_sideways_scrolling(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        opened.refresh()
        assert opened.execute_script("return document.documentElement.scrollWidth") == 390
        assert not opened.find_element("id", "contents").get_property("open")
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_mode_changes_page_and_figures(opened: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    ink = "return getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    paper = "return getComputedStyle(document.documentElement).backgroundColor"
    light = opened.execute_script(ink), opened.execute_script(paper)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    try:
        assert opened.execute_script(paper) != light[1]
        # Figures are drawn again in the event that follows.
        WebDriverWait(opened, 10).until(lambda page: page.execute_script(ink) != light[0])
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
