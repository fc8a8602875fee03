"""Rankings compared: the same order, and the same documents equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.export.proof import RankingProof, ranked_alike, unproved


def alike(first: list[float], second: list[float]) -> bool:
    """Compare every pair of documents."""
    sign = np.sign
    pairs = [(i, j) for i in range(len(first)) for j in range(len(first))]
    return all(
        sign(first[i] - first[j]) == sign(second[i] - second[j]) for i, j in pairs
    )


scored = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6
)


@given(st.lists(scored, min_size=1, max_size=5))
def test_queries_are_ranked_alike_where_every_pair_is(
    queries: list[list[tuple[int, int]]],
) -> None:
    first, second = np.array(
        [pair for query in queries for pair in query], dtype=float
    ).T
    ptr = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    expected = [alike(*map(list, zip(*query, strict=True))) for query in queries]
    assert ranked_alike(first, second, ptr).tolist() == expected


@pytest.mark.parametrize(
    ("proof", "sentence"),
    [
        (RankingProof(156, 156), "Identical ranking on 156 of 156 queries."),
        (
            RankingProof(156, 156, 156, "Solr"),
            "Identical ranking on 156 of 156 queries, also in the single precision of Solr.",
        ),
        (
            RankingProof(156, 156, 155, "Solr"),
            "Identical ranking on 156 of 156 queries; in the single precision of Solr, on 155 of 156.",
        ),
        (unproved("there is nothing."), "Not verified: there is nothing."),
    ],
)
def test_what_was_found_is_a_sentence(proof: RankingProof, sentence: str) -> None:
    assert proof.sentence == sentence
    assert proof.holds == (not proof.failure)
