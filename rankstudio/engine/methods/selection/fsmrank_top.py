"""FSMRank cut to its first k features, with the weights that it gave them (Lai et al. 2013, section IV.D)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankstudio.engine.methods.catalog.fsm import FSMRANK_TOP
from rankstudio.engine.methods.memory_need import PAIRS, DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.selection.filter_base import without
from rankstudio.engine.methods.selection.fsmrank import FSMRank, top_features
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


class FSMRankTop(GrowingSelector):
    """FSMRank cut to the k features of the greatest weight, whose weights stay as they are.

    "We learn a ranking model w on all the features, and sort the features decreasingly by their weights in w.
    [...] we can easily construct a model containing k features, by simply combining the top k features (using
    their associated weights in w)" (Lai et al. 2013, section IV.D). Nothing is learned anew for any k:
    :class:`rankstudio.engine.FSMSVM` does that.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to select at most, k; all that FSMRank gives a weight where it is not given, and
        never more than those.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Of FSMRank, as are the parameters that follow.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    project : bool, default False
    tol : float, default 1e-10
    max_iter : int, default 400

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        FSMRank's weights of the selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns, the greatest |weight| first.
    criterion_path_ : ndarray of shape (k,)
        FSMRank's objective of each cut model: of the one with all weights it is the minimum.
    coef_path_ : ndarray of shape (k, n)
        The model with the first 1, 2, … k of them.
    n_iter_ : int
        Iterations that FSMRank took.

    Notes
    -----
    FSMRank's cost, and the objective once for every k.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMRankTop(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 3, 1])
    """

    entry = FSMRANK_TOP

    n_iter_: int

    def __init__(
        self,
        n_features_to_select: int | None = None,
        lambda1: float = 0.1,
        lambda2: float = 1e-4,
        importance: str = "pearson",
        similarity: str = "pearson",
        project: bool = False,
        tol: float = 1e-10,
        max_iter: int = 400,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.importance = importance
        self.similarity = similarity
        self.project = project
        self.tol = tol
        self.max_iter = max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step a selected feature: FSMRank's weights of it and all before it.

        Where FSMRank leaves every weight at 0, the one step is the model without a feature.
        """
        data = training_data(data)
        n = data.X.shape[1]
        wanted = self._most(n)
        fsmrank, last = yield from last_step(self.get_params(), data)
        self.n_iter_ = last.number
        scores = np.abs(last.coef)
        cut = list(top_features(last))[:wanted] or [Step(1, (), np.zeros(n), float("nan"), np.empty(0))]
        objectives = yield from fsmrank.objectives(data, [step.coef for step in cut])
        for step, objective in zip(cut, objectives, strict=True):
            compared = without(scores, list(step.selected[:-1]))
            yield replace(step, criterion=objective, candidates=compared)


@dataclass
class _LastSteps:
    """What FSMRank has learned of some data, by its parameters."""

    by_parameters: dict[tuple[tuple[str, Any], ...], Step] = field(default_factory=dict)


def last_step(
    parameters: dict[str, Any], data: TrainingData
) -> Generator[WorkProgress, None, tuple[FSMRank, Step]]:
    """Return FSMRank with those of some parameters that are its own, and its last step.

    It is found once for all that begin with it.
    """
    names = FSMRank().get_params()
    fsmrank = FSMRank(**{name: value for name, value in parameters.items() if name in names})
    known, key = data.shared.of(_LastSteps).by_parameters, tuple(fsmrank.get_params().items())
    if key in known:
        return fsmrank, known[key]
    last: Step | None = None
    for told in fsmrank.work(data):
        if isinstance(told, WorkProgress):
            yield told
        else:
            last = told
            yield WorkProgress("FSMRank", told.number / fsmrank.max_iter)
    assert last is not None  # FSMRank takes at least one step
    known[key] = last
    return fsmrank, last
