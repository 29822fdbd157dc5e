import pytest

pytest.importorskip("cosmic_ray", reason="not among what is installed")

from cosmic_ray.mutating import mutate_code

from mutants import draw_mutants, lines_of_functions, list_mutants

CODE = '''
"""A text with 1 number."""
LIMIT: "int | None" = 3


def cut(texts: list[str] | None) -> list[str] | None:
    log.info("%s of %s", len(texts) - 1, 2)
    if texts and len(texts) > LIMIT:
        return texts[
            :LIMIT
        ]
    return texts
'''


def test_changes_conditions_numbers_and_returns_but_no_text_annotation_or_log():
    changed = {
        line.strip()
        for it in list_mutants("a.py", CODE)
        for line in set(mutate_code(CODE, it.operator(), it.occurrence).split("\n"))
        - set(CODE.split("\n"))
    }
    assert changed == {
        'LIMIT: "int | None" = 4',
        'LIMIT: "int | None" = 2',
        "if texts or len(texts) > LIMIT:",
        "if not texts and len(texts) > LIMIT:",
        "if texts and len(texts) >= LIMIT:",
        "if texts and len(texts) <= LIMIT:",
        "return None",
    }
    assert list(list_mutants("a.py", "def f():\n    return None\n")) == []


def test_draws_other_lines_with_another_seed_and_knows_where_a_statement_begins():
    drawn = [tuple(it[1] for it in draw_mutants({"a.py": CODE}, 2, seed)) for seed in "aab"]
    assert drawn[0] == drawn[1] != drawn[2]
    spans = {n: [*span] for n, span in lines_of_functions(CODE).items()}
    assert spans == {7: [7], 8: [8], 9: [9, 10, 11], 10: [9, 10, 11], 11: [9, 10, 11], 12: [12]}
