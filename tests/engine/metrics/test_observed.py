"""What the evaluation programs printed for small cases, against the conventions named after them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from rankstudio.engine.metrics.evaluation import evaluate


class Case(NamedTuple):
    labels: list[int]
    scores: list[float]


def _falling(labels: list[int]) -> Case:
    return Case(labels, [float(len(labels) - i) for i in range(len(labels))])


CASES = {
    "nothing relevant": _falling([0, 0, 0]),
    "tie, relevant last": Case([0, 1], [1.0, 1.0]),
    "tie, relevant first": Case([1, 0], [1.0, 1.0]),
    "three documents": _falling([1, 0, 2]),
    "twelve documents": _falling([0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    "one document": _falling([1]),
    "label 4": _falling([0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
}

# (NDCG@10, MeanNDCG, MAP, P@10) as printed; None where the program does not have the measure. LETOR's own
# scripts do not know the label 4: they follow in tests of their own.
OBSERVED: dict[
    str, dict[str, tuple[float | None, float | None, float | None, float | None]]
] = {
    "letor4": {  # Eval-Score-4.0.pl
        "nothing relevant": (0.0, 0.0, 0.0, 0.0),
        "tie, relevant last": (0.0, 0.5, 0.5, 0.1),
        "tie, relevant first": (0.0, 1.0, 1.0, 0.1),
        "three documents": (0.0, 0.4355, 0.8333, 0.2),
        "twelve documents": (0.6247, 0.5464, 0.4722, 0.2),
        "one document": (0.0, 1.0, 1.0, 0.1),
    },
    "mslr": {  # eval-score-mslr.pl
        "nothing relevant": (0.0, 0.0, 0.0, 0.0),
        "tie, relevant last": (0.0, 0.5, 0.0, 0.0),
        "tie, relevant first": (0.0, 1.0, 0.0, 0.0),
        "three documents": (0.0, 0.4355, 0.3333, 0.1),
        "twelve documents": (0.6247, 0.5464, 0.3333, 0.1),
        "one document": (0.0, 1.0, 0.0, 0.0),
        "label 4": (0.9769, 0.8922, 0.5, 0.1),
    },
    "ranklib": {  # RankLib, documents in the order of the file
        "nothing relevant": (0.0, None, 0.0, 0.0),
        "tie, relevant last": (0.6309, None, 0.5, 0.5),
        "tie, relevant first": (1.0, None, 1.0, 0.5),
        "three documents": (0.6885, None, 0.8333, 0.6667),
        "twelve documents": (0.5158, None, 0.4722, 0.2),
        "one document": (1.0, None, 1.0, 1.0),
        "label 4": (0.6375, None, 0.5833, 0.2),
    },
    "trec_eval": {  # pytrec_eval, ids growing along the file
        "nothing relevant": (0.0, None, 0.0, 0.0),
        "tie, relevant last": (1.0, None, 1.0, 0.1),
        "tie, relevant first": (0.6309, None, 0.5, 0.1),
        "three documents": (0.7602, None, 0.8333, 0.2),
        "twelve documents": (0.5209, None, 0.4722, 0.2),
        "one document": (1.0, None, 1.0, 0.1),
        "label 4": (0.6529, None, 0.5833, 0.2),
    },
    # LightGBM's ndcg; P is XGBoost's pre, which takes labels 0 and 1 only
    "lightgbm": {
        "nothing relevant": (1.0, None, 1.0, 0.0),
        "tie, relevant last": (0.6309, None, 0.5, 0.5),
        "tie, relevant first": (1.0, None, 1.0, 0.5),
        "three documents": (0.6885, None, 0.8333, None),
        "twelve documents": (0.5158, None, None, None),
        "one document": (1.0, None, 1.0, 1.0),
        "label 4": (0.6375, None, 0.5833, None),
    },
    "sklearn": {  # ndcg_score, which refuses a single document
        "nothing relevant": (0.0, None, None, None),
        "tie, relevant last": (0.8155, None, None, None),
        "tie, relevant first": (0.8155, None, None, None),
        "three documents": (0.7602, None, None, None),
        "twelve documents": (0.5209, None, None, None),
        "label 4": (0.6529, None, None, None),
    },
}
COLUMNS = ("NDCG@10", "MeanNDCG", "MAP", "P@10")

# Eval-Score-3.0.pl prints as many ranks of NDCG and P as the query has documents, and MAP.
LETOR3 = {
    "nothing relevant": ([0, 0, 0], 0, [0, 0, 0]),
    "tie, relevant last": ([0, 1], 0.5, [0, 0.5]),
    "tie, relevant first": ([1, 1], 1, [1, 0.5]),
    "three documents": ([0.333333, 0.25, 0.723197], 0.833333, [1, 0.5, 0.666667]),
    "twelve documents": (
        [0, 0.25, *[0.624667] * 8],
        0.472222,
        [0, 0.5, 0.666667, 0.5, 0.4, 0.333333, 0.285714, 0.25, 0.222222, 0.2],
    ),
    "one document": ([1], 1, [1]),
}


@pytest.mark.parametrize(
    ("key", "name"), [(key, name) for key, cases in OBSERVED.items() for name in cases]
)
def test_as_printed(key: str, name: str) -> None:
    case = CASES[name]
    ours = evaluate(
        case.labels,
        case.scores,
        [1] * len(case.labels),
        convention=key,
        measures=COLUMNS,
    )
    for column, printed in zip(COLUMNS, OBSERVED[key][name], strict=True):
        if printed is not None:
            assert ours[column] == pytest.approx(printed, abs=5e-5), column


@pytest.mark.parametrize("name", LETOR3)
def test_letor3_prints_the_ranks_there_are_and_the_others_count_0(name: str) -> None:
    case, (ndcg, mean_average_precision, precision) = CASES[name], LETOR3[name]
    ours = evaluate(
        case.labels, case.scores, [1] * len(case.labels), convention="letor3"
    )
    none = [0.0] * (10 - len(ndcg))
    assert [ours[f"NDCG@{k}"] for k in range(1, 11)] == pytest.approx(
        [*ndcg, *none], abs=1e-6
    )
    assert [ours[f"P@{k}"] for k in range(1, 11)] == pytest.approx(
        [*precision, *none], abs=1e-6
    )
    assert ours["MAP"] == pytest.approx(mean_average_precision, abs=1e-6)


def test_map_at_10_of_lightgbm_divides_by_the_relevant_up_to_10() -> None:
    case = CASES["twelve documents"]
    ours = evaluate(
        case.labels,
        case.scores,
        [1] * 12,
        convention="lightgbm",
        measures=["MAP@10", "MAP@2"],
    )
    assert ours["MAP@10"] == pytest.approx(0.3888889)
    # by hand: 1/2 at rank 2, divided by min(3, 2)
    assert ours["MAP@2"] == pytest.approx(0.25)


@pytest.mark.parametrize("key", ["letor4", "letor3"])
def test_a_label_that_letors_scripts_do_not_know_follows_the_formula(key: str) -> None:
    # The scripts have a table of the labels 0, 1, 2 and count any other as 0, which would throw away the best
    # documents of graded data. Where the label is taken for 0, their figures come out.
    case = CASES["label 4"]
    as_scripts_read_it = [label if label <= 2 else 0 for label in case.labels]
    printed = {"NDCG@10": 0.6309, "MAP": 0.3333, "P@10": 0.1}
    ours = evaluate(
        as_scripts_read_it,
        case.scores,
        [1] * 12,
        convention=key,
        measures=list(printed),
    )
    assert dict(ours) == pytest.approx(printed, abs=5e-5)
    ours = evaluate(
        case.labels, case.scores, [1] * 12, convention=key, measures=list(printed)
    )
    assert dict(ours) == pytest.approx(
        {"NDCG@10": 0.9769, "MAP": (1 / 2 + 2 / 3) / 2, "P@10": 0.2}, abs=5e-5
    )


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 5, 30), rng.integers(0, 8, 30)
    ours = evaluate(
        labels,
        scores,
        np.zeros(30, int),
        convention="sklearn",
        measures=["NDCG", "NDCG@5", "MAP", "P@5"],
    )
    assert ours["NDCG"] == pytest.approx(ndcg_score([labels], [scores]))
    assert ours["NDCG@5"] == pytest.approx(ndcg_score([labels], [scores], k=5))
    assert ours["MAP"] == pytest.approx(average_precision_score(labels >= 1, scores))


def test_reciprocal_rank_recall_and_area_by_hand() -> None:
    """As trec_eval's recip_rank and recall_2, and ranx's mrr and recall@2, of two queries of four."""
    labels, scores = [0, 1, 0, 2, 1, 0, 0, 0], [4, 3, 2, 1, 4, 3, 2, 1]
    names = ["RR", "RR@1", "Recall@2", "AUC"]
    found = evaluate(
        labels, scores, ["a"] * 4 + ["b"] * 4, convention="trec_eval", measures=names
    )
    assert found.per_query["RR"].tolist() == [0.5, 1.0]
    assert found.per_query["RR@1"].tolist() == [0.0, 1.0]
    assert found.per_query["Recall@2"].tolist() == [0.5, 1.0]
    assert found.per_query["AUC"].tolist() == [0.25, 1.0]


def test_expected_reciprocal_rank_by_hand() -> None:
    """Labels 3, 2, 4 by grades up to 4: the chances to stop are 7/16, 3/16 and 15/16."""
    by_hand = 7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 * 15 / 16 / 3
    # RankLib's greatest grade is 4 always, others' that of the data
    for convention in ("ranklib", "letor4"):
        found = evaluate(
            [3, 2, 4],
            [3, 2, 1],
            ["q"] * 3,
            convention=convention,
            measures=["ERR", "ERR@1"],
        )
        assert found["ERR"] == pytest.approx(by_hand, rel=1e-14)
        assert found["ERR@1"] == pytest.approx(7 / 16, rel=1e-14)
