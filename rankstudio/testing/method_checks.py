"""Checks that every method has to pass, as a function for authors of methods."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import PlanError, RankStudioError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.results.events import RunFinished, UnitFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.catalog import Kind, Method, add_entry, find_method
from rankstudio.engine.methods.catalog.registry import refuse_invalid
from rankstudio.engine.steps import Step

_LEAST_HELP = 10  # characters of a text that explains something
# Greatest difference of scores, relative to the largest score. Another
# order of documents changes the rounding of sums, much if they are
# ill-conditioned.
_SCORE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class MethodCheck:
    """Result of one check of a method.

    Attributes
    ----------
    method : str
        Key of the method.
    check : str
        Name of the check, such as "texts are complete".
    problem : str
        What is wrong, as a sentence; "" if nothing is.
    """

    method: str
    check: str
    problem: str = ""


def check_method(
    entry: Method,
    parameters: Mapping[str, Any] | None = None,
    *,
    processes: bool = False,
) -> tuple[MethodCheck, ...]:
    """Check a method as RankStudio's own tests check every method.

    Parameters
    ----------
    entry : Method
        Entry of a plug-in, or one added with :func:`rankstudio.api.add_method`.
    parameters : Mapping, optional
        Parameters for quick runs; the defaults otherwise.
    processes : bool
        Whether to also compare a run on worker processes, which takes
        some seconds.

    Returns
    -------
    tuple of MethodCheck
        Results in order. If one of the first four checks fails, the
        later checks are not made.

    Notes
    -----
    A method is trained about ten times on 30 queries of 5 to 12
    documents with 14 features.
    """
    return tuple(_Checks(entry, dict(parameters or {})).results(processes=processes))


@dataclass(frozen=True)
class _Checks:
    """The checks of one method.

    A check raises an error if the method does not pass it.
    """

    entry: Method
    parameters: dict[str, Any]

    def results(self, *, processes: bool) -> Iterator[MethodCheck]:
        """Make all checks of the method, and yield their results.

        The first checks test what all others need: after a failure of
        one of the first checks, the others are not made. With
        `processes`, worker processes are checked, too.
        """
        # Name and function of each check. A function raises an error if
        # the method fails. The checks in `rest` need what those in
        # `first` test.
        first: list[tuple[str, Callable[[], None]]] = [
            ("entry is valid", lambda: refuse_invalid(self.entry)),
            ("texts are complete", self._texts),
            ("estimator can be imported", self._imported),
            ("steps are valid", self._steps),
        ]
        rest: list[tuple[str, Callable[[], None]]] = [
            ("equal data give equal bits", self._determinism),
            ("the data are unchanged", self._unchanged),
            ("the order of queries has no effect", self._query_order),
            ("the order of documents has no effect", self._document_order),
            ("estimators can be pickled", self._pickled),
            ("plans can be saved and read", self._plan_file),
            ("an interrupted run can be resumed", self._resumed),
            ("time grows slowly with the number of features", self._growth),
        ]
        if processes:
            rest.append(("worker processes give the same bits", self._processes))
        for name, check in first:
            result = self._result(name, check)
            yield result
            if result.problem:
                return
        for name, check in rest:
            yield self._result(name, check)

    def _result(self, name: str, check: Callable[[], None]) -> MethodCheck:
        """Make a check of the method, and return its result: the problem, "" for none.

        `name` is that of the check, and `check` a function that raises
        an error if the method fails.
        """
        try:
            check()
        except AssertionError as error:
            return MethodCheck(self.entry.key, name, str(error) or "failed")
        except RankStudioError as error:
            return MethodCheck(self.entry.key, name, str(error))
        except Exception as error:  # the code of other authors may raise anything
            return MethodCheck(self.entry.key, name, f"{type(error).__name__}: {error}")
        return MethodCheck(self.entry.key, name)

    def _texts(self) -> None:
        """Raise an AssertionError if a text of the method is empty or too short.

        The method needs a label, a citation, a title, a summary, and
        help for each parameter.
        """
        entry = self.entry
        text = entry.description
        papers = (("citation", text.citation), ("title", text.title))
        for name, value in (("label", entry.label), *papers, ("summary", text.summary)):
            assert str(value).strip(), f"{name} is empty."
        for p in entry.parameters:
            assert len(p.help.strip()) >= _LEAST_HELP, (
                f"The parameter {p.name} has no help."
            )

    def _imported(self) -> None:
        """Refuse an estimator that cannot be imported."""
        if find_method(self.entry.key) is None:
            add_entry(self.entry)
        self.entry.load()

    def _plan(self, **changes: Any) -> Plan:
        """Return a plan of the method with one value of each grid.

        The value is the middle one of the default grid, unless the
        author of the method set a value in `parameters`. `changes`
        replaces fields of the plan, by name.
        """
        middle_values = {
            p.name: p.default[len(p.default) // 2]
            for p in self.entry.parameters
            if p.kind is Kind.GRID
        }
        parameters = {**middle_values, **self.parameters}
        # "checked" is the name of the data; the first fold is enough
        # for most checks.
        return Plan("checked", self.entry.key, parameters, folds=(1,)).changed(
            **changes
        )

    def _estimator(self, part: RankingDataset) -> Any:
        """Return an estimator of the method for a part of data, with one value per parameter."""
        plan = self._plan()
        return estimator(
            plan, plan.entry, plan.combinations[0].parameters, part.feature_ids
        )

    def _fitted(
        self, part: RankingDataset, rows: Ints | slice = slice(None)
    ) -> list[Step]:
        """Train the method on documents of a part, and return its steps, each a model.

        The argument `rows` has the documents to train on, in this
        order; all by default.
        """
        return list(
            self._estimator(part).steps(part.X[rows], part.y[rows], qid=part.qid[rows])
        )

    def _steps(self) -> None:
        """Run the method; raise an AssertionError if a path, its models, has no step.

        The error is also raised for a method that selects features by a
        score of candidates, but has no step with candidates.
        """
        plan = self._plan()
        dataset = _data()
        result = _result_of(plan, dataset)
        for path in result.folds[0].paths:
            assert len(path.steps) >= 1, "A path has no step."
            # `candidate_score` describes the score by which the method
            # compares the candidates of a step.
            if self.entry.selects and self.entry.candidate_score is not None:
                sizes = {step.candidates.size for step in path.steps}
                assert sizes != {0}, (
                    "candidate_score is declared, but no step has candidates."
                )

    def _determinism(self) -> None:
        """Train the method twice on equal data, and compare the models, bit for bit.

        An AssertionError is raised if they differ.
        """
        part = _data().folds[0].train
        _assert_equal(
            self._fitted(part),
            self._fitted(part),
            "The results of two runs on equal data differ.",
        )

    def _unchanged(self) -> None:
        """Train the method on data, and compare the data before and after.

        An AssertionError is raised if values or labels were changed.
        """
        part = _data().folds[0].train
        X_before = part.X.copy()
        y_before = part.y.copy()
        self._fitted(part)
        equal = np.array_equal(part.X, X_before) and np.array_equal(part.y, y_before)
        assert equal, "X or y was changed."

    def _query_order(self) -> None:
        """Train the method on queries in two orders, and compare the last models.

        The second order is the reverse of the first. An AssertionError
        is raised if the models differ.
        """
        part = _data().folds[0].train
        # Row numbers of the documents of each query, in order.
        queries = [
            np.flatnonzero(part.qid == query)
            for query in dict.fromkeys(part.qid.tolist())
        ]
        self._compare_orders(part, np.concatenate(queries[::-1]))

    def _document_order(self) -> None:
        """Train the method on documents in two orders, and compare the last models.

        The second order reverses the documents of each query. An
        AssertionError is raised if the models differ.
        """
        part = _data().folds[0].train
        # Row numbers of the documents of each query, in order.
        queries = [
            np.flatnonzero(part.qid == query)
            for query in dict.fromkeys(part.qid.tolist())
        ]
        self._compare_orders(part, np.concatenate([rows[::-1] for rows in queries]))

    def _compare_orders(self, part: RankingDataset, rows: Ints) -> None:
        """Train the method on a part's documents in two orders; compare the last models.

        The first order is that of the part, the second is `rows`, the
        numbers of its rows. An AssertionError is raised unless both
        models select the same features in the same order, and their
        scores differ only by rounding.
        """
        first = self._fitted(part)[-1]
        second = self._fitted(part, rows)[-1]
        if self.entry.selects:
            message = f"The features are selected in another order: {first.selected} and {second.selected}."
            assert first.selected == second.selected, message
        columns = np.ascontiguousarray(part.X.T)
        scores: Floats = first.scores(columns)
        reordered: Floats = second.scores(columns)
        # Not 0, because the difference is divided by it.
        largest = max(float(np.abs(scores).max()), np.finfo(np.float64).tiny)
        difference = float(np.abs(scores - reordered).max()) / largest
        assert difference <= _SCORE_TOLERANCE, (
            f"The scores differ by {difference:.2g} of the largest score."
        )

    def _pickled(self) -> None:
        """Pickle an estimator of the method, and train it and its copy.

        An AssertionError is raised if their models differ.
        """
        part = _data().folds[0].train
        method = self._estimator(part)
        unpickled = pickle.loads(pickle.dumps(method))
        first = list(method.steps(part.X, part.y, qid=part.qid))
        second = list(unpickled.steps(part.X, part.y, qid=part.qid))
        _assert_equal(first, second, "A pickled estimator gives other results.")

    def _plan_file(self) -> None:
        """Save a plan of the method to a file, and read it.

        An AssertionError is raised if the plan that was read is another one.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.toml"
            save_plan(self._plan(), path)
            assert load_plan(path) == self._plan(), (
                "A saved plan is read as another one."
            )

    def _resumed(self) -> None:
        """Interrupt a run of the method on two folds, and resume it.

        An AssertionError is raised unless the resumed run has the same
        measures as a run without interruption.
        """
        plan = self._plan(folds=(1, 2))
        dataset = _data()
        full = _result_of(plan, dataset)
        with (
            tempfile.TemporaryDirectory() as folder,
            Study.create(Path(folder) / "s.rankstudio") as study,
        ):
            events = run_stored(plan, dataset, study)
            # Interrupt the run after its first unit.
            next(event for event in events if isinstance(event, UnitFinished))
            events.close()
            finished = [
                event
                for event in run_stored(plan, dataset, study)
                if isinstance(event, RunFinished)
            ]
        assert finished[0].result.average == full.average, (
            "A resumed run has other results."
        )

    def _processes(self) -> None:
        """Run a plan of the method in this process, and in a worker process.

        An AssertionError is raised if the measures differ.
        """
        plan = self._plan()
        dataset = _data()
        local = _result_of(plan, dataset)
        with on_processes(1) as executor:
            remote = _result_of(plan, dataset, executor)
        assert remote.average == local.average, "Worker processes have other results."

    def _growth(self) -> None:
        """Train the method on data with 20 and with 68 features, and compare the times.

        An AssertionError is raised if the time grows faster than the
        fourth power of the number of features.
        """
        seconds = []
        for n_noise in (16, 64):  # 20 and 68 features with the informative ones
            sizes: Any = {
                "n_informative": 4,
                "n_redundant": 0,
                "n_noise": n_noise,
                "n_constant": 0,
            }
            part = make_ranking(25, **sizes, seed=3).folds[0].train
            began = process_time()
            self._fitted(part)
            seconds.append(process_time() - began)
        # There are about four times as many features. A very short time
        # is mostly overhead, and counts as
        # 0.05 s.
        allowed = 4**4 * max(seconds[0], 0.05)
        message = f"Four times the features took {seconds[1] / max(seconds[0], 1e-3):.0f} times as long."
        assert seconds[1] <= allowed, message


def _data() -> FoldedDataset:
    """Return a small dataset of random values, with all kinds of features.

    The kinds are informative, redundant, noisy and constant features.
    The data are the same at each call.
    """
    return make_ranking(
        30,
        n_informative=4,
        n_redundant=4,
        n_noise=5,
        n_constant=1,
        documents=(5, 12),
        seed=11,
    )


def _result_of(plan: Plan, dataset: FoldedDataset, executor: Any = None) -> RunResult:
    """Run a plan on a dataset, and return the results.

    Without `executor`, which has worker processes, the plan runs in
    this process.
    """
    for event in run(plan, dataset, executor=executor):
        if isinstance(event, RunFinished):
            return event.result
    raise PlanError(f"{plan.entry.label}: the run did not finish.")


def _assert_equal(first: list[Step], second: list[Step], message: str) -> None:
    """Raise an AssertionError with `message` if two lists of steps differ."""
    assert len(first) == len(second), message
    for step, other in zip(first, second, strict=True):
        assert step.selected == other.selected, message
        assert step.coef.tobytes() == other.coef.tobytes(), message
