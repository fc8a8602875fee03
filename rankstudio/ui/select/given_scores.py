"""Scores of other programs as runs: asked for, read in the background, and put into the queue."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.select.given_dialog import GivenDialog, name_of

_FOLD = re.compile("fold[ ._-]?[0-9]+", re.IGNORECASE)


PlanOf = Callable[[Plan, str, Path, FoldedDataset], tuple[Plan, tuple[int, ...]]]
"""Returns the plan of a run called by a name, of a place, and the folds that it leaves out."""


class GivenController(Controller):
    """Makes a run of what files give, read in the background, on the data that are open.

    Parameters
    ----------
    models : Models
    parent : QWidget
        Over which dialogs open.
    """

    def __init__(self, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._models, self._window = models, parent

    @property
    def folder(self) -> str:
        """Where the data are: a place to look for what belongs to them."""
        dataset = self._models.session.dataset
        return str(dataset.path.parent if dataset is not None and dataset.path is not None else Path.home())

    def ask_name(self, dialog: GivenDialog, read: Callable[[Path, str], None]) -> None:
        """Open a dialog, and read what it says when it is accepted."""
        dialog.accepted.connect(lambda: read(dialog.source(), dialog.run_name()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def add(self, what: str, plan_of: PlanOf, place: Path, name: str) -> None:
        """Read a place, and put the run of it into the queue, unless other data were opened meanwhile."""
        session = self._models.session
        dataset = session.dataset
        if dataset is None or not session.has_documents:
            self.failed.emit(tr("This needs documents to rank: open their data first."))
            return

        def run(found: tuple[Plan, tuple[int, ...]]) -> None:
            plan, left_out = found
            if dataset is not session.dataset:
                return
            self._models.runs.start(plan, dataset)
            if left_out:
                text = tr("{title}: there is nothing for fold {folds}")
                self.said.emit(text.format(title=plan.title, folds=", ".join(map(str, left_out))))

        self._models.task_worker.task(
            what, plan_of, session.plan, name, place, dataset, on_done=run, on_error=self.failed.emit
        )


class GivenScoresController(GivenController):
    """Makes a run of a file of scores, or of a folder of them; parameters as of `GivenController`."""

    @Slot()
    def ask(self) -> None:
        """Ask for a file, of a file for each fold any one, and for a name."""
        if self._models.session.dataset is None:
            return
        title = tr("Scores of another program; of a file for each fold any one")
        path, _ = QFileDialog.getOpenFileName(self._window, title, self.folder, tr("All files (*)"))
        if path:
            place = scores_path(Path(path))
            dialog = GivenDialog(tr("Add scores"), tr("&Add"), [(place, place.name)], self._window)
            self.ask_name(dialog, self.read)

    def read(self, place: Path, name: str = "") -> None:
        """Read scores, and measure them as a run."""
        self.add(tr("Reading scores"), _plan_of, place, name or name_of(place))

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
