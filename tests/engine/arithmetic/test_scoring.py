"""Scores of linear models: right, and equal where documents are equal."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.arithmetic.scoring import linear_scores


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9), st.integers(1, 5)
)
def test_scores_are_the_product(seed: int, m: int, n: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    X, coefs = (
        rng.normal(size=(m, n)),
        rng.normal(size=(models, n)) * rng.integers(0, 2, (models, n)),
    )
    scores = linear_scores(np.ascontiguousarray(X.T), coefs)
    np.testing.assert_allclose(scores, coefs @ X.T, rtol=1e-12, atol=1e-13)


@given(st.integers(0, 2**32 - 1), st.integers(2, 200))
def test_equal_documents_have_equal_scores_and_models_the_same_alone(
    seed: int, m: int
) -> None:
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.random((1, 23)), m, axis=0)
    coefs = rng.normal(size=(5, 23))
    columns = np.ascontiguousarray(X.T)
    together = linear_scores(columns, coefs)
    assert (together == together[:, :1]).all()
    assert all(
        (linear_scores(columns, coefs[k : k + 1])[0] == together[k]).all()
        for k in range(5)
    )
