"""The Queries page's controller: compares two models query by query while the page is visible."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.analysis.measurements.baseline_model import baseline_step
from rankstudio.engine.methods.catalog.selectors import GREEDY_RANKRLS
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.window.ablation_panel import (
    AblationFeeder,
    AblationPanel,
)
from rankstudio.plugins.queries.window.comparison_panel import (
    PART_NAMES,
    ComparisonPanel,
)
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
    from rankstudio.plugins.queries.query_comparison import (
        ComparedQuery,
        QueryComparison,
    )
    from rankstudio.plugins.queries.query_paths import QueryPaths
    from rankstudio.plugins.queries.ranked_query import RankedQuery

_NO_RUN_TEXT = tr("Run a method on these data to compare two models query by query.")
_NO_DOCUMENTS_TEXT = tr("Open the data of this run to rank its queries.")
_PAGE_OF_REMEDY = {_NO_RUN_TEXT: "select", _NO_DOCUMENTS_TEXT: "data"}  # keys of pages
_MIN_STEPS = 10  # steps of a path on a group of queries
_MAX_STEPS = 30
_MEASURING_TEXT = tr("Measuring both models in every query …")
_NO_QUERIES_TEXT = tr("The two models share no fold with queries of this part.")


class QueriesController(PageController):
    """Compares two models A and B query by query, and shows them in the panels of the Queries page.

    A is the shown run of the window, and B another run or the best single feature.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    emptied = Signal(bool)
    """The panels have something to show (False), or nothing (True)."""

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
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
        self._chosen_b: int | None = None  # key of the run that the user chose as B

        # key of B while the page is visible: it stays when another run ends
        self._last_b: int | None = None

        # The shown comparison with its request, as the next request may
        # be for other folds and models.
        self._shown: tuple[QueryRequest, QueryComparison] | None = None

        # fold and position of the query the user chose
        self._chosen_query: tuple[int, int] | None = None

        # a fold, and positions in its part
        self._queries_to_list: tuple[int, tuple[int, ...]] | None = None
        self._picked_position = 0  # of the shown query, in the order of the comparison
        self._data = ""  # name of the open data in their plan

        # Best single features as models, by run and fold.
        self._singles: dict[tuple[int, int], Step] = {}
        self.bar = ModelBar()
        self.empty = EmptyPage()
        self.head = named(QWidget(), "query-head", role="ground")
        fill(
            QVBoxLayout(self.head),
            self.bar,
            (self.empty, 1),
            margins=(0, 0, 0, 0),
            spacing=0,
        )
        self.comparison = ComparisonPanel(theme)
        self.list = QueryListPanel(theme)
        self.documents = DocumentsPanel(theme)
        self.ablation = AblationPanel(theme)
        self.panels = self.comparison, self.list, self.documents, self.ablation
        self._feeder = AblationFeeder(self.ablation, self._tasks, worker, self)
        self._comparison_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._comparison_key,
            compute=self._compare,
            failed=self._fail,
            slot="queries",
            panel=self.head,
        )
        self._ranked = OnDemand(
            parent=self,
            worker=worker,
            key=self._ranked_key,
            compute=self._rank,
            failed=self._fail,
            slot="query-documents",
        )
        self._connect()

    def _connect(self) -> None:
        """Connect the signals of the panels, the session and the runs."""
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

        # `_measured` has the runs measured by the shown measure, and
        # `_absence` the reasons why results or documents are missing.
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
        """The compared queries, the greatest loss of B first."""
        if self._shown is None:
            return ()
        _, comparison = self._shown
        return comparison.queries

    def leave(self) -> None:
        """Stop training models for a page that is hidden."""
        self._feeder.stop()

    @Slot()
    def update(self) -> None:
        """Compare the chosen models, if the page is visible and they have changed."""
        if not self.head.isVisible():
            self._feeder.stop()
            self._last_b = None
            return

        # What is B now stays B while the page is visible, also when another run ends.
        a, b = self._runs_compared()
        self._last_b = None
        if a is not None:
            self._last_b = b.key if b is not None else SINGLE
        self._show_choices(a, b)
        self._show_what_is_missing(self._why_nothing(a))
        self._comparison_demand.update()  # computes if the models have changed
        self._feeder.go_on()  # the training without each feature

    def _compare(self) -> Computation | None:
        """Return the computation that compares the models A and B in each query.

        If they cannot be compared, show the reason and return None.
        """
        a, b = self._runs_compared()
        self._feeder.stop()
        reason = self._why_nothing(a)
        request = None if a is None or reason else self._request(a, b)
        if a is None or request is None or not request.folds:
            self._clear(reason or _NO_QUERIES_TEXT)
            return None

        # `_shown` has the request and the comparison.
        if (
            self._session.sealed
            and self._shown is not None
            and self._shown[0].part == "test"
        ):
            # values of the sealed test part must not stay visible
            # during the computation
            self._clear("")
        if self._shown is None:
            self._show_nothing(_MEASURING_TEXT)
        models = {
            fold: chosen
            for fold, chosen in self._models(a).items()
            if fold in request.folds
        }
        self._feeder.begin(request, a.plan, models)
        show = partial(self._show, request)
        return computation(
            tr("Comparing two models query by query"),
            show,
            self._tasks.compare,
            request,
        )

    def list_training(self, fold: int, positions: tuple[int, ...]) -> None:
        """List only some queries of a fold's training part, given by their positions in the part."""
        self._queries_to_list = fold, positions
        self.bar.choose_part("train")
        self.bar.scope.select("one")
        self.update()
        self._list_wanted()

    def _list_wanted(self) -> None:
        """List the queries that :meth:`list_training` asked for, once they are compared."""
        # `_shown` has the request and the comparison.
        if (
            self._queries_to_list is None
            or self._shown is None
            or self._shown[0].part != "train"
        ):
            return
        fold, positions = self._queries_to_list

        # position in the comparison, by fold and position in the fold's part
        index_of = {
            (query.fold, query.position): index
            for index, query in enumerate(self.queries)
        }
        listed = tuple(
            index_of[fold, position]
            for position in positions
            if (fold, position) in index_of
        )
        if listed:
            self._queries_to_list = None
            self.list.brush(listed)
            self._pick(listed[0])

    def show_query(self, fold: int, position: int) -> None:
        """Show a query, given by its fold and its position in the part."""
        self._chosen_query = fold, position
        for index, query in enumerate(self.queries):
            if (query.fold, query.position) == self._chosen_query:
                self._pick(index)

    @Slot()
    def select_for_listed(self) -> None:
        """Select features for the listed queries alone, and for the others of their fold alone.

        The two paths of features are computed in the background and
        then shown in a dialog. If the listed queries are of several
        folds, the user gets an error, as the features are selected on
        the data of one fold.
        """
        listed = self.list.listed()
        folds = {query.fold for query in listed}
        if self._shown is None or len(folds) != 1:
            self.failed.emit(
                tr(
                    "The listed queries are from several folds. Choose a single fold first."
                )
            )
            return
        (fold,) = folds
        request, _ = self._shown
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
            slot="query-paths",  # a later job replaces a waiting one of this name
        )

    def _greedy(self, fold: int) -> dict[str, Any]:
        """Return parameters of greedy RankRLS to select on some queries of a fold.

        If A is greedy RankRLS, λ and loss are those of A. The number of
        features is that of A's model, within limits.
        """
        a, _ = self._runs_compared()
        chosen = self._models(a).get(fold) if a is not None else None
        parameters_of_a: dict[str, Any] = {}
        if chosen is not None and a is not None and a.plan.method == GREEDY_RANKRLS.key:
            names = ("regularization", "cost", "ties", "weighting")
            parameters = chosen.unit.parameters
            parameters_of_a = {
                name: parameters[name] for name in names if name in parameters
            }
        size = len(chosen.step.selected) if chosen is not None else 0
        n = a.dataset.feature_ids.size if a is not None else 1
        return {
            **parameters_of_a,
            "n_features_to_select": min(max(size, _MIN_STEPS), _MAX_STEPS, n),
        }

    def _show_paths(self, sizes: tuple[int, int], paths: QueryPaths) -> None:
        """Show two paths of selected features in a dialog.

        ``sizes`` are the numbers of listed and of other queries.
        """
        dataset = self._session.dataset
        if dataset is None or self._shown is None:
            return
        request, _ = self._shown
        self.paths = QueryPathsDialog(
            self._theme,
            paths,
            sizes,
            ids=dataset.feature_ids.tolist(),
            names=dataset.feature_names,
            part=PART_NAMES[request.part],
            parent=self.list.window(),
        )
        self.paths.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.paths.open()

    # What is compared

    def _runs_compared(self) -> tuple[RunRecord | None, RunRecord | None]:
        """Return the runs A and B; B is None for the best single feature.

        Unless the user has chosen B, it is the last run among those
        that share the most folds with A.
        """
        listed = comparable(self._runs, self._session.dataset)
        current = self._runs.shown

        # the last run that can be compared, if the shown one cannot
        a = current if current in listed else next(reversed(listed), None)
        rivals = {record.key: record for record in listed if record is not a}

        # The user's choice goes before the run that was B until now.
        for key in (self._chosen_b, self._last_b):
            if key == SINGLE or not rivals:
                return a, None
            if key in rivals:
                return a, rivals[key]

        # Of several runs with as many shared folds, the last one.
        folds = set(a.folds) if a is not None else set()
        return a, max(
            reversed(rivals.values()), key=lambda record: len(folds & set(record.folds))
        )

    def _show_choices(self, a: RunRecord | None, b: RunRecord | None) -> None:
        """Show the runs to choose A and B from, the parts of the data, and the fold.

        ``a`` and ``b`` are the runs that are compared; without ``b``, A
        is compared with its best single feature. A sealed test part is
        not offered.
        """
        dataset = self._session.dataset
        fold = self._session.fold
        listed = comparable(self._runs, dataset)
        options_a = [(record.key, run_label(record)) for record in listed]
        options_b = [
            (record.key, run_label(record)) for record in listed if record is not a
        ]
        key_a: int | None = None
        key_b: int | None = None
        if a is not None:
            options_b.append((SINGLE, single_label(a)))
            key_a = a.key
            key_b = b.key if b else SINGLE
        self.bar.set_options(options_a, options_b, key_a, key_b)
        folds = dataset.folds if dataset is not None else ()
        open_parts = (
            ("vali", "train") if self._session.sealed else ("test", "vali", "train")
        )
        parts = [
            part
            for part in open_parts
            if any(part in fold_data.parts for fold_data in folds)
        ]
        self.bar.set_parts([(part, PART_NAMES[part]) for part in parts])
        compared = (
            set(a.folds) if a is not None else {fold_data.number for fold_data in folds}
        )

        # the number of folds that both models have
        self.bar.set_fold(
            fold, len(compared & set(b.folds) if b is not None else compared)
        )

    def _show_what_is_missing(self, reason: str) -> None:
        """Show why nothing is compared instead of empty panels, and a button to the page that helps.

        The panels stay for the reasons "" and `NOT_WHOLE`: the study
        has the run, but none of its models.
        """
        is_empty = bool(reason) and reason != NOT_WHOLE
        self.empty.show_missing(
            reason if is_empty else "", _PAGE_OF_REMEDY.get(reason, "")
        )
        self.bar.setHidden(is_empty)
        self.emptied.emit(is_empty)

    def _comparison_key(self) -> Key:
        """Return the values on which a comparison depends: with others it is computed again."""
        session = self._session

        # `choice` has parameters or a size that the user has chosen;
        # `fold` is None for all folds.
        fold = session.fold if self.bar.is_one_fold() else None
        choices_of_user = (
            self.bar.part.value(),
            fold,
            session.measure,
            session.convention,
            session.choice,
        )
        runs_with_models = tuple(
            (record.key, self._model_numbers(record)) if record else None
            for record in self._runs_compared()
        )
        return (
            id(session.dataset),
            session.has_documents,
            runs_with_models,
            *choices_of_user,
        )

    def _why_nothing(self, a: RunRecord | None) -> str:
        """Return the reason why there is nothing to compare.

        ``a`` is run A, or None without runs. The reason is "" if models
        can be compared.
        """
        if a is None:
            return self._absence.text_without_results(_NO_RUN_TEXT)
        if not self._session.has_documents:
            return self._absence.documents(_NO_DOCUMENTS_TEXT)
        return "" if self._models(a) else NOT_WHOLE

    def _models(self, record: RunRecord) -> ChosenModels:
        """Return the models of a run, by the number of the fold.

        For the shown run, these are the models that the user has chosen.
        """
        choice = self._session.choice if record is self._runs.shown else None
        return chosen_models(record, self._measured.view(record), choice)

    def _request(self, a: RunRecord, b: RunRecord | None) -> QueryRequest | None:
        """Return the request to compare A and B on shared folds and the chosen part.

        Without a run B, A is compared with the best single feature of
        each fold. The result is None without data.
        """
        session = self._session
        dataset = self._session.dataset
        if dataset is None:
            return None
        part = str(self.bar.part.value())
        models_a = {fold: chosen.step for fold, chosen in self._models(a).items()}
        models_b = (
            self._steps(b)
            if b is not None
            else {fold: self._single(a, fold) for fold in models_a}
        )
        only_session_fold = self.bar.is_one_fold() and session.fold is not None
        folds = tuple(
            fold.number
            for fold in dataset.folds
            if part in fold.parts
            and fold.number in models_a
            and fold.number in models_b
            if not only_session_fold or fold.number == session.fold
        )
        return QueryRequest(
            dataset,
            folds,
            part,
            models_a,
            models_b,
            session.measure,
            session.convention,
        )

    def _steps(self, record: RunRecord) -> dict[int, Step]:
        """Return the chosen model of a run on each fold."""
        models = chosen_models(record, self._measured.view(record))
        return {fold: chosen.step for fold, chosen in models.items()}

    def _model_numbers(self, record: RunRecord) -> tuple[tuple[int, int, int], ...]:
        """Return the numbers that identify the model of each fold of a run.

        The numbers are the fold, the position of the combination of
        parameters, and the step.
        """
        models = chosen_models(record, self._measured.view(record))
        return tuple(
            (fold, chosen.unit.position, chosen.step.number)
            for fold, chosen in models.items()
        )

    def _single(self, record: RunRecord, fold: int) -> Step:
        """Return the best single feature of a fold as a model, the same object each time."""
        key = record.key, fold
        if key not in self._singles:
            ids = record.dataset.feature_ids.tolist()
            self._singles[key] = baseline_step(record.folds[fold].baseline, ids)
        return self._singles[key]

    # Results

    def _show(self, request: QueryRequest, comparison: QueryComparison) -> None:
        """Show a comparison in all panels, with the query that the user chose before."""
        self._shown = request, comparison
        self.comparison.show_comparison(comparison)
        self.comparison.legend.show_models(
            self.bar.a.currentText(), self.bar.b.currentText()
        )
        self.list.show_comparison(comparison)
        if not comparison.queries:
            self._clear(_NO_QUERIES_TEXT)
            return
        index_of = {
            (query.fold, query.position): index
            for index, query in enumerate(comparison.queries)
        }

        # Without such a query, the first one, with the largest loss of
        # B, is shown. No query is (0, 0), as folds are counted from 1.
        self._pick(index_of.get(self._chosen_query or (0, 0), 0))
        self._list_wanted()

    @Slot(int)
    def _on_picked(self, position: int) -> None:
        """Show the documents of a query that the user picked, by its position in the comparison.

        The query is shown again when other models are compared.
        """
        if self._shown is not None:
            query = self.queries[position]
            self._chosen_query = query.fold, query.position
            self._pick(position)

    def _pick(self, position: int) -> None:
        """Show the documents of a query, given by its position in the comparison."""
        if self._shown is not None:
            self._picked_position = position
            self.comparison.plot.select(position)
            self.list.select(position)
            self._ranked.update()

    def _ranked_key(self) -> Key | None:
        """Return request, comparison and query of the shown documents, or None."""
        return None if self._shown is None else (*self._shown, self._picked_position)

    def _rank(self) -> Computation | None:
        """Return the computation that ranks the documents of the picked query, or None."""
        if self._shown is None:
            return None
        request, comparison = self._shown
        query = comparison.queries[self._picked_position]

        def show(ranked_query: RankedQuery) -> None:
            """Show the documents of `query`, with its measures by `request`."""
            self.documents.show_query(query, ranked_query, request.measure)

        title = tr("Ranking query {query_id}").format(query_id=query.query_id)
        return computation(title, show, self._tasks.rank, request, query)

    def _clear(self, reason: str) -> None:
        """Show a reason instead of a comparison."""
        self._shown = None
        self._show_nothing(reason)
        self._feeder.stop()
        self.ablation.clear("")

    def _show_nothing(self, reason: str) -> None:
        """Show a reason instead of queries."""
        self._ranked.forget()
        self.comparison.clear(reason)
        self.list.clear("")
        self.documents.clear("")

    def _fail(self, reason: str) -> None:
        """Show the reason for an error."""
        self._clear(reason)
        self.failed.emit(reason)

    # Choices

    @Slot(int)
    def _look_at(self, index: int) -> None:
        """Show the run at an index of the box for A, which becomes A."""
        key = self.bar.a.itemData(index)
        look_at(self._session, self._runs, self._runs.record(key))

    @Slot(int)
    def _compare_with(self, index: int) -> None:
        """Compare with the run at an index of the box for B."""
        self._chosen_b = int(self.bar.b.itemData(index))
        self.update()

    @Slot(int)
    def _forget_run(self, key: int) -> None:
        """Forget the choice and the single features of a run that is removed, by its key."""
        if self._chosen_b == key:
            self._chosen_b = None
        self._singles = {
            (run, fold): step
            for (run, fold), step in self._singles.items()
            if run != key
        }

    @Slot()
    def _forget_choices(self) -> None:
        """Forget part, query and filter of the list when other data are opened."""
        if self._session.plan.data != self._data:
            self._data = self._session.plan.data
            self._chosen_query = None
            self._queries_to_list = None
            self.bar.forget_part()
            self.list.forget_filter()

    @Slot()
    def _forget(self) -> None:
        """Forget everything when all runs are removed: new runs have the same keys."""
        self._feeder.stop()
        self._comparison_demand.forget()
        self._chosen_b = None
        self._last_b = None
        self._chosen_query = None
        self._singles.clear()
        self.update()
