"""Runs a comparison: shows the dialog, opens data that are not open yet, and queues the runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.comparisons.batch import (
    Comparison,
    is_comparison,
    load_comparison,
)
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.support.files import is_there
from rankstudio.engine.support.resources import resource
from rankstudio.ui.background.worker import Ending, Outcome
from rankstudio.ui.compare.comparison_dialog import (
    ComparisonDialog,
    Offer,
    Offers,
    data_name,
)
from rankstudio.ui.compare.pipelines import OWN_MODEL, Pipelines, usual
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import reading
from rankstudio.ui.model.study_store import is_study
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme


class ComparisonRuns(Controller):
    """Asks which pipelines to compare, opens the data that are not open, and queues the missing runs.

    Parameters
    ----------
    models : Models
    settings : Settings
        Contains the paths of recently opened data.
    theme : Theme
    choose_data : callable
        Called with a widget, over which it asks the user for data.
        Returns the paths of the data, and why other chosen paths are no
        data.
    parent : QWidget
        Window over which the dialog opens.
    """

    composed = Signal()
    """The user has composed a comparison whose runs are all finished."""
    goOnAsked = Signal(object)
    """An interrupted run of the comparison is to be resumed (RunRecord)."""

    def __init__(
        self,
        models: Models,
        settings: Settings,
        theme: Theme,
        choose_data: Callable[[QWidget], tuple[Sequence[str], str]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        # Asks the user for data. It returns the chosen paths, and a
        # sentence on chosen paths that are no data, or "".
        self._choose_data = choose_data
        self._models = models
        self._settings = settings
        self._window = parent
        # Plans that wait until their data are open; those of a group
        # read the same data.
        self._waiting_groups: deque[tuple[Plan, ...]] = deque()
        models.loader.ended.connect(self._load_next)

    @property
    def waiting(self) -> tuple[Plan, ...]:
        """The plans whose data are not open yet."""
        return tuple(plan for group in self._waiting_groups for plan in group)

    @Slot()
    def ask(self) -> None:
        """Ask which pipelines to run, and run the chosen pipelines."""
        self.open("")

    @Slot()
    def ask_labels(self) -> None:
        """Ask which pipelines to run, with the labels of all judges ticked."""
        self.open("", every_label=True)

    @Slot(str)
    def open(self, path: str, *, every_label: bool = False) -> None:
        """Show the dialog with the comparison of a file selected, then tick and start the chosen runs.

        An empty path selects no file; `every_label` ticks the labels of
        all judges.
        """
        try:
            dialog = self.dialog(path, every_label=every_label)
        except PlanError as error:
            self.failed.emit(str(error))
            return
        if dialog.exec():
            # Runs of the list are compared, or not, as they are ticked there.
            for key, is_ticked in dialog.ticks().items():
                self._models.marks.tick(key, is_ticked)
            plans = dialog.plans()  # those that have to run
            if plans:
                self.start(plans)
            else:  # all runs exist: the window shows them on the Compare page
                self.composed.emit()
        dialog.deleteLater()

    def dialog(self, path: str = "", *, every_label: bool = False) -> ComparisonDialog:
        """Return the dialog, with the comparison of a file chosen; "" for none.

        ``path`` is the file. Comparisons that come with the program are
        offered after it. ``every_label`` ticks the label columns of all
        judges.

        Raises
        ------
        PlanError
            If the file is not the plan of a comparison.
        """
        bundled = [
            file
            for file in sorted(resource("plans").glob("*.toml"))
            if is_comparison(file)
        ]
        files = [file for file in bundled if str(file) != path]
        if path:
            files.insert(0, Path(path))
        comparisons = {str(file): load_comparison(file) for file in files}
        data = self._data(path, comparisons.get(path))
        labels = self._labels(every_label)
        offers = Offers(self._methods(), self._rankers(), data, labels)
        pipelines = Pipelines(self._models.session, self._models.runs, comparisons)
        dialog = ComparisonDialog(self._theme, offers, pipelines, path, self._window)
        dialog.dataAsked.connect(partial(self._ask_data, dialog))
        return dialog

    def _ask_data(self, dialog: ComparisonDialog) -> None:
        """Ask for data, and tick them in the dialog; they are opened when their runs begin."""
        paths, problem = self._choose_data(dialog)
        for path in paths:
            dialog.tick_data(_offer(path, is_known=True, is_chosen=True))
        if problem:
            dialog.show_problem(problem)

    def start(self, plans: Sequence[Plan]) -> None:
        """Run the plans, beginning with the plans on the open data."""
        session = self._models.session
        # Plans of a group have the same data, read and divided in the same way.
        groups: dict[tuple[object, ...], list[Plan]] = {}
        for plan in plans:
            groups.setdefault((plan.data, *reading(plan)), []).append(plan)
        # Runs on the open data are queued; other data are opened one after the other.
        for key, group in groups.items():
            dataset = session.dataset
            # `has_documents` is False if only the study's record of the data is open.
            if (
                dataset is not None
                and session.has_documents
                and key == self._key_of_open_data()
            ):
                self._queue(group, dataset)
            else:
                self._waiting_groups.append(tuple(group))
        self.said.emit(
            trn("{n} run is waiting", "{n} runs are waiting", len(plans)).format(
                n=len(plans)
            )
        )
        self._load_next()

    def _key_of_open_data(self) -> tuple[object, ...]:
        """Return the open data and how they are read, to compare them with those of a plan.

        Return () if the open data are no longer read as the form's plan
        says; no plan has the key ().
        """
        plan = self._models.session.plan
        return (
            (plan.data, *reading(plan)) if self._models.session.data_match_plan else ()
        )

    @Slot()
    def _load_next(self) -> None:
        """Open the data of the next group of plans, and then queue the group's runs.

        Do nothing while other data are being opened; their end calls
        this method again.
        """
        if not self._waiting_groups or self._models.loader.busy:
            return
        group = self._waiting_groups.popleft()

        def queue(dataset: FoldedDataset) -> None:
            """Queue the plans of one group on the dataset that has just been opened for them.

            The group is known to the enclosing method. An interrupted
            run of a study only has a record of its data. If ``dataset``
            has these data, the run gets the dataset and is resumed.
            """
            # `usual` takes over the convention of the data, and a
            # selection of models that is possible on them.
            plans = [usual(plan, dataset) for plan in group]
            pipelines = Pipelines(self._models.session, self._models.runs, {})
            interrupted_runs = [
                record
                for plan in plans
                if (record := pipelines.interrupted(plan)) is not None
            ]

            # Called with the interrupted runs that were computed on these data.
            def give_dataset(records: list[RunRecord]) -> None:
                self._models.runs.give_dataset(records, dataset)
                self._queue(plans, dataset)

            self._models.recognise(interrupted_runs, dataset, give_dataset)

        def end(outcome: Outcome) -> None:
            if outcome.ending is Ending.FAILED:
                self.failed.emit(outcome.text)

        # All plans of the group read the data in the same way, so the
        # first one tells how.
        self._models.loader.fetch(group[0].data, group[0], queue, end)

    def _queue(self, plans: Sequence[Plan], dataset: FoldedDataset) -> None:
        """Start the plans on a dataset, and resume interrupted runs of these plans."""
        session = self._models.session
        runs = self._models.runs
        pipelines = Pipelines(session, runs, {})  # {}: files are not needed here
        # A new run is shown only if no run is shown and its data are open.
        is_shown = dataset is session.dataset and runs.shown is None
        for plan in plans:
            run = pipelines.interrupted(plan)
            # An interrupted run can be resumed only on its own data.
            # One whose files have changed since has the same path, but
            # other data.
            if run is None or run.dataset is not dataset:
                runs.start(plan, dataset, is_shown=is_shown)
            elif dataset is session.dataset:  # so that the window shows it, too
                self.goOnAsked.emit(run)
            else:
                runs.go_on(run, is_shown=False)

    def _methods(self) -> tuple[Offer, ...]:
        """Return the entries of all methods, for the list of methods in the dialog.

        A method that cannot be used, as software is missing, is disabled.
        """
        # `lacking` is the reason why a method cannot be used, or "".
        return tuple(
            Offer(
                entry.key,
                entry.label,
                hint=entry.lacking or entry.description.title,
                enabled=not entry.lacking,
            )
            for entry in methods()
        )

    def _rankers(self) -> tuple[Offer, ...]:
        """Return the entries of the rankers, the methods that select no features.

        Before them is the selector's own model, to which the dialog
        gives its label.
        """
        return (
            Offer(OWN_MODEL, ""),
            *(
                offer
                for m, offer in zip(methods(), self._methods(), strict=True)
                if not m.selects
            ),
        )

    def _labels(self, are_all_chosen: bool) -> tuple[Offer, ...]:
        """Return the label columns of the open data, if several judges have labeled them.

        The label column in use is ticked; with ``are_all_chosen``, all
        are ticked. Without several judges, the result is empty.
        """
        dataset = self._models.session.dataset
        columns = DataColumns.of(self._models.session.plan.columns)
        judges = columns.judges if dataset is not None else ()
        return tuple(
            Offer(name, name, ticked=are_all_chosen or name == columns.label)
            for name in judges
        )

    def _data(self, path: str, plan: Comparison | None) -> tuple[Offer, ...]:
        """Return entries for the open data, the data of a plan, the recently opened data and the sample.

        ``path`` is the file of the plan. The data of the plan are
        ticked, or without a plan the open data.
        """
        # Sources are the paths of data, or "sample". The paths in a
        # plan begin at the folder of its file. Studies and plans
        # (".toml") among the recently opened files are no data.
        session = self._models.session
        planned_sources = (
            _data_sources(Path(path).parent, plan.data) if plan is not None else []
        )
        open_sources = [session.plan.data] if session.dataset is not None else []
        recent_sources = [
            recent_path
            for recent_path in self._settings.recent
            if not is_study(recent_path) and not recent_path.endswith(".toml")
        ]
        known_sources = {SAMPLE, *open_sources}
        ticked_sources = planned_sources or open_sources
        # in this order, each one once
        sources = dict.fromkeys(
            (*open_sources, *planned_sources, *recent_sources, SAMPLE)
        )
        return tuple(
            _offer(source, source in known_sources, source in ticked_sources)
            for source in sources
        )


def _data_sources(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the paths of a plan's data: ``names`` looked up in ``folder``, which has the plan's file.

    A name that the folder does not contain is returned as it is.
    """
    paths = {name: str((folder / name).absolute()) for name in names}
    return [path if is_there(Path(path)) else name for name, path in paths.items()]


def _offer(source: str, is_known: bool, is_chosen: bool) -> Offer:
    """Return the dialog's entry for the dataset at a path, disabled if it cannot be opened.

    It can be opened if the path ``source`` exists, or if ``is_known``:
    the sample and the open data are known without a path. ``is_chosen``
    tells whether the entry is ticked.
    """
    is_available = is_known or is_there(Path(source))
    hint = (
        source
        if is_available
        else tr("{place} not found: open the data first.").format(place=source)
    )
    return Offer(
        source,
        data_name(source),
        ticked=is_chosen and is_available,
        hint=hint,
        enabled=is_available,
    )
