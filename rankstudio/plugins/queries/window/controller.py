"""The Queries page's controller: which models are compared, and what is computed of them when it is seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.analysis.measurements.baseline_model import baseline_step
from rankstudio.engine.methods.catalog.selectors import GREEDY_RANKRLS
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.window.ablation_panel import AblationFeeder, AblationPanel
from rankstudio.plugins.queries.window.comparison_panel import PART_NAMES, ComparisonPanel
from rankstudio.plugins.queries.window.documents_panel import DocumentsPanel
from rankstudio.plugins.queries.window.list_panel import QueryListPanel
from rankstudio.plugins.queries.window.model_bar import (
    SINGLE,
    ChosenModels,
    EmptyPage,
    ModelBar,
    chosen_models,
    comparable,
    run_label,
    single_label,
)
from rankstudio.plugins.queries.window.paths_dialog import QueryPathsDialog
from rankstudio.plugins.queries.window.query_tasks import QueryRequest, QueryTasks
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import NOT_WHOLE
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_comparison import ComparedQuery, QueryComparison
    from rankstudio.plugins.queries.query_paths import QueryPaths
    from rankstudio.plugins.queries.ranked_query import RankedQuery

_NO_RUN_TEXT = tr("Run a method on these data to compare two models query by query.")
_NO_DOCUMENTS_TEXT = tr("Open the data of this run to rank its queries.")
_PAGE_OF_REMEDY = {_NO_RUN_TEXT: "select", _NO_DOCUMENTS_TEXT: "data"}  # keys of pages
_MIN_STEPS = 10  # of the paths of some queries
_MAX_STEPS = 30
_MEASURING_TEXT = tr("Measuring both models in every query …")
_NO_QUERIES_TEXT = tr("The two models share no fold with queries of this part.")


class QueriesController(PageController):
    """Feeds the page. A is the run that the whole window shows, B any other or the best single feature.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    emptied = Signal(bool)
    """Whether there is nothing that the panels could show."""

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session = models.session
        runs = models.runs
        worker = models.task_worker
        measured = models.measured
        self._session = session
        self._runs = runs
        self._measured = measured
        self._theme = theme
        self._worker = worker
        self._absence = models.absence
        self._tasks = QueryTasks()
        self._wanted_b: int | None = None
        self._seen_b: int | None = None  # B since the page is seen: a run that ends elsewhere changes nothing
        # What is shown, and what it was asked by: the next request may be of other folds and models.
        self._shown: tuple[QueryRequest, QueryComparison] | None = None
        self._query: tuple[int, int] | None = None  # that the user wants to see
        self._some: tuple[int, tuple[int, ...]] | None = None  # that are to be listed alone
        self._place = 0
        self._data = ""  # what is open, as its plan names it
        self._singles: dict[tuple[int, int], Step] = {}
        self.bar = ModelBar()
        self.empty = EmptyPage()
        self.head = named(QWidget(), "query-head", role="ground")
        fill(QVBoxLayout(self.head), self.bar, (self.empty, 1), margins=(0, 0, 0, 0), spacing=0)
        self.comparison = ComparisonPanel(theme)
        self.list = QueryListPanel(theme)
        self.documents = DocumentsPanel(theme)
        self.ablation = AblationPanel(theme)
        self.panels = self.comparison, self.list, self.documents, self.ablation
        self._feeder = AblationFeeder(self.ablation, self._tasks, worker, self)
        self._compared = OnDemand(
            self, worker, self._compared_key, self._compare, self._fail, slot="queries", panel=self.head
        )
        self._ranked = OnDemand(
            self, worker, self._ranked_key, self._rank, self._fail, slot="query-documents"
        )
        self._connect()

    def _connect(self) -> None:
        """Connect the panels, and the changes of session and runs, to their actions."""
        session = self._session
        runs = self._runs
        self.bar.a.activated.connect(self._look_at)
        self.bar.b.activated.connect(self._compare_with)
        self.bar.changed.connect(self.update)
        self.comparison.plot.picked.connect(self._on_picked)
        self.comparison.plot.brushed.connect(self.list.brush)
        self.list.chosen.connect(self._on_picked)
        self.list.filtered.connect(self.comparison.plot.keep)
        self.list.select_for.clicked.connect(self.select_for_listed)
        self.ablation.inspected.connect(session.inspectAsked)
        session.datasetChanged.connect(self._forget_choices)
        for signal in (
            runs.added,
            runs.ended,
            runs.shownChanged,
            runs.removed,
            runs.labelled,
            session.measureChanged,
            session.datasetChanged,
            session.planChanged,
            session.foldChanged,
            session.choiceChanged,
            self._measured.changed,
            self._absence.changed,
        ):
            signal.connect(self.update)
        runs.cleared.connect(self._forget)
        runs.removed.connect(self._forget_run)

    @property
    def queries(self) -> tuple[ComparedQuery, ...]:
        """The queries that are compared, the greatest loss first."""
        return self._shown[1].queries if self._shown is not None else ()

    def leave(self) -> None:
        """Stop learning for a page that is hidden."""
        self._feeder.stop()

    @Slot()
    def update(self) -> None:
        """Compare the chosen models, if the page is visible and they have changed."""
        if not self.head.isVisible():
            self._feeder.stop()
            self._seen_b = None
            return
        a, b = self._runs_compared()
        self._seen_b = b.key if b is not None else SINGLE if a is not None else None
        self._show_choices(a, b)
        self._show_what_is_missing(self._why_nothing(a))
        self._compared.update()
        self._feeder.go_on()

    def _compare(self) -> Computation | None:
        """Return the computation of models A and B in each query; None, with a reason, if impossible."""
        a, b = self._runs_compared()
        self._feeder.stop()
        reason = self._why_nothing(a)
        request = None if a is None or reason else self._request(a, b)
        if a is None or request is None or not request.folds:
            self._clear(reason or _NO_QUERIES_TEXT)
            return None
        if self._session.sealed and self._shown is not None and self._shown[0].part == "test":
            self._clear("")  # no value of it is seen while those of the validation are computed
        if self._shown is None:
            self._show_nothing(_MEASURING_TEXT)
        models = {fold: chosen for fold, chosen in self._models(a).items() if fold in request.folds}
        self._feeder.begin(request, a.plan, models)
        show = partial(self._show, request)
        return computation(tr("Comparing two models query by query"), show, self._tasks.compare, request)

    def list_training(self, fold: int, positions: tuple[int, ...]) -> None:
        """List some queries of a fold's training part alone, by their positions there."""
        self._some = fold, positions
        self.bar.choose_part("train")
        self.bar.scope.select("one")
        self.update()
        self._list_some()

    def _list_some(self) -> None:
        """List the queries that were asked for, where they are among those that are compared."""
        if self._some is None or self._shown is None or self._shown[0].part != "train":
            return
        fold, positions = self._some
        places = {(query.fold, query.position): index for index, query in enumerate(self.queries)}
        listed = tuple(places[fold, position] for position in positions if (fold, position) in places)
        if listed:
            self._some = None
            self.list.brush(listed)
            self._pick(listed[0])

    def show_query(self, fold: int, position: int) -> None:
        """Show a query, by its fold and its position in the part."""
        self._query = fold, position
        for index, query in enumerate(self.queries):
            if (query.fold, query.position) == self._query:
                self._pick(index)

    @Slot()
    def select_for_listed(self) -> None:
        """Select features for the listed queries alone, and for the others of their fold alone."""
        listed = self.list.listed()
        folds = {query.fold for query in listed}
        if self._shown is None or len(folds) != 1:
            self.failed.emit(tr("The listed queries are from several folds. Choose a single fold first."))
            return
        (fold,) = folds
        request = self._shown[0]
        marked = tuple(query.position for query in listed)
        n_others = sum(query.fold == fold for query in self.queries) - len(marked)
        show = partial(self._show_paths, (len(marked), n_others))
        title = tr("Selecting features for some queries")
        self._worker.task(
            title,
            self._tasks.select_for,
            request,
            fold,
            marked,
            self._greedy(fold),
            on_done=show,
            on_error=self.failed.emit,
            slot="query-paths",
        )

    def _greedy(self, fold: int) -> dict[str, Any]:
        """Return the parameters of greedy RankRLS: those of A where it has them."""
        a, _ = self._runs_compared()
        chosen = self._models(a).get(fold) if a is not None else None
        chosen_parameters = chosen.unit.parameters if chosen is not None else {}
        names = ("regularization", "cost", "ties", "weighting")
        ours = a is not None and a.plan.method == GREEDY_RANKRLS.key
        of_a = {name: chosen_parameters[name] for name in names if ours and name in chosen_parameters}
        size = len(chosen.step.selected) if chosen is not None else 0
        n = a.dataset.feature_ids.size if a is not None else 1
        return {**of_a, "n_features_to_select": min(max(size, _MIN_STEPS), _MAX_STEPS, n)}

    def _show_paths(self, sizes: tuple[int, int], paths: QueryPaths) -> None:
        dataset = self._session.dataset
        if dataset is None or self._shown is None:
            return
        named_ids = dataset.feature_ids.tolist()
        names = dataset.feature_names
        part = PART_NAMES[self._shown[0].part]
        self.paths = QueryPathsDialog(self._theme, paths, sizes, named_ids, names, part, self.list.window())
        self.paths.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.paths.open()

    # What is compared

    def _runs_compared(self) -> tuple[RunRecord | None, RunRecord | None]:
        """Return the runs A and B; no B for the best single feature.

        Unless another B is chosen, it is the last run with the most folds of A.
        """
        listed = comparable(self._runs, self._session.dataset)
        current = self._runs.shown
        a = current if current in listed else next(reversed(listed), None)
        rivals = {record.key: record for record in listed if record is not a}
        for key in (self._wanted_b, self._seen_b):
            if key == SINGLE or not rivals:
                return a, None
            if key in rivals:
                return a, rivals[key]
        folds = set(a.folds) if a is not None else set()
        return a, max(reversed(rivals.values()), key=lambda record: len(folds & set(record.folds)))

    def _show_choices(self, a: RunRecord | None, b: RunRecord | None) -> None:
        """Show the runs to choose A and B from, the parts of the data, and the fold."""
        dataset = self._session.dataset
        fold = self._session.fold
        listed = comparable(self._runs, dataset)
        of_a = [(record.key, run_label(record)) for record in listed]
        of_b = [(record.key, run_label(record)) for record in listed if record is not a]
        if a is not None:
            of_b.append((SINGLE, single_label(a)))
        self.bar.set_options(of_a, of_b, a.key if a else None, (b.key if b else SINGLE) if a else None)
        folds = dataset.folds if dataset is not None else ()
        open_parts = ("vali", "train") if self._session.sealed else ("test", "vali", "train")
        parts = [part for part in open_parts if any(part in fold_data.parts for fold_data in folds)]
        self.bar.set_parts([(part, PART_NAMES[part]) for part in parts])
        compared = set(a.folds) if a is not None else {fold_data.number for fold_data in folds}
        self.bar.set_fold(fold, len(compared & set(b.folds) if b is not None else compared))

    def _show_what_is_missing(self, reason: str) -> None:
        """Lead to the page of what is missing, in place of empty panels."""
        is_empty = bool(reason) and reason != NOT_WHOLE
        self.empty.show_missing(reason if is_empty else "", _PAGE_OF_REMEDY.get(reason, ""))
        self.bar.setHidden(is_empty)
        self.emptied.emit(is_empty)

    def _compared_key(self) -> Key:
        session = self._session
        scope = session.fold if self.bar.is_one_fold() else None
        request = (self.bar.part.value(), scope, session.measure, session.convention, session.choice)
        runs = tuple(
            (record.key, self._chosen(record)) if record else None for record in self._runs_compared()
        )
        return (id(session.dataset), session.has_documents, runs, *request)

    def _why_nothing(self, a: RunRecord | None) -> str:
        if a is None:
            return self._absence.any_run(_NO_RUN_TEXT)
        if not self._session.has_documents:
            return self._absence.documents(_NO_DOCUMENTS_TEXT)
        return "" if self._models(a) else NOT_WHOLE

    def _models(self, record: RunRecord) -> ChosenModels:
        """Return the models of a run: of the one that is shown those that are selected."""
        choice = self._session.choice if record is self._runs.shown else None
        return chosen_models(record, self._measured.view(record), choice)

    def _request(self, a: RunRecord, b: RunRecord | None) -> QueryRequest | None:
        """Return the comparison of A and B on the shared folds of the chosen part; None without data."""
        session = self._session
        dataset = self._session.dataset
        if dataset is None:
            return None
        part = str(self.bar.part.value())
        of_a = {fold: chosen.step for fold, chosen in self._models(a).items()}
        of_b = self._steps(b) if b is not None else {fold: self._single(a, fold) for fold in of_a}
        only_session_fold = self.bar.is_one_fold() and session.fold is not None
        folds = tuple(
            fold.number
            for fold in dataset.folds
            if part in fold.parts and fold.number in of_a and fold.number in of_b
            if not only_session_fold or fold.number == session.fold
        )
        return QueryRequest(dataset, folds, part, of_a, of_b, session.measure, session.convention)

    def _steps(self, record: RunRecord) -> dict[int, Step]:
        models = chosen_models(record, self._measured.view(record))
        return {fold: chosen.step for fold, chosen in models.items()}

    def _chosen(self, record: RunRecord) -> tuple[tuple[int, int, int], ...]:
        """Return the model of each fold, as a key that changes with the comparison."""
        models = chosen_models(record, self._measured.view(record))
        return tuple((fold, chosen.unit.position, chosen.step.number) for fold, chosen in models.items())

    def _single(self, record: RunRecord, fold: int) -> Step:
        """Return the best single feature of a fold as a model, the same object each time."""
        key = record.key, fold
        if key not in self._singles:
            ids = record.dataset.feature_ids.tolist()
            self._singles[key] = baseline_step(record.folds[fold].baseline, ids)
        return self._singles[key]

    # What came of it

    def _show(self, request: QueryRequest, comparison: QueryComparison) -> None:
        self._shown = request, comparison
        self.comparison.show_comparison(comparison)
        self.comparison.legend.show_models(self.bar.a.currentText(), self.bar.b.currentText())
        self.list.show_comparison(comparison)
        if not comparison.queries:
            self._clear(_NO_QUERIES_TEXT)
            return
        places = {(query.fold, query.position): index for index, query in enumerate(comparison.queries)}
        self._pick(places.get(self._query or (0, 0), 0))
        self._list_some()

    @Slot(int)
    def _on_picked(self, position: int) -> None:
        """Show a query that the user wants, and that one again when other models are compared."""
        if self._shown is not None:
            query = self.queries[position]
            self._query = query.fold, query.position
            self._pick(position)

    def _pick(self, position: int) -> None:
        """Show the documents of a query, of its place in the comparison."""
        if self._shown is not None:
            self._place = position
            self.comparison.plot.select(position)
            self.list.select(position)
            self._ranked.update()

    def _ranked_key(self) -> Key | None:
        return None if self._shown is None else (*self._shown, self._place)

    def _rank(self) -> Computation | None:
        if self._shown is None:
            return None
        compared_request, comparison = self._shown
        query = comparison.queries[self._place]

        def show(ranked_query: RankedQuery) -> None:
            self.documents.show_query(query, ranked_query, compared_request.measure)

        title = tr("Ranking query {query_id}").format(query_id=query.query_id)
        return computation(title, show, self._tasks.rank, compared_request, query)

    def _clear(self, reason: str) -> None:
        self._shown = None
        self._show_nothing(reason)
        self._feeder.stop()
        self.ablation.clear("")

    def _show_nothing(self, reason: str) -> None:
        """Show no query, and say why."""
        self._ranked.forget()
        self.comparison.clear(reason)
        self.list.clear("")
        self.documents.clear("")

    def _fail(self, reason: str) -> None:
        self._clear(reason)
        self.failed.emit(reason)

    # Choices

    @Slot(int)
    def _look_at(self, index: int) -> None:
        key = self.bar.a.itemData(index)
        look_at(self._session, self._runs, self._runs.record(key))

    @Slot(int)
    def _compare_with(self, index: int) -> None:
        self._wanted_b = int(self.bar.b.itemData(index))
        self.update()

    @Slot(int)
    def _forget_run(self, key: int) -> None:
        if self._wanted_b == key:
            self._wanted_b = None
        self._singles = {run_fold: step for run_fold, step in self._singles.items() if run_fold[0] != key}

    @Slot()
    def _forget_choices(self) -> None:
        """Forget the choices among the queries of other data: part, query, and filter of the list."""
        if self._session.plan.data != self._data:
            self._data = self._session.plan.data
            self._query = None
            self._some = None
            self.bar.forget_part()
            self.list.forget_filter()

    @Slot()
    def _forget(self) -> None:
        """Forget everything: in another study the same numbers are other runs."""
        self._feeder.stop()
        self._compared.forget()
        self._wanted_b = None
        self._seen_b = None
        self._query = None
        self._singles.clear()
        self.update()
