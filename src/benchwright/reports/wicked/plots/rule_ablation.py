"""What each further rule costs (MMLU-CF, Table 2 and Figure 7)."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import NARROW_NAME, axis, clip, empty_figure, layout, plain
from benchwright.reports.wicked.plots.shown_models import COLOURS

_MOST = 12  # lines beyond this cannot be told apart
_DASHES = ("solid", "dot", "dash", "dashdot")


def draw_rule_ablation(rule_ablation: pd.DataFrame) -> Any:
    """Draw accuracy with no rule, the first, the first two, and so on; one line a configuration."""
    import plotly.graph_objects as go

    title = "Accuracy with one more rule at each step, mean ± standard deviation over draws"
    if rule_ablation.empty:
        return empty_figure(title, "The rules were not drawn step by step (cumulative: true).")
    table = rule_ablation.sort_values(["configuration", "step"])
    start = table[table["step"] == 0].sort_values(["accuracy", "configuration"], ascending=False)
    configurations = [str(one) for one in start["configuration"]]
    if len(configurations) > _MOST:
        title += f"; the best {_MOST} of {len(configurations):,} configurations"
    configurations = configurations[:_MOST]
    models = list(dict.fromkeys(start["model"]))
    ways = sorted({(str(style), int(shots)) for style, shots in zip(*_asked(start), strict=True)})
    steps = table[["step", "rule"]].drop_duplicates().sort_values("step")
    labels = [_step(int(step), str(rule)) for step, rule in steps.itertuples(index=False)]
    rows = len(configurations)
    below = 76 + 22 * rows
    return go.Figure(
        [
            _line(table[table["configuration"] == configuration], models, ways)
            for configuration in configurations
        ],
        layout(
            title,
            320 + below,
            xaxis=axis(
                tickvals=list(range(len(labels))),
                ticktext=labels,
                range=[-0.3, len(labels) - 0.7],
                tickangle=0,
                showgrid=False,
            ),
            yaxis=axis("accuracy", tickformat=".0%"),
            legend={"orientation": "v", "y": -70 / 312, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": below},
            hovermode="closest",
            meta={
                "narrow": {
                    f"data.{place}.name": plain(clip(configuration, 2 * NARROW_NAME))
                    for place, configuration in enumerate(configurations)
                }
            },
        ),
    )


def _asked(start: pd.DataFrame) -> tuple[list[Any], list[Any]]:
    return start["style"].tolist(), start["shots"].tolist()


def _step(step: int, rule: str) -> str:
    words = plain(rule.replace("_", " "))
    return "as they<br>were" if not step else "+ " + words.replace(" ", "<br>")


def _line(rows: pd.DataFrame, models: list[str], ways: list[tuple[str, int]]) -> Any:
    import plotly.graph_objects as go

    first = rows.iloc[0]
    colour = COLOURS[models.index(first["model"]) % len(COLOURS)]
    way = ways.index((str(first["style"]), int(first["shots"])))
    name = plain(clip(str(first["configuration"]), 48))
    return go.Scatter(
        x=rows["step"].tolist(),
        y=rows["accuracy"].tolist(),
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": 2, "dash": _DASHES[way % len(_DASHES)]},
        marker={"size": 8},
        error_y={
            "type": "data",
            "array": rows["accuracy_sd"].fillna(0).tolist(),
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
        hovertemplate=f"{name}<br>%{{y:.1%}}<extra></extra>",
    )
