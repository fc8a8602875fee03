"""The commands Run, Pause, Step and Stop, and the forecast of the next run's memory on large data."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.memory_estimate import (
    ALONE,
    MemoryEstimate,
    WorkersHere,
    memory_estimate,
)
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.execution import PROCESSES
from rankstudio.ui.model.run_queue import leave
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.select.run_controller import RunController
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import named, set_role


class MemoryForecast(QObject):
    """Shows above the strip of runs how much memory a run of the present plan needs, for large data.

    The estimate is made on a worker, as it needs the engine. Nothing is
    shown for data that fit into one shard.

    Parameters
    ----------
    models : Models
        Determines the plan, the data, the execution backend and the memory limit.
    """

    changed = Signal()

    def __init__(self, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session = models.session
        worker = models.task_worker
        backend = models.backend
        budget = models.memory_budget
        self._session = session
        self._backend = backend
        self._budget = budget

        # The last estimate, with the plan and data that it is for.
        self._estimate: tuple[Plan, FoldedDataset, MemoryEstimate] | None = None

        # The label is hidden until there is something to say.
        self.label = named(
            PlainLabel(wraps=True),
            "memory-forecast",
            tr("memory of the next run"),
            role="muted",
        )
        self.label.setContentsMargins(8, 0, 8, 0)
        self.label.hide()

        # The memory is estimated again if the value of `_key` has
        # changed after one of the signals `on`: other data, another
        # plan, or other limits. Of waiting jobs of one slot, only the
        # last is carried out. `clear` is called if there is nothing to
        # estimate.
        self._estimate_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._key,
            compute=self._compute,
            failed=lambda _: self._show(None),
            slot="memory estimate",
            on=(
                session.datasetChanged,
                session.planChanged,
                backend.changed,
                budget.changed,
            ),
            clear=partial(self._show, None),
        )

    @property
    def refusal(self) -> str:
        """Why the session's plan cannot be run, as a sentence; "" if it can, or without an estimate."""
        if self._estimate is None:
            return ""
        plan, dataset, memory = self._estimate
        is_current = plan == self._session.plan and dataset is self._session.dataset
        return memory.refusal if is_current and not memory.runs else ""

    @property
    def _n_processes(self) -> int:
        return self._backend.n_processes if self._backend.choice == PROCESSES else 0

    def _key(self) -> Key | None:
        """Return all that the estimate depends on; None if there is nothing to estimate.

        Small data need no estimate, and folds that are still to be made have none yet.
        """
        plan = self._session.plan
        dataset = self._session.dataset
        if dataset is None or not self._session.has_documents:
            return None
        if not _is_large(dataset) or not _has_folds_of_plan(plan, dataset):
            return None
        # with the number of worker processes, and the limit of memory in force
        return plan, dataset, self._n_processes, self._budget.asked

    def _compute(self) -> Computation | None:
        """Return the computation of the estimate, which shows its result; None without data."""
        plan = self._session.plan
        dataset = self._session.dataset
        if dataset is None:
            return None

        def show(estimate: MemoryEstimate) -> None:
            """Show the estimate, with `plan` and `dataset` of the method, which it is for."""
            self._show((plan, dataset, estimate))

        return computation(
            tr("Estimating memory"),
            show,
            _memory_estimate_of_plan,
            plan,
            dataset,
            self._n_processes,
        )

    def _show(
        self, estimate: tuple[Plan, FoldedDataset, MemoryEstimate] | None
    ) -> None:
        """Show the sentence of an estimate, in red if the memory is too small; None hides it.

        ``estimate`` comes with the plan and the data for which it was made.
        """
        self._estimate = estimate
        memory = None
        if estimate is not None:
            _, _, memory = estimate
        self.label.setText(memory.sentence if memory is not None else "")
        # `runs` says whether the memory is enough for a run.
        set_role(self.label, "muted" if memory is None or memory.runs else "error")
        self.label.setVisible(memory is not None)
        self.changed.emit()


def _is_large(dataset: FoldedDataset) -> bool:
    """Return whether data are read from disk, or have a training part of more than one shard."""
    return dataset.from_disk or any(
        fold.train.n_documents > DOCUMENTS for fold in dataset.folds
    )


def _has_folds_of_plan(plan: Plan, dataset: FoldedDataset) -> bool:
    """Return whether data are divided into the folds that a plan asks for."""
    return dataset.divided_by == parse_protocol(plan.protocol).divided_by(plan.seed)


def _memory_estimate_of_plan(
    plan: Plan, dataset: FoldedDataset, n_processes: int
) -> MemoryEstimate:
    """Estimate the memory of a plan on its folds; ``n_processes`` is 0 for a run in this process."""
    folds = [
        fold for fold in dataset.folds if not plan.folds or fold.number in plan.folds
    ]
    workers = WorkersHere(n_processes, share_shards=True) if n_processes else ALONE
    return memory_estimate(plan, folds, workers)


class RunCommands(Controller):
    """Carries out the commands Run, Pause, Step and Stop, depending on the state of the runs.

    Parameters
    ----------
    models : Models
    controller : RunController
        Tells whether the run that works is followed.
    form : MethodForm
        Text that is still being typed in the form is taken before a run.
    forecast : MemoryForecast
        Refuses a run that does not fit into the memory.
    """

    resumeAsked = Signal(object)
    """The shown run is unfinished and has the present plan, so it is to go on (RunRecord)."""

    def __init__(
        self,
        models: Models,
        controller: RunController,
        form: MethodForm,
        forecast: MemoryForecast,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = models.session
        self._runs = models.runs
        self._loader = models.loader
        self._controller = controller
        self._form = form
        self._forecast = forecast
        self._runs.began.connect(self._show)

    @property
    def label(self) -> str:
        """Text of the Run button for its present action, with the mnemonic of the menu entry."""
        session = self._session
        unfinished_run = self._resumable_run
        n_folds = len(session.dataset.folds) if session.dataset is not None else 0

        # Numbers of the folds to run; empty for all folds.
        fold_numbers = session.plan.folds
        if unfinished_run is not None:
            return tr("&Resume at {done} of {n} fits").format(
                done=unfinished_run.units_done, n=unfinished_run.n_units
            )
        if len(fold_numbers) == 1 and n_folds > 1:
            return tr("&Run fold {fold}").format(fold=fold_numbers[0])
        n = len(fold_numbers) or n_folds
        return (
            trn("&Run {n} fold", "&Run {n} folds", n).format(n=n)
            if n > 1
            else tr("&Run")
        )

    @property
    def _resumable_run(self) -> RunRecord | None:
        """The shown run, if it was stopped or interrupted and has the present plan; else None."""
        record = self._runs.shown
        session = self._session
        if record is None or record.state not in (
            RunState.CANCELLED,
            RunState.UNFINISHED,
        ):
            return None
        # A run that was stopped before it announced its fits has `n_units` 0.
        if not record.can_go_on or not record.n_units:
            return None
        return (
            record
            if (record.dataset, record.plan) == (session.dataset, session.plan)
            else None
        )

    @Slot()
    def run(self) -> None:
        """Queue a run of the plan, or go on with the shown run if it is unfinished and has this plan."""
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
        """Do one step of the paused run; if no run works or waits, start a paused run first."""
        if not self._runs.busy:
            self._start(paused=True)
        self._runs.step()

    @Slot()
    def stop(self) -> None:
        """Stop the loading of data or, if no data are being loaded, the run."""
        if self._loader.busy:
            self._loader.cancel()
        else:
            self._runs.stop()

    @Slot(object)
    def _show(self, record: RunRecord) -> None:
        """Show a run that has begun, if the user follows the run that works and has not opened other data.

        A run in the background, which the user does not want to follow,
        is not shown.
        """
        if not self._controller.following or record.background:
            return
        if record.dataset is self._session.dataset and record is not self._runs.shown:
            # `leave` stores the choice of a model with the run that was
            # shown before; it does not apply to this one.
            leave(self._session, self._runs)
            self._session.select(None, None)
            self._runs.show(record)

    def _start(self, *, paused: bool) -> None:
        """Start a run of the form's plan, or resume the interrupted run of the same plan.

        With ``paused``, the run is a new one, and begins paused, to be
        watched step by step.
        """
        # The form must be valid, and the data divided as the plan says.
        dataset = self._session.dataset
        if (
            dataset is None
            or not self._form.commit()
            or not self._session.data_match_plan
        ):
            return

        # No run starts without enough memory, or while one of the same
        # plan can be resumed, waits or works.
        if self._forecast.refusal:
            self.failed.emit(self._forecast.refusal)
            return
        plan = self._session.plan
        if self._resumable_run is not None and not paused:
            self.resumeAsked.emit(self._resumable_run)
            return
        for record in self._runs.records:
            if (
                record.plan.agrees(plan)
                and record.dataset is dataset
                and not record.state.ended
            ):
                text = tr("Run {key} with the same settings is not finished.")
                self.said.emit(text.format(key=record.key))
                return

        # If no run works, the new one is shown at once. `leave` stores
        # the choice of model of the run before; the new run begins with
        # the model that validation selects, for which the chosen values
        # and the chosen k are None.
        if self._runs.current is None:
            leave(self._session, self._runs)
            self._session.select(None, None)
        self._runs.start(self._session.plan, dataset, paused=paused)
