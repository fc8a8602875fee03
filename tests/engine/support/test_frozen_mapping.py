from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from rankstudio.engine.support.frozen_mapping import FrozenMapping


def test_it_is_a_mapping_that_stays_as_it_is() -> None:
    given = {"b": 1, "a": 2}
    frozen = FrozenMapping(given)
    given["c"] = 3
    assert list(frozen.items()) == [("b", 1), ("a", 2)]
    assert frozen == {"a": 2, "b": 1}
    assert frozen == FrozenMapping([("a", 2), ("b", 1)])
    assert frozen != FrozenMapping()
    assert repr(frozen) == "FrozenMapping({'b': 1, 'a': 2})"
    assert {**frozen, "c": 3} == given
    changing: Any = frozen
    with pytest.raises(TypeError):
        changing["a"] = 1
    with pytest.raises(KeyError, match="z"):
        frozen["z"]


def test_it_can_be_a_key_and_travel() -> None:
    frozen = FrozenMapping({"b": 1, "a": (2, 3)})
    assert {frozen: 1}[FrozenMapping({"a": (2, 3), "b": 1})] == 1
    assert pickle.loads(pickle.dumps(frozen)) == copy.deepcopy(frozen) == frozen
    arrays = pickle.loads(pickle.dumps(FrozenMapping({"MAP": np.arange(3)})))
    assert arrays["MAP"].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="unhashable"):
        hash(arrays)
