"""Table 2 and the GRankRLS and RankRLS columns of Tables 7-10 of the greedy RankRLS paper, digit by digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankstudio.engine import open_dataset
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.support.resources import resource

pytestmark = pytest.mark.realdata

TABLE_2 = {
    1: (2.0**0, (39,)),
    2: (2.0**10, (39, 23, 37, 32)),
    3: (2.0**3, (39, 29, 25, 23, 46, 37, 19)),
    4: (2.0**6, (39, 29, 25, 23)),
    5: (2.0**0, (39,)),
}

# Five folds, then the average.
GREEDY_RANKRLS = {
    "MAP": "0.4311 0.4239 0.4582 0.5283 0.5183 0.4720",
    "P@10": "0.2333 0.2178 0.2363 0.2975 0.2484 0.2467",
    "MeanNDCG": "0.4454 0.4186 0.4787 0.5403 0.5369 0.4840",
    "NDCG@10": "0.1920 0.1585 0.2558 0.2940 0.2254 0.2251",
}
RANKRLS = {
    "MAP": "0.4524 0.4300 0.4542 0.5225 0.5006 0.4719",
    "P@10": "0.2391 0.2217 0.2325 0.2949 0.2503 0.2477",
    "MeanNDCG": "0.4633 0.4269 0.4741 0.5407 0.5138 0.4838",
    "NDCG@10": "0.2145 0.1669 0.2489 0.2874 0.2165 0.2268",
}


@pytest.fixture(scope="module")
def mq2008(letor_dir: Path) -> FoldedDataset:
    return open_dataset(letor_dir / "MQ2008")


def finished(plan: Plan, data: FoldedDataset) -> RunResult:
    last = list(run(plan, data))[-1]
    assert isinstance(last, RunFinished)
    return last.result


def printed(result: RunResult, measure: str) -> str:
    values = [fold.test[measure] for fold in result.folds] + [result.average[measure]]
    return " ".join(f"{value:.4f}" for value in values)


@pytest.mark.parametrize("algorithm", ["statistics", "rows", "algorithm1"])
def test_greedy_rankrls_meets_table_2_and_tables_7_to_10(mq2008: FoldedDataset, algorithm: str) -> None:
    plan = load_plan(resource("plans", "greedy-rankrls-paper.toml"))
    plan = plan.changed(parameters={**plan.parameters, "algorithm": algorithm})
    if algorithm == "algorithm1":  # slower: only the values of λ and the sizes that matter
        few = {"algorithm": algorithm, "regularization": "1, 8, 64, 1024", "n_features_to_select": 7}
        plan = plan.changed(parameters=few)
    result = finished(plan, mq2008)
    chosen = {f.fold: (f.chosen.unit.parameters["regularization"], f.selected) for f in result.folds}
    assert chosen == TABLE_2
    assert {name: printed(result, name) for name in GREEDY_RANKRLS} == GREEDY_RANKRLS


def test_rankrls_meets_tables_7_to_10(mq2008: FoldedDataset) -> None:
    result = finished(load_plan(resource("plans", "rankrls-paper.toml")), mq2008)
    assert {name: printed(result, name) for name in RANKRLS} == RANKRLS
