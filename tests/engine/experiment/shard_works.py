"""Works on shards for tests of who carries them out: importable by other processes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch


class Deflation:
    """A state that depends on every message before: each takes a direction out of a shard's features."""

    def __init__(self, data: QueryData, scratch: Scratch) -> None:
        self.rest = scratch.empty(*data.X.shape)
        self.rest[:] = data.centred[0]

    def step(self, data: QueryData, message: Floats) -> tuple[Floats, ...]:
        along = self.rest @ message
        self.rest -= np.outer(along, message) / (1.0 + message @ message)
        return self.rest.T @ self.rest, np.array([float(os.getpid())])


@dataclass(frozen=True)
class DeflationWork:
    replayed: ClassVar[bool] = True

    def begin(self, data: QueryData, scratch: Scratch) -> Deflation:
        return Deflation(data, scratch)


class Sum:
    def step(self, data: QueryData, message: Floats) -> tuple[Floats, ...]:
        return (data.centred[0] @ message).sum()[None], np.array([float(os.getpid())])


@dataclass(frozen=True)
class SumWork:
    replayed: ClassVar[bool] = False

    def begin(self, data: QueryData, scratch: Scratch) -> Sum:
        return Sum()


class Dying:
    def step(self, data: QueryData, message: None) -> tuple[Floats, ...]:
        os._exit(1)


@dataclass(frozen=True)
class DyingWork:
    replayed: ClassVar[bool] = False

    def begin(self, data: QueryData, scratch: Scratch) -> Dying:
        return Dying()
