"""The stage as a whole."""

from benchwright.tables.evidence import Agreement, RankAgreementTable, Scores, SubjectShares


def test_tables_have_their_columns_and_the_best_model_comes_first(run) -> None:
    out = run()
    for name, table in (
        ("scores", Scores),
        ("rank_agreement", RankAgreementTable),
        ("subject_shares", SubjectShares),
        ("agreement", Agreement),
    ):
        assert out[name].columns.tolist() == table.columns()
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
