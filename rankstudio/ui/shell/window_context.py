"""The access of a plug-in's page or panel to the window."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar, TypeVarTuple

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.analysis.measurements.measurement import sealed_data
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.steps import Step
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.theme import Theme

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_SETTLED_MILLISECONDS = 30  # one change often emits several signals


class Host(Protocol):
    """The panel around the widget of a plug-in."""

    def isVisible(self) -> bool:
        """Return whether the panel is visible."""
        ...

    def attempt(self, call: Callable[[], object]) -> None:
        """Call a function of the plug-in, or show its error."""
        ...

    def show_problem(self, error: BaseException) -> None:
        """Show an error instead of the widget."""
        ...


class WindowContext(QObject):
    """The window as a page or panel of a plug-in sees it: the data, the run and the model shown there.

    While the test part is sealed, neither `data` nor the results have one.

    Parameters
    ----------
    models : Models
        State that all pages share: data, plan and runs.
    theme : Theme
        Colours and fonts of the window.
    host : Host
        Panel around the widget of the plug-in.
    parent : QObject
        Owner of this object, which is deleted with its owner.

    Examples
    --------
    A function named by ``WindowPage.build`` makes the widget:

    >>> from PySide6.QtWidgets import QPlainTextEdit
    >>> def build(context):
    ...     text = QPlainTextEdit()
    ...     def update():
    ...         text.setPlainText("" if context.run is None else str(context.run.average))
    ...     context.on_change(update)
    ...     return text
    """

    def __init__(
        self, models: Models, theme: Theme, host: Host, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._theme = theme
        self._host = host  # the panel around the widget of the plug-in
        self._callbacks: list[Callable[[], object]] = []

        # Whether something changed while the widget was hidden.
        self._missed_changes = False
        self._background = Background(self)

        # The callbacks are called once after several changes in a short time.
        self._timer = single_shot(_SETTLED_MILLISECONDS, self._call_listeners, self)
        session = models.session
        runs = models.runs
        for signal in (
            session.datasetChanged,
            session.foldChanged,
            session.measureChanged,
            session.sealChanged,
            runs.shownChanged,
            runs.ended,
            runs.removed,
            models.current.changed,
            models.current.inspected,
            models.measured.changed,
            theme.changed,
        ):
            signal.connect(self._call_listeners_soon)

    @property
    def data(self) -> FoldedDataset | None:
        """Data that are open, without the test part while that is sealed; None if none are."""
        data = self._models.session.dataset
        if data is None or not self._models.session.sealed:
            return data
        return sealed_data(data)

    @property
    def fold(self) -> int | None:
        """Number of the shown fold; None for all folds."""
        return self._models.session.fold

    @property
    def plan(self) -> Plan:
        """Plan of the shown run; without a run, of the form."""
        return self._models.current.shown.plan

    @property
    def run(self) -> RunResult | None:
        """Result of the shown run as it is measured now; None if there is none."""
        record = self._models.current.shown.record
        return None if record is None else self._models.measured.view(record).result

    @property
    def runs(self) -> Mapping[int, RunResult]:
        """Results of all finished runs of the open data, by the number of the run."""
        # A run that is not finished has no result.
        records = self._models.runs.records
        on_data = [
            record
            for record in records
            if record.dataset is self._models.session.dataset
        ]

        # `view` returns the run with the measures in use, without those
        # on a sealed test part.
        results = {
            record.key: self._models.measured.view(record).result for record in on_data
        }
        return {key: result for key, result in results.items() if result is not None}

    @property
    def step(self) -> Step | None:
        """Shown model of the shown fold; None if there is none."""
        model = self._models.current.shown.inspected
        return None if model is None else model.step

    @property
    def measure(self) -> str:
        """Name of the measure that the window shows."""
        return self._models.session.measure

    @property
    def sealed(self) -> bool:
        """Whether the test part of the open data is sealed."""
        return self._models.session.sealed

    @property
    def dark(self) -> bool:
        """Whether the window is dark."""
        return self._theme.dark

    @property
    def colors(self) -> Mapping[str, str]:
        """Colours of the window by use: "text", "muted", "accent", "panel" and "line", as "#rrggbb"."""
        uses = ("text", "muted", "accent", "panel", "line")
        return {use: self._theme.colors.q(use).name() for use in uses}

    def on_change(self, callback: Callable[[], object]) -> None:
        """Call a function now, and whenever something that the window shows has changed.

        The function is called only while the plug-in's widget can be
        seen, once for several changes at a time. An error is shown in
        the place of the widget.

        Parameters
        ----------
        callback : callable
            Function without arguments.
        """
        self._callbacks.append(callback)
        self._host.attempt(callback)

    def compute(
        self,
        function: Callable[[*Arguments], Result],
        *arguments: *Arguments,
        show: Callable[[Result], object],
    ) -> None:
        """Call a function on a thread of its own, and show its result.

        Parameters
        ----------
        function : callable
            Function that touches no widget.
        *arguments
            Arguments of the function.
        show : callable
            Called on the window's thread with the result. Results of
            earlier calls that arrive later are dropped.
        """
        self._background.compute(
            partial(function, *arguments),
            lambda result: self._host.attempt(partial(show, result)),
            self._fail,
        )

    @Slot()
    def _call_listeners_soon(self) -> None:
        """Call the plug-in's callbacks once no change has come for a short time."""
        self._timer.start()

    @Slot()
    def _call_listeners(self) -> None:
        """Call the functions that the plug-in registered for changes.

        While the widget is hidden, only note that the functions have
        missed changes.
        """
        self._missed_changes = not self._host.isVisible()
        if self._missed_changes:
            return
        for callback in self._callbacks:
            self._host.attempt(callback)

    @Slot()
    def catch_up(self) -> None:
        """Call the listeners if they have missed changes while the widget was hidden."""
        if self._missed_changes:
            self._call_listeners()

    def _fail(self, error: BaseException) -> None:
        """Show an error of the plug-in's function instead of its widget."""
        self._host.show_problem(error)


class Background(QObject):
    """Calls functions of plug-ins on daemon threads.

    When the window closes, it waits for its workers, but not for these
    threads, as a function of a plug-in may never return.
    """

    _arrived = Signal(int, object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._latest = 0  # number of the latest call
        self._show: Callable[[Any], object] = str  # without effect until the first call
        self._fail: Callable[[BaseException], object] = str
        self._arrived.connect(self._deliver)

    def compute(
        self,
        function: Callable[[], Any],
        show: Callable[[Any], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        """Call a function on a thread; then pass its result to ``show``, or its error to ``fail``.

        ``show`` and ``fail`` are called on the window's thread. A later
        call of `compute` replaces this one, whose result is then
        dropped.
        """
        self._latest += 1
        self._show = show
        self._fail = fail
        thread = threading.Thread(
            target=self._call, args=(self._latest, function), daemon=True
        )
        thread.start()

    def _call(self, number: int, function: Callable[[], Any]) -> None:
        """Call a function on the present thread, and emit its result or error with the number of the call.

        A signal, unlike a call, is handled on the window's thread.
        """
        result: Any = None
        problem: BaseException | None = None
        try:
            result = function()
        except (
            BaseException
        ) as error:  # a function of a plug-in may raise anything, SystemExit included
            problem = error
        try:
            self._arrived.emit(number, result, problem)
        except RuntimeError:  # the window is closed
            return

    @Slot(int, object, object)
    def _deliver(self, number: int, result: Any, problem: BaseException | None) -> None:
        """Pass on the result or the error of the latest call; ignore those of earlier calls.

        ``number`` is that of the call; ``problem`` is the error, None
        for a result.
        """
        if number != self._latest:
            return
        if problem is not None:
            self._fail(problem)
        else:
            self._show(result)
