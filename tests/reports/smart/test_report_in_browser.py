"""The report in a real browser, opened from disk (skipped where Chromium is absent)."""

from pathlib import Path
from typing import Any

import pytest

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture(scope="module")
def page(report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report()["report"], encoding="utf-8")
    return path


@pytest.fixture
def opened(page: Path, driver: Any) -> Any:
    """The report of the small benchmark, opened from disk, with an empty search box."""
    if driver.current_url.split("#")[0] != page.as_uri():
        driver.get(page.as_uri())
        return driver
    for name in ("search", "decision", "rule"):
        set_value(driver, name, "")
    return driver


def in_order(driver: Any) -> list[str]:
    script = "return [...document.querySelectorAll('#item-rows > tr > th')].map(e => e.innerText)"
    return driver.execute_script(script)


def heading(driver: Any, key: str) -> Any:
    return driver.find_element("css selector", f"[data-sort={key}] button")


def sorted_by(driver: Any) -> list[tuple[str, str]]:
    script = (
        "return [...document.querySelectorAll('[aria-sort]')]"
        ".map(e => [e.dataset.sort, e.getAttribute('aria-sort')])"
    )
    return [tuple(pair) for pair in driver.execute_script(script)]


def rows(driver: Any) -> list[str]:
    script = "return [...document.querySelectorAll('#item-rows > tr')].map(r => r.innerText)"
    return driver.execute_script(script)


def set_value(driver: Any, name: str, value: str) -> None:
    script = (
        "const e = document.getElementById('view')[arguments[0]]; e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    driver.execute_script(script, name, value)


def test_page_works_from_disk(opened: Any) -> None:
    shown = "return [...document.querySelectorAll('svg')].filter(e => e.checkVisibility()).length"
    assert opened.execute_script(shown) == 2
    opened.execute_script("location.hash = '#ranking'")  # a link opens a folded section
    assert opened.execute_script(shown) == 3
    assert len(opened.find_elements("css selector", "h2")) >= 10
    assert opened.get_log("browser") == []
    loaded = opened.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_search_box_menus_and_buttons_choose_items(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    assert len(rows(opened)) == 25
    set_value(opened, "search", "question 37")
    assert [row.split()[0] for row in rows(opened)] == ["demo/037"]
    assert "1 of 60 items" in opened.find_element("id", "count").text
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
    set_value(opened, "rule", "")
    first = rows(opened)
    opened.find_element("id", "next").send_keys(Keys.ENTER)
    assert not set(rows(opened)) & set(first)
    assert not opened.find_element("id", "previous").get_property("disabled")


def test_address_and_links_of_rules_reproduce_a_view(opened: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    set_value(opened, "search", "question 2")
    set_value(opened, "decision", "kept")
    address, seen = opened.current_url, rows(opened)
    assert address.endswith("#items?search=question+2&decision=kept")
    opened.execute_script("document.querySelector('[href=\"#items?rule=similar\"]').click()")
    WebDriverWait(opened, 10).until(lambda page: len(rows(page)) == 1)
    assert rows(opened)[0].startswith("demo/020")
    opened.get("about:blank")
    opened.get(address)
    assert rows(opened) == seen
    assert opened.execute_script("return window.scrollY") > 1000
    assert opened.get_log("browser") == []


def test_headings_sort_by_click_and_keyboard_and_show_the_order(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    for order, first in (("ascending", "demo/000"), ("descending", "demo/059")):
        heading(opened, "id").click()
        assert sorted_by(opened) == [("id", order)]
        assert in_order(opened)[0] == first
    for key, first in ((Keys.ENTER, "43%"), (Keys.SPACE, "100%")):
        heading(opened, "share").send_keys(key)
        assert first in rows(opened)[0].split()
    for order in ("ascending", "descending"):  # items without a value come last in both
        heading(opened, "distance").click()
        assert in_order(opened)[0] == "demo/020"  # the only one with a neighbour
        assert sorted_by(opened) == [("distance", order)]


def test_expanded_item_shows_options_and_neighbour(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    set_value(opened, "search", "demo/020")
    button = opened.find_element("css selector", "#item-rows .open")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    text = opened.find_element("css selector", "#item-rows .more").text
    assert "Nearest item: demo/021, cosine distance 0.100" in text
    assert "Question 21: which one?" in text
    button.send_keys(Keys.SPACE)
    assert button.get_attribute("aria-expanded") == "false"
    assert opened.find_elements("css selector", "#item-rows .more") == []


def test_page_fits_a_phone_and_wide_tables_scroll_in_focusable_frames(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        opened.refresh()
        assert not opened.find_element("id", "contents").get_property("open")
        opened.execute_script(
            "for (const e of document.querySelectorAll('details')) e.open = true;"
            "for (const e of document.querySelectorAll('#item-rows .open')) e.click()"
        )
        assert opened.execute_script("return document.documentElement.scrollWidth") == 390
        wide = opened.execute_script(
            "return [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > "
            "e.clientWidth).map(e => e.tabIndex + e.getAttribute('role'))"
        )
        assert wide
        assert set(wide) == {"0region"}
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_print_shows_all_sections_and_hides_controls(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        height = "return [...document.querySelectorAll(arguments[0])].map(e => e.offsetHeight)"
        shown = opened.execute_script(height, "main > section")
        assert len(shown) >= 9
        assert min(shown) > 40
        assert set(opened.execute_script(height, "nav, .controls, .pages, .skip")) == {0}
        assert opened.execute_script(height, "#provenance details table")[0] > 100
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
