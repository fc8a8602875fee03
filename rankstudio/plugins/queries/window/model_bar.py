"""The top of the Queries page: the choice of two models and a part, and a message if something is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import path_position
from rankstudio.ui.model.session import Choice
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets import Segmented
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named

ChosenModels = dict[int, Chosen]
"""The model of each fold, by the fold's number."""
SINGLE = 0
"""Key of the best single feature in place of a run's key; keys of runs are counted from 1."""

Options = Sequence[tuple[int, str]]
"""Keys and labels of models."""
_REMEDY_TEXTS = {"select": tr("Choose and run a method"), "data": tr("Open the data")}
"""Text of the button, by the page to which it leads."""


def comparable(runs: Runs, dataset: FoldedDataset | None) -> list[RunRecord]:
    """Return the runs on the open data that have a finished fold."""
    return [
        record for record in runs.records if record.folds and record.dataset is dataset
    ]


def chosen_models(
    record: RunRecord, measured: MeasuredRun, choice: Choice | None = None
) -> ChosenModels:
    """Return the model that a run chose on each fold, or the one that the user chose.

    Parameters
    ----------
    record : RunRecord
        The run with the results of its folds.
    measured : MeasuredRun
        The run measured by the current measure, which may choose other
        models on some folds.
    choice : Choice, optional
        Parameters or a size to use instead of those that validation
        chose, on folds on which the run has tried them.

    Returns
    -------
    dict of int to Chosen
        Models by fold, without the folds whose model the study did not store.
    """
    # The results of `measured` replace those of the run.
    folds = {**record.folds, **measured.folds}
    models = {number: result.chosen for number, result in sorted(folds.items())}
    if choice is not None and choice != Choice():
        models = {
            number: _model_of_choice(record, number, chosen, choice)
            for number, chosen in models.items()
        }

    # A study stores only one complete model of a nonlinear path.
    return {number: chosen for number, chosen in models.items() if chosen.step.whole}


def _model_of_choice(
    record: RunRecord, fold: int, chosen: Chosen, choice: Choice
) -> Chosen:
    """Return the model of the user's choice on a fold, or the model that validation chose.

    The latter, ``chosen``, is returned if the run has no path with the
    parameters of ``choice``.
    """
    # position of the combination of parameters; None if the run has not tried it
    position = (
        chosen.unit.position
        if choice.values is None
        else record.combination_of(choice.values)
    )
    path = None if position is None else record.paths.get((fold, position))
    if path is None:
        return chosen

    # The step of the chosen size; without one, that with the best
    # validation measure (None: no position of the best step is known).
    select_by = record.plan.select_by
    step_position = path_position(path, choice.x_value, None, select_by)
    return replace(chosen, unit=path.unit, step=path.steps[step_position])


def run_label(record: RunRecord) -> str:
    """Return the name of a run on this page."""
    return tr("run {key} · {title}").format(key=record.key, title=record.title)


def single_label(record: RunRecord) -> str:
    """Return a name for the best single feature of each fold of a run, as model B.

    The name of the model has the feature's name if all folds have the
    same best feature.
    """
    # the baseline of a fold is its best single feature
    names = {result.baseline.name for result in record.folds.values()}
    return (
        tr("best single feature · {names}").format(names=names.pop())
        if len(names) == 1
        else tr("best single feature of each fold")
    )


class ModelBar(QWidget):
    """A bar in which the user chooses the models A and B, the part, and all folds or only the current one.

    Attributes
    ----------
    changed : Signal()
        The user chose another part or other folds.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "query-models", tr("models to compare"))
        self.a = self._box("A")
        self.b = self._box("B")
        self.part = named(
            Segmented([("test", tr("test")), ("vali", tr("validation"))], tr("part")),
            "query-part",
            tip=tr("Part of the queries"),
        )
        self.scope = named(
            Segmented(
                [("all", tr("all folds")), ("one", tr("this fold"))], tr("folds")
            ),
            "query-scope",
            tip=tr("Queries of all folds, or of the current fold"),
        )
        self._forgets_part = False  # whether the next parts begin with the first one

        for choice in (self.part, self.scope):
            choice.chosen.connect(self.changed)
        fill(
            QHBoxLayout(self),
            PlainLabel("A"),
            (self.a, 1),
            PlainLabel("B"),
            (self.b, 1),
            self.part,
            self.scope,
            margins=(4, 0, 4, 0),
            spacing=8,
        ).addStretch(1)

    def set_options(
        self, a: Options, b: Options, key_a: int | None, key_b: int | None
    ) -> None:
        """Offer models for A and B, and select those with the keys ``key_a`` and ``key_b``.

        ``a`` and ``b`` have pairs of a key and a name. No signal is
        emitted; for the key None, no model is selected.
        """
        for box, options, value in ((self.a, a, key_a), (self.b, b, key_b)):
            box.blockSignals(True)

            # Options are replaced only if they differ.
            current_options = [
                (box.itemData(i), box.itemText(i)) for i in range(box.count())
            ]
            if current_options != list(options):
                box.clear()
                for key, text in options:
                    box.addItem(text, key)
            box.setCurrentIndex(box.findData(value) if value is not None else -1)
            box.setToolTip(plain(f"{box.accessibleName()}: {box.currentText()}"))
            box.blockSignals(False)

    def set_parts(self, parts: Sequence[tuple[str, str]]) -> None:
        """Offer parts of the data, as pairs of a key such as "test" and a text.

        The chosen part stays chosen if offered, unless
        :meth:`forget_part` was called.
        """
        _offer_options(self.part, parts)
        if parts and self._forgets_part:
            self._forgets_part = False
            self.part.select(parts[0][0])
        self.part.setVisible(len(parts) > 1)

    def choose_part(self, part: str) -> None:
        """Choose a part without a signal."""
        self._forgets_part = False
        self.part.select(part)

    def forget_part(self) -> None:
        """Choose the first part the next time that parts are offered."""
        self._forgets_part = True

    def set_fold(self, fold: int | None, n_folds: int) -> None:
        """Show the current fold and the number of folds that both models have.

        The choice is hidden if there is only one fold, or no current fold.
        """
        self.scope.setVisible(n_folds > 1 and fold is not None)
        _offer_options(
            self.scope,
            [
                ("all", tr("all {n_folds} folds").format(n_folds=n_folds)),
                ("one", tr("fold {fold}").format(fold=fold)),
            ],
        )

    def is_one_fold(self) -> bool:
        """Return whether only the queries of the current fold are compared."""
        return self.scope.value() == "one" and not self.scope.isHidden()

    def _box(self, name: str) -> QComboBox:
        """Return an empty box to choose the model "A" or "B"."""
        choices = choice_box((), cut=Qt.TextElideMode.ElideMiddle)
        box = named(
            choices, f"query-model-{name.lower()}", tr("Model {name}").format(name=name)
        )
        box.setMaximumWidth(340)  # pixels
        return box


def _offer_options(choice: Segmented, options: Sequence[tuple[str, str]]) -> None:
    """Offer values in a control, as pairs of a key and a text, keeping the current one.

    ``choice`` is the control, and ``options`` the pairs. Equal values
    are not set again, to keep the keyboard focus.
    """
    if choice.options() != list(options):
        current = choice.value()
        choice.set_options(options)
        choice.select(current)


class EmptyPage(QFrame):
    """A message that data or runs are missing, with a button to the page that adds them.

    The message is hidden if nothing is missing.

    Attributes
    ----------
    pageAsked : Signal(str)
        Key of the page to which the user wants to go.
    """

    pageAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "query-empty-page", role="panel")
        self._page = ""
        self.sentence = named(PlainLabel(wraps=True), "query-missing", role="caption")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.button = named(QPushButton(), "query-missing-button", role="primary")
        self.button.clicked.connect(lambda: self.pageAsked.emit(self._page))

        # The message is above the middle: two parts of the free space
        # are above it, and three below.
        column = fill(
            QVBoxLayout(self), 2, self.sentence, margins=(16, 16, 16, 16), spacing=12
        )
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.hide()

    def show_missing(self, reason: str, page: str) -> None:
        """Show the reason why something is missing, and a button to a page unless ``page`` is "".

        Hide the message for the reason "".
        """
        self._page = page
        self.sentence.setText(reason)
        self.button.setText(_REMEDY_TEXTS.get(page, ""))
        self.button.setVisible(bool(page))
        self.setVisible(bool(reason))
