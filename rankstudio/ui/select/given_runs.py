"""Makes runs of scores and models in files: asks for files and a name, reads them in the background."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.errors import DataError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.plugin_formats import readable_formats
from rankstudio.engine.methods.catalog import GIVEN_MODEL, GIVEN_ORDER, GIVEN_SCORES
from rankstudio.ui.language import tr, trn
from rankstudio.ui.page.controller import CommandController
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel

_FOLD_NAME = re.compile("fold[ ._-]?[0-9]+", re.IGNORECASE)
_DIALOG_WIDTH = 460
_MAX_NAME_LENGTH = 200  # letters of a name


class GivenController(CommandController):
    """Makes a run of a ranking that files give, on the open data; the files are read in the background."""

    @property
    def folder(self) -> str:
        """Folder of the open data, in which dialogs begin; the home folder without one."""
        dataset = self._models.session.dataset
        return str(
            dataset.path.parent
            if dataset is not None and dataset.path is not None
            else Path.home()
        )

    def ask_name(self, dialog: GivenDialog, read: Callable[[Path, str], None]) -> None:
        """Open a dialog; when it is accepted, call ``read`` with the path and the name chosen in it."""
        dialog.accepted.connect(lambda: read(dialog.source(), dialog.run_name()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def add(self, description: str, method: str, path: Path, name: str) -> None:
        """Read a file or folder and queue its run, unless other data have been opened meanwhile.

        Parameters
        ----------
        description : str
            What is being done, for the list of background tasks.
        method : str
            Key of the method that stands for the ranking: scores or a model of a file.
        path : Path
            The file or folder.
        name : str
            Name of the run.
        """
        session = self._models.session
        dataset = session.dataset

        # Of data known only from a study, the documents are not open.
        if dataset is None or not session.has_documents:
            self.failed.emit(tr("Open the data first."))
            return

        def run(planned: tuple[Plan, tuple[int, ...]]) -> None:
            """Queue the run of a plan, and say which folds have no file.

            ``planned`` is the plan and the numbers of the folds for
            which there is no file. The session and the data are known
            to the enclosing method.
            """
            plan, folds_without_file = planned

            # Other data may have been opened while the file was read.
            if dataset is not session.dataset:
                return
            self._models.runs.start(plan, dataset)
            if folds_without_file:
                text = tr("{title}: no file for fold {folds}")
                folds = ", ".join(map(str, folds_without_file))
                self.said.emit(text.format(title=plan.title, folds=folds))

        # The file is read in the background; then `run` is called with the plan.
        self._models.task_worker.task(
            description,
            partial(_plan_of_given, method, session.plan, name, path, dataset),
            on_done=run,
            on_error=self.failed.emit,
        )


def _plan_of_given(
    method: str, plan: Plan, name: str, path: Path, dataset: FoldedDataset
) -> tuple[Plan, tuple[int, ...]]:
    """Return the plan of a given ranking, and the folds for which it has no file; called on the worker."""
    from rankstudio.engine.experiment.units.given_fold import plan_of_given  # noqa: PLC0415 - numba

    return plan_of_given(method, plan, name, path, dataset)


class GivenScoresController(GivenController):
    """Makes a run of a file of scores, or of a folder of such files, on the open data.

    The parameters are those of `GivenController`.
    """

    @Slot()
    def ask(self) -> None:
        """Ask for a file of scores, or any one of the files for the folds, and for a name of the run."""
        if self._models.session.dataset is None:
            return
        title = tr(
            "Scores of another program; if there is one file per fold, choose any of them"
        )
        path, _ = QFileDialog.getOpenFileName(
            self._window, title, self.folder, tr("All files (*)")
        )
        if path:
            # If the file is in the folder of a fold, the scores of all folds are read.
            source = scores_path(Path(path))
            dialog = GivenDialog(
                tr("Add scores"), tr("&Add"), [(source, source.name)], self._window
            )
            # `read` gets the path, and the name that the user accepts
            self.ask_name(dialog, self.read)

    def read(self, path: Path, name: str = "") -> None:
        """Read scores, and queue a run that measures them."""
        self.add(tr("Reading scores"), GIVEN_SCORES.key, path, name or name_of(path))

    @Slot()
    def run_order(self) -> None:
        """Queue a run that measures the order of the documents in the data."""
        session = self._models.session
        if session.dataset is None:
            return

        # This order has no parameters, and nothing else ranks.
        changes = {
            "method": GIVEN_ORDER.key,
            "parameters": {},
            "ranker": "",
            "ranker_parameters": {},
        }
        plan = session.plan.changed(**changes)
        self._models.runs.start(plan, session.dataset)


def scores_path(path: Path) -> Path:
    """Return the path to read scores from: the file or, if it is in a fold's folder, the folder of all folds.

    Examples
    --------
    >>> scores_path(Path("neural/Fold1/test.scores")).name, scores_path(Path("neural/all.run")).name
    ('neural', 'all.run')
    """
    return path.parent.parent if _FOLD_NAME.fullmatch(path.parent.name) else path


class GivenDialog(QDialog):
    """A dialog that asks for the name of a run and, of several files or folders, for the one to read.

    Parameters
    ----------
    title, accept : str
        Title of the dialog, and text of its button.
    places : sequence of (Path, str)
        The files or folders that can be read, each with a text on its
        meaning; the first is preselected.
    parent : QWidget, optional
    """

    def __init__(
        self,
        title: str,
        accept: str,
        places: Sequence[tuple[Path, str]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        named(self, "given-dialog", title)
        self.setWindowTitle(title)

        # `places` has pairs of a path and its text for the user. Here
        # are the paths to choose from, the label that shows the chosen
        # one, and the choice.
        self._places = [source for source, _ in places]
        self._file = named(
            ElidedLabel(mode=Qt.TextElideMode.ElideMiddle), "given-file", role="muted"
        )
        self._which = named(
            choice_box(tuple((str(source), text) for source, text in places)),
            "given-place",
            tr("which models"),
        )

        # The name of the run.
        self.name = named(QLineEdit(), "given-name", tr("name of the run"))
        self.name.setMaxLength(_MAX_NAME_LENGTH)

        # The button that accepts has the command as its text.
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._accept = named(QPushButton(accept), "given-accept", role="primary")
        self._accept.setDefault(True)
        buttons.addButton(self._accept, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)

        # The form with its rows; the choice is shown only if there are several places.
        form = QFormLayout()
        form.addRow(tr("&Name"), self.name)
        form.addRow(tr("&Models"), self._which)
        form.setRowVisible(self._which, len(places) > 1)
        fill(
            QVBoxLayout(self),
            self._file,
            form,
            buttons,
            margins=(16, 14, 16, 14),
            spacing=10,
        )

        # A name is proposed for each choice until the user writes another one.
        self._which.currentIndexChanged.connect(self._propose)
        self.name.textChanged.connect(self._enable)
        self._proposed = ""
        self._propose()
        self.setMinimumWidth(_DIALOG_WIDTH)
        self.name.setFocus()

    def source(self) -> Path:
        """Return the file or folder to read."""
        return self._places[self._which.currentIndex()]

    def run_name(self) -> str:
        """Return the name of the new run."""
        return " ".join(self.name.text().split())

    def _propose(self) -> None:
        """Show the chosen path, and propose its name unless the user has typed another one."""
        source = self.source()
        self._file.setText(str(source))
        if self.name.text() == self._proposed:
            self._proposed = name_of(source)
            self.name.setText(self._proposed)
            self.name.selectAll()

    def _enable(self) -> None:
        self._accept.setEnabled(bool(self.run_name()))


def name_of(path: Path) -> str:
    """Return the default name of a run of a file or folder: its name, without endings.

    Examples
    --------
    >>> name_of(Path("neural/bm25.run.gz")), name_of(Path("results/models"))
    ('bm25', 'results')
    """
    # Exported models are in a folder "models"; the folder around it
    # says whose they are. A compressed file has a second ending, such
    # as ".gz".
    if path.name == "models" and path.parent.name:
        return path.parent.name
    return (
        Path(without_ending(path.name)).stem
        if path.suffix and not path.is_dir()
        else path.name
    )


def model_filters() -> tuple[str, ...]:
    """Return the filters of dialogs for model files: of formats that RankStudio reads, and of plug-ins."""
    own_filter = tr("Models (*.json *.txt *.xml *.model *.onnx)")
    entries = [form.entry for form in readable_formats()]
    return own_filter, *(
        f"{entry.label.replace(';', ',')} (*{entry.suffix})" for entry in entries
    )


class GivenModelsController(GivenController):
    """Makes a run of one model of a file, or of one for each fold, on the open data.

    The parameters are those of `GivenController`.
    """

    @Slot()
    def ask(self) -> None:
        """Ask for one or several model files, and for a name of the run."""
        if self._models.session.dataset is None:
            return
        title = tr(
            "One model for all folds; if there is one per fold, choose any of them"
        )
        kinds = ";;".join((*model_filters(), tr("All files (*)")))
        paths, _ = QFileDialog.getOpenFileNames(self._window, title, self.folder, kinds)
        self.open(paths)

    @Slot(list)
    def open(self, paths: Sequence[str]) -> None:
        """Ask for the name of a run of model files, and which models to read if that is not clear."""
        if not paths:
            return
        if not self._models.session.has_documents:
            self.failed.emit(tr("Open the data first, then the model."))
            return
        try:
            places = model_sources([Path(path) for path in paths])
        except DataError as error:
            self.failed.emit(str(error))
            return
        dialog = GivenDialog(
            tr("Open model as ranker"), tr("&Open"), places, self._window
        )
        # After the dialog, `read` gets the path and the name from it.
        self.ask_name(dialog, self.read)

    def read(self, path: Path, name: str = "") -> None:
        """Read models, and queue a run that measures them."""
        self.add(tr("Reading models"), GIVEN_MODEL.key, path, name or name_of(path))


def model_sources(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return the ways to read model files: one model for all folds, or one for each fold.

    A way is a path with a text for the user: the path of a file stands
    for its model, that of a folder for the models of the folds in it.

    Raises
    ------
    DataError
        If several files are not the models of folds in one folder.
    """
    from rankstudio.engine.export.model_files import fold_of_name, models_in  # noqa: PLC0415 - the window is there first

    # The folder that may have a model for each fold: the path itself if
    # it is a folder, or the folder of a file named after a fold, such
    # as fold1.json.
    first = paths[0]
    if first.is_dir():
        folder = first
    elif fold_of_name(first) is not None:
        folder = first.parent
    else:
        folder = None

    # One file can always rank all folds; several files must belong to
    # the folds of one folder.
    single = (first, tr("{file} in all folds").format(file=first.name))
    are_folds = all(
        path.parent == first.parent and fold_of_name(path) is not None for path in paths
    )
    if len(paths) > 1 and not are_folds:
        raise DataError(
            tr(
                "{file}: found {n} files, expected one model, or fold1.json and so on in one folder."
            ).format(file=first.name, n=len(paths))
        )

    # The path of each fold's model in the folder, by the number of the
    # fold. A folder without models of folds, or with this file only,
    # leaves one way.
    by_fold = models_in(folder) if folder is not None else {}
    if not by_fold or (len(by_fold) == 1 and not first.is_dir()):
        return [single]

    # One file named after a fold can be read in both ways.
    label = trn(
        "the model, for its own fold only",
        "{n} models, each for its own fold",
        len(by_fold),
    )

    # The models may be in a folder within this one, whose path is then meant.
    per_fold = (next(iter(by_fold.values())).parent, label.format(n=len(by_fold)))
    return [per_fold] if first.is_dir() or len(paths) > 1 else [per_fold, single]
