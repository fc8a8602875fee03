"""Methods in a process that only carries out plans: without scikit-learn, and with the same results."""

from __future__ import annotations

import ast
import subprocess
import sys

from rankstudio.engine.data.sample import open_sample
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS

_BEGINNING = (
    "import sys\n"
    "from rankstudio.engine.support.purpose import PURPOSE\n"
    "PURPOSE.only_plans = True\n"
    "from rankstudio.engine.data.sample import open_sample\n"
    "from rankstudio.engine.methods.catalog import methods\n"
    "train = open_sample().folds[0].train\n"
)


def _printed(text: str) -> list[object]:
    """Return what a process that only carries out plans prints."""
    done = subprocess.run(
        [sys.executable, "-c", _BEGINNING + text], capture_output=True, text=True, check=True, timeout=300
    )
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


def test_every_method_is_there_without_scikit_learn_and_tells_the_same_parameters() -> None:
    parameters, heavy = _printed(
        "print({entry.key: list(entry.load()().get_params().items()) for entry in methods()})\n"
        "print([m for m in ('sklearn', 'joblib', 'pandas', 'scipy.stats') if m in sys.modules])\n"
    )
    assert parameters == {entry.key: list(entry.load()().get_params().items()) for entry in methods()}
    assert heavy == []


def test_steps_are_the_same_and_fit_is_still_that_of_an_estimator() -> None:
    text = (
        "from rankstudio.engine.methods.rankers.rankrls import RankRLS\n"
        "from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS\n"
        "steps = GreedyRankRLS(3).steps(train.X, train.y, qid=train.qid)\n"
        "print([(step.selected, step.coef.tolist(), step.criterion) for step in steps])\n"
        "print([m for m in ('sklearn', 'joblib', 'pandas') if m in sys.modules])\n"
        "for model in GreedyRankRLS(3), RankRLS(regularization=2.0):\n"
        "    model.fit(train.X, train.y, qid=train.qid)\n"
        "    print((model.n_features_in_, model.predict(train.X[:9]).tolist()))\n"
    )
    train = open_sample().folds[0].train
    steps = GreedyRankRLS(3).steps(train.X, train.y, qid=train.qid)
    expected: list[object] = [[(step.selected, step.coef.tolist(), step.criterion) for step in steps], []]
    for model in GreedyRankRLS(3), RankRLS(regularization=2.0):
        model.fit(train.X, train.y, qid=train.qid)
        expected.append((model.n_features_in_, model.predict(train.X[:9]).tolist()))
    assert _printed(text) == expected
