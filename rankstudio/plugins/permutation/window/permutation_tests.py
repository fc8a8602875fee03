"""Runs permutation tests of paths on demand, and keeps the result of each path."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

import rankstudio
from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.background.simulation import BackgroundSimulation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.selection_time import seconds_of_selection
from rankstudio.ui.model.session import Session

if TYPE_CHECKING:
    from rankstudio.plugins.permutation.criterion_band import CriterionBand

N_PERMUTATIONS = 999
"""Number of permutations of a complete test."""

# between two results that are shown; fast methods have hundreds per second
_SECONDS_BETWEEN_RESULTS = 0.05
_NO_DOCUMENTS_TEXT = tr("Open the data to run a permutation test.")
_GIVEN_SCORES_TEXT = tr("No permutation test: nothing is learned from the labels.")
_TWO_STAGES_TEXT = tr(
    "No permutation test: it repeats a selection without a final ranker."
)
_NO_CRITERION_TEXT = tr("No permutation test: {method} has no criterion to compare.")

_PathKey = tuple[str, str, int, str]
"""Checksum of the data, method, fold, and a text of the plan of the path."""


class PermutationTests(QObject):
    """Carries out one permutation test at a time, and keeps the results of all tests.

    Parameters
    ----------
    session : Session
    current : CurrentModel
        Provides the path to test.
    worker : Worker
        Carries out the test step by step; other tasks may come between two steps.
    """

    changed = Signal()
    """A test began or ended."""
    grew = Signal()
    """A test has a result with more permutations."""
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        current: CurrentModel,
        worker: Worker,
        parent: QObject | None = None,
    ) -> None:
        """Begin without tests; they stop when other data are opened."""
        super().__init__(parent)
        self._session = session
        self._current = current

        # The result of each tested path; and the path whose test is under way.
        self._bands: dict[_PathKey, CriterionBand] = {}
        self._tested_key: _PathKey | None = None

        # Runs a test step by step. A sentence on a failure begins with
        # its name, and a new test replaces one that waits.
        self._simulation = BackgroundSimulation(
            worker, tr("Permuting"), "permutation", self
        )
        self._simulation.grew.connect(self._grow)
        self._simulation.changed.connect(self.changed)
        self._simulation.failed.connect(self.failed)
        session.datasetChanged.connect(self.stop)

    @property
    def busy(self) -> bool:
        """Whether a test is under way."""
        return self._simulation.busy

    @property
    def growing(self) -> bool:
        """Whether the test under way is that of the shown path."""
        return self.busy and self._tested_key == self._key()

    @property
    def possible(self) -> bool:
        """Whether a path is shown that can be tested."""
        return self._current.model is not None and not self.obstacle

    @property
    def obstacle(self) -> str:
        """Why the shown path cannot be tested, as a sentence; "" if it can, or without a path."""
        model = self._current.model
        if model is None:
            return ""
        method = model.plan.entry

        # A library that is not installed, scores from a file, or a
        # second model that is trained on the selected features.
        if method.lacking:
            return method.lacking
        if method.learns_nothing:
            return _GIVEN_SCORES_TEXT
        if model.plan.ranker:
            return _TWO_STAGES_TEXT
        if np.isnan(model.path.criterion).any():
            return _NO_CRITERION_TEXT.format(method=method.label)
        return "" if self._session.has_documents else _NO_DOCUMENTS_TEXT

    @property
    def seconds(self) -> float:
        """Upper bound of the seconds that a test takes; infinity if unknown.

        The bound is known for methods that train again for each
        permutation. The seconds are estimated from the time of the run,
        which includes the measuring of models.
        """
        model = self._current.model
        if model is None or model.plan.entry.permutes:
            return inf
        return (N_PERMUTATIONS + 1) * seconds_of_selection(self._current.shown.record)

    @property
    def band(self) -> CriterionBand | None:
        """The result so far for the shown path; None if it was not tested."""
        key = self._key()
        return self._bands.get(key) if key is not None else None

    def as_code(self) -> dict[str, str]:
        """Return a command and a program that repeat the shown result, by file suffix.

        The result shown is that of the last permutation test. The dict
        is empty without a result.
        """
        band = self.band
        model = self._current.model
        if band is None or model is None:
            return {}
        from rankstudio.plugins.permutation.criterion_band import (  # noqa: PLC0415 - first needed here
            permutation_as_command,
            permutation_as_python,
        )

        single = _plan_of_path(model.plan, model.values, model.fold.number)
        n = band.n_permutations
        computed_with = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": permutation_as_command(single, n) + "\n",
            ".py": permutation_as_python(single, n, computed_with),
        }

    @Slot()
    def toggle(self) -> None:
        """Start the test of the shown path, or stop it."""
        if self.growing:
            self.stop()
        elif self.possible:
            self._start()

    @Slot()
    def stop(self) -> None:
        """End the running test; its results so far stay."""
        self._simulation.stop()

    def _start(self) -> None:
        """Start the test of the shown path, which must be possible, in the background."""
        dataset = self._session.dataset
        model = self._current.model
        assert dataset is not None and model is not None  # it is possible
        self._tested_key = self._key()
        plan = model.plan
        combination = model.values
        fold = model.fold.number
        self._simulation.start(lambda: _test_steps(plan, combination, fold, dataset))

    @Slot(object)
    def _grow(self, band: CriterionBand) -> None:
        """Keep the result of the running test so far."""
        if self._tested_key is not None:
            self._bands[self._tested_key] = band
            self.grew.emit()

    def _key(self) -> _PathKey | None:
        """Return the key of the shown path; None if it cannot be tested."""
        dataset = self._session.dataset
        model = self._current.model
        if dataset is None or model is None or not self.possible:
            return None
        return dataset.origin.checksum, *model.learned_by


def tested_x_values(model: SelectedModel, band: CriterionBand) -> Ints:
    """Return the x values of the tested steps; of the iterations of an optimizer, only the last is tested."""
    return model.path.x_values if band.observed.size > 1 else model.path.x_values[-1:]


def _test_steps(
    plan: Plan, combination: tuple[object, ...], fold: int, dataset: FoldedDataset
) -> Iterator[CriterionBand | None]:
    """Yield the growing result of the permutation test of a path, with some seconds between results.

    ``combination`` has the values of the plan's parameters, and
    ``fold`` is the number of the fold. Yield None in between, so that
    the worker can do other tasks.
    """
    from rankstudio.plugins.permutation.criterion_band import band_steps  # noqa: PLC0415 - on the worker only

    next_time = -inf  # from which on a result is yielded
    latest: CriterionBand | None = None  # the last result that has not been yielded
    for band in band_steps(
        _plan_of_path(plan, combination, fold), dataset, N_PERMUTATIONS
    ):
        latest = band or latest
        is_due = latest is not None and time.perf_counter() > next_time
        yield latest if is_due else None
        if is_due:
            next_time = time.perf_counter() + _SECONDS_BETWEEN_RESULTS
            latest = None
    if latest is not None:
        yield latest


def _plan_of_path(plan: Plan, combination: tuple[object, ...], fold: int) -> Plan:
    """Return the plan of one path of a plan: of one combination of values and one fold."""
    from rankstudio.engine.experiment.units.single_path import single_plan  # noqa: PLC0415 - brings kernels

    return single_plan(plan, plan.combination(combination).parameters, fold)
