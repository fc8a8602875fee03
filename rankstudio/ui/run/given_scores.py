"""Scores of other programs as runs: asked for, read in the background, and put into the queue."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.letor.compression import without_ending
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models

_FOLD = re.compile("fold[ ._-]?[0-9]+", re.IGNORECASE)


class GivenScoresController(QObject):
    """Makes a run of a file of scores, or of a folder of them, on the data that are open.

    Parameters
    ----------
    models : Models
    parent : QWidget
        Over which the dialog opens.
    """

    failed = Signal(str)
    said = Signal(str)

    def __init__(self, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._models, self._window = models, parent

    @Slot()
    def ask(self) -> None:
        """Ask for a file; of a file for each fold any one stands for all of them."""
        dataset = self._models.session.dataset
        if dataset is None:
            return
        folder = str(dataset.path.parent if dataset.path is not None else Path.home())
        title = tr("Scores of another program; of a file for each fold any one")
        path, _ = QFileDialog.getOpenFileName(self._window, title, folder, tr("All files (*)"))
        if path:
            self.read(scores_path(Path(path)))

    def read(self, place: Path) -> None:
        """Read scores, and measure them as a run that is called as the file or the folder."""
        session = self._models.session
        dataset = session.dataset
        if dataset is None or not session.has_documents:
            self.failed.emit(tr("Scores can be added where the documents are at hand: open their data."))
            return
        name = place.name if place.is_dir() else Path(without_ending(place.name)).stem
        self._models.task_worker.task(
            tr("Reading scores"),
            _plan_of,
            session.plan,
            name,
            place,
            dataset,
            on_done=lambda found: self._run(*found, dataset),
            on_error=self.failed.emit,
        )

    def _run(self, plan: Plan, left_out: tuple[int, ...], dataset: FoldedDataset) -> None:
        """Put the run into the queue, unless other data were opened meanwhile."""
        if dataset is not self._models.session.dataset:
            return
        self._models.runs.start(plan, dataset)
        if left_out:
            text = tr("{title}: there are no scores for fold {folds}")
            self.said.emit(text.format(title=plan.title, folds=", ".join(map(str, left_out))))

    @Slot()
    def run_order(self) -> None:
        """Measure the order in which the documents stand in the file, as a run."""
        session = self._models.session
        if session.dataset is None:
            return
        changes = {"method": "given-order", "parameters": {}, "ranker": "", "ranker_parameters": {}}
        plan = session.plan.changed(**changes)
        self._models.runs.start(plan, session.dataset)


def scores_path(path: Path) -> Path:
    """Return what a file of scores stands for: in a folder of a fold, the folder of all folds.

    Examples
    --------
    >>> scores_path(Path("neural/Fold1/test.scores")).name, scores_path(Path("neural/all.run")).name
    ('neural', 'all.run')
    """
    return path.parent.parent if _FOLD.fullmatch(path.parent.name) else path


def _plan_of(plan: Plan, name: str, place: Path, dataset: FoldedDataset) -> tuple[Plan, tuple[int, ...]]:
    from rankstudio.engine.experiment.units.given_fold import plan_of_scores  # noqa: PLC0415 - numba

    return plan_of_scores(plan, name, place, dataset)
