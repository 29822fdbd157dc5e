import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.item_clusters import item_clusters


def items(*rows: tuple[str, str, str | None]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item_id", "question", "passage_id"])


def test_items_with_the_same_passage_form_a_cluster() -> None:
    labels = item_clusters(items(("a", "One?", "p"), ("b", "Two?", "q"), ("c", "Three?", "p")))
    assert labels.tolist() == [0, 1, 0]


def test_without_passage_equal_stems_form_a_cluster_up_to_case_and_spaces() -> None:
    labels = item_clusters(
        items(("a", "Which is  true?", None), ("b", "which is\ntrue?", None), ("c", "Which?", None))
    )
    assert labels.tolist() == [0, 0, 1]


def test_passage_takes_precedence_over_stem() -> None:
    labels = item_clusters(items(("a", "Same?", "p"), ("b", "Same?", None), ("c", "Same?", "q")))
    assert len(set(labels.tolist())) == 3


def test_missing_and_blank_passage_ids_are_ignored() -> None:
    frame = items(
        ("a", "One?", None), ("b", "Two?", " "), ("c", "Three?", None), ("d", "Four?", "\t")
    )
    frame.loc[2, "passage_id"] = np.nan
    assert item_clusters(frame).tolist() == [0, 1, 2, 3]


def test_empty_questions_are_separate_clusters() -> None:
    assert item_clusters(items(("a", "", None), ("b", " ", None))).tolist() == [0, 1]


def test_clusters_are_numbered_by_their_first_item_in_natural_order() -> None:
    labels = item_clusters(items(("q/10", "B", None), ("q/9", "A", None), ("q/11", "A", None)))
    assert labels.tolist() == [1, 0, 0]


@given(
    st.lists(
        st.tuples(st.sampled_from("ABCab "), st.sampled_from([None, "", "p", "q"])), max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_cluster_labels_do_not_depend_on_row_order(rows, random) -> None:  # type: ignore[no-untyped-def]
    frame = items(*((f"i{n}", question, passage) for n, (question, passage) in enumerate(rows)))
    shuffled = frame.sample(frac=1, random_state=random.randrange(2**31))
    of = dict(zip(frame["item_id"], item_clusters(frame).tolist(), strict=True))
    assert of == dict(zip(shuffled["item_id"], item_clusters(shuffled).tolist(), strict=True))
