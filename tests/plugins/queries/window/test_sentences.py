"""Sentences say what the numbers are."""

from __future__ import annotations

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.query_comparison import (
    ComparedQuery,
    QueryComparison,
    model_scores,
)
from rankstudio.plugins.queries.ranked_query import RankedQuery, ranked_query
from rankstudio.plugins.queries.window.sentences import (
    comparison_sentence,
    decimals,
    pair_sentence,
    query_sentence,
)


def query(
    X: list[list[float]], y: list[int], coef: list[float], scores_b: list[float]
) -> RankedQuery:
    ids = [f"docid = D{i}" for i in range(len(y))]
    data = RankingDataset.from_arrays(X, y, [3] * len(y), ["BM25", "PageRank"], ids)
    step = Step(2, (0, 1), np.array(coef), float("nan"), np.empty(0))
    return ranked_query(
        data, 0, step, model_scores(step, data), np.array(scores_b), "letor4"
    )


def test_a_lead_is_named_with_the_feature_that_gives_most_of_it() -> None:
    found = query([[0.9, 0.5], [0.2, 0.4]], [1, 0], [1.0, 1.0], [0.0, 1.0])
    assert pair_sentence(found, 0, 1) == (
        "In A, D0 is first, 0.8 ahead of D1; BM25 gives 0.7 of the lead, more than any other feature. "
        "In B, D0 has rank 2 and D1 has rank 1."
    )
    assert pair_sentence(found, 1, 0) == pair_sentence(found, 0, 1)


def test_of_two_documents_further_down_the_one_leads_the_other() -> None:
    found = query(
        [[0.9, 0.5], [0.6, 0.4], [0.1, 0.3]], [1, 0, 0], [1.0, 1.0], [0.0, 1.0, 2.0]
    )
    assert pair_sentence(found, 1, 2).startswith(
        "In A, D1 is 0.6 ahead of D2; BM25 gives 0.5 of the lead, "
    )
    assert pair_sentence(found, 0, 2).startswith("In A, D0 is first, 1 ahead of D2; ")


def test_a_feature_alone_may_give_all_or_more_than_the_lead() -> None:
    found = query([[0.9, 0.1], [0.2, 0.4]], [1, 0], [1.0, 1.0], [1.0, 0.0])
    assert naming("BM25 0.7").search(pair_sentence(found, 0, 1))
    assert naming("B D0 1 D1 2").search(pair_sentence(found, 0, 1))
    found = query([[0.9, 0.1], [0.2, 0.1]], [1, 0], [1.0, 1.0], [1.0, 0.0])
    assert naming("BM25").search(pair_sentence(found, 0, 1))


def test_of_equal_scores_the_order_of_ties_decides() -> None:
    found = query([[0.5, 0.1], [0.5, 0.1]], [1, 0], [1.0, 1.0], [1.0, 0.0])
    assert naming("D0 D1 equal scores ties").search(pair_sentence(found, 0, 1))


def test_the_relevant_document_that_moves_most_is_named() -> None:
    X = [[0.9, 0.0], [0.8, 0.0], [0.7, 0.0]]
    found = query(X, [2, 0, 0], [1.0, 0.0], [0.1, 0.2, 0.3])
    assert query_sentence(found) == (
        "D0 (label 2) has rank 3 in B, below 2 irrelevant documents, and rank 1 in A."
    )
    assert "same ranks" in query_sentence(
        query(X, [2, 0, 0], [1.0, 0.0], [0.9, 0.2, 0.3])
    )
    assert naming("document query").search(
        query_sentence(query(X, [0, 0, 0], [1.0, 0.0], [1, 2, 3]))
    )


def test_all_queries_together() -> None:
    queries = tuple(ComparedQuery(1, i, str(i), 3, 1, 0.5, 0.7) for i in range(8))
    text = comparison_sentence(QueryComparison("test", "MAP", "letor4", queries))
    assert naming("0 8 queries").search(text)
    assert "+0.2000" in text
    assert text.endswith("significantly different from 0.")
    assert comparison_sentence(QueryComparison("test", "MAP", "letor4", ())) == ""
    # Of five queries that all improve, the chance under no difference is 2 / 2^5, above 5 %.
    few = comparison_sentence(QueryComparison("test", "MAP", "letor4", queries[:5]))
    assert "significant" not in few and naming("+0.2000 6 queries").search(few)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [([0.1, 0.6], 3), ([100, 900], 0), ([1, 1], 3), ([], 3), ([0, 1e-5], 7)],
)
def test_decimals_tell_values_apart(values: list[float], wanted: int) -> None:
    assert decimals(values) == wanted
