"""Running a comparison: a dialog, data that are not open yet, and the runs one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.batch import Comparison, is_comparison, load_comparison
from rankstudio.engine.analysis.workload import Workload, workload
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, SAMPLE, Plan
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.support.files import is_there
from rankstudio.engine.support.resources import resource
from rankstudio.ui.background.job import Ending, Outcome
from rankstudio.ui.compare.comparison_dialog import OWN_MODEL, ComparisonDialog, Offer, Offers
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.session import reading
from rankstudio.ui.model.study_store import is_study
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings

_FOLDS = 5  # of data that are not open


class ComparisonRuns(Controller):
    """Asks what to compare, opens the data that are not open, and puts the runs into the queue.

    Parameters
    ----------
    models : Models
    settings : Settings
        Know the data that were open lately.
    parent : QWidget
        Over which the dialog opens.
    """

    def __init__(self, models: Models, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._models, self._settings, self._window = models, settings, parent
        self._waiting: deque[tuple[Plan, ...]] = deque()
        models.loader.ended.connect(self._load_next)

    @property
    def waiting(self) -> tuple[Plan, ...]:
        """The plans whose data are not open yet."""
        return tuple(plan for group in self._waiting for plan in group)

    @Slot()
    def ask(self) -> None:
        """Ask what to run, and run it."""
        self.open("")

    @Slot(str)
    def open(self, path: str) -> None:
        """Ask with a plan of several runs chosen."""
        try:
            dialog = self.dialog(path)
        except PlanError as error:
            self.failed.emit(str(error))
            return
        if dialog.exec():
            self.start(dialog.plans())
        dialog.deleteLater()

    def dialog(self, path: str = "") -> ComparisonDialog:
        """Return the dialog, with a plan of several runs chosen; "" for none.

        Raises
        ------
        PlanError
            Where the file is no such plan.
        """
        bundled = [one for one in sorted(resource("plans").glob("*.toml")) if is_comparison(one)]
        files = [Path(path)] * bool(path) + [one for one in bundled if str(one) != path]
        known = {str(one): load_comparison(one) for one in files}
        offers = Offers(
            self._methods(),
            self._rankers(),
            self._data(path, known.get(path)),
            tuple((key, tr("Plan: {title}").format(title=one.title)) for key, one in known.items()),
        )

        def planned(
            key: str, chosen: tuple[str, ...], rankers: tuple[str, ...], data: tuple[str, ...]
        ) -> Sequence[Plan]:
            if key:
                return [self._adapted(plan) for place in data for plan in known[key].plans(place)]
            return self._own(chosen, rankers, data)

        return ComparisonDialog(offers, planned, self._work, path, self._window)

    def start(self, plans: Sequence[Plan]) -> None:
        """Run plans, those on the data that are open first."""
        session = self._models.session
        groups: dict[tuple[object, ...], list[Plan]] = {}
        for plan in plans:
            groups.setdefault((plan.data, *reading(plan)), []).append(plan)
        for key, group in groups.items():
            dataset = session.dataset
            if dataset is not None and session.has_documents and key == self._open_as():
                self._queue(group, dataset)
            else:
                self._waiting.append(tuple(group))
        self.said.emit(
            tr("{n_plans} runs are waiting").format(n_plans=len(plans))
            if len(plans) > 1
            else tr("1 run is waiting")
        )
        self._load_next()

    def _open_as(self) -> tuple[object, ...]:
        plan = self._models.session.plan
        return (plan.data, *reading(plan)) if self._models.session.read_as_planned else ()

    @Slot()
    def _load_next(self) -> None:
        """Open the next data, unless something is being opened; then go on when that is there."""
        if not self._waiting or self._models.loader.busy:
            return
        group = self._waiting.popleft()

        def queue(dataset: FoldedDataset) -> None:
            self._queue([_usual(plan, dataset) for plan in group], dataset)

        def end(outcome: Outcome) -> None:
            if outcome.ending is Ending.FAILED:
                self.failed.emit(outcome.text)

        self._models.loader.fetch(group[0].data, group[0], queue, end)

    def _queue(self, plans: Sequence[Plan], dataset: FoldedDataset) -> None:
        for plan in plans:
            self._models.runs.start(plan, dataset, shown=dataset is self._models.session.dataset)

    def _adapted(self, plan: Plan) -> Plan:
        """Return a plan of a file with what is usual for the data where these are open."""
        dataset = self._models.session.dataset
        open_there = dataset is not None and plan.data == self._models.session.plan.data
        return _usual(plan, dataset) if open_there and dataset is not None else plan

    def _own(self, chosen: Sequence[str], rankers: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Return the plans of what is ticked, each with the protocol of the form."""
        session, found = self._models.session, []
        selects = {entry.key: entry.selects for entry in methods()}
        pairs = [(key, ranker) for key in chosen for ranker in (rankers if selects[key] else (OWN_MODEL,))]
        for place, (key, ranker) in product(data, pairs):
            same = key == session.plan.method and ranker == session.plan.ranker
            own = session.plan.parameters if key == session.plan.method else {}
            there = place == session.plan.data
            changes: dict[str, object] = {"data": place, "method": key, "ranker": ranker}
            changes |= {"parameters": own if there else {}}
            changes |= {"ranker_parameters": session.plan.ranker_parameters if same and there else {}}
            changes |= {} if there else {"folds": ()}
            try:
                found.append(session.plan.changed(**changes))
            except (PlanError, ParameterError) as error:
                self.failed.emit(str(error))
        return found

    def _work(self, plans: Sequence[Plan]) -> Workload:
        session = self._models.session
        there = len(session.dataset.folds) if session.dataset is not None else _FOLDS
        results = [record.result for record in self._models.runs.records]
        counted = [(plan, there if plan.data == session.plan.data else _FOLDS) for plan in plans]
        return workload(counted, [result for result in results if result is not None])

    def _methods(self) -> tuple[Offer, ...]:
        shown = self._models.session.plan.method
        return tuple(
            Offer(m.key, m.label, m.key == shown, m.lacking or m.title, not m.lacking) for m in methods()
        )

    def _rankers(self) -> tuple[Offer, ...]:
        shown = self._models.session.plan.ranker
        own = Offer(
            OWN_MODEL, tr("The selector's own model"), not shown, tr("The weights learned by the selector")
        )
        return (
            own,
            *(
                Offer(m.key, m.label, m.key == shown, m.lacking or m.title, not m.lacking)
                for m in methods()
                if not m.selects
            ),
        )

    def _data(self, path: str, plan: Comparison | None) -> tuple[Offer, ...]:
        """Return the data that are open, those of a plan, and those that were open lately."""
        session = self._models.session
        beside = {name: str((Path(path).parent / name).absolute()) for name in (plan.data if plan else ())}
        named = [where if is_there(Path(where)) else name for name, where in beside.items()]
        is_open = [session.plan.data] if session.dataset is not None else []
        recent = [one for one in self._settings.recent if not is_study(one) and not one.endswith(".toml")]
        wanted = named or is_open
        offers = []
        for place in dict.fromkeys((*is_open, *named, *recent, SAMPLE)):
            there = place == SAMPLE or place in is_open or is_there(Path(place))
            label = tr("Sample") if place == SAMPLE else Path(place).name
            hint = place if there else tr("{place} not found: open the data first.").format(place=place)
            offers.append(Offer(place, label, place in wanted and there, hint, there))
        return tuple(offers)


def _usual(plan: Plan, dataset: FoldedDataset) -> Plan:
    """Return a plan with what is usual for data: their convention, and the criterion without validation."""
    validated = plan.inner or all(fold.vali is not None for fold in dataset.folds)
    changes = {} if validated or plan.leaves_out else {"select_by": CRITERION}
    return plan.changed(convention=dataset.convention, **changes)
