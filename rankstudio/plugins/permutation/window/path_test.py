"""The permutation test of the shown path, on the pages *Select* and *Evidence*."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.plugins.permutation.window.chance_row import ChanceRow, chance_sentence
from rankstudio.plugins.permutation.window.permutation_tests import (
    N_PERMUTATIONS,
    PermutationTests,
    tested_x_values,
)
from rankstudio.ui.export.items import code_items
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.selected_model import SelectedModel
from rankstudio.ui.page.controller import CommandController, OtherPages
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.select.curves_panel import X_NAMES, CurvesPanel
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

# pixels; from this width on, the sentence is beside its button
_MIN_WIDTH_BESIDE_BUTTON = 260
_TEST_HELP = tr(
    "Is the whole path better than chance? The selection is repeated with permuted labels."
)
_PREFERENCES_TEST_HELP = tr(
    "Is the whole path better than chance? The selection is repeated with the documents of the "
    "preferences permuted."
)


class PathView(QWidget):
    """Shows the permutation test of the whole path on the page *Evidence*.

    Attributes
    ----------
    about : WrappedLabel
    chance : ChanceRow
    """

    def __init__(self) -> None:
        """Lay out the explanation above the row with the button."""
        super().__init__()
        self.about = named(WrappedLabel(), "evidence-chance-about", role="caption")
        self.about.setText(_TEST_HELP)
        self.chance = ChanceRow()
        self.chance.button.setObjectName("evidence-chance")
        self.chance.sentence.setObjectName("evidence-chance-said")
        fill(
            QVBoxLayout(self),
            self.about,
            self.chance,
            1,  # a stretch below
            margins=(0, 0, 0, 0),
            spacing=4,
        )


class PathTestController(CommandController):
    """Runs permutation tests of the shown path, and shows the results as a band and in sentences.

    Attributes
    ----------
    tests : PermutationTests
    row : ChanceRow
        The row below the curves.
    path : PathView
        The view on the page *Evidence*.
    """

    def __init__(self, models: Models, window: QWidget) -> None:
        """Make the tests and the two rows that show them; `join` connects these."""
        super().__init__(models, window)
        self._current = models.current
        self.tests = PermutationTests(
            models.session, models.current, models.task_worker, self
        )

        # Button and result below the curves, and on the page *Evidence*.
        self.row = ChanceRow()
        self.path = PathView()
        self.tests.failed.connect(self.failed)
        self.tests.changed.connect(self.stateChanged)

    @property
    def possible(self) -> bool:
        """Whether the shown path can be tested."""
        return self.tests.possible

    @property
    def busy(self) -> bool:
        """Whether a permutation test is under way."""
        return self.tests.busy

    @Slot()
    def toggle(self) -> None:
        """Start the test of the shown path, or stop it."""
        self.tests.toggle()

    @Slot()
    def stop(self) -> None:
        """End the running test; its results so far stay."""
        self.tests.stop()

    def export_items(self) -> Iterator[ExportItem]:
        """Yield the test of the shown path as a command and a program, for the dialog *Export*."""
        if self.tests.possible:
            labels = {
                ".sh": tr("Permutation test as a command"),
                ".py": tr("Permutation test as Python"),
            }
            reason = tr(
                "No permutation test yet: start one below the plot of the criterion."
            )

            # The first text begins the keys of the items, the second
            # one the names of their files.
            yield from code_items(
                "permutation", labels, self.tests.as_code(), "permutation", reason
            )

    def join(self, pages: OtherPages) -> None:
        """Connect the controller with the panel of the curves and the page *Evidence*.

        Redrawing the curves removes all bands. Controllers that redraw
        them are connected before this one, so that the band is drawn
        after the curves.
        """
        # The row with the button is below the curves of the page "select".
        self._curves: CurvesPanel = pages.find("select").curves
        self._curves.add_asked(self.row, self.row.row, _MIN_WIDTH_BESIDE_BUTTON)
        for row in (self.row, self.path.chance):
            row.button.clicked.connect(self.toggle)

        # On the page *Evidence*, the view of the path has such a row,
        # too. The page shows it while a test is possible.
        evidence = pages.find("evidence")  # None if its plug-in is left out
        signals = [
            self.tests.changed,
            self.tests.grew,
            self._models.session.datasetChanged,
        ]
        if evidence is not None:
            signals.append(evidence.evidence.changed)
            evidence.stop.add_path(
                self.path, tr("Permutation test"), lambda: self.possible
            )
            self.row.button.clicked.connect(lambda: pages.show_page("evidence"))
            self.row.button.clicked.connect(evidence.show_path)
        self._current.changed.connect(self.update)
        for signal in signals:
            signal.connect(self.update)

    @Slot()
    def update(self) -> None:
        """Show the band and the sentences of the shown path."""
        model = self._current.model
        band = self.tests.band

        # One row is below the curves, the other one on the page *Evidence*.
        for row in (self.row, self.path.chance):
            row.setVisible(model is not None)
        if model is None:
            self._curves.set_permuted((), None)
            return

        # x values of the tested steps; no band is drawn before a test
        xs = () if band is None else tested_x_values(model, band)
        interval = None if band is None else (band.mean, band.low, band.high)
        self._curves.set_permuted(xs, interval, None if band is None else band.p_values)
        self.path.about.setText(
            _PREFERENCES_TEST_HELP if preferences_of(model.plan) else _TEST_HELP
        )
        for row in (self.row, self.path.chance):
            _show_chance(row, self.tests, model)


def _show_chance(row: ChanceRow, tests: PermutationTests, model: SelectedModel) -> None:
    """Show in a row the result of the permutation test of a model's path, or why there is none."""
    if tests.obstacle:
        row.show_obstacle(tests.obstacle)
        return
    growing = tests.growing
    preferred = bool(preferences_of(model.plan))
    band = tests.band
    sentence = ""
    if band is not None:
        x_values = tested_x_values(model, band)

        # The path of the test may be shorter than that of the model.
        position = min(model.position, x_values.size - 1, band.observed.size - 1)
        step = f"{X_NAMES[model.path.step_kind]} = {x_values[position]}"
        sentence = chance_sentence(
            band,
            position,
            step,
            N_PERMUTATIONS,
            growing=growing,
            preferred=preferred,
        )
    complete = band is not None and band.n_permutations >= N_PERMUTATIONS
    row.show_state(
        sentence,
        growing=growing,
        complete=complete,
        preferred=preferred,
        one_ranking=model.fold.train.n_queries == 1,
        seconds=tests.seconds,
    )
