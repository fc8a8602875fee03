"""The Evidence page's controller: how sure the shown selection is, computed while the page is seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.splitting.query_halves import (
    LEAST_DOCUMENTS,
    has_halves,
)
from rankstudio.engine.data.summary import is_wide
from rankstudio.engine.experiment.plan.hand_choice import (
    HandChoice,
    HandChoices,
    hand_choices_text,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.engine.methods.catalog.selectors import GREEDY_RANKRLS
from rankstudio.plugins.evidence.window.best_set_panel import (
    BestSetPanel,
    best_of_size,
    gap_so_far,
)
from rankstudio.plugins.evidence.window.evidence import Evidence, Package, Progress
from rankstudio.plugins.evidence.window.evidence_panel import (
    DECIDING,
    NOTHING,
    EvidencePanel,
    EvidenceRow,
)
from rankstudio.plugins.evidence.window.importance import Importance
from rankstudio.plugins.evidence.window.probability_panel import ProbabilityPanel
from rankstudio.plugins.evidence.window.sets_panel import NOTHING as NO_SETS
from rankstudio.plugins.evidence.window.sets_panel import TOO_MANY, SetsPanel
from rankstudio.plugins.evidence.window.sizes_dialog import SizesDialog
from rankstudio.plugins.evidence.window.stop_panel import TOO_LARGE, StopPanel
from rankstudio.plugins.evidence.window.validity import Validity
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import SelectedModel
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PageController, PanelsOf
from rankstudio.ui.plots.maps.set_matrix import EXCLUDED, FREE, REQUIRED
from rankstudio.ui.process.turns import single_shot, turns
from rankstudio.ui.select.shown_paths import smallest_set_of
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.table import RowAction

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.best_subset import SizedSubset
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.model_validity import MeasuredValidity

_EVERY_FOLD = tr(
    "Each fold has its own features. Choose a single fold to see the evidence for them."
)
_FEW_DOCUMENTS = tr(
    "The evidence compares selections on halves of the documents, and these are too few: {n} of one ranking. "
    "At least {least} are needed."
)
_ONE_QUERY = tr(
    "The evidence compares queries, and the training documents have only one."
)
_NO_DOCUMENTS = tr("Open the data to see how sure the selection is.")
_TOO_MANY = tr(
    "The evidence compares sets of features, and these are too many, or sparse. Run a filter such as Mutual "
    "information, export “Data with the selected features” and open them."
)
_HALVING_DOCUMENTS = tr("Selecting on halves of the documents …")
_USES_ALL_TEXT = tr("This method uses all features, so there is no selection to judge.")
_DOING = {
    Package.FEATURES: tr("Selecting on halves of the queries …"),
    Package.BEST: tr("Searching …"),
    Package.NEAR: tr("Comparing sets with the best one …"),
    Package.STOP: tr("Testing the steps …"),
}
_PERMUTE_TEXT = tr(
    "This method uses all features. Permute them to see what the model loses without the values of each."
)
_LEAST_QUERIES = 3  # minimum number of queries for which a best set is defined
_LOSS = "regularization", "cost", "ties", "weighting"
"""Parameters of greedy RankRLS that RankRLS has, too."""
_SOON_MILLISECONDS = 60  # interval at which growing results are drawn
# state of a feature after a click
_STATE_AFTER_CLICK = {FREE: REQUIRED, REQUIRED: EXCLUDED, EXCLUDED: FREE}


class EvidenceController(PageController):
    """The controller of the Evidence page, which feeds its panels.

    The panels show the evidence for the shown selection. The controller
    also runs the sets that the user chooses on the page.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    queriesAsked = Signal(int, object)
    """The user lists queries: number of the fold, and positions of the queries in its training part."""
    comparisonShown = Signal(int)
    """Two runs are ticked for comparison: the Compare page shows the run with this key."""

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._models = models
        self._session = models.session
        self._current = models.current
        self._absence = models.absence
        self.evidence = Evidence(
            models.session,
            models.runs,
            models.current,
            models.task_worker,
            models.fold_cache,
            models.study_store,
            self,
        )
        self.panel = EvidencePanel(theme)
        self.best = BestSetPanel(theme)
        self.sets = SetsPanel(theme)
        self.probability = ProbabilityPanel(theme)
        self.stop = StopPanel(theme)
        self.importance = Importance(
            models.session,
            models.runs,
            models.current,
            models.task_worker,
            self.evidence,
            self,
        )
        self.validity = Validity(
            models.session,
            models.runs,
            models.current,
            models.task_worker,
            self.evidence,
            self,
        )
        self.panels = self.panel, self.best, self.sets, self.probability, self.stop
        self.evidence.is_view_visible = self.panel.isVisible
        self.importance.is_view_visible = lambda: (
            self.panel.isVisible() and self._offers_permuting
        )
        self.validity.is_view_visible = lambda: (
            self.panel.isVisible() and self.probability.shows_validity
        )
        # The conditions of the user on the sets, REQUIRED or EXCLUDED
        # by feature id, and the key of the selection they are for.
        self._conditions: dict[int, int] = {}
        self._conditions_key: object = None
        self._constrained_best: SizedSubset | None = None
        self._validity_shown: MeasuredValidity | None = None
        for panel in (self.panel, self.probability):
            panel.inspected.connect(self._session.inspectAsked)
        self.panel.appeared.connect(self.update)
        self.panel.table.thresholdMoved.connect(self.evidence.set_threshold)
        self.panel.table.cellClicked.connect(self._on_clicked)
        self.panel.smallest.asked.connect(self._choose)
        self.sets.plot.picked.connect(self._toggle)
        self.best.use.clicked.connect(self.use_best)
        self.best.compare.clicked.connect(self.compare_best)
        self.best.sizes.clicked.connect(self.show_sizes)
        self._work_rows = {
            Package.FEATURES: self.panel.work,
            Package.BEST: self.best.work,
            Package.NEAR: self.sets.work,
            Package.STOP: self.stop.work,
        }

        for package, work_row in self._work_rows.items():
            work_row.button.clicked.connect(
                lambda _=False, package=package: self.evidence.start(package)
            )
            work_row.stop.clicked.connect(lambda _=False: self.evidence.stop())

        self.panel.permuting.button.clicked.connect(
            lambda _=False: self.importance.start()
        )
        self.panel.permuting.stop.clicked.connect(
            lambda _=False: self.importance.stop()
        )
        validity_work = self.probability.validity.work
        validity_work.button.clicked.connect(lambda _=False: self.validity.start())
        validity_work.stop.clicked.connect(lambda _=False: self.validity.stop())
        self.probability.viewed.connect(self.validity.follow_selection)
        for measurement in (self.importance, self.validity):
            measurement.changed.connect(self._ask)
            measurement.failed.connect(self.failed)
            self.evidence.changed.connect(measurement.follow_selection)
        self._best_with = OnDemand(
            parent=self,
            worker=models.task_worker,
            key=self._asked_key,
            compute=self._search,
            failed=self.failed.emit,
            slot="best-with",
            panel=self.sets,
        )

        for signal in (self.evidence.changed, self.evidence.grew):
            signal.connect(self._ask)
        self.evidence.failed.connect(self.failed)
        self._session.inspected.connect(self._mark)
        models.absence.changed.connect(self._ask)

        # state that each panel shows, by name of the panel
        self._shown: dict[str, tuple[object, ...]] = {}
        self._soon = single_shot(_SOON_MILLISECONDS, self._begin, self)

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        # (widget, its share of spare space, its usual size in pixels)
        left_column = column("evidence-left", (self.panel, 3, 352), (self.sets, 2, 243))
        self._right = column(
            "evidence-right",
            (self.best, 0, 132),
            (self.probability, 1, 220),
            (self.stop, 1, 243),
        )
        return row("evidence", (left_column, 5, 750), (self._right, 3, 438))

    @Slot()
    def update(self) -> None:
        """Show the evidence of the shown selection, and have it computed while visible."""
        self.evidence.follow_selection()
        self._ask()

    @Slot(object, str)
    def _on_clicked(self, row: EvidenceRow, column: str) -> None:
        """Show the deciding queries of a feature after a click on their number."""
        if column == DECIDING:
            self.show_deciding(row.feature)

    def show_deciding(self, feature: int) -> None:
        """Ask for a list of the queries that decide the step of a feature, by its id.

        They decide the step at which the feature was selected: without
        them, another feature would have been. Nothing is asked for if
        none are known.
        """
        queries = self._deciding(feature)
        model = self.evidence.model
        if queries and model is not None:
            self.queriesAsked.emit(model.fold.number, queries)

    def _deciding(self, feature: int) -> tuple[int, ...]:
        """Return the positions of the queries that decide the step of a feature, by its id.

        Without these queries, the step would select another feature.
        The result is () if no such queries are known.
        """
        evidence = self.evidence.found
        ids, _ = self._columns
        steps = evidence.deciding if evidence is not None else None
        return next(
            (step.queries for step in steps or () if ids[step.feature] == feature), ()
        )

    def actions(self, feature: int) -> list[RowAction]:
        """Return the actions of the menu of a feature's row: to list its deciding queries, if any."""
        action = RowAction(
            tr("List the deciding queries"), partial(self.show_deciding, feature)
        )

        # `lists_queries`: there is a page that can list them
        return (
            [action]
            if self.panel.table.lists_queries and self._deciding(feature)
            else []
        )

    @Slot(int)
    def _mark(self, feature: int) -> None:
        """Highlight the inspected feature, by its id, in the plot and in the table."""
        self.probability.plot.mark(feature)
        rows = [
            evidence_row
            for evidence_row in self.panel.table.rows()
            if evidence_row.feature == feature
        ]
        self.panel.table.select(rows[0] if rows else None, scroll=False)

    def show_path(self) -> None:
        """Show the view of the whole path."""
        self.stop.show_path()
        self._place_stop()

    def can_judge(self, record: RunRecord) -> bool:
        """Return whether some selection of a run can have evidence: links to the page ask this.

        A method that uses all features has no evidence, and neither has
        one ranking of few documents. Preferences need several queries.
        """
        if not record.plan.entry.selects:
            return False
        trains = [fold.train for fold in record.dataset.folds]
        if preferences_of(record.plan):
            return any(train.n_queries > 1 for train in trains)
        return any(train.n_queries > 1 or has_halves(train) for train in trains)

    # What is shown

    @Slot()
    def _ask(self) -> None:
        """Draw the panels soon: all results that are known by then are drawn together."""
        if not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _begin(self) -> None:
        """Draw each panel in its own turn of the event loop: the window stays responsive."""
        turns().ask(
            self._show_smallest,
            self._show_work,
            self._show_features,
            self._show_validity,
            self._show_best,
            self._show_sets,
            self._show_stop,
        )

    @Slot()
    def _show_smallest(self) -> None:
        """Show the smallest set that is not significantly worse than the best, beside the chosen set."""
        if self.panel.isVisible():
            model = self._current.model
            ids, _ = self._columns
            sets = (
                None
                if model is None
                else smallest_set_of(model, self._current.shown.record)
            )
            self.panel.smallest.show_sets(sets, ids)

    @Slot(int)
    def _choose(self, x_value: int) -> None:
        """Choose a set of the path of the current model.

        ``x_value`` is its number of features, or the number of its
        step, as on the x axis of the curves.
        """
        model = self._current.model
        if model is not None:
            self._session.select(model.values, x_value)

    @Slot()
    def _show_work(self) -> None:
        """Show the progress of each package, and the panels that apply.

        Before there are results, panels have placeholders. A package is
        the evidence that one panel shows and that is computed together.
        """
        if not self.panel.isVisible():
            return
        evidence = self.evidence
        model = self.evidence.model
        gap = gap_so_far(evidence.found)

        # A search for the best set tells how far it is from its proof.
        for package, work_row in self._work_rows.items():
            text = gap if package is Package.BEST and gap else self._doing(package)
            work_row.show_state(
                evidence.progress(package),
                evidence.seconds(package),
                evidence.share,
                text,
                is_bound=evidence.is_bound(package),
            )

        # Losses by permutation stand in for losses that cannot be computed.
        permuted = self.importance
        progress = permuted.progress if self._offers_permuting else Progress.ABSENT
        doing = tr("Permuting features …")
        self.panel.permuting.show_state(
            progress, permuted.seconds, permuted.share, doing
        )

        # Panels that do not apply are hidden. Before the first run, all
        # are shown.
        shows_placeholders = self._shows_placeholders
        shows_sets = evidence.all_parts_apply or shows_placeholders
        self.stop.show_steps(evidence.can_test_steps or shows_placeholders)
        self.best.setVisible(shows_sets)
        self.sets.setVisible(shows_sets and not evidence.has_too_many_sets)
        self._place_stop()

        # A method that only ranks (`_ranks`) selects nothing on halves.
        has_halves = not self._ranks and (model is not None or not evidence.one_ranking)
        has_validity = self.validity.progress is not Progress.ABSENT
        self.probability.show_views(halves=has_halves, validity=has_validity)
        self._right.setVisible(
            has_halves or has_validity or self.stop.isVisibleTo(self._right)
        )
        self.panel.show_unit(one_ranking=evidence.one_ranking)
        if evidence.found is None or model is None:
            is_offered = evidence.progress(Package.FEATURES) in (
                Progress.OFFERED,
                Progress.STOPPED,
            )
            reason = self._why_none() if model is None else tr("Computing …")
            self._shown.clear()  # no panel shows evidence any more
            if not self._show_importance():
                self.panel.clear(
                    tr("The evidence has not been computed.") if is_offered else reason
                )
            for panel in (self.best, self.probability, self.stop):
                panel.clear()
            self.sets.clear(TOO_MANY if evidence.has_too_many_sets else NO_SETS)
        self.best.sizes.setText(
            tr("Sizes 1 to {most}…").format(most=evidence.largest_size)
        )
        self.best.sizes.setVisible(evidence.all_parts_apply and model is not None)

    def _doing(self, package: Package) -> str:
        """Return the text that is shown while a package is computed.

        A package is a part of the evidence that is computed as a whole.
        """
        if package is Package.FEATURES and self.evidence.one_ranking:
            return _HALVING_DOCUMENTS
        return _DOING[package]

    @property
    def _offers_permuting(self) -> bool:
        """Whether to offer losses with features permuted.

        The losses are offered where losses without each feature cannot
        be computed. That is the case for a method that selects no
        features, and for a selection whose evidence is complete and has
        no losses.
        """
        evidence = self.evidence
        model = self._current.model
        if model is None or preferences_of(model.plan):
            return False
        if evidence.model is None:  # no evidence applies to the shown model
            return not model.plan.entry.selects
        selection_evidence = evidence.found
        is_measured = (
            selection_evidence is not None
            and evidence.progress(Package.FEATURES) is Progress.DONE
        )
        return (
            is_measured
            and selection_evidence is not None
            and selection_evidence.losses is None
        )

    @property
    def _ranks(self) -> bool:
        """Whether the model's method selects no features, so that they can only be permuted."""
        return self._offers_permuting and self.evidence.model is None

    @property
    def _shows_placeholders(self) -> bool:
        """Whether all panels of a selection are shown with placeholders, as there is no evidence yet.

        False for one ranking, which has no evidence for most of the panels.
        """
        has_evidence = self.evidence.model is not None
        return not (has_evidence or self._ranks or self.evidence.one_ranking)

    def _show_importance(self) -> bool:
        """Show the losses of a model that selects no features; return whether they are known."""
        importance = self.importance.found if self._offers_permuting else None
        if importance is None:
            return False
        self.panel.show_importance(
            importance, *self._columns, by_validation=self.importance.by_validation
        )
        return True

    def _changed_evidence(
        self, panel_name: str, *parts: object
    ) -> SelectionEvidence | None:
        """Return the evidence for the shown selection if a panel does not show it yet, otherwise None.

        Parameters
        ----------
        panel_name : str
            Key under which the state that the panel shows is remembered.
        *parts : object
            What the panel depends on: names of attributes of the
            evidence, or values.
        """
        evidence = self.evidence.found
        model = self.evidence.model
        if evidence is None or model is None or not self.panel.isVisible():
            return None

        # A part that names no attribute of the evidence is itself the value.
        state = (
            self.evidence.key,
            evidence.rules,
            *(getattr(evidence, str(part), part) for part in parts),
        )
        shown_state = self._shown.get(panel_name, ())

        # Identity first: arrays have no single answer to ==.
        is_same = len(shown_state) == len(state) and all(
            a is b or a == b for a, b in zip(shown_state, state, strict=True)
        )
        self._shown[panel_name] = state
        return None if is_same else evidence

    @property
    def _columns(self) -> tuple[list[int], tuple[str, ...]]:
        """Ids and names of the data's columns, as two sequences; both are empty without data."""
        dataset = self._session.dataset
        return (
            (dataset.feature_ids.tolist(), dataset.feature_names)
            if dataset is not None
            else ([], ())
        )

    @Slot()
    def _show_features(self) -> None:
        """Show the table of features and the curves of their probabilities, if anything is new."""
        permuted = self.importance.found if self._offers_permuting else None
        costs = self._session.plan.extension(FeatureCosts)

        # The table is drawn again if one of these has changed: the
        # attributes of the evidence with these names, and the other
        # values. Other losses are another object, and so have another
        # id.
        evidence = self._changed_evidence(
            "features",
            "stability",
            "losses",
            "shares",
            "deciding",
            "done",
            "near_best",
            self._session.measure,
            id(permuted),
            costs,
        )
        if evidence is not None:  # `_columns` are ids and names of the columns
            self.panel.show_evidence(
                evidence, *self._columns, self._session.measure, permuted, costs
            )

        # The curves depend on the attribute `stability` only.
        evidence = self._changed_evidence("probability", "stability")
        if evidence is not None:
            self.probability.show_probability(evidence, *self._columns)

    @Slot()
    def _show_validity(self) -> None:
        """Show validity and completeness of the shown model, or the progress of their computation."""
        view = self.probability.validity
        if not view.isVisible():
            return
        validity = self.validity
        view.work.show_state(
            validity.progress,
            validity.seconds,
            validity.share,
            tr("Masking features …"),
        )
        measured = validity.found
        if self._validity_shown is measured:
            return
        self._validity_shown = measured
        if measured is None:
            self.probability.clear_validity()
        else:
            self.probability.show_validity(measured, self._columns[0])

    @Slot()
    def _show_best(self) -> None:
        """Show the best set, if anything is new; only methods with exact errors have one."""
        is_done = self.evidence.progress(Package.BEST) is Progress.DONE

        # The panel "best" is drawn again if one of these has changed:
        # the attributes `best` and `near_best` of the evidence, whether
        # the method has exact left-out errors (`all_parts_apply`), and
        # whether the search has ended.
        evidence = self._changed_evidence(
            "best", "best", "near_best", self.evidence.all_parts_apply, is_done
        )
        model = self.evidence.model
        if evidence is not None and model is not None and self.evidence.all_parts_apply:
            # Why no best set is shown, although the search has ended:
            # the data are too large, unless they have too few queries
            # for any best set.
            missing = (
                TOO_LARGE if is_done and evidence.n_queries >= _LEAST_QUERIES else ""
            )
            self.best.show_best(
                evidence, model.step.criterion, self._columns[0], missing
            )

    @Slot()
    def _show_sets(self) -> None:
        """Show the sets as good as the best, under the user's conditions, if anything is new.

        A condition requires or excludes a feature. First, the
        conditions are forgotten if they are for another selection.
        """
        self._forget_conditions()
        conditions = tuple(sorted(self._conditions.items()))

        # The panel of sets is drawn again if one of these has changed:
        # the attributes `best` and `near_best` of the evidence, and the
        # other values. Sets are compared by exact left-out errors:
        # `all_parts_apply` says whether the method of the selection has
        # such errors.
        evidence = self._changed_evidence(
            "sets",
            "best",
            "near_best",
            conditions,
            self._constrained_best,
            self.evidence.all_parts_apply,
        )
        model = self.evidence.model
        if evidence is not None and self.evidence.has_too_many_sets:
            self.sets.clear(TOO_MANY)
        elif (
            evidence is not None and model is not None and self.evidence.all_parts_apply
        ):
            ids, names = self._columns
            self.sets.show_sets(
                evidence,
                model.step.criterion,
                ids,
                names,
                self._conditions,
                self._constrained_best,
            )

    @Slot()
    def _show_stop(self) -> None:
        """Show the tests of the steps and the left-out curve, if anything is new."""
        progress = self.evidence.progress(Package.STOP)
        has_steps = self.evidence.can_test_steps
        is_final = progress is not Progress.RUNNING
        is_done = progress is Progress.DONE

        # The panel "stop" is drawn again if one of these has changed:
        # the attributes `significance` and `repeated` of the evidence,
        # and the other values.
        evidence = self._changed_evidence(
            "stop", "significance", "repeated", is_final, has_steps, is_done
        )
        if evidence is not None:
            ids, _ = self._columns
            self.stop.show_stop(
                evidence, ids, can_test=has_steps, final=is_final, is_done=is_done
            )

    def _place_stop(self) -> None:
        """Show the panel "Where to stop" if it applies to the steps or to the whole path."""
        shows_steps = self.evidence.can_test_steps or self._shows_placeholders
        self.stop.setVisible(shows_steps or self.stop.path_possible())

    def _why_none(self) -> str:
        """Return a sentence on why no evidence applies to the shown model."""
        model = self._current.model
        if model is None:
            return self._absence.fold_model(_EVERY_FOLD, NOTHING)

        # The method uses all features, which can perhaps be permuted instead.
        if not model.plan.entry.selects:
            return (
                _PERMUTE_TEXT
                if self._offers_permuting
                and self.importance.progress is not Progress.ABSENT
                else _USES_ALL_TEXT
            )
        train = model.fold.train
        if self.evidence.one_ranking and not has_halves(train):
            return _FEW_DOCUMENTS.format(n=train.n_documents, least=LEAST_DOCUMENTS)
        if train.n_queries == 1 and not self.evidence.one_ranking:
            return _ONE_QUERY
        if is_wide(model.fold.train):  # many features, or sparse ones
            return _TOO_MANY
        return self._absence.documents(_NO_DOCUMENTS)

    # Sets with some features

    @Slot(int)
    def _toggle(self, feature: int) -> None:
        """Change the user's condition on a feature, by its id: from free to required, to excluded, to free.

        For a moment after the page appears, it may still show the sets
        of another selection. Clicks on these sets are ignored.
        """
        # The first value that the panel depends on is the key of its selection.
        if self._shown.get("sets", (None,))[0] != self.evidence.key:
            return
        self._forget_conditions()
        state = _STATE_AFTER_CLICK[self._conditions.pop(feature, FREE)]
        if state != FREE:
            self._conditions[feature] = state
        self._constrained_best = None
        self._best_with.update()  # searches the best set under the conditions
        self._ask()  # draws the panels soon

    def _forget_conditions(self) -> None:
        """Forget the required and excluded features once another selection is shown."""
        if self._conditions_key != self.evidence.key:
            self._conditions_key = self.evidence.key
            self._conditions.clear()
            self._constrained_best = None
            self._best_with.forget()

    def _asked_key(self) -> Key | None:
        """Return the key of the search for the best set under the user's conditions.

        Conditions are features that the set must or must not have. The
        key is None without conditions.
        """
        key = self.evidence.key
        if key is None or key != self._conditions_key or not self._conditions:
            return None
        return (*key, *sorted(self._conditions.items()))

    def _search(self) -> Computation | None:
        """Return the computation of the best set under the user's conditions; None without data."""
        request = self.evidence.search_request
        dataset = self._session.dataset
        if request is None or dataset is None:
            return None
        columns = {
            int(feature): index for index, feature in enumerate(dataset.feature_ids)
        }

        # The columns with each of the two conditions; `_conditions` has
        # them by feature id.
        required, excluded = (
            [
                columns[feature]
                for feature, state in self._conditions.items()
                if state == condition
            ]
            for condition in (REQUIRED, EXCLUDED)
        )
        text = tr("Searching for the best set")
        best_with = self.evidence.tasks.best_with
        return computation(
            text, self._take_best, best_with, request, required, excluded
        )

    def _take_best(self, subset: SizedSubset) -> None:
        """Keep the best set under the user's conditions, and show it."""
        self._constrained_best = subset
        self._ask()

    # Runs of sets

    @Slot()
    def use_best(self) -> None:
        """Run the best set."""
        best_set = best_of_size(self.evidence.found)
        if best_set is not None:
            self._use(best_set)

    @Slot()
    def compare_best(self) -> None:
        """Run the best set and the selection, and compare the two."""
        best_set = best_of_size(self.evidence.found)
        model = self.evidence.model
        if best_set is None or model is None:
            return
        k = best_set.size
        selection = self.run_set(
            model.step.selected, tr("Selection of {k}").format(k=k), is_shown=False
        )
        best = self.run_set(
            best_set.features, tr("Best set of {k}").format(k=k), is_shown=False
        )
        if selection is None or best is None:
            return

        # The two runs alone are ticked for comparison, and the
        # selection is the reference.
        marks = self._models.marks
        marks.refer_to(selection.key)

        for record in self._models.runs.records:
            marks.tick(record.key, record in (selection, best))
        self.comparisonShown.emit(best.key)

    @Slot()
    def show_sizes(self) -> None:
        """Open a dialog that lists the best set of each size, and searches while it is open."""
        request = self.evidence.search_request
        dataset = self._session.dataset
        models = self._models
        if request is None or dataset is None:
            return
        largest = max(self.evidence.largest_size, 2)  # at least two sizes
        search = partial(self.evidence.tasks.best_sets, request, largest)
        ids = dataset.feature_ids.tolist()
        self.sizes = SizesDialog(
            self._theme, models.task_worker, search, ids, self.best.window()
        )
        self.sizes.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.sizes.chosen.connect(self._use)
        self.sizes.search.failed.connect(self.failed)
        self.sizes.open()

    @Slot(object)
    def _use(self, subset: SizedSubset) -> None:
        """Run the best set of a size on the shown fold."""
        self.run_set(subset.features, tr("Best set of {k}").format(k=subset.size))

    def compare_set(self, columns: Sequence[int], name: str) -> None:
        """Run a model with exactly some features, and compare this run with the shown one.

        The two runs have the same folds. ``columns`` are the 0-based
        columns of the features, and ``name`` is the name of the new
        run.
        """
        source = self._models.runs.shown
        marks = self._models.marks
        record = self.run_set(columns, name, is_shown=False, all_folds=True)
        if record is None:
            return

        # Ticked runs are compared.
        for compared_run in (source, record):
            if compared_run is not None:
                marks.tick(compared_run.key, True)
        self.comparisonShown.emit(record.key)

    def run_set(
        self,
        columns: Sequence[int],
        name: str,
        *,
        is_shown: bool = True,
        all_folds: bool = False,
    ) -> RunRecord | None:
        """Run exactly some features on the shown fold, unless there is such a run; return the run.

        Parameters
        ----------
        columns : sequence of int
            0-based columns of the data.
        name : str
            Name of the run.
        is_shown : bool
            Whether the window shows the run from now on.
        all_folds : bool
            Whether the new run has all folds of the run whose model is
            shown, so that the two runs can be compared.
        """
        model = self.evidence.model
        dataset = self._session.dataset
        runs = self._models.runs
        if model is None or dataset is None:
            return None

        # A run of greedy RankRLS in which all features are pinned, so
        # that its path is the one set.
        ids = tuple(sorted(int(dataset.feature_ids[column]) for column in columns))
        values = _greedy_values(model)
        if all_folds:  # λ is chosen on each fold
            values |= _greedy_grids(model)
        settings = {
            "pinned": ids,
            "banned": (),
            "n_features_to_select": 1,
            "search": "forward",
        }
        one_fold = (model.fold.number,) if len(dataset.folds) > 1 else ()

        # The plan records that the user has seen this fold when
        # choosing the features by hand.
        earlier_choices = model.plan.extension(HandChoices)
        choice = HandChoice(model.plan.fold_origin, model.fold.number)
        choices = {
            *(earlier_choices.choices if earlier_choices is not None else ()),
            choice,
        }
        plan = model.plan.changed(
            method=GREEDY_RANKRLS.key,
            parameters={**values, **settings},
            **(
                {}
                if model.plan.method == GREEDY_RANKRLS.key
                else {"ranker": "", "ranker_parameters": {}}
            ),
            # the features are one group, so that the path has this one model
            groups={tr("set"): ids},
            folds=model.plan.folds if all_folds else one_fold,
            rule="best",
            hand_chosen=hand_choices_text(tuple(choices)),
        )

        # Show a run of the same set instead of a second one.
        for record in runs.records:
            is_same = (
                _defining_parts(record.plan) == _defining_parts(plan)
                and record.dataset is dataset
            )
            if is_same and not record.failure:
                break
        else:
            record = runs.start(plan, dataset, is_shown=False)
            record.label = RunLabel(name)
            runs.labelled.emit(record)

        if is_shown:
            look_at(self._session, runs, record)
        return record


def _greedy_values(model: SelectedModel) -> dict[str, Any]:
    """Return the parameters of greedy RankRLS with the loss and λ of a model.

    If greedy RankRLS selected the model's features, all its parameters
    are those of the model. Otherwise the loss and λ are those of the
    RankRLS that learned the model from the features; the others have
    their defaults.
    """
    # The values of all parameters for this model: `parameters` are
    # those of the selector, `ranker` those of the final ranker, if the
    # plan has one.
    combination = model.plan.combination(model.values)
    if model.plan.method == GREEDY_RANKRLS.key:
        values = dict(combination.parameters)
    else:
        # The final ranker learns the model from the selected features.
        # Without one, the selector learns it, with its own λ and loss.
        ranked = combination.ranker if model.plan.ranker else combination.parameters
        defaults = {
            parameter.name: parameter.values(parameter.default)[0]
            for parameter in GREEDY_RANKRLS.parameters
        }

        # `_LOSS` has the names of the parameters for the loss and λ.
        # Their values replace the defaults.
        values = {
            **defaults,
            **{name: ranked[name] for name in _LOSS if name in ranked},
        }

    # A plan has a tuple of values for parameters with a grid, such as λ.
    return {
        **values,
        **{grid.name: (values[grid.name],) for grid in GREEDY_RANKRLS.grids},
    }


def _greedy_grids(model: SelectedModel) -> dict[str, Any]:
    """Return the values of λ that the plan of a model tries, by the name of the parameter.

    If the plan tries no values of λ, the result has the default values.
    """
    plan = model.plan

    # With another selector, a final RankRLS may learn the model from
    # the features; then λ is a parameter of this final ranker.
    is_ranked = plan.ranker and plan.method != GREEDY_RANKRLS.key
    tried_parameters = plan.ranker_parameters if is_ranked else plan.parameters
    return {
        grid.name: tried_parameters.get(grid.name, grid.default)
        for grid in GREEDY_RANKRLS.grids
    }


def _defining_parts(plan: Plan) -> tuple[object, ...]:
    """Return the parts of a plan that determine its models, their folds and measures.

    Two plans with equal parts give equal runs on the same data.
    """
    models = (
        plan.method,
        plan.parameters,
        plan.ranker,
        plan.ranker_parameters,
        feature_groups_of(plan),
        plan.folds,
    )
    return *models, plan.select_by, plan.extension(HandChoices)
