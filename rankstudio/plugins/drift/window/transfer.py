"""Tests in the window whether the selection of a run in another study holds on the open data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QInputDialog

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.methods.catalog import Kind
from rankstudio.engine.support.user_folders import data_folder
from rankstudio.ui.compare.pipelines import Pipelines, usual
from rankstudio.ui.language import tr
from rankstudio.ui.select.given_runs import GivenController

_FIELDS_OF_OPEN_PLAN = (
    "data",
    "missing",
    "normalize",
    "protocol",
    "columns",
    "measures",
    "folds",
)
"""Fields that the plan of the other run takes from the plan of the form."""


class TransferController(GivenController):
    """Compares two selections on the open data.

    One is the model of a run on other data, the other a run of the same
    method on the open data.
    """

    @property
    def possible(self) -> bool:
        """Whether the selection of another run can be tested on the open data.

        The documents must be open, and read as the plan says.
        """
        session = self._models.session
        return session.has_documents and session.data_match_plan

    @Slot()
    def ask(self) -> None:
        """Ask for a study and one of its runs, and test the selection of the run on the open data.

        The runs are read in the background; nothing happens if the user
        cancels.
        """
        title = tr("Study with the selection to test")
        kinds = ";;".join((tr("Studies (*.rankstudio)"), tr("All files (*)")))
        study = self._models.study_store.path
        folder = study.parent if study is not None else self.folder
        path, _ = QFileDialog.getOpenFileName(self._window, title, str(folder), kinds)
        if path:
            self._models.task_worker.task(
                tr("Reading {name}").format(name=Path(path).name),
                _finished_runs,
                Path(path),
                on_done=partial(self._choose, Path(path)),
                on_error=self.failed.emit,
            )

    def _choose(self, path: Path, runs: Mapping[str, int]) -> None:
        """Ask for one of several runs of a study, and test its selection; a single run is not asked for.

        ``runs`` has the numbers of the runs by texts for the user.
        """
        if not runs:
            self.failed.emit(
                tr("{path}: the study has no finished run with a model.").format(
                    path=path
                )
            )
            return

        # The first run, unless the user chooses another one.
        chosen = next(iter(runs))
        is_accepted = True
        if len(runs) > 1:
            title = tr("Test a selection here")
            label = tr("&Run with the selection")
            chosen, is_accepted = QInputDialog.getItem(
                self._window, title, label, list(runs), 0, editable=False
            )
        if is_accepted:
            self.start(path, runs[chosen])

    def start(self, path: Path, number: int) -> None:
        """Measure the model of a run on the open data; ``path`` is its study, ``number`` its number there.

        The plan of the run is carried out on these data, too, if this
        was not done before. The Compare page then compares the two.
        """
        session = self._models.session
        runs = self._models.runs
        marks = self._models.marks
        dataset = session.dataset
        if dataset is None or not session.has_documents:
            self.failed.emit(tr("Open the data first."))
            return

        def run(plans: tuple[Plan, Plan, str]) -> None:
            """Start the runs of both plans, and compare them on the Compare page.

            ``plans`` are the plan that measures the model, that of the
            same method, and a note for the user. Uses `session`,
            `runs`, `marks` and `dataset` of the method.
            """
            given_plan, plan, note = plans

            # Other data may have been opened while the study was read.
            if dataset is not session.dataset:
                return

            # A run of the same plan on the open data is not repeated if
            # it exists: then the row of the plan in the table of
            # pipelines has the run's number. {} are comparisons from
            # files, of which none is used.
            row = Pipelines(session, runs, {}).rows([plan], [plan.data])[0]
            given_record = runs.start(given_plan, dataset, is_shown=False)
            existing_key = row.run if row.is_started else None
            own_record = (
                runs.record(existing_key)
                if existing_key is not None
                else runs.start(plan, dataset)
            )

            # Compare exactly these two runs: the own one is the
            # reference, and the ticks of all other runs are removed.
            marks.refer_to(own_record.key)
            for record in runs.records:
                marks.tick(record.key, record in (own_record, given_record))
            if note:
                self.warned.emit(note)
            self.pageAsked.emit("compare")

        # The study is read in the background.
        self._models.task_worker.task(
            tr("Testing the selection of {name}").format(name=path.name),
            partial(_transfer_plans, path, number, session.plan, dataset),
            on_done=run,
            on_error=self.failed.emit,
        )


def _finished_runs(path: Path) -> dict[str, int]:
    """Return the numbers of the finished runs of a study that have a model, by texts for the user."""
    from rankstudio.engine.experiment.storage.study import Study  # noqa: PLC0415 - numba

    with Study.open(path, reading=True) as study:
        runs = [
            run
            for run in study.runs()
            # runs of the user's own scores or models learn nothing
            if run.finished and not run.damage and not run.key.plan.entry.learns_nothing
        ]
    return {
        f"{run.key.id} · {run.key.plan.title} · {run.data_name}": run.key.id
        for run in runs
    }


def _transfer_plans(
    path: Path, number: int, open_plan: Plan, dataset: FoldedDataset
) -> tuple[Plan, Plan, str]:
    """Return a plan that measures a run's model on the open data, a plan of its method, and a note.

    ``path`` is that of the run's study, and ``number`` the run's number
    there; ``open_plan`` is the plan of the open data. The model is
    saved in the user's folder, where its run reads it. The note says
    how many measured queries the model was trained on; "" for data of
    the same name.
    """
    from rankstudio.engine.experiment.storage.study import Study  # noqa: PLC0415 - numba
    from rankstudio.engine.experiment.stored_run import run_with_data  # noqa: PLC0415 - numba
    from rankstudio.engine.experiment.units.given_fold import seen_sentence  # noqa: PLC0415 - numba
    from rankstudio.plugins.drift.transfer import saved_model_plan  # noqa: PLC0415 - numba

    with Study.open(path, reading=True) as study:
        key = next(run.key for run in study.runs() if run.key.id == number)
        result, _, data = run_with_data(study, key)
    own_plan = _plan_on_open_data(result.plan, open_plan, dataset)
    model_path = data_folder() / "models" / f"{path.stem}-{number}.json"
    model_path.parent.mkdir(parents=True, exist_ok=True)
    given_plan, counts = saved_model_plan(result, data, own_plan, dataset, model_path)

    # For data of the same name, the run itself notes the seen queries.
    note = "" if data.name == dataset.name else seen_sentence(given_plan.title, counts)
    return given_plan, own_plan, note


def _plan_on_open_data(plan: Plan, open_plan: Plan, dataset: FoldedDataset) -> Plan:
    """Return ``plan``, the plan of a run on other data, changed for the open data.

    ``plan`` is that of the run, and ``dataset`` are the open data,
    whose plan is ``open_plan``. How the open data are read, divided and
    measured is as in ``open_plan``. Features of the other data, such as
    pinned ones and groups, are removed from the plan.
    """
    # Parameters that are features of the other data have no meaning here.
    kept_names = {p.name for p in plan.entry.parameters if p.kind is not Kind.FEATURES}
    parameters = {
        name: value for name, value in plan.parameters.items() if name in kept_names
    }

    # With the protocol GIVEN, the files themselves say how the open
    # data are divided, without a seed: the run keeps its own. Otherwise
    # the seed divides the data, so that it has to be that of the open
    # data.
    seed = plan.seed if open_plan.protocol == GIVEN else open_plan.seed
    settings = {name: getattr(open_plan, name) for name in _FIELDS_OF_OPEN_PLAN} | {
        "parameters": parameters,
        "seed": seed,
    }
    moved_plan = plan.changed(**settings, groups={}, preferences={})

    # `usual` sets the dataset's own convention of measures. The user
    # may have chosen another one for the open data, which replaces it.
    # Without validation data, `usual` also makes the method's criterion
    # select models.
    return usual(moved_plan, dataset).changed(convention=open_plan.convention)
