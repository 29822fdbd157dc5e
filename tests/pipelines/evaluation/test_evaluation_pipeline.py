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
