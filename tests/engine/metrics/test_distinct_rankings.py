"""Rankings that are kept once against the same measured one by one."""

from __future__ import annotations

import numpy as np
import pytest

from rankstudio.engine.metrics import distinct_rankings
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.distinct_rankings import DistinctRankings
from rankstudio.engine.metrics.evaluator import Evaluator, average, rank

MEASURES = (
    "MAP",
    "NDCG@3",
    "MeanNDCG",
    "P@2",
    "RR",
    "ERR",
    "AUC",
    "Disagreement",
    "Recall@4",
)


def means(per_query: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: average(values) for name, values in per_query.items()}


@pytest.mark.parametrize(
    ("convention", "n_labels"),
    [*((name, 3) for name in CONVENTIONS), ("letor4", 200), ("sklearn", 200)],
)
def test_means_are_those_of_every_ranking_to_the_bit(
    convention: str, n_labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct_rankings, "_MIN_SLOTS", 64)  # the table has to grow
    rng = np.random.default_rng(7)
    ptr = np.append(0, np.cumsum(rng.integers(1, 9, 20)))
    y = rng.integers(0, n_labels, ptr[-1]).astype(np.float64) / (n_labels / 4)
    distinct = DistinctRankings(ptr)
    evaluator = Evaluator(y, ptr, convention, MEASURES)
    other = Evaluator(y, ptr, convention, ("MAP", "ERR"))
    given = []
    # with more and more orders that were met before, and tied scores
    for n_models in (1, 40, 200, 7):
        ranked = rank(rng.integers(0, 3, (n_models, y.size)).astype(np.float64), y, ptr)
        given.append((ranked, distinct.enter(ranked)))
        for one in (evaluator, evaluator, other):
            for rows, places in given:
                expected = one.evaluate_rankings(rows)
                found = means(distinct.per_query([places], one))
                assert list(found) == list(expected)
                for name in expected:
                    np.testing.assert_array_equal(found[name], expected[name])
        together = means(distinct.per_query([places for _, places in given], evaluator))
        for name, values in together.items():
            alone = [evaluator.evaluate_rankings(rows)[name] for rows, _ in given]
            np.testing.assert_array_equal(values, np.concatenate(alone))
    for rows, places in given:  # found again in the table that grew
        np.testing.assert_array_equal(distinct.enter(rows), places)
    assert distinct.nbytes > sum(places.nbytes for _, places in given)


def test_an_order_of_labels_is_kept_once_a_query() -> None:
    ptr, y = np.array([0, 2, 5]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    distinct = DistinctRankings(ptr)
    first = distinct.enter(rank(np.array([[2.0, 1.0, 3.0, 2.0, 1.0]]), y, ptr))
    again = distinct.enter(
        rank(np.array([[9.0, 1.0, 2.0, 3.0, 1.0], [0.0, 1.0, 2.0, 3.0, 1.0]]), y, ptr)
    )
    # the relevant two change places, which nothing shows
    np.testing.assert_array_equal(again[0], first[0])
    assert again[1, 0] != first[0, 0]
    assert again[1, 1] == first[0, 1]
