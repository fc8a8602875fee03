"""LambdaMART's models let the binned training data go, however a run ends."""

from __future__ import annotations

import pytest

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.methods.two_stage import Narrowed
from rankstudio.engine.steps import Step
from rankstudio.plugins.trees.lambdamart import LambdaMART, TreeStep
from rankstudio.plugins.trees.lambdamart_top import LambdaMARTTop


@pytest.fixture(scope="module")
def documents() -> RankingDataset:
    return make_ranking(n_queries=30, seed=2).folds[0].train


@pytest.fixture
def data(documents: RankingDataset) -> QueryData:
    return QueryData(documents.X, documents.y, documents.query_ptr)


def holds_data(step: Step) -> bool:
    """Tell whether a model holds on to the data that it was learned from."""
    step = step.inner if isinstance(step, Narrowed) else step
    assert isinstance(step, TreeStep)
    return hasattr(step.booster, "train_set")  # one that was read from text has none


@pytest.mark.parametrize("stopped", [False, True])
def test_a_run_that_has_ended_holds_no_data(data: QueryData, stopped: bool) -> None:
    work = LambdaMART(n_rounds=6, num_leaves=4).work(data)
    steps = (
        [step for step, _ in zip(work, range(4), strict=False)]
        if stopped
        else list(work)
    )
    before = [
        step.scores(data.X.T.copy()).tolist()
        for step in steps
        if isinstance(step, TreeStep)
    ]
    work.close()  # type: ignore[attr-defined]
    assert not any(map(holds_data, steps))
    assert [
        step.scores(data.X.T.copy()).tolist()
        for step in steps
        if isinstance(step, TreeStep)
    ] == before


def test_of_many_models_none_holds_data(data: QueryData) -> None:
    steps = [
        step
        for step in LambdaMARTTop(n_rounds=3, num_leaves=4).work(data)
        if isinstance(step, Step)
    ]
    assert len(steps) > 5 and not any(map(holds_data, steps))
