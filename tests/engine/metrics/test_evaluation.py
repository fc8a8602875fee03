"""Measuring one ranking with evaluate."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import LETOR_MEASURES


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 3), st.sampled_from(["b", "a", "10", "9"])
        ),
        min_size=1,
        max_size=30,
    ),
    key=st.sampled_from(list(CONVENTIONS)),
)
def test_scattered_queries_are_measured_as_if_they_stood_together(
    rows: list[tuple[int, int, str]], key: str
) -> None:
    y, scores, qid = zip(*rows, strict=True)
    result = evaluate(y, scores, qid, convention=key)
    seen = list(dict.fromkeys(qid))
    assert result.query_ids.tolist() == seen
    for place, query in enumerate(seen):
        of_query = [row for row in rows if row[2] == query]
        alone = evaluate(*zip(*of_query, strict=True), convention=key)
        assert {
            name: values[place] for name, values in result.per_query.items()
        } == dict(alone)


def test_the_order_of_the_queries_is_that_of_their_first_documents() -> None:
    result = evaluate([1, 0, 0, 1], [1, 1, 1, 1], [20, 3, 20, 3], measures=["P@1"])
    assert result.query_ids.tolist() == [20, 3]
    assert result.per_query["P@1"].tolist() == [1.0, 0.0]


def test_document_ids_follow_their_documents() -> None:
    y, scores, qid = [1, 0, 0, 1], [1, 1, 1, 1], ["u", "v", "u", "v"]
    result = evaluate(
        y,
        scores,
        qid,
        convention="trec_eval",
        measures=["P@1"],
        document_ids=["d2", "d2", "d1", "d1"],
    )
    assert result.per_query["P@1"].tolist() == [1.0, 0.0]


def test_it_is_a_mapping_of_averages() -> None:
    result = evaluate([2, 0, 1], [3, 2, 1], [1, 1, 2])
    assert list(result) == list(LETOR_MEASURES)
    assert len(result) == 22
    assert result["P@1"] == 1.0
    assert result.get("ERR") is None
    assert result.convention.key == "standard"
    assert "2 queries, Standard" in repr(result)
    assert dict(pickle.loads(pickle.dumps(result))) == dict(result)


def test_a_negative_label_is_not_relevant_and_has_no_gain() -> None:
    negative = evaluate(
        [-1, 1, -3, 0],
        [4, 3, 2, 1],
        [1] * 4,
        measures=["MAP", "NDCG", "MeanNDCG", "P@1"],
    )
    zero = evaluate(
        [0, 1, 0, 0], [4, 3, 2, 1], [1] * 4, measures=["MAP", "NDCG", "MeanNDCG", "P@1"]
    )
    assert dict(negative) == dict(zero)


@pytest.mark.parametrize(
    "ids",
    [np.array([1, 1, 2]), np.array([1, "1", 2], dtype=object), [True, True, False]],
)
def test_query_ids_of_any_kind(ids: object) -> None:
    result = evaluate([1, 0, 1], [1, 2, 3], ids, measures=["P@1"])  # type: ignore[arg-type]
    assert result.per_query["P@1"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("y", "scores", "qid", "error", "text"),
    [
        ([], [], [], DatasetError, "evaluate"),
        ([1, 0], [1.0], [1, 1], ParameterError, "2 score documents"),
        ([1, 0], [1.0, 2.0], [1], ParameterError, "2 query id"),
        ([1, 0], [1.0, 2.0], [1.0, np.nan], DatasetError, "qid"),
        ([1, 0], [1.0, 2.0], [None, "a"], DatasetError, "qid"),
        (
            [1, 0],
            [1.0, 2.0],
            np.ma.masked_array([1, 2], [True, False]),
            DatasetError,
            "qid",
        ),
        ([1, 0, 1], [1.0, 2.0, np.nan], [1, 2, 1], DatasetError, "3 score document"),
        ([1, 0, np.nan], [1.0, 2.0, 1.0], [1, 2, 1], DatasetError, "3 label document"),
        ([1, 0], ["x", "y"], [1, 1], ParameterError, "scores"),
    ],
)
def test_what_does_not_fit_is_named(
    y: object, scores: object, qid: object, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=naming(text)):
        evaluate(y, scores, qid)  # type: ignore[arg-type]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ParameterError, match="convention"):
        evaluate([1], [1], [1], convention="letor")
    with pytest.raises(ParameterError, match="measure"):
        evaluate([1], [1], [1], measures=["MRR"])
    with pytest.raises(ParameterError, match="document_ids"):
        evaluate([1], [1], [1], document_ids=["a", "b"])
