"""Table 2 and the GRankRLS columns of Tables 7-10 of the greedy RankRLS paper, digit by digit.

``rankstudio reproduce`` meets every cell by statistics (tests/cli/commands/test_reproduce.py); the other
algorithms are tried here, with the values of λ and the sizes that matter.
"""

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


@pytest.mark.parametrize("algorithm", ["rows", "algorithm1"])
def test_greedy_rankrls_meets_table_2_and_tables_7_to_10(mq2008: FoldedDataset, algorithm: str) -> None:
    plan = load_plan(resource("plans", "greedy-rankrls-paper.toml"))
    few = {"algorithm": algorithm, "regularization": "1, 8, 64, 1024", "n_features_to_select": 7}
    result = finished(plan.changed(parameters=few), mq2008)
    chosen = {f.fold: (f.chosen.unit.parameters["regularization"], f.selected) for f in result.folds}
    assert chosen == TABLE_2
    assert {name: printed(result, name) for name in GREEDY_RANKRLS} == GREEDY_RANKRLS
