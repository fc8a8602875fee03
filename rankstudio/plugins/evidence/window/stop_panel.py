"""Where to stop: the significance of each step, the left-out curve, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from rankstudio.engine.export.figures.values import Level
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.language import tr
from rankstudio.ui.plots.step_curves import StepCurve, StepCurvesPlot
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.choices import Segmented
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.step_significance import StepSignificance

P = "p"
CURVE = "curve"
PATH = "path"
_VIEWS = (P, tr("steps")), (CURVE, tr("curve"))
_PATH_VIEW = PATH, tr("path")
_BLUE_NUMBER = 0
_ORANGE_NUMBER = 1
_EMPTY_STEPS_TEXT = tr("The p value of each step appears here.")
_EMPTY_CURVE_TEXT = tr(
    "The left-out error with the whole selection repeated appears here."
)
TOO_LARGE = tr(
    "Not possible: the products of all features in each query take too much space."
)
_NO_TIES_TEXT = tr(
    "Not possible if documents with equal labels do not count (ties): permuted residuals compare them."
)
_TOO_LONG_TEXT = tr(
    "Not possible with this number of queries: the time grows with its square."
)


class StopPanel(Panel):
    """Shows where to stop: the p value of each step or the left-out curve, with a sentence.

    The user switches between the two plots. A page may add a third
    view, about the whole path.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    path_possible : callable
        Returns whether the view of the whole path has something to show.
    view : Segmented
    work : WorkRow
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme, tr("Where to stop"), name="stop-panel", keeps_title=True
        )
        x = tr("features selected, k")
        self.p_plot = named(
            StepCurvesPlot(theme, tr("p of each step"), x, (0.0, 1.0)), "p-plot"
        )
        self.p_plot.decimals = 2

        # the plot's entry in the list of exports
        self.p_plot.shared = Shared("step-p", tr("Significance of the steps"))
        self.curve = named(
            StepCurvesPlot(theme, tr("left-out error per query"), x), "left-out-plot"
        )

        # the plot's entry in the list of exports
        self.curve.shared = Shared(
            "repeated", tr("Left-out error with repeated selection")
        )
        self.view = named(Segmented(_VIEWS, tr("show")), "stop-view")
        self.tools.addWidget(self.view)
        self.advice = named(WrappedLabel(), "stop-advice")
        self.optimism = named(WrappedLabel(), "stop-optimism", role="caption")

        # the button, with its text without and with an estimated time,
        # and its tooltip
        self.work = WorkRow(
            "stop-work",
            tr("Test the steps"),
            tr("Test the steps (about {time})"),
            tr(
                "Test each step by 99 permutations of the residuals, and repeat the whole selection without "
                "each query."
            ),
        )
        self._steps = QWidget()

        # The view of the whole path is of another page, which adds it.
        self._path: QWidget | None = None
        self._path_title = ""
        self.path_possible: Callable[[], bool] = lambda: False
        fill(
            QVBoxLayout(self._steps),
            self.work,
            self.advice,
            self.optimism,
            margins=(0, 0, 0, 0),
            spacing=4,
        )
        fill(self.body, (self.p_plot, 1), (self.curve, 1), self._steps)
        self.body.setSpacing(4)
        self._shows_steps = True  # otherwise only the view of the whole path
        self._path_ids: tuple[int, ...] = ()  # of the selection, in its order

        for plot in (self.p_plot, self.curve):
            plot.feature_at = self._selected_at
        self.view.chosen.connect(self._show_view)
        self.clear()

    def add_path(
        self, widget: QWidget, title: str, possible: Callable[[], bool]
    ) -> None:
        """Add a view of the whole path.

        Parameters
        ----------
        widget : QWidget
            The view, of another page.
        title : str
            Title of the panel if it shows only this view.
        possible : callable
            Returns whether the view has something to show.
        """
        self._path = widget
        self._path_title = title
        self.path_possible = possible
        self.view.set_options((*_VIEWS, _PATH_VIEW))
        self.body.addWidget(widget, 1)
        self._show_view()

    def show_stop(
        self,
        evidence: SelectionEvidence,
        ids: Sequence[int],
        *,
        can_test: bool,
        final: bool,
        is_done: bool = False,
    ) -> None:
        """Show the tests of the selection's steps, and the advice where to stop.

        Parameters
        ----------
        evidence : SelectionEvidence
        ids : sequence of int
            Feature ids of the data's columns.
        can_test : bool
            Whether the steps of the method can be tested: only those of
            greedy RankRLS can.
        final : bool
            Whether no more permutations are computed, so that the
            advice where to stop is final.
        is_done : bool
            Whether the steps were tested, as far as that is possible.
        """
        self.show_steps(can_test)
        tests = evidence.significance
        repeated = evidence.repeated
        self._path_ids = tuple(int(ids[column]) for column in evidence.selected)

        # Why a plot is empty: both are missing only for data that are
        # too large.
        has_neither = tests is None and repeated is None
        no_tests_reason = TOO_LARGE if has_neither else _NO_TIES_TEXT
        no_curve_reason = TOO_LARGE if has_neither else _TOO_LONG_TEXT
        self.p_plot.placeholder = (
            no_tests_reason if is_done and tests is None else _EMPTY_STEPS_TEXT
        )
        self.curve.placeholder = (
            no_curve_reason if is_done and repeated is None else _EMPTY_CURVE_TEXT
        )
        self.p_plot.set_curves(())
        self.curve.set_curves(())
        if tests is not None and tests.permuted.shape[0]:
            p = tests.p_values
            level = Level(tr("level"), evidence.rules.stop_level)
            is_accepted = np.arange(1, p.size + 1) <= tests.n_steps(
                evidence.rules.stop_level
            )
            curve = StepCurve(
                0, tr("p"), np.arange(1.0, p.size + 1), p, _BLUE_NUMBER, is_accepted
            )
            self.p_plot.set_curves([curve], level, evidence.k)
        if repeated is not None and repeated.repeated.shape[0]:
            count = repeated.repeated.shape[0]
            x = np.arange(1.0, repeated.repeated.shape[1] + 1)
            usual_curve = StepCurve(
                0,
                tr("selection kept"),
                x,
                repeated.usual_criterion / count,
                _BLUE_NUMBER,
            )
            repeated_curve = StepCurve(
                1, tr("repeated"), x, repeated.criterion / count, _ORANGE_NUMBER
            )
            self.curve.set_curves([usual_curve, repeated_curve], None, evidence.k)
        self.advice.setText(
            evidence.stop.sentence if final and evidence.stop is not None else ""
        )
        self.optimism.setText(optimism_sentence(evidence))
        self._show_view()
        self._show_n_permutations(tests)

    def show_steps(self, can_test: bool) -> None:
        """Show the plots of the steps if ``can_test``, otherwise only the view of the whole path."""
        self._shows_steps = can_test or self._path is None
        self.set_title(tr("Where to stop") if self._shows_steps else self._path_title)
        self.view.setVisible(self._shows_steps)
        self._show_view()

    def show_path(self) -> None:
        """Show the view of the whole path, if there is one."""
        self.view.select(PATH)
        self._show_view()

    def clear(self) -> None:
        """Show empty plots, each with a sentence on what will appear there."""
        self.p_plot.placeholder = _EMPTY_STEPS_TEXT
        self.curve.placeholder = _EMPTY_CURVE_TEXT
        self.p_plot.set_curves(())
        self.curve.set_curves(())
        self.advice.setText("")
        self.optimism.setText("")
        self._show_n_permutations(None)
        self._show_view()

    def _show_n_permutations(self, tests: StepSignificance | None) -> None:
        """Show in the title of the plot from how many permutations the p values follow."""
        n = 0 if tests is None else tests.permuted.shape[0]
        title = (
            tr("p of each step, {n} permutations").format(n=n)
            if n
            else tr("p of each step")
        )
        self.p_plot.set_axes(replace(self.p_plot.axes, title=title))

    def _selected_at(self, _: int, step: int) -> int:
        """Return the id of the feature that a step selects.

        ``step`` is counted as in the plot. The id is 0 for steps beyond
        the selection.
        """
        return self._path_ids[step - 1] if 0 < step <= len(self._path_ids) else 0

    def _show_view(self) -> None:
        """Show the widgets of the chosen view: p values, left-out curve, or the whole path."""
        view = self.view.value() if self._shows_steps else PATH
        self.p_plot.setVisible(view == P)
        self.curve.setVisible(view == CURVE)
        self._steps.setVisible(view != PATH)
        self.advice.setVisible(view == P and bool(self.advice.text()))
        self.optimism.setVisible(view == CURVE and bool(self.optimism.text()))
        if self._path is not None:
            self._path.setVisible(view == PATH)

        # added by the page
        figure_button = self.findChild(QToolButton, "figure-button")
        if figure_button is not None:
            # the view of the whole path has no plot to export
            figure_button.setVisible(view != PATH)


def optimism_sentence(evidence: SelectionEvidence) -> str:
    """Return the sentence on the share of the left-out gain that is lost with repeated selection.

    Repeated selection leaves each query out of the selection, too. The
    sentence is "" until all queries are done.
    """
    repeated = evidence.repeated
    if repeated is None or repeated.repeated.shape[0] < evidence.n_queries:
        return ""
    index = min(evidence.k, repeated.usual.shape[1]) - 1  # the path may be shorter

    # `no_gain` is a sentence if the features gain nothing, otherwise "".
    return repeated.no_gain(index + 1) or tr(
        "With the whole selection repeated without each query, {share} % of the left-out gain at k = {k} "
        "is lost."
    ).format(share=f"{100 * repeated.optimism[index]:.1f}", k=index + 1)
