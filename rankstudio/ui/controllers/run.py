"""The buttons of a run: run, pause, step, stop."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.background.loader import Loader
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import Session
from rankstudio.ui.run.controller import RunController


class RunCommands(QObject):
    """Says what each button does in each state.

    Parameters
    ----------
    session, runs, loader
    controller : RunController
        Follows a run from fold to fold.
    form : MethodForm
        What is still being typed there belongs to the plan that is run.
    """

    def __init__(
        self,
        session: Session,
        runs: Runs,
        loader: Loader,
        controller: RunController,
        form: MethodForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._loader = session, runs, loader
        self._controller, self._form = controller, form
        runs.began.connect(self._show)

    @Slot()
    def run(self) -> None:
        """Run the plan, behind the runs that are there."""
        self._start(paused=False)

    @Slot()
    def toggle_pause(self) -> None:
        """Pause the run, or go on with it."""
        current = self._runs.current
        if current is not None and current.state is RunState.PAUSED:
            self._runs.resume()
        else:
            self._runs.pause()

    @Slot()
    def step(self) -> None:
        """Do one step of the paused run; start a paused one where there is none."""
        if self._runs.current is None:
            self._start(paused=True)
        self._runs.step()

    @Slot()
    def stop(self) -> None:
        """Stop loading, else the run."""
        if self._loader.busy:
            self._loader.cancel()
        else:
            self._runs.stop()

    @Slot(object)
    def _show(self, record: RunRecord) -> None:
        """Show a run whose turn has come, unless other data are open by now."""
        if record.dataset is self._session.dataset:
            self._runs.show(record)

    def _start(self, *, paused: bool) -> None:
        dataset = self._session.dataset
        if dataset is None or not self._form.commit() or not self._session.read_as_planned:
            return
        self._session.select(None, None)
        self._controller.follow(self._session.fold is not None)
        self._runs.start(self._session.plan, dataset, paused=paused)
