"""The functions of the Python API on small tables."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchwright as bw
from benchwright.core.errors import InputError
from benchwright.statistics.rank_agreement import kendall_tau_b

N = 40
MODELS = tuple(f"org{k}/model-{k}" for k in range(6))
QUICK = {"evaluation": {"random_subsets": 20, "bootstrap_samples": 20}}


@pytest.fixture
def items() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": [f"q{n:02d}" for n in range(N)],
            "subject": ["even" if n % 2 == 0 else "odd" for n in range(N)],
            "question": [f"Question number {n}?" for n in range(N)],
            "choices": [[f"{word} {n}" for word in ("one", "two", "six", "ten")] for n in range(N)],
            "answer": [n % 4 for n in range(N)],
        }
    )


@pytest.fixture
def responses(items: pd.DataFrame) -> pd.DataFrame:
    """Every model solves the first ten items with confidence; later models solve more."""
    rng = np.random.default_rng(0)
    rows = [
        (item, model, float(place < 10 or rng.random() < 0.3 + k / 10))
        for k, model in enumerate(MODELS)
        for place, item in enumerate(items["item_id"])
    ]
    table = pd.DataFrame(rows, columns=["item_id", "model", "correct"])
    easy = table["item_id"].isin(items["item_id"][:10])
    return table.assign(p_answer=np.where(easy, 0.95, np.where(table["correct"] == 1, 0.6, 0.1)))


def quick(**params: Any) -> dict[str, Any]:
    return {**QUICK, **params}


def test_smart_removes_the_easy_items_and_says_which_rules_did_not_run(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    before = items.copy(deep=True)
    result = bw.smart(items, responses, variant="no_similar", filter_models="all", params=QUICK)
    pd.testing.assert_frame_equal(items, before)
    assert len(result.removed) == 9  # of ten easy items, one stays
    assert set(result.removed["item_id"]) < set(items["item_id"][:10])
    rules = result.rules.set_index("rule")
    assert rules.loc["easy", "removed"] == 9
    assert rules.loc["answer_only", "status"] == "not_run"
    assert "answer_only did not run: no choices-only responses" in repr(result)
    assert "these 31 of 40 items" in repr(result)
    assert set(result.filter_models) == set(MODELS)


def test_params_are_those_of_a_run_with_dots_or_nested(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    dotted, nested = (
        bw.smart(items, responses, variant="no_similar", filter_models="all", params=params)
        for params in (
            quick(**{"filtering.easy.retain": 0.5}),
            quick(filtering={"easy": {"retain": 0.5}}),
        )
    )
    assert len(dotted.removed) == len(nested.removed) == 5


def test_smart_without_responses_keeps_what_rules_about_texts_keep(items: pd.DataFrame) -> None:
    twice = pd.concat([items, items.head(3).assign(item_id=["x", "y", "z"])])
    result = bw.smart(twice, variant="no_similar", filter_models=[])
    assert len(result.removed) == 3
    assert result.evidence.notes == (
        "No model answered enough items, so rankings are not compared; "
        "a run with `score=live` in its `--params` asks the packaged models.",
    )
    assert "tau-b" not in repr(result)


def test_embeddings_belong_to_the_rows_of_the_given_items(items: pd.DataFrame) -> None:
    vectors = np.eye(N, dtype=np.float32)
    vectors[7] = vectors[31] * 3  # the only pair of items that are alike
    order = np.random.default_rng(1).permutation(N)
    shuffled = items.iloc[order]
    shuffled.loc[shuffled["item_id"] == "q20", "question"] = None  # it is left out
    with pytest.warns(UserWarning, match="left out: 1 of 40 rows"):
        result = bw.smart(
            shuffled.to_dict("records"),
            embeddings=vectors[order],
            filter_models=[],
            params={
                "filtering.similar.threshold": 0.1,
                "filtering.similar.string_similarity_exempt": None,
            },
        )
    similar = result.groups[result.groups["kind"] == "similar"]
    assert sorted(similar["item_id"]) == ["q07", "q31"]


def test_letters_and_missing_ids_are_understood(items: pd.DataFrame) -> None:
    letters = items["answer"].map(dict(enumerate("ABCD")))
    plain = items.drop(columns="item_id").assign(answer=letters)
    read = bw.smart(plain, variant="no_similar", filter_models=[]).kept
    assert read["item_id"].tolist() == [f"items/{n}" for n in range(N)]
    assert read["answer"].tolist() == items["answer"].tolist()
    from_1 = plain.assign(answer=items["answer"] + 1)
    assert bw.smart(from_1, variant="no_similar", filter_models=[]).kept.equals(read)


def test_suspect_items_are_those_that_models_answer_wrong(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    ranked = bw.suspect_items(items, responses)
    wrong = 1 - responses.groupby("item_id")["correct"].mean()
    assert len(ranked) == N
    assert ranked["share_wrong"].tolist() == pytest.approx(sorted(wrong, reverse=True))
    assert set(ranked["item_id"][-10:]) == set(items["item_id"][:10])
    assert bw.suspect_items(None, responses)["item_id"].tolist() == ranked["item_id"].tolist()
    hard = ranked["item_id"][0]
    once = responses[(responses["item_id"] != hard) | (responses["model"] == MODELS[0])]
    once = once.assign(correct=once["correct"].where(once["item_id"] != hard, 0.0))
    assert bw.suspect_items(items, once)["item_id"][0] != hard  # 100% of 1 is less than 83% of 6
    families = {"org0*": "one", "org1*": "one"}
    kin = bw.suspect_items(items, responses, params={"models.families": families})
    kin_of = responses["model"].str.match("org[01]").map({True: "one"}).fillna(responses["model"])
    by_family = responses.groupby(["item_id", kin_of])["correct"].mean().groupby("item_id").mean()
    assert kin.set_index("item_id")["share_wrong"].to_dict() == pytest.approx(
        (1 - by_family).to_dict()
    )


def test_judge_subset_agrees_with_the_plain_computation(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    kept = items["item_id"][::3].tolist()
    evidence = bw.judge_subset(kept, responses, chosen_by=(), params=QUICK)
    wide = responses.pivot_table("correct", "model", "item_id")
    expected = kendall_tau_b(wide.mean(axis=1), wide[kept].mean(axis=1)).value
    of_all = evidence.rank_agreement.set_index(["models", "metric"]).loc[("all", "kendall_tau_b")]
    assert of_all["value"] == pytest.approx(expected)
    assert evidence.models == "held_out"  # nobody chose
    plain = evidence.random_comparison.query("metric == 'kendall_tau_b' and random == 'plain'")
    assert plain["draws"].tolist() == [20] * len(plain)
    wide_table = bw.judge_subset(kept, wide.T.reset_index(), chosen_by=(), params=QUICK)
    pd.testing.assert_frame_equal(wide_table.scores, evidence.scores)


def test_models_that_chose_and_their_family_are_not_held_out(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    evidence = bw.judge_subset(items.head(20), responses, chosen_by=MODELS[:4], params=QUICK)
    assert evidence.models == "all"
    assert evidence.scores["role"].value_counts().to_dict() == {"filter": 4, "held_out": 2}
    assert any("in-sample" in note for note in evidence.notes)
    assert bw.judge_subset(items.head(20), responses, params=QUICK).models == "all"  # unknown


def test_perturbed_copies_have_the_asked_number_and_replace_one_option(items: pd.DataFrame) -> None:
    made = bw.perturb(items, params={"perturbation.copies": 2})
    assert made.items["condition"].unique().tolist() == ["wicked-1", "wicked-2"]
    last = made.items["choices"].map(lambda choices: choices[-1])
    assert (last == "None of the above").all()
    labels = pd.DataFrame({"item_id": items["item_id"], "sba": 1})
    kept = bw.perturb(items, single_best_answers=labels, params={"perturbation.copies": 1})
    assert not kept.changes["altered"].any()


@pytest.mark.parametrize("sampler", ["chosen", "chosen_by_subject"])
def test_sampler_is_chosen_by_the_responses(
    items: pd.DataFrame, responses: pd.DataFrame, sampler: str
) -> None:
    settings = {
        "samplers": "random+word_length+flesch",
        "encoders": (),
        "repeats": 2,
        "adaptive": {"splits": 1},
        "evidence": {"subject_items": 20, "random_draws": 2},
    }
    params = {"sampling": settings}
    chosen = bw.sample(items, responses, sampler=sampler, size=10, params=params)
    if sampler == "chosen":
        assert chosen.manifest.sampler in {"random", "word_length", "flesch"}
    else:
        assert chosen.manifest.sampler == "chosen_by_subject"
        assert chosen.kept["subject"].value_counts().to_dict() == {"even": 5, "odd": 5}


def test_a_sample_and_its_estimates(items: pd.DataFrame, responses: pd.DataFrame) -> None:
    alone = {"sampling.samplers": ["random"]}  # nothing is encoded for the others
    chosen = bw.sample(items, size=10, seed=3, params=alone)
    assert len(chosen.kept) == 10
    assert chosen.kept["weight"].sum() == pytest.approx(1)
    assert set(chosen.kept["item_id"]) < set(items["item_id"])
    assert len(bw.sample(items, size=0.5, params=alone).kept) == N / 2
    seen = responses[responses["item_id"].isin(chosen.kept["item_id"])]
    made = bw.estimate(chosen, seen)
    plain = seen.groupby("model")["correct"].mean()
    assert made.estimator == "mean"
    assert made.scores.set_index("model")["score"].to_dict() == pytest.approx(plain.to_dict())
    assert bw.estimate(chosen, seen.set_index(["item_id", "model"])).scores.equals(made.scores)


def test_a_ready_made_subset_is_known_by_its_name() -> None:
    ids = [f"arc_challenge/{row}" for row in range(1172)]
    right = pd.DataFrame({"item_id": ids, "model": "m", "correct": 1.0})
    score = bw.estimate("arc_challenge-100", right).scores.iloc[0]
    assert score["on_subset"] == score["high"] == 1 > score["low"]
    assert pd.isna(score["se"])  # all right


def test_samplers_read_responses_and_vectors(items: pd.DataFrame, responses: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="drawn from 39 of 40 items, which all models answered"):
        anchors = bw.sample(items, responses[1:], sampler="irt_clusters", size=5)
    assert len(anchors.kept) == 5
    vectors = np.repeat(np.eye(4), N // 4, axis=0)
    clustered = bw.sample(
        items,
        sampler="kmeans_given",
        size=4,
        embeddings=vectors,
        params={"sampling.clustering.k": 4},
    )
    places = clustered.kept["item_id"].str[1:].astype(int) // (N // 4)
    assert sorted(places) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda items, _: bw.smart(items.drop(columns="answer")),
            "items: no column 'answer'; it",
        ),
        (
            lambda items, _: bw.smart(items, variant="smrt"),
            "unknown variant 'smrt'; expected one",
        ),
        (lambda items, _: bw.smart(items, params={"filterng": 1}), "filterng: unknown parameter"),
        (lambda items, _: bw.smart(items, params={"limit": 5}), "limit: unknown parameter"),
        (lambda *_: bw.smart("a.csv"), "items: expected a DataFrame, got 'a.csv'"),
        (
            lambda items, _: bw.smart(items, params={"filtering.easy.confidence": 2}),
            "filtering.*easy.confidence.*less than 1",
        ),
        (
            lambda items, _: bw.smart(items, items.assign(model="m", prediction=items.answer + 1)),
            "responses: predictions count from 1",
        ),
        (
            lambda items, r: bw.suspect_items(items, r.assign(correct=[*r.correct[1:], "x"])),
            "column correct .*; a column must have one type",
        ),
        (
            lambda _, r: bw.estimate("mmlu-300", r, r),
            "mmlu-300 predicts by itself: leave out training",
        ),
        (
            lambda _, r: bw.estimate("mmlu-300", r, level=95),
            "level 95: Input should be less than 1",
        ),
        (lambda items, _: bw.smart(items, embeddings=np.eye(3)), r"embeddings: shape \(3, 3\)"),
        (lambda items, r: bw.judge_subset(["nowhere"], r), "kept: 'nowhere' is not among the 40"),
        (lambda items, r: bw.smart(items, r[:0], variant="no_similar"), "responses: no rows"),
        (lambda items, _: bw.smart(items, items[["item_id"]]), "no responses beside column 'item_"),
        (lambda *_: bw.plan([], standard_errors=0.1), "answers: no rows"),
        (
            lambda _, r: bw.judge_subset([], r[["item_id", "model"]].assign(prediction="A")),
            "no column 'correct' or 'score'; letters need `items`",
        ),
        (lambda items, _: bw.sample(items, sampler="irt_clusters"), "irt_clusters"),
        (
            lambda items, _: bw.load_run("demo", "smart", data_root="nowhere"),
            "no run of benchmark .demo., variant",
        ),
    ],
)
def test_mistakes_are_one_line(
    call: Any, message: str, items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    with pytest.raises(InputError, match=message) as error:
        call(items, responses)
    assert "\n" not in str(error.value)


def test_responses_that_fit_no_item_cause_a_warning(
    items: pd.DataFrame, responses: pd.DataFrame
) -> None:
    foreign = pd.concat([responses, responses.head(5).assign(item_id="elsewhere")])
    with pytest.warns(UserWarning, match="responses: 5 of 245 responses are left out: 5 not"):
        bw.judge_subset(items.head(9), foreign, items=items, params=QUICK)


def test_importing_the_package_imports_no_heavy_library() -> None:
    heavy = "{'kedro', 'numpy', 'pandas', 'torch', 'mlflow'}"
    code = f"import sys, benchwright as bw; print({heavy} & set(sys.modules), bw.__version__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("set() ")
    assert all(callable(getattr(bw, name)) for name in bw.__all__)
    assert set(bw.__all__) <= set(dir(bw))
    with pytest.raises(AttributeError, match="has no attribute 'smrt'"):
        bw.smrt  # noqa: B018


def test_harm_to_the_ranking_is_said_first(items: pd.DataFrame) -> None:
    # Two lineages know different halves of the items. What the best of one know, all of it know.
    rng = np.random.default_rng(0)
    rows = []
    for lineage, known in (("aster", slice(0, 30)), ("birch", slice(24, 40))):
        for k in range(9):
            right = rng.random(N) < 0.25 + k / 40
            right[known] = True
            model = f"org/{lineage}-{k}"
            rows += [(f"q{n:02d}", model, float(it)) for n, it in enumerate(right)]
    answers = pd.DataFrame(rows, columns=["item_id", "model", "correct"])
    params = {"filtering.easy.confidence": None, "evaluation.random_subsets": 200}
    harmful, safe = (
        bw.smart(items, answers, variant="no_similar", filter_models=chosen, params=params)
        for chosen in (["org/aster-6", "org/aster-7", "org/aster-8"], "forward")
    )
    assert repr(harmful).startswith("Filtered: Do not rank models by these ")
    assert "no better than random subsets of the same size" in repr(safe)
    few = answers[answers["model"].str.contains("-[678]")]
    reported = bw.smart(items, few, variant="no_similar", params=params)
    assert reported.removed.empty
    assert "easy_unanimous removed nothing: reported, not removed: 3 filter" in repr(reported)
