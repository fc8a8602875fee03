"""The buttons of a run: run, pause, step, stop."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.background.loader import Loader
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import Session
from rankstudio.ui.run.controller import RunPlace


class RunControl(QObject):
    """Says what each button does in each state.

    Parameters
    ----------
    study, runs, loader
    place : RunPlace
        Follows a run from fold to fold.
    form : MethodForm
        What is still being typed there belongs to the plan that is run.
    """

    def __init__(
        self,
        study: Session,
        runs: Runs,
        loader: Loader,
        place: RunPlace,
        form: MethodForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._study, self._runs, self._loader = study, runs, loader
        self._place, self._form = place, form
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
        if record.dataset is self._study.dataset:
            self._runs.show(record)

    def _start(self, *, paused: bool) -> None:
        dataset = self._study.dataset
        if dataset is None or not self._form.commit() or not self._study.read_as_planned:
            return
        self._study.choose(None, None)
        self._place.follow(self._study.fold is not None)
        self._runs.start(self._study.plan, dataset, paused=paused)
