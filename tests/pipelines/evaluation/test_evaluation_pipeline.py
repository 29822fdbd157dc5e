"""The stage as a whole."""

import pandas as pd

from benchwright.pipelines.evaluation import create_pipeline
from benchwright.tables.evidence import Agreement, RankAgreementTable, Scores, SubjectShares


def test_every_node_has_a_docstring_and_the_name_of_its_function() -> None:
    nodes = create_pipeline().nodes
    assert all(node.func.__doc__ and node.func.__name__ == node.short_name for node in nodes), nodes
    assert len({node.name for node in nodes}) == len(nodes)


def test_tables_match_their_pandera_models(run) -> None:
    out = run()
    for name, table in (
        ("scores", Scores),
        ("rank_agreement", RankAgreementTable),
        ("subject_shares", SubjectShares),
        ("agreement", Agreement),
    ):
        assert isinstance(table.validate(out[name]), pd.DataFrame)
    assert out["scores"]["model"].iloc[0] == "org/zeta"
    assert set(out["agreement"]["kind"]) == {"prediction"}


def test_plots_can_be_stored_as_plotly_json(run, tmp_path) -> None:
    import plotly.io

    out = run()
    names = [name for name in out if name.endswith("_plot")]
    assert len(names) == 4
    for name in names:
        plotly.io.write_json(out[name], tmp_path / "plot.json")
        assert plotly.io.read_json(tmp_path / "plot.json").layout.title.text
