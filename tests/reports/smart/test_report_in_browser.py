"""The report in a real browser, opened from disk (skipped where Chromium is absent)."""

import re
from collections.abc import Iterator
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


@pytest.fixture
def emulated(opened: Any) -> Iterator[Any]:
    """Emulate another medium and restore the original afterwards."""

    def emulate(media: str = "", scheme: str = "light") -> Any:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        return opened

    yield emulate
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(…)` (WCAG 2.1)."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(driver: Any, selector: str) -> float:
    """The contrast of an element's text with its nearest opaque background."""
    script = """
        const element = document.querySelector(arguments[0]);
        let under = element;
        const paint = (e) => getComputedStyle(e).backgroundColor;
        const clear = (e) => paint(e) === "rgba(0, 0, 0, 0)";
        while (under.parentElement && clear(under)) under = under.parentElement;
        return [getComputedStyle(element).color, paint(under)];
    """
    light, dark = sorted(map(luminance, driver.execute_script(script, selector)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


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


def wait_for_rows(driver: Any, names: list[str]) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 10).until(lambda page: [row.split()[0] for row in rows(page)] == names)


def set_value(driver: Any, name: str, value: str) -> None:
    script = (
        "const e = document.getElementById('view')[arguments[0]]; e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    driver.execute_script(script, name, value)


def test_page_works_from_disk(opened: Any) -> None:
    shown = "return [...document.querySelectorAll('svg')].filter(e => e.clientHeight > 60).length"
    assert opened.execute_script(shown) == 4
    assert len(opened.find_elements("css selector", "h2")) == 11
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


def test_items_with_markup_are_shown_as_text(opened: Any) -> None:
    set_value(opened, "search", "alert(1)")
    assert len(rows(opened)) == 1
    assert "<script>alert(1)</script>" in rows(opened)[0]
    assert opened.execute_script("return document.images.length") == 0


def test_rules_in_the_table_link_to_their_items(opened: Any) -> None:
    link = "document.querySelector('[href=\"#items?rule=similar\"]').click()"
    opened.execute_script(link)
    wait_for_rows(opened, ["demo/020"])


def test_address_reproduces_the_view(opened: Any, page: Path) -> None:
    set_value(opened, "search", "question 2")
    set_value(opened, "decision", "kept")
    address, seen = opened.current_url, rows(opened)
    assert address.endswith("#items?search=question+2&decision=kept")
    opened.get("about:blank")
    opened.get(address)
    assert rows(opened) == seen
    assert opened.execute_script("return window.scrollY") > 1000
    opened.get(f"{page.as_uri()}#items?rule=unknown")
    opened.refresh()
    assert len(rows(opened)) == 25
    assert opened.get_log("browser") == []


def test_headings_sort_by_click_and_keyboard_and_show_the_order(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    heading(opened, "id").click()
    assert sorted_by(opened) == [("id", "ascending")]
    assert in_order(opened) == [f"demo/{i:03d}" for i in range(25)]
    heading(opened, "id").click()
    assert sorted_by(opened) == [("id", "descending")]
    assert in_order(opened)[0] == "demo/059"
    heading(opened, "share").send_keys(Keys.ENTER)
    assert sorted_by(opened) == [("share", "ascending")]
    shares = (
        "[...document.querySelectorAll('#item-rows > tr')].map(r => parseInt(r.cells[5].innerText))"
    )
    rising = opened.execute_script(f"return {shares}")
    assert rising == sorted(rising)
    assert rising[0] < rising[-1]
    heading(opened, "share").send_keys(Keys.SPACE)
    assert sorted_by(opened) == [("share", "descending")]
    assert opened.execute_script(f"return {shares}")[:10] == [100] * 10
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast_is_sufficient(emulated: Any, scheme: str) -> None:
    driver = emulated(scheme=scheme)
    driver.execute_script("for (const e of document.querySelectorAll('details')) e.open = true")
    set_value(driver, "search", "demo/020")
    driver.execute_script("document.querySelector('#item-rows .open').click()")
    texts = (
        *("main p", ".headline", "main a", "nav a", ".quiet", ".under", "aside li"),
        *("caption", ".badge.removed", ".badge", ".mark"),
        *("thead th", "thead button", ".box", "[name=search]", "#next", ".more h4"),
    )
    seen = {selector: contrast(driver, selector) for selector in texts}
    assert {name: ratio for name, ratio in seen.items() if ratio < 4.5} == {}  # WCAG 2.1, AA


def test_print_shows_all_sections_and_hides_controls(emulated: Any) -> None:
    for scheme in ("light", "dark"):
        driver = emulated("print", scheme)
        shown = driver.execute_script(
            "return [...document.querySelectorAll('main > section')].map(e => e.offsetHeight)"
        )
        assert len(shown) == 10
        assert min(shown) > 40
        hidden = "nav, .controls, .pages, .skip"
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.offsetHeight)"
        assert set(driver.execute_script(script, hidden)) == {0}
        paper = "return getComputedStyle(document.documentElement).backgroundColor"
        assert driver.execute_script(paper) == "rgb(255, 255, 255)"
        folded = (
            "document.querySelector('#provenance details table').getBoundingClientRect().height"
        )
        assert driver.execute_script(f"return {folded}") > 100
        assert contrast(driver, ".headline") > 15
