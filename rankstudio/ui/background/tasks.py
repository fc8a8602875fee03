"""Tasks for workers: load data, compute a path, test a model, assess features, warm up.

Everything here runs on a worker's thread; the engine's heavy modules
are imported there.
"""

from __future__ import annotations

import gc
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.feature_groups import GroupedFeatures
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.errors import Cancelled, ChangedDataError, DatasetError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, SAMPLE, Plan, path_plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress
from rankstudio.ui.background.worker import CancelFlag, JobFunction
from rankstudio.ui.process.memory import HOLD

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.feature_quality import QualityReport
    from rankstudio.engine.data.summary import DatasetSummary
    from rankstudio.engine.experiment.storage.study import RecordedData
    from rankstudio.engine.experiment.units.fold_context import FoldContext

_MAX_PREPARED_FOLDS = 2  # prepared folds: each holds statistics of every query
_PROGRESS_SECONDS = 0.03  # between two reports of progress: two frames of the screen
# other tasks wait at most this long, unless a single step takes longer
_MAX_WAIT_SECONDS = 0.05


@dataclass(frozen=True, eq=False)
class PathWanted:
    """The request to compute a path.

    Attributes
    ----------
    plan : Plan
    fold : Fold
    values : tuple
        The combination of parameters: a value for each parameter of
        which the plan tries several values.
    """

    plan: Plan
    fold: Fold
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class LivePath:
    """A path computed for the slider, with its request and the best step by validation."""

    wanted: PathWanted
    path: PathResult
    best: Step


def load(
    path: str | Path,
    plan: Plan,
    recorded: RecordedData | None = None,
    names: Path | None = None,
) -> JobFunction:
    """Return the work of a job that opens a file, a folder or the sample.

    The work yields the share that is read, 0 to 1, again and again, and
    then the FoldedDataset. The plan determines how the data are read
    and divided into folds. Data that differ from ``recorded`` are
    refused. The folder ``names`` contains the user's names, groups and
    costs of features.
    """

    def work(cancelled: CancelFlag) -> Iterator[float | FoldedDataset]:
        """Open the data: yield the shares that are read, then the dataset.

        What is opened, and how, are parameters of the enclosing
        function. ``cancelled`` returns whether to stop. Data that
        differ from the record given there raise an error.
        """
        for message in _with_progress(
            lambda report: _open_dataset(str(path), plan, names, report, cancelled)
        ):
            # A message is the share that is read (a float), or at the
            # end the dataset, which has to have the recorded data.
            difference = (
                recorded.difference(message)
                if recorded and not isinstance(message, float)
                else ""
            )
            if difference:
                raise ChangedDataError(difference)
            yield message

    return work


def _open_dataset(
    path: str,
    plan: Plan,
    names: Path | None,
    progress: Callable[[int, int], None],
    cancelled: CancelFlag,
) -> FoldedDataset:
    """Open a dataset, divide it into folds as the plan says, and add the user's notes on its features.

    ``progress`` is called with the amount that is read and the total
    amount. ``path`` is that of the data, or "sample". ``names`` is the
    folder of the notes, None for no notes. ``cancelled`` returns
    whether to stop reading, by an error.
    """
    from rankstudio.engine.data.feature_names import (  # noqa: PLC0415 - on the worker only
        FeatureNotes,
        load_notes,
        renamed,
        with_feature_set,
    )
    from rankstudio.engine.data.folders import open_dataset  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.data.synthetic import load_sample  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.data.table import scaling  # noqa: PLC0415 - on the worker only

    if path == SAMPLE:
        dataset = load_sample()
    else:
        dataset = open_dataset(
            path,
            missing=plan.missing,
            normalize=scaling(plan.normalize),
            columns=plan.columns,
            progress=progress,
            cancelled=cancelled,
        )

    # Notes are the names, groups and costs that the user gave features
    # of these data; costs count only if they are known for every
    # feature.
    notes = load_notes(names, dataset) if names is not None else FeatureNotes()
    annotated = dataset.extended(GroupedFeatures(notes.groups))
    if notes.costs is not None and set(annotated.feature_ids.tolist()) <= set(
        notes.costs.per_query
    ):
        annotated = annotated.extended(notes.costs)
    if notes.feature_set is not None:
        # The feature set does not fit if the user has chosen other columns since.
        with suppress(DatasetError):
            annotated = with_feature_set(annotated, notes.feature_set)
    if notes.names:
        annotated = renamed(annotated, notes.names)

    # The protocol says how to divide the data into folds.
    return parse_protocol(plan.protocol).divide(annotated, plan.seed)


def recognise(
    dataset: FoldedDataset, among: Sequence[RecordedData]
) -> set[RecordedData]:
    """Return those of the recorded data that are a dataset: the data with its checksum.

    ``among`` are records of data in a study. The dataset is read
    completely for its checksum.
    """
    checksum = fingerprint(dataset).checksum
    return {recorded for recorded in among if recorded.checksum == checksum}


def _with_progress(
    call: Callable[[Callable[[int, int], None]], FoldedDataset],
) -> Iterator[float | FoldedDataset]:
    """Call a function that reports its progress, and yield the shares that it reports, then its value.

    ``call`` takes the function to which it reports what is done and the
    total. The call runs on a thread of its own, so that the shares, 0
    to 1, can be yielded meanwhile.
    """
    from concurrent.futures import ThreadPoolExecutor, wait  # noqa: PLC0415 - first needed here

    latest: list[float] = []  # the last share that is not yet yielded, if any

    def report(n_done: int, total: int) -> None:
        """Note the share that is done, for the generator to yield."""
        # This replaces the content, as only the last share counts.
        latest[:] = [n_done / total if total else 0.0]

    with ThreadPoolExecutor(1, thread_name_prefix="load") as pool:
        future = pool.submit(call, report)
        while not wait([future], timeout=_PROGRESS_SECONDS).done:
            if latest:
                yield latest.pop()
    yield future.result()  # or raise the error of the call


class FoldCache:
    """Caches prepared folds, and computes paths and tests models on them.

    All methods are called on one worker's thread, so no locks are needed.
    """

    def __init__(self) -> None:
        self._prepared: OrderedDict[tuple[int, str, bool], tuple[Fold, FoldContext]] = (
            OrderedDict()
        )

    def path(
        self, request: PathWanted, cancelled: CancelFlag = lambda: False
    ) -> LivePath:
        """Return the whole requested path, with its best step.

        A path has the models of one fold and one combination of
        parameters, one model for each step. ``request`` says which path
        it is.

        Raises
        ------
        Cancelled
            If ``cancelled`` returns True, which is checked at each report of progress.
        """
        # A unit has a position among the combinations of its run. This
        # one belongs to no run, so that any number will do.
        unit = Unit(request.fold.number, 0, request.plan.combination(request.values))

        def follow(_: object) -> None:
            """Raise Cancelled if the path is not wanted any more."""
            if cancelled():
                raise Cancelled("The path")

        path = self.prepared(request.plan, request.fold).path(unit, follow)

        # The best step is selected by the rule "best", as other rules
        # fail if no model meets them. A fold may have no validation
        # part until the data are divided as the plan says; then the
        # method's own criterion selects.
        select_by = (
            request.plan.select_by
            if request.plan.select_by in path.validation
            else CRITERION
        )
        plan = request.plan.changed(rule="best", select_by=select_by)
        return LivePath(request, path, best=select_model(plan, [path]).step)

    def left_out(
        self,
        request: PathWanted,
        path: PathResult,
        names: Sequence[str],
        convention: str,
        first: int,
    ) -> Iterator[list[dict[str, float]] | None]:
        """Yield the measures of a path's steps on left-out queries, from the position ``first`` on.

        Left-out queries are queries that are left out of training in
        turn. Each yielded list has the measures, by name, of the steps
        that were done within about 50 ms. None is yielded if no step
        was done in that time, so that other tasks can come between.
        ``request`` says which path it is; ``names`` are the measures,
        and ``convention`` is the key of their rules.
        """
        # The fold yields the measures of each step, and progress within
        # a step, which is of no interest here.
        fold = self.prepared(request.plan, request.fold)
        rows: list[dict[str, float]] = []
        until = time.perf_counter() + _MAX_WAIT_SECONDS
        for update in fold.measure_left_out(path, names, convention, first):
            if not isinstance(update, WorkProgress):
                rows.append(update)
            if time.perf_counter() > until:
                yield rows or None
                rows = []
                until = time.perf_counter() + _MAX_WAIT_SECONDS
        if rows:
            yield rows

    def test(self, plan: Plan, fold: Fold, step: Step) -> dict[str, float]:
        """Return the measures of a model on the test part of a fold, by name.

        The model is ``step``, one step of a path that ``plan`` computed
        on the fold ``fold``.
        """
        return self.prepared(plan, fold).evaluate(step, "test")

    def prepared(self, plan: Plan, fold: Fold) -> FoldContext:
        """Return a fold with the statistics of its queries, prepared for a plan.

        The prepared fold is computed unless it is cached. Plans that
        differ in parameters only share a prepared fold. The folds used
        last are cached.
        """
        from rankstudio.engine.experiment.units.fold_context import make_fold_context  # noqa: PLC0415 - on the worker only

        # The plan without all that a prepared fold does not depend on.
        bare = path_plan(plan).changed(parameters={}, ranker_parameters={})

        # The entry holds the fold itself: as long as it exists, no
        # other fold gets its id, which is part of the key.
        key = id(fold), repr(bare), plan.leaves_out
        if key not in self._prepared:
            while len(self._prepared) >= _MAX_PREPARED_FOLDS:
                self._prepared.popitem(last=False)
            self._prepared[key] = fold, make_fold_context(plan, fold)
        self._prepared.move_to_end(key)
        _, context = self._prepared[key]
        return context


def quality_of_features(
    dataset: FoldedDataset, number: int | None, convention: str, summary: DatasetSummary
) -> QualityReport:
    """Return the quality report on every feature of a fold, or of all folds (``number`` is None).

    ``summary`` has the statistics of the features; ``convention`` is
    the key of the rules of measures.
    """
    from rankstudio.engine.analysis.features.feature_quality import fold_quality  # noqa: PLC0415 - on the worker only

    return fold_quality(dataset, number, summary, convention)


def warm_up() -> None:
    """Load the engine's heavy modules and compiled kernels before they are needed.

    Garbage collection is off while modules load, and `gc.freeze()`
    exempts them afterwards: collecting this many objects would block
    the window for more than 100 ms each time.
    """
    with HOLD:
        _rehearse_run()
        gc.freeze()


def _rehearse_run() -> None:
    """Carry out a short run on part of the sample, so that the code of runs is loaded and compiled."""
    from rankstudio.engine.data.formats import letor as parser  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.data.synthetic import load_sample  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.experiment import resume  # noqa: F401, PLC0415 - the first run needs it
    from rankstudio.engine.experiment.runner import run  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.experiment.versions import versions  # noqa: PLC0415 - on the worker only

    parser.warm_up()
    versions()  # called only to load the modules that it needs

    # Two steps, by the algorithm of data with many features.
    parameters = {"n_features_to_select": 2, "algorithm": "rows"}

    # A deque of length 0 takes all events of the run, and keeps none.
    deque(run(Plan(SAMPLE, parameters=parameters, folds=(1,)), load_sample()), maxlen=0)
