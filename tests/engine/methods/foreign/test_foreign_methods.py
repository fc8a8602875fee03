"""Methods without an entry: of Python files and libraries, held against the same computation by hand."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from experiment.small import dataset, ended
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import Ridge

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import (
    Cancelled,
    CodeNotAllowedError,
    MethodError,
    ParameterError,
    PlanError,
)
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.plan.as_code import as_python
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog import Kind, Method, MethodRegistry
from rankstudio.engine.methods.foreign import code
from rankstudio.engine.methods.foreign.code import method_of
from rankstudio.engine.methods.foreign.instances import as_method
from rankstudio.engine.methods.foreign.permission import add_by_user, add_code_of_plan
from rankstudio.engine.steps import Step
from rankstudio.engine.support.stop_request import heeding

FILE = '''
"""Methods of a test."""
from typing import Literal
import numpy as np


class Ordered:
    """Orders features by their covariance with the labels.

    Parameters
    ----------
    power : float
        Exponent of the covariances.
    kind : {"up", "down"}
        Direction.
    n_rounds : int
        Number of rounds, without effect.
    """

    def __init__(
        self, power: float = 1.0, kind: Literal["down", "up"] = "down", n_rounds: int = 3, fast=True
    ):
        self.power, self.kind, self.n_rounds, self.fast = power, kind, n_rounds, fast

    def fit(self, X, y, qid):
        assert len(set(qid)) > 1 and isinstance(self.fast, bool)
        scores = np.abs(X.T @ (y - y.mean())) ** self.power
        self.selection_order_ = np.argsort(-scores if self.kind == "down" else scores, kind="stable")
        return self


def spread(X, y):
    """Scores features by their variance."""
    return X.var(axis=0)


def _hidden(X, y):
    return X[0]
'''


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A registry and a folder of the user of its own: what a test adds is forgotten after it."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


def written(folder: Path, text: str = FILE, name: str = "my_method.py") -> Path:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def steps_of(entry: Method, **parameters: object) -> tuple[Step, ...]:
    plan = Plan("here", entry.key, {"regularization": 1.0, **parameters}, folds=(1,))
    return tuple(ended(run(plan, dataset())).folds[0].paths[0].steps)


def test_the_form_comes_from_the_signature(tmp_path: Path) -> None:
    entry = method_of(f"{written(tmp_path)}:Ordered")
    kinds = {p.name: (p.kind, p.default) for p in entry.parameters}
    assert kinds["power"] == (Kind.NUMBER, 1.0)
    assert kinds["kind"] == (Kind.CHOICE, "down")
    assert kinds["n_rounds"] == (Kind.INTEGER, 3)
    assert kinds["fast"] == (Kind.SWITCH, True)
    assert kinds["centred"] == (Kind.SWITCH, True)
    assert entry.parameter("power").help == "Exponent of the covariances."
    assert entry.parameter("power").expected == "a number"
    assert entry.label == "Ordered" and entry.selects
    assert (
        entry.description.summary
        == "Orders features by their covariance with the labels."
    )


def test_the_order_is_that_of_the_object(tmp_path: Path) -> None:
    entry = add_by_user(f"{written(tmp_path)}:Ordered")
    train = dataset().folds[0].train
    X = train.X.copy()
    for q in np.unique(train.qid):
        X[train.qid == q] -= X[train.qid == q].mean(axis=0)
    scores = np.abs(X.T @ (train.y - train.y.mean()))
    expected = np.argsort(-scores, kind="stable").tolist()
    assert (
        list(steps_of(entry)[-1].selected)
        == expected[: len(steps_of(entry)[-1].selected)]
    )
    raw = np.abs(train.X.T @ (train.y - train.y.mean()))
    order = np.argsort(raw, kind="stable").tolist()
    last = steps_of(entry, kind="up", centred=False)[-1]
    assert list(last.selected) == order[: len(last.selected)]


def test_a_function_is_a_filter(tmp_path: Path) -> None:
    entry = add_by_user(f"{written(tmp_path)}:spread")
    train = dataset().folds[0].train
    order = np.argsort(-train.X.var(axis=0), kind="stable").tolist()
    last = steps_of(entry, centred=False)[-1]
    assert list(last.selected) == order[: len(last.selected)]
    with pytest.raises(PlanError, match="Ordered"):
        method_of(str(written(tmp_path)))  # two methods: which one?


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("sklearn.feature_selection.SelectKBest", {"score_func": "f_regression"}),
        ("sklearn.feature_selection.RFE", {"estimator": "Ridge(alpha=2.0)"}),
        (
            "sklearn.feature_selection.SequentialFeatureSelector",
            {"estimator": "Ridge()", "n_features_to_select": 2},
        ),
        ("sklearn.linear_model.Lasso", {"alpha": 0.001}),
        ("sklearn.tree.DecisionTreeRegressor", {"max_depth": 3}),
    ],
)
def test_estimators_of_scikit_learn(path: str, parameters: dict[str, object]) -> None:
    entry = add_by_user(path)
    given = parameters if not entry.selects else {"regularization": 1.0, **parameters}
    steps = (
        ended(run(Plan("here", path, given, folds=(1,)), dataset()))
        .folds[0]
        .paths[0]
        .steps
    )
    if path.endswith("SequentialFeatureSelector"):
        assert [len(step.selected) for step in steps] == [2]
    elif not entry.selects:
        module, _, name = path.rpartition(".")
        train = dataset().folds[0].train
        by_hand = getattr(import_module(module), name)(**parameters)
        if name == "DecisionTreeRegressor":
            by_hand.set_params(random_state=0)
        scores = by_hand.fit(train.X, train.y).predict(train.X)
        rest = scores - steps[-1].scores(np.ascontiguousarray(train.X.T))
        assert np.ptp(rest) <= 1e-9  # a constant does not rank


def test_rfe_has_the_whole_order() -> None:
    entry = add_by_user("sklearn.feature_selection.RFE")
    last = steps_of(entry, estimator="Ridge(alpha=2.0)", centred=False)[-1]
    train = dataset().folds[0].train
    ranking = (
        RFE(Ridge(alpha=2.0), n_features_to_select=1).fit(train.X, train.y).ranking_
    )
    assert (
        list(last.selected)
        == np.argsort(ranking, kind="stable").tolist()[: len(last.selected)]
    )


def test_plans_say_which_file_it_was(tmp_path: Path) -> None:
    path = written(tmp_path)
    entry = add_by_user(f"{path}:Ordered")
    plan = Plan("here", f"{path.name}:Ordered")
    assert plan.method == entry.key and entry.key.startswith("my_method.py:Ordered@")
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan
    path.write_text(FILE + "\n", encoding="utf-8")
    assert add_by_user(f"{path}:Ordered").key != entry.key


def test_nothing_runs_that_only_a_plan_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    written(
        tmp_path,
        f"import os; os.mkdir({str(mark)!r})\ndef f(X, y): return X[0]\n",
        "bad.py",
    )
    (tmp_path / "plan.toml").write_text(
        'data = "sample"\nmethod = "bad.py:f"\n', encoding="utf-8"
    )
    with pytest.raises(PlanError):
        load_plan(tmp_path / "plan.toml")
    others = (
        "sklearn.utils._testing.check_output",
        "sklearn.base.warnings.warn",
        "sklearn.base.deepcopy",
    )
    for key in (
        "bad.py:f",
        "../bad.py:f",
        "os.system",
        "bad.py:f@0123456789ab",
        *others,
    ):
        with pytest.raises(CodeNotAllowedError):
            add_code_of_plan([key], [tmp_path])
    assert not mark.exists()
    add_code_of_plan(["bad.py:f"], [tmp_path], allow_code=True)
    assert mark.exists()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry([]))


def test_what_was_allowed_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    key = add_by_user(f"{path}:Ordered").key
    forget(monkeypatch)
    add_code_of_plan([key])
    assert catalog.method(key).label == "Ordered"
    forget(monkeypatch)
    path.write_text(FILE.replace("1.0", "2.0"), encoding="utf-8")
    with pytest.raises(PlanError, match="changed"):
        add_code_of_plan([key])


def test_worker_processes_have_the_file(tmp_path: Path) -> None:
    entry = add_by_user(f"{written(tmp_path)}:Ordered")
    plan = Plan("here", entry.key, {"regularization": [1.0, 2.0]}, folds=(1,))
    here = ended(run(plan, dataset()))
    (tmp_path / "my_method.py").unlink()  # a worker may be on another machine
    with on_processes(1) as executor:
        there = ended(run(plan, dataset(), executor=executor))
    assert there.average == here.average


HOSTILE = {
    "raises": ("def f(X, y): raise RuntimeError('no luck')", "no luck"),
    "exits": ("def f(X, y):\n    import sys; sys.exit(3)", "SystemExit"),
    "nan": ("def f(X, y): return X[0] * float('nan')", "NaN"),
    "shape": ("def f(X, y): return X[0][:-1]", "expected 6 numbers"),
    "text": ("def f(X, y): return 'abc'", "ValueError"),
    "order": (
        "import numpy as np\nclass f:\n    def fit(self, X, y): self.selection_order_ = np.array([0, 0, 99])",
        "different columns",
    ),
    "nothing": ("class f:\n    def fit(self, X, y): pass", "none of"),
    "set": (
        "import numpy as np\nclass f:\n    def fit(self, X, y): self.support_ = np.zeros(X.shape[1], bool)",
        "no feature",
    ),
}


@pytest.mark.parametrize(("text", "found"), HOSTILE.values(), ids=HOSTILE)
def test_a_fault_is_a_sentence(tmp_path: Path, text: str, found: str) -> None:
    entry = add_by_user(f"{written(tmp_path, text)}:f")
    with pytest.raises(MethodError, match=found):
        steps_of(entry)


def test_ties_and_printing_do_no_harm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "def f(X, y):\n    print('hello')\n    X[:] = 0\n    y[:] = 7\n    return X.var(axis=0)"
    entry = add_by_user(f"{written(tmp_path, text)}:f")
    before = dataset().folds[0].train.X.copy()
    assert steps_of(entry)[-1].selected[:2] == (0, 1)  # ties go to the lowest column
    assert np.array_equal(dataset().folds[0].train.X, before)
    assert "hello" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(X, y:", "line 1"),
        ("import no_such_module_here", "no_such_module_here"),
        ("exit(4)", "SystemExit"),
        ("", "none"),
    ],
)
def test_a_file_that_cannot_be_run_is_a_sentence(
    tmp_path: Path, text: str, found: str
) -> None:
    with pytest.raises(PlanError, match=found):
        method_of(str(written(tmp_path, text)))


def test_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "mein Ordner 'é'"
    folder.mkdir()
    path = written(folder, "def f(X, y): return X.var(axis=0)", "méthode à moi.py")
    entry = add_by_user(f"{path}:f")
    plan = Plan("here", entry.key)
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan
    for text in (
        "no.such.module",
        "os.path",
        "json.dumps.x",
        "sklearn.svm.NoSuch",
        "x.py:",
        "nothing.py:f",
    ):
        with pytest.raises(PlanError):
            method_of(text)


def test_objects_of_scikit_learn_are_methods() -> None:
    plan = Plan("here", RFE(Ridge(alpha=2.0), n_features_to_select=3), folds=(1,))  # type: ignore[arg-type]
    assert plan.method == "sklearn.feature_selection.RFE"
    assert plan.parameters["estimator"] == "Ridge(alpha=2.0)"
    assert plan.parameters["n_features_to_select"] == 3
    by_name = Plan(
        "here",
        plan.method,
        {"estimator": "Ridge(alpha=2.0)", "n_features_to_select": 3},
        folds=(1,),
    )
    assert by_name == plan
    train = dataset().folds[0].train
    made = as_method(SelectKBest(f_regression)).fit(train.X, train.y, qid=train.qid)
    assert made.selection_order_[0] == np.argmax(
        f_regression(_centred(train), train.y)[0]
    )
    with pytest.raises(PlanError):
        Plan("here", RFE)  # type: ignore[arg-type]


def _centred(train: RankingDataset) -> np.ndarray:
    X = train.X.copy()
    for q in np.unique(train.qid):
        X[train.qid == q] -= X[train.qid == q].mean(axis=0)
    X[:, X.std(axis=0) == 0] = np.random.default_rng(0).normal(size=(len(X), 1)) * 1e-9
    return X


def test_stability_of_an_object_of_scikit_learn() -> None:
    evidence = pytest.importorskip("rankstudio.plugins.evidence.stability_selection")
    train = dataset().folds[0].train
    result = evidence.stability_selection(
        SelectKBest(f_regression, k=2), train.X, train.y, qid=train.qid, n_halves=4
    )
    assert result.n_paths == 8
    for path in (
        "__import__('os').system('true')",
        "open('x')",
        "Ridge(**{})",
        "(lambda: 1)()",
        "os.system",
    ):
        entry = add_by_user("sklearn.feature_selection.RFE")
        with pytest.raises((MethodError, ParameterError)):
            steps_of(entry, estimator=path)


def test_programs_add_the_method(tmp_path: Path) -> None:
    entry = add_by_user(f"{written(tmp_path)}:Ordered")
    plan = Plan("here", entry.key)
    text = as_python(plan)
    assert f"add_method({entry.key!r})" in text
    compile(text, "program", "exec")


def test_a_selector_of_a_library_that_only_has_get_support(tmp_path: Path) -> None:
    entry = add_by_user("sklearn.feature_selection.SelectFromModel")
    plan = Plan(
        "here", entry.key, {"estimator": "Ridge()", "regularization": 1.0}, folds=(1,)
    )
    fold = ended(run(plan, dataset())).folds[0]
    train = dataset().folds[0].train
    X = np.array(train.X)
    for query in np.unique(train.qid):
        X[train.qid == query] -= X[train.qid == query].mean(axis=0)
    chosen = SelectFromModel(Ridge()).fit(X, train.y).get_support()
    assert fold.selected == tuple(train.feature_ids[chosen])


def test_a_default_that_is_no_expression_is_left_to_its_owner(tmp_path: Path) -> None:
    text = """
        class Odd:
            def __init__(self, dispatch="2*n_jobs"):
                self.dispatch = dispatch
            def fit(self, X, y):
                assert self.dispatch == "2*n_jobs"
                self.scores_ = X.var(axis=0)
        """
    path = tmp_path / "odd.py"
    path.write_text(dedent(text), encoding="utf-8")
    entry = add_by_user(f"{path}:Odd")
    assert ended(
        run(Plan("here", entry.key, {"regularization": 1.0}, folds=(1,)), dataset())
    ).complete


HANGS = "import threading\nthreading.Event().wait()\ndef scores(X, y, qid):\n    return X[0]\n"
SPINS = "while True:\n    pass\n"


@pytest.mark.parametrize("text", [HANGS, SPINS])
def test_a_file_that_hangs_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(code, "PATIENCE", 0.01)
    path = tmp_path / "hangs.py"
    path.write_text(_ending(text, tmp_path))
    before = set(sys.modules)
    try:
        with pytest.raises(PlanError, match=r"hangs\.py"):
            method_of(str(path))
        assert (
            not {name for name in sys.modules if name.startswith("rankstudio_file_")}
            - before
        )
    finally:
        (tmp_path / "end").touch()


def test_who_waits_for_a_file_can_stop(tmp_path: Path) -> None:
    path = tmp_path / "hangs.py"
    path.write_text(_ending(SPINS, tmp_path))

    def stop() -> None:
        raise Cancelled("reading")

    try:
        with heeding(stop), pytest.raises(Cancelled):
            method_of(str(path))
    finally:
        (tmp_path / "end").touch()
    path.write_text("def scores(X, y, qid):\n    return X[0]\n")
    assert method_of(str(path)).label == "scores"  # nothing is locked


def _ending(text: str, folder: Path) -> str:
    """Return a text whose endless loop ends with the test, so that no thread is left."""
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(folder / 'end')!r}).exists():\n    "
    return (
        wait
        + ("pass\n" if text == SPINS else "time.sleep(0.01)\n")
        + text.partition("wait()\n")[2]
    )
