"""The Select page: the form, the curves of the selection as it grows, and the strip of runs at its foot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf, hide_where_empty
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.select.method_controller import FoldHint, MethodController
from rankstudio.ui.select.run_commands import MemoryForecast, RunCommands
from rankstudio.ui.select.run_controller import RunController
from rankstudio.ui.select.run_strip import NO_RUN, RunStrip
from rankstudio.ui.select.slider_controller import SliderController
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notice, Panel
from rankstudio.ui.widgets.layout import fill

_MIN_RIGHT_WIDTH = 300  # pixels; in narrower panels, names of features cannot be read


class SelectPage(RunController):
    """The controller of the Select page: form, curves and strip of runs, and their links to other pages.

    Attributes
    ----------
    method : MethodController
        Controller of the form.
    fold_hint : FoldHint
        Hint on missing parts of the data, also shown on the Compare page.
    strip : RunStrip
        Line of runs.
    forecast : MemoryForecast
        Estimate of the memory that a run needs.
    control : RunCommands
        Commands Run, Pause, Step and Stop.
    """

    places: ClassVar[Mapping[str, str]] = {
        "method-form": "window.md#forms",
        "curves-panel": "choose-k.md#read-the-curves",
        "heat-view": "choose-k.md#read-the-curves",
        "candidates-view": "understand-a-feature.md#candidates",
    }

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self._models = models
        session = models.session
        runs = models.runs

        # The form of the method, and the strip of runs with the memory
        # forecast at the foot of the page.
        self.method = MethodController(theme, session, self)
        self.strip = RunStrip()
        self.forecast = MemoryForecast(models, self)
        self.foot = QWidget()
        fill(
            QVBoxLayout(self.foot),
            self.forecast.label,
            self.strip,
            margins=(0, 0, 0, 0),
            spacing=4,
        )

        # Selecting a run in the strip shows the run.
        self.strip.selected.connect(
            lambda key: look_at(session, runs, runs.record(key))
        )
        self.strip.follow_button.clicked.connect(self.follow)
        self.followingChanged.connect(
            lambda: self.strip.follow_button.setChecked(self.following)
        )

        # The strip is drawn again when anything changes that it shows;
        # `absence` has its text without a run.
        for signal in (
            session.measureChanged,
            runs.shownChanged,
            models.measured.changed,
            models.absence.changed,
        ):
            signal.connect(self.show_runs)

        # The buttons of the strip lead to the pages that answer the
        # next questions. The last one also opens the dialog of a
        # comparison, by a command (below).
        page_of_button = {
            self.strip.why_button: "features",
            self.strip.sure_button: "evidence",
            self.strip.all_runs_button: "compare",
            self.strip.other_method_button: "compare",
        }

        # The commands that start, stop and continue runs.
        self.control = RunCommands(models, self, self.method.form, self.forecast, self)
        self.control.resumeAsked.connect(self.goOnAsked)
        self.control.failed.connect(self.failed)
        self.control.said.connect(self.said)
        self.strip.shown.connect(self.progressShown)
        self.followingChanged.connect(self.stateChanged)
        models.preparing.connect(self.show_preparation)
        session.methodsAdded.connect(self.method.form.offer_methods)
        session.protocolRefused.connect(self.method.form.refuse_protocol)
        for button, page in page_of_button.items():
            button.clicked.connect(lambda _=False, page=page: self.pageAsked.emit(page))
        self.strip.other_method_button.clicked.connect(
            lambda: self.commandAsked.emit("comparison")
        )

    def join(self, pages: OtherPages) -> None:
        """Connect the page with other pages, once all controllers exist; some pages may be missing.

        ``pages`` finds the controller of a page by its key, or returns None.
        """
        # The slider of the curves. Its controller lives as long as its
        # parent, this object.
        SliderController(
            self._models.session, self._models.current, self.curves.slider, self
        )

        # Hints about missing parts are shown where their measures would be.
        compare = pages.find("compare")
        features = pages.find("features")
        evidence = pages.find("evidence")
        test_hints: Sequence[Notice] = ()
        if compare is not None:
            test_hints = compare.views.tests.hint, compare.views.folds.hint
        hints_of_parts = {"validation": (self.curves.hint,), "test": test_hints}
        self.fold_hint = FoldHint(self._models.session, hints_of_parts, self)
        self.fold_hint.asked.connect(lambda: self.pageAsked.emit("select"))
        self.fold_hint.asked.connect(self.method.form.offer_folds)

        # The page of features, if there is one, shows selections as
        # they grow and the candidates of a step.
        if features is not None:
            self.grown.connect(features.show_growing)
            features.inspector.add_candidates(self.candidates)
            self.compared.connect(features.inspector.offer_candidates)

        # Questions are offered only if the pages that answer them are
        # there. `can_judge` returns whether a run can have evidence.
        self.strip.tells_why = features is not None
        if evidence is not None:
            self.strip.tells_how_sure = evidence.can_judge

    def lay_out(self, panels_of: PanelsOf) -> Splitter:
        """Return the content of the page: the form, the curves, and a column of other parts' panels.

        ``panels_of`` returns the panels for a place, such as "right".
        The column is hidden while all of its panels are.
        """
        right = column("right", *panels_of("right"))
        right.setMinimumWidth(_MIN_RIGHT_WIDTH)
        self._models.current.changed.connect(lambda: hide_where_empty(right))
        if not right.count():
            right.hide()
        form = self.method.form

        # Each part with its share of additional width, and its first width in pixels.
        return row(
            "columns",
            (form, 0, form.wished_width),
            (self.curves, 5, 634),
            (right, 1, 400),
        )

    def choosing(self) -> Sequence[tuple[Panel, Callable[[], bool]]]:  # noqa: D102 - inherited
        return ((self.curves, lambda: True),)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the functions of the menu commands of this page, by their keys."""
        return {
            "left_out": self._models.left_out.toggle,
            "follow": lambda: self.follow(not self.following),
            "run": self.control.run,
            "pause": self.control.toggle_pause,
            "step": self.control.step,
            "stop": self.control.stop,
        }

    def command_names(self) -> Mapping[str, str]:  # noqa: D102 - inherited
        return {"run": self.control.label}

    def checked_commands(self) -> Mapping[str, bool]:  # noqa: D102 - inherited
        return {"follow": self.following}

    def palette_entries(self) -> Iterator[PaletteEntry]:
        """Yield an entry for each visible field of the form, which goes to it, and for each method.

        The entry of a method puts it into the plan.
        """
        form = self.method.form
        plan = self._models.session.plan
        names = ["method", *plan.parameters, "protocol"]
        # A ranking from a file, which learns nothing, has no choice of the model.
        names += [] if plan.entry.learns_nothing else ["select_by", "rule"]
        names += ["ranked_by"] if plan.entry.selects else []
        for name in names:
            yield PaletteEntry(
                tr("setting"), form.field(name).label.text(), partial(self._go_to, name)
            )
        for entry in methods():
            if not entry.lacking:  # unless software for it is missing
                action = partial(self._use, entry.key, entry.label)
                yield PaletteEntry(
                    tr("method"), entry.label, action, entry.description.citation
                )

    def _go_to(self, name: str) -> None:
        self.pageAsked.emit("select")
        self.method.form.go_to(name)

    def _use(self, key: str, label: str) -> None:
        """Put a method with its default parameters into the plan, and show the Select page."""
        self._models.session.change(
            tr("the method {label}").format(label=label),
            method=key,
            parameters={},
        )
        self.pageAsked.emit("select")

    @Slot()
    def show_runs(self) -> None:
        """Show the progress of the runs in the strip, the shown run by the measures in use."""
        # `measured.view` returns a run by the measures in use. The
        # strip can unseal the test part of the open data only.
        runs = self._models.runs
        session = self._models.session
        self.strip.show_runs(
            runs.records,
            runs.shown,
            self._models.measured.view,
            dataset=session.dataset,
            sealed=lambda record: record.dataset is session.dataset and session.sealed,
            placeholder=self._models.absence.text_without_results(NO_RUN),
        )
