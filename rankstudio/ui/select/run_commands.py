"""The buttons of a run: run, pause, step, stop."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.select.memory_forecast import MemoryForecast
from rankstudio.ui.select.run_controller import RunController


class RunCommands(Controller):
    """Says what each button does in each state.

    Parameters
    ----------
    models : Models
    controller : RunController
        Follows a run from fold to fold.
    form : MethodForm
        What is still being typed there belongs to the plan that is run.
    forecast : MemoryForecast
        Knows what there is not enough memory for.
    """

    def __init__(
        self,
        models: Models,
        controller: RunController,
        form: MethodForm,
        forecast: MemoryForecast,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._loader = models.session, models.runs, models.loader
        self._controller, self._form, self._forecast = controller, form, forecast
        self._runs.began.connect(self._show)

    @Slot()
    def run(self) -> None:
        """Run the plan, behind the runs that are there."""
        self._start(paused=False)

    @Slot()
    def toggle_pause(self) -> None:
        """Pause or resume the run."""
        current = self._runs.current
        if current is not None and current.state is RunState.PAUSED:
            self._runs.resume()
        else:
            self._runs.pause()

    @Slot()
    def step(self) -> None:
        """Do one step of the paused run; start a paused one where none works or waits."""
        if not self._runs.busy:
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
        if record.dataset is self._session.dataset and record is not self._runs.shown:
            self._session.select(None, None)  # what was chosen is a model of the run before
            self._runs.show(record)

    def _start(self, *, paused: bool) -> None:
        dataset = self._session.dataset
        if dataset is None or not self._form.commit() or not self._session.read_as_planned:
            return
        if self._forecast.refusal:
            self.failed.emit(self._forecast.refusal)
            return
        plan = self._session.plan
        for record in self._runs.records:
            if record.plan == plan and record.dataset is dataset and not record.state.ended:
                text = tr("Run {key} with the same settings is not finished.")
                self.said.emit(text.format(key=record.key))
                return
        self._session.select(None, None)
        self._controller.follow(self._session.fold is not None)
        self._runs.start(self._session.plan, dataset, paused=paused)
