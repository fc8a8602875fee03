"""Models of files as runs: asked for or dropped, named, read in the background, and put into the queue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DataError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.model_folder import fold_of_name, models_in
from rankstudio.ui.language import tr, trn
from rankstudio.ui.select.given_dialog import GivenDialog, name_of
from rankstudio.ui.select.given_scores import GivenController


class GivenModelsController(GivenController):
    """Makes a run of a model, or of one for each fold; parameters as of `GivenController`."""

    @Slot()
    def ask(self) -> None:
        """Ask for one or several files, and for a name."""
        if self._models.session.dataset is None:
            return
        title = tr("A model for all folds, or of a model for each fold any one")
        kinds = ";;".join((tr("Models (*.json)"), tr("All files (*)")))
        paths, _ = QFileDialog.getOpenFileNames(self._window, title, self.folder, kinds)
        self.open(paths)

    @Slot(list)
    def open(self, paths: Sequence[str]) -> None:
        """Ask what the run of models is called, and make it."""
        if not paths:
            return
        if not self._models.session.has_documents:
            self.failed.emit(tr("A model ranks the documents of open data: open them first, then the model."))
            return
        try:
            places = model_sources([Path(path) for path in paths])
        except DataError as error:
            self.failed.emit(str(error))
            return
        dialog = GivenDialog(tr("Open model as ranker"), tr("&Open"), places, self._window)
        self.ask_name(dialog, self.read)

    def read(self, place: Path, name: str = "") -> None:
        """Read models, and measure them as a run."""
        self.add(tr("Reading models"), _plan_of, place, name or name_of(place))


def model_sources(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return which models some files may stand for, and what that means: one, or one for each fold.

    Raises
    ------
    DataError
        For several files that are not models of folds in one folder.
    """
    first = paths[0]
    if first.is_dir():
        folder = first
    elif fold_of_name(first) is not None:
        folder = first.parent
    else:
        folder = None
    alone = (first, tr("{file} in all folds").format(file=first.name))
    if len(paths) > 1 and any(path.parent != first.parent or fold_of_name(path) is None for path in paths):
        raise DataError(
            tr("{file}: found {n} files, expected one model, or fold1.json and so on of one folder.").format(
                file=first.name, n=len(paths)
            )
        )
    by_fold = models_in(folder) if folder is not None else {}
    if not by_fold or (len(by_fold) == 1 and not first.is_dir()):
        return [alone]
    own = trn("the one model, in its fold", "each fold its own of {n} models", len(by_fold))
    several = (next(iter(by_fold.values())).parent, own.format(n=len(by_fold)))
    return [several] if first.is_dir() or len(paths) > 1 else [several, alone]


def _plan_of(plan: Plan, name: str, place: Path, dataset: FoldedDataset) -> tuple[Plan, tuple[int, ...]]:
    from rankstudio.engine.experiment.units.given_model import plan_of_models  # noqa: PLC0415 - numba

    return plan_of_models(plan, name, place, dataset)
