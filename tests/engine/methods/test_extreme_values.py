"""Own similarities and costs beyond what arithmetic bears are refused with the value."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import prices_of
from rankstudio.engine.methods.selection.gas import GAS


@pytest.mark.parametrize("value", [-5.0, 1e200, -1e-3])
def test_a_diagonal_is_refused_with_its_value(value: float) -> None:
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((40, 3)), rng.integers(0, 3, 40), np.repeat(np.arange(8), 5)
    similarity = np.eye(3)
    similarity[1, 1] = value
    with warnings.catch_warnings(), pytest.raises(ParameterError) as refused:
        warnings.simplefilter("error")
        GAS(n_features_to_select=2, similarity=similarity).fit(X, y, qid=qid)
    assert (
        refused.value.value == abs(value) if value > 1 else refused.value.value == value
    )


@pytest.mark.parametrize("cost", [1e-320, 1e200, 0.0, -1.0, np.inf, np.nan])
def test_costs_are_refused_with_their_value(cost: float) -> None:
    with pytest.raises(ParameterError) as refused:
        prices_of([1.0, cost], 2)
    assert str(refused.value.value) == str(cost)
    assert prices_of([1e-100, 1e100], 2).tolist() == [1e-100, 1e100]
