"""What is computed once of some data is found by all that learn from the same documents, and by no others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import Shared, once
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data


@dataclass
class Found:
    number: int = 0


def documents() -> QueryData:
    return QueryData(np.arange(24.0).reshape(6, 4) ** 2, np.arange(6.0), np.array([0, 2, 4, 6]))


def test_there_is_one_object_of_a_class_for_all_that_learn_from_the_documents() -> None:
    data = documents()
    data.shared.of(Found).number = 3
    assert training_data(data).shared.of(Found).number == 3
    one = TrainingData(data.X, data.y, data.ptr)
    assert one.shard(0).shared is one.shared


def test_copies_with_other_labels_share_nothing() -> None:
    data = documents()
    assert data.statistics.n_queries == 3
    data.shared.of(Found).number = 3
    other = replace(data, y=data.y[::-1])
    assert other.shared.of(Found).number == 0
    assert not other.has_statistics


def test_shards_keep_what_is_shared_of_each_between_works() -> None:
    data = documents()
    cut = TrainingData(data.X, data.y, data.ptr, documents=2)
    cut.shard(1).shared.of(Found).number = 3
    assert [cut.shard(index).shared.of(Found).number for index in range(3)] == [0, 3, 0]


def test_columns_of_columns_are_those_of_the_data_with_all_features() -> None:
    data = documents()
    _ = data.statistics
    narrow = data.narrowed([3, 1, 0]).narrowed([2, 1])
    assert narrow.shared.origin is data.shared
    assert narrow.shared.columns == (0, 1)
    np.testing.assert_allclose(narrow.statistics.total, data.statistics.total[np.ix_([0, 1, 4], [0, 1, 4])])
    assert Shared(data.shared, (2,)).columns == (2,)


def test_what_is_found_once_is_not_looked_for_again() -> None:
    def work():  # type: ignore[no-untyped-def]
        yield "a sign of life"
        return 5

    found: dict[str, int] = {}
    assert list(once(found, "key", work())) == ["a sign of life"]
    assert list(once(found, "key", work())) == []
    assert found == {"key": 5}
