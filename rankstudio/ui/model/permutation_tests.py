"""Whether the criterion of a path is better than chance gives: permutation tests on demand, kept per path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

import rankstudio
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.background.simulation import BackgroundSimulation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session

if TYPE_CHECKING:
    from rankstudio.engine.analysis.permutation.criterion_band import CriterionBand

N_PERMUTATIONS = 999
"""How often labels or preferences are permuted."""

_PathKey = tuple[str, str, int, str]
"""Checksum of the data, method, fold and the plan of the path in words."""


class PermutationTests(QObject):
    """Carries one test at a time out, and keeps what each has found.

    Parameters
    ----------
    session : Session
    current : CurrentModel
        Whose path is tested.
    worker : Worker
        Which has other tasks between two steps.
    """

    changed = Signal()
    """A test began or ended."""
    grew = Signal()
    """A test has counted more permutations."""
    failed = Signal(str)

    def __init__(
        self, session: Session, current: CurrentModel, worker: Worker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._current = session, current
        self._found: dict[_PathKey, CriterionBand] = {}
        self._working: _PathKey | None = None
        self._simulation = BackgroundSimulation(worker, tr("Permuting"), "permutation", self)
        self._simulation.grew.connect(self._grow)
        self._simulation.changed.connect(self.changed)
        self._simulation.failed.connect(self.failed)
        session.datasetChanged.connect(self.stop)

    @property
    def busy(self) -> bool:
        """Whether labels or preferences are permuted just now."""
        return self._simulation.busy

    @property
    def growing(self) -> bool:
        """Whether the test of the path that is looked at is the one that works."""
        return self.busy and self._working == self._key()

    @property
    def possible(self) -> bool:
        """Whether a path is drawn whose labels or preferences can be permuted."""
        model, session = self._current.model, self._session
        if model is None or not session.has_documents:
            return False
        plan = model.plan
        return plan.entry.permutes and not plan.ranker

    @property
    def band(self) -> CriterionBand | None:
        """What is known of the path that is looked at."""
        key = self._key()
        return self._found.get(key) if key is not None else None

    def as_code(self) -> dict[str, str]:
        """Return a command and a program, by suffix, that find again what is known; {} where nothing is."""
        band, model = self.band, self._current.model
        if band is None or model is None:
            return {}
        from rankstudio.engine.analysis.permutation.criterion_band import (  # noqa: PLC0415 - first needed here
            permutation_as_command,
            permutation_as_python,
        )

        single, n = _path(model.plan, model.values, model.fold.number), band.n_permutations
        with_these = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": permutation_as_command(single, n) + "\n",
            ".py": permutation_as_python(single, n, with_these),
        }

    @Slot()
    def toggle(self) -> None:
        """Test the path that is looked at, or stop that."""
        if self.growing:
            self.stop()
        elif self.possible:
            self._start()

    @Slot()
    def stop(self) -> None:
        """End the test that works; what it has found stays."""
        self._simulation.stop()

    def _start(self) -> None:
        dataset, model = self._session.dataset, self._current.model
        assert dataset is not None and model is not None  # it is possible
        self._working = self._key()
        plan, values, fold = model.plan, model.values, model.fold.number
        self._simulation.start(lambda: _steps(plan, values, fold, dataset))

    @Slot(object)
    def _grow(self, band: CriterionBand) -> None:
        if self._working is not None:
            self._found[self._working] = band
            self.grew.emit()

    def _key(self) -> _PathKey | None:
        dataset, model = self._session.dataset, self._current.model
        if dataset is None or model is None or not self.possible:
            return None
        return dataset.checksum, *model.learned_by


def _steps(
    plan: Plan, values: tuple[object, ...], fold: int, dataset: FoldedDataset
) -> Iterator[CriterionBand]:
    """Yield the test of a path as it grows."""
    from rankstudio.engine.analysis.permutation.criterion_band import band_steps  # noqa: PLC0415 - on the worker only

    yield from band_steps(_path(plan, values, fold), dataset, N_PERMUTATIONS)


def _path(plan: Plan, values: tuple[object, ...], fold: int) -> Plan:
    """Return the plan of one path."""
    from rankstudio.engine.analysis.permutation.criterion_band import single_plan  # noqa: PLC0415 - brings kernels

    return single_plan(plan, plan.combination(values).parameters, fold)
