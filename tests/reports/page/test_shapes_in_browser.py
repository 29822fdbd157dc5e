"""Shapes in a real browser, on a wide and on a narrow page (skipped where Chromium is absent)."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.reports.page import shapes
from benchwright.reports.page.figure import Line, Mark, Scale
from benchwright.reports.page.parts import Page, Plot, Section, render_page
from benchwright.reports.page.plot_style import KEPT, REMOVED
from benchwright.reports.page.shapes import Step
from benchwright.reports.verdict import write_verdict

LONG = "a-model-with-a-rather-long-name@cloze_tokens-5"
TEXTS = """
    const shown = [...document.querySelectorAll("svg text")].filter(e => e.getClientRects().length);
    return shown.map(e => {
        const [box, svg] = [e.getBoundingClientRect(), e.closest("svg").getBoundingClientRect()];
        return [e.textContent, box.left - svg.left, svg.right - box.right, box.top - svg.top,
                svg.bottom - box.bottom, box.left, box.right, box.top, box.bottom];
    });
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ["a", LONG, "c"]
    marks = [Line(0.4, "all items 40%", KEPT), Line(0.42, "this run 42%", REMOVED)]
    ranks = pd.DataFrame({"model": names, "rank_full": [1, 2, 3], "rank_kept": [3, 2, 1]})
    ranks = ranks.assign(accuracy_full=0.8, accuracy_kept=0.7)
    pairs = pd.DataFrame({"difference": [0.2, 0.5, 0.1], "low": 0.1, "high": 0.6})
    given = {"x": Scale("points", ".1f"), "words": {KEPT: LONG}, "lines": marks}
    curve = Mark("line", [1, 10, 100], [-0.2, 0.3, 0.4], KEPT, "curve", dotted=True)
    steps = [Step(name, 9_000, 100, "−100 → 9,000") for name in names]
    x, y = Scale("items"), Scale("tau", ".2f")
    plots = {
        "funnel": shapes.funnel("Funnel", steps),
        "rows": shapes.intervals("Rows", names, pairs, colours=[KEPT] * 3, **given),
        "curves": shapes.curves("Curves", [curve], x, y),
        "labelled": shapes.curves("Labelled", [curve], x, y, marks),
        "spread": shapes.distribution("Spread", [0.1, 0.2, 0.2], "draws", (0.1, 0.2), marks[0]),
        "slopes": shapes.slopes("Slopes", ranks, ("full", "kept")),
        "nothing": shapes.nothing("Nothing", "There is nothing to draw."),
    }
    path = tmp_path_factory.mktemp("shapes") / "page.html"
    sections = [Section("Plots", [Plot(name) for name in plots])]
    path.write_text(
        render_page(Page("Shapes", "Shapes", write_verdict(""), sections, plots)), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_is_cut_off_or_covered(page: Path, driver: Any, width: int) -> None:
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        driver.get(page.as_uri())
        assert driver.get_log("browser") == []
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        texts = driver.execute_script(TEXTS)
        assert len(texts) > 40
        cut = [text[:5] for text in texts if min(text[1:5]) < -2]
        assert not cut, str(cut)
        crossed = [
            (a[0], b[0])
            for i, a in enumerate(texts)
            for b in texts[:i]
            if min(a[6], b[6]) - max(a[5], b[5]) > 2 and min(a[8], b[8]) - max(a[7], b[7]) > 4
        ]
        assert not crossed, str(crossed)
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
