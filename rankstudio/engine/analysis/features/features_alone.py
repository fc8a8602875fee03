"""Every feature alone: how well it ranks each part of a fold by itself."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.file_pages import in_file, taken_columns
from rankstudio.engine.support.work import finish

_DIRECTION = "MAP"  # tells which way a feature ranks better, as in the profile of a feature
_VALUES_AT_ONCE = 1_000_000  # 8 MB: the interpreter is held for milliseconds
_VALUES_FROM_DISK = 1 << 24  # 128 MB: every time all rows are read anew


@dataclass(frozen=True, eq=False)
class FeaturesAlone:
    """How well each of n features ranks by itself.

    Attributes
    ----------
    measure, convention : str
        What was measured.
    parts : Mapping of str to ndarray of shape (n,)
        The measure on each part: "train", and "validation" and "test" where the fold has such.
    ascending : ndarray of shape (n,), bool
        Which features rank with small values first: the direction in which MAP of the training documents is
        better, on all parts.
    """

    measure: str
    convention: str
    parts: Mapping[str, Floats]
    ascending: Bools

    @property
    def order(self) -> Ints:
        """The columns from the best on the training part to the worst, of equal ones the first column."""
        better = 1.0 if find_measure(self.measure).higher_is_better else -1.0
        return np.argsort(-better * self.parts["train"], kind="stable").astype(np.int64)


def features_alone(fold: Fold, measure: str, convention: str, *, sealed: bool = False) -> FeaturesAlone:
    """Measure the ranking that each feature alone makes.

    Parameters
    ----------
    fold : Fold
    measure, convention : str
    sealed : bool
        Whether to leave the test part out.

    Notes
    -----
    O(nm log m) for n features of m documents.
    """
    return finish(measuring_alone(fold, measure, convention, sealed=sealed))


def measuring_alone(
    fold: Fold, measure: str, convention: str, *, sealed: bool = False
) -> Generator[float, None, FeaturesAlone]:
    """Do what `features_alone` does, yielding the share that is done after some features."""
    measure = find_measure(measure).name
    both = (measure,) if measure == _DIRECTION else (measure, _DIRECTION)
    measured = {name: part for name, part in fold.parts.items() if not (sealed and name == "test")}
    # Each part takes time by its documents; the training part is ranked both ways.
    total = fold.train.n_documents + sum(part.n_documents for part in measured.values())
    work = _measured(fold.train, both, convention, np.ones(1), -np.ones(1))
    down, up = yield from _shares(work, 0.0, 2 * fold.train.n_documents / total)
    ascending = up[_DIRECTION] > down[_DIRECTION]
    parts = {"train": np.where(ascending, up[measure], down[measure])}
    signs = np.where(ascending, -1.0, 1.0)
    done = 2 * fold.train.n_documents
    for name, part in measured.items():
        if name != "train":
            work = _measured(part, (measure,), convention, signs)
            found = yield from _shares(work, done / total, part.n_documents / total)
            parts["validation" if name == "vali" else name] = found[0][measure]
            done += part.n_documents
    return FeaturesAlone(measure, convention, parts, ascending)


def _shares(
    work: Generator[float, None, list[dict[str, Floats]]], before: float, share: float
) -> Generator[float, None, list[dict[str, Floats]]]:
    """Turn shares of one part into those of the whole."""
    while True:
        try:
            done = next(work)
        except StopIteration as end:
            found: list[dict[str, Floats]] = end.value
            return found
        yield before + share * done


def _measured(
    part: RankingDataset, measures: tuple[str, ...], convention: str, *signs: Floats
) -> Generator[float, None, list[dict[str, Floats]]]:
    """Return measures of ranking a part by each column, times its sign, for some arrays of signs.

    The share that is done comes in between.
    """
    evaluator = Evaluator(part.y, part.query_ptr, convention, measures, grading=part.grading)
    n = part.n_features
    found = [{name: np.empty(n) for name in measures} for _ in signs]
    most = _VALUES_FROM_DISK if in_file(part.X) else _VALUES_AT_ONCE
    at_once = max(1, most // max(1, part.n_documents))
    for first in range(0, n, at_once):
        some = slice(first, first + at_once)
        rows = taken_columns(part.X, some)
        for turned, values in zip(signs, found, strict=True):
            scores = rows * np.broadcast_to(turned, n)[some, None]
            for name, measured in evaluator.evaluate_many(scores).items():
                values[name][some] = measured
        yield min(1.0, (first + at_once) / n)
    return found
