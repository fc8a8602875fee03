"""Rows of shards as LightGBM asks for them: some thousand documents at a time, without a copy of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.training_data import TrainingData


def shard_rows(lightgbm: Any, data: TrainingData) -> Sequence[Any]:
    """Return the rows of data as a list of ``lightgbm.Sequence``, one a shard.

    Parameters
    ----------
    lightgbm : module
    data : TrainingData
    """
    lightgbm.Sequence.register(_ShardRows)
    reader = _Reader(data)
    return [_ShardRows(reader, index, shard.n_documents) for index, shard in enumerate(data.shards)]


class _Reader:
    """Reads one shard after the other; mapped pages of the one before are let go."""

    def __init__(self, data: TrainingData) -> None:
        self._data, self._index = data, -1

    def features(self, index: int) -> Floats:
        if index != self._index:
            self.close()
            self._index = index
            self._X: Floats = self._data.shard(index).X
        return self._X

    def close(self) -> None:
        if self._index >= 0:
            self._data.release(self._index)
        self._index = -1


class _ShardRows:
    """The rows of a shard as LightGBM asks for them: one for its sample, and then in batches."""

    batch_size = 4096

    def __init__(self, reader: _Reader, index: int, count: int) -> None:
        self._reader, self._index, self._count = reader, index, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, rows: int | slice) -> Floats:
        found: Floats = np.array(self._reader.features(self._index)[rows])
        if isinstance(rows, slice) and rows.stop == self._count:
            self._reader.close()
        return found
