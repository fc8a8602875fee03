"""Methods of others in every analysis: a result, or a plain sentence why there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from experiment.small import dataset, ended
from letor_folder import save_folds

import rankstudio.plugins
from rankstudio.cli import main
from rankstudio.engine import deciding_queries
from rankstudio.engine.analysis.features.feature_penalties import feature_penalties
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.foreign.permission import add_by_user
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.deciding_by_refits import refit_steps
from rankstudio.plugins.evidence.deciding_queries import deciding_steps
from rankstudio.plugins.evidence.judged_selection import JudgedSelection
from rankstudio.plugins.evidence.repeated_left_out import left_out_steps
from rankstudio.plugins.evidence.selection_evidence import EvidenceOptions
from rankstudio.plugins.evidence.set_changes import changes_of
from rankstudio.plugins.evidence.shapley_shares import shapley_steps
from rankstudio.plugins.evidence.stability_selection import stability_steps
from rankstudio.plugins.evidence.step_significance import significance_steps

LambdaMARTTop = estimator_class("lambdamart-top")

METHODS = '''
import numpy as np


def alone(X, y, qid):
    """Orders features by their covariance with the labels."""
    return np.abs(X.T @ (y - y.mean()))


class Correlated:
    """Orders features by correlation."""

    def __init__(self, power: float = 1.0):
        self.power = power

    def fit(self, X, y, qid=None):
        X, y = X - X.mean(axis=0), y - y.mean()
        self.scores_ = np.abs(X.T @ y / np.sqrt((X**2).sum(axis=0) + 1e-12)) ** self.power
        return self


class Two:
    """A set of two features."""

    def fit(self, X, y):
        best = np.argsort(-np.abs(X.T @ (y - y.mean())))[:2]
        self.support_ = np.isin(np.arange(X.shape[1]), best)
        return self


class Cubes:
    """Ranks by the cube of the sum."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X).sum(axis=1) ** 3
'''
PROGRAM = "import sys; open(sys.argv[2], 'w').write('2 1 3')"
KINDS = ("Correlated", "alone", "Two", "Cubes", "sklearn", "command")


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


def door(kind: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return how a user names a method of a kind, and its parameters."""
    if kind == "sklearn":
        return "sklearn.feature_selection.SelectKBest", {"score_func": "f_regression"}
    if kind == "command":
        (folder / "order.py").write_text(PROGRAM, encoding="utf-8")
        return f"command:{sys.executable} {folder / 'order.py'} {{train}} {{order}}", {}
    (folder / "others.py").write_text(METHODS, encoding="utf-8")
    return f"{folder / 'others.py'}:{kind}", {}


def outcome(analysis: Callable[[], Any]) -> Any:
    """Return the result of an analysis, or its sentence; anything else than these fails the test."""
    try:
        found = analysis()
    except RankStudioError as error:
        assert (
            str(error).strip()
            and "\n" not in str(error)
            and "Traceback" not in str(error)
        )
        return str(error)
    return found


def of_evidence(plan: Plan, data: FoldedDataset) -> Any:
    options = EvidenceOptions(n_features=2, n_halves=1, n_permutations=2)
    judged = JudgedSelection.of_plan(plan, data, (), options)  # with the usual λ
    found = finish(judged.steps())
    return found if judged.refitting_seconds() > 0 else None


FOLDER = Path(rankstudio.plugins.__file__).parent
ANALYSES: dict[str, Callable[[LinearRanker, TrainingData], Any]] = {
    "stability": lambda method, data: finish(stability_steps(method, data, 1)),
    "deciding": lambda method, data: finish(
        deciding_steps(method, data, 2, n_refits=6)
    ),
    "repeated": lambda method, data: finish(left_out_steps(method, data)),
    "significance": lambda method, data: finish(significance_steps(method, data, 2)),
    "changes": lambda method, data: changes_of(method, data, (0, 1)),
    "shares": lambda method, data: finish(shapley_steps(method, data, (0, 1))),
}
BY_REFITS = {"stability", "deciding", "changes", "shares"}
if (FOLDER / "queries").is_dir():  # of an ability, which may be absent
    from rankstudio.plugins.queries.query_paths import query_paths

    ANALYSES["paths"] = lambda method, data: query_paths(method, data, [0, 1])
if (FOLDER / "permutation").is_dir():
    from rankstudio.plugins.permutation.label_permutation import permutation_steps

    ANALYSES["permutation"] = lambda method, data: finish(
        permutation_steps(method, data, 2)
    )
    BY_REFITS.add("permutation")


@pytest.mark.parametrize("kind", KINDS)
def test_every_analysis_gives_a_result_or_a_sentence(kind: str, tmp_path: Path) -> None:
    name, parameters = door(kind, tmp_path)
    entry = add_by_user(name)
    parameters |= {"regularization": 1.0} if entry.selects else {}
    data = dataset()
    plan = Plan("here", entry.key, parameters, folds=(1,))
    fold = data.folds[0]
    ids = data.feature_ids
    method = estimator(plan, entry, plan.combinations[0].parameters, ids)
    found = {}
    for analysis, ask in ANALYSES.items():
        found[analysis] = outcome(partial(ask, method, group_training(fold)))
    given = {name for name, result in found.items() if not isinstance(result, str)}
    if kind == "Cubes":  # a ranker without a criterion
        assert given == set()
    else:
        assert given == BY_REFITS
        assert (
            all(step.exact for step in found["deciding"])
            and len(found["deciding"]) == 2
        )
    values = plan.combinations[0].parameters
    weighed = partial(
        feature_penalties, plan, values, group_training(fold), ids, [0], [1]
    )
    assert isinstance(outcome(weighed), str)


def test_the_evidence_has_deciding_queries_by_training_again(tmp_path: Path) -> None:
    entry = add_by_user(door("Correlated", tmp_path)[0])
    found = of_evidence(
        Plan("here", entry.key, {"regularization": 1.0}, folds=(1,)), dataset()
    )
    assert found is not None and {"stability", "losses", "deciding"} <= set(found.done)
    assert not found.deciding_by_margins and len(found.deciding) == 2
    ranker = add_by_user(door("Cubes", tmp_path)[0])
    refused = outcome(
        lambda: of_evidence(Plan("here", ranker.key, folds=(1,)), dataset())
    )
    assert isinstance(refused, str)


def test_a_method_that_compares_no_densities_says_so(tmp_path: Path) -> None:
    entry = add_by_user(door("Correlated", tmp_path)[0])
    plan = Plan("here", entry.key, {"regularization": 1.0}, folds=(1,))

    (path,) = ended(run(plan, dataset())).folds[0].paths
    rows = group_training(dataset().folds[0]).whole("here")
    densities = pytest.importorskip("rankstudio.plugins.features.compared_densities")
    told = outcome(
        partial(
            densities.compared_densities, plan, path, rows, dataset().feature_ids, [0]
        )
    )
    assert isinstance(told, str) and entry.label in told


@pytest.mark.parametrize(
    "command",
    [
        ["evidence", "--k", "2", "--halves", "1", "--permutations", "1"],
        ["permute", "--permutations", "2"],
        ["importance"],
        ["run"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("kind", ["Correlated", "Two", "Cubes", "sklearn"])
@pytest.mark.thorough
def test_every_command_gives_a_result_or_a_sentence(
    command: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = save_folds(tmp_path / "Made", 2, n_queries=20, seed=3)
    name, parameters = door(kind, tmp_path)
    options = ["--score-func", parameters["score_func"]] if parameters else []
    try:
        status = main([*command, "--data", str(folder), "--method", name, *options])
    except SystemExit as refused:
        status = int(refused.code or 0)
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert (status == 0 and told.out) or (status in (1, 2) and "rankstudio" in told.err)


def test_without_the_queries_a_feature_is_not_selected_as_early() -> None:
    """Trains again without the queries and with the last of them put back, as the result says."""
    rng = np.random.default_rng(2)
    X, qid = rng.random((60, 4)), np.repeat(np.arange(10), 6)
    y = np.round(2 * X[:, 3] + 1.6 * X[:, 1] + 0.3 * rng.random(60))
    method = LambdaMARTTop(2, n_rounds=3)
    decided = deciding_queries(method, X, y, qid=qid)
    assert len(decided) == 2 and any(step.queries for step in decided)
    for place, step in enumerate(decided):
        if not step.queries:
            continue
        for removed, stays in ((step.queries, False), (step.queries[:-1], True)):
            kept = ~np.isin(qid, removed)
            order = method.fit(X[kept], y[kept], qid=qid[kept]).selection_order_[
                : place + 1
            ]
            assert (step.feature in order) == stays


class Counting(Selector):
    """Counts how often it is trained, and always selects the same."""

    entry = LambdaMARTTop.entry
    trained = 0

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def work(self, data: Any) -> Any:
        type(self).trained += 1
        yield from LambdaMARTTop(2, n_rounds=1).work(data)


def test_it_is_trained_no_more_often_than_allowed() -> None:
    data = group_training(dataset().folds[0])
    found = finish(refit_steps(Counting(), data, 2, n_refits=5))
    assert Counting.trained <= 6 and found
