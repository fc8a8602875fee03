"""The Features page's controller: the current model's features, and the inspected feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.feature_groups import Groups, feature_groups_of
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.steps import Step
from rankstudio.plugins.features.window.feature_tasks import FeatureTasks
from rankstudio.plugins.features.window.features_panel import NO_PATH, FeaturesPanel
from rankstudio.plugins.features.window.inspector_panel import SELECT, InspectorPanel
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.selected_model import NO_DOCUMENTS, Shown
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.plugins.features.feature_profile import FeatureProfile

# pause after a choice before a feature's profile is computed
_SETTLED_MILLISECONDS = 120

# shown during the test, so that the room for the measures is kept
_TESTING_TEXT = tr("test: …")

_NO_DOCUMENTS_TEXT = tr("Open the data to see the values of a feature by relevance.")
_NOT_CHOSEN_TEXT = tr("Only the chosen model is tested.")
_EVERY_FOLD_TEXT = tr(
    "Each fold has its own features. Choose a single fold to see them."
)


class FeaturesController(PageController):
    """Shows paths and feature profiles, and applies the user's actions on them to the session.

    The Select page and the Features page each have a path (the features
    of the inspected model) and an inspector (the profile of the
    inspected feature). A path is only updated while it is visible.

    Parameters
    ----------
    theme : Theme
    models : Models
        Session and current model to show, and the worker that computes
        profiles of features.

    Attributes
    ----------
    tasks : FeatureTasks
        Computations that the controllers of the page share.
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        session = models.session
        current = models.current
        worker = models.task_worker
        self._session = session
        self._current = current
        self.tasks = FeatureTasks(models.fold_cache)
        self._absence = models.absence
        self._absence.changed.connect(self._explain)

        # Ids of the inspected feature, whose profile is shown, and of
        # the feature in the current row of a path, which is inspected
        # when the row stays for a moment.
        self._feature: int | None = None
        self._marked_feature: int | None = None
        self._inspect_timer = single_shot(
            _SETTLED_MILLISECONDS, self._inspect_marked, self
        )
        self._model_timer = single_shot(
            _SETTLED_MILLISECONDS, self._inspect_again, self
        )
        self._profile_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._key,
            compute=self._describe,
            failed=self.failed.emit,
            slot="profile",
        )
        self.features = FeaturesPanel(theme)
        self.path = FeaturesPanel(theme, "path")
        self.inspector = InspectorPanel(theme)
        self.profile = InspectorPanel(theme, "profile", tables=True)
        self.panels = self.path, self.profile, self.features, self.inspector
        about = tr("The path with weights, gains and measures.")
        self.features.table.shared = Shared(
            "features", tr("Features table"), about, always=True
        )
        self.inspector.plot.shared = Shared(
            "density", tr("Density by relevance"), always=True
        )
        self._path_panels = (self.features, self.path)
        self._inspectors = (self.inspector, self.profile)
        for panel in self._path_panels:
            panel.picked.connect(self._inspect_size)
            panel.confirmed.connect(current.choose_inspected)
            panel.inspected.connect(self.inspect)
            panel.toggled.connect(self._toggle)
            panel.appeared.connect(self.update)
        for inspector in self._inspectors:
            inspector.inspected.connect(self.inspect)
        session.inspectAsked.connect(self.inspect)
        session.datasetChanged.connect(self._forget)
        session.foldChanged.connect(self._inspect_again)
        session.planChanged.connect(self._inspect_again)
        session.choiceChanged.connect(self._release)
        session.inspectionChanged.connect(self._release_for_inspection)
        session.foldChanged.connect(self._release)
        session.measureChanged.connect(self._show)
        session.measureChanged.connect(self._inspect_again)
        current.changed.connect(self._show)
        current.inspected.connect(self._show)
        current.inspected.connect(self._show_test)
        current.tested.connect(self._show_test)

    @property
    def feature(self) -> int | None:
        """Id of the inspected feature."""
        return self._feature

    @property
    def column(self) -> int | None:
        """Column of the inspected feature in the open data."""
        return self._session.column_of(self._feature)

    @Slot(int)
    def inspect(self, feature: int) -> None:
        """Inspect a feature, by its id, on the training part of the current fold."""
        if self._session.dataset is not None:
            self._feature = feature
            self._profile_demand.update()

    def _key(self) -> Key | None:
        """Return everything on which the profile of the inspected feature depends.

        Return None without a feature. If the method weighs features by
        penalties, the model with its parameters counts.
        """
        fold = self._fold()
        session = self._session
        if fold is None or self._feature is None:
            return None
        weighed = self._weighed_model()
        weighed_key = ""
        if weighed is not None:
            plan, parameters, step = weighed
            weighed_key = repr((plan, parameters, step.number))
        measured = session.convention, session.measure
        return (
            self._feature,
            id(fold),
            *measured,
            session.sealed,
            self._selected(),
            weighed_key,
        )

    def _describe(self) -> Computation | None:
        """Return the computation of the inspected feature's profile; None without documents."""
        # Other panels show which feature is inspected, even if nothing is computed.
        self._session.inspected.emit(self._feature)
        fold = self._fold()
        column = self.column
        if fold is None or column is None or not self._session.has_documents:
            return None
        title = tr("Computing statistics of feature {feature}").format(
            feature=self._feature
        )
        return computation(
            title,
            self._show_profile,
            self.tasks.inspect,
            fold,
            column,
            self._session.convention,
            self._session.measure,
            self._selected(),
            self._weighed_model(),
        )

    def _fold(self) -> Fold | None:
        """Return the fold on whose training part features are inspected."""
        dataset = self._session.dataset
        return (
            (self._session.shown_fold or dataset.folds[0])
            if dataset is not None
            else None
        )

    def show_at(self, feature: int, size: int | None) -> None:
        """Inspect a feature, by its id, at once, and the model with ``size`` features.

        Without a size (None), the model stays. A profile that would be
        computed after a pause is computed now.
        """
        if size is not None:
            self._inspect_size(size)
        for panel in self._path_panels:
            panel.mark(feature)
        self._inspect_timer.stop()
        self._marked_feature = feature
        self.inspect(feature)

    def toggle(self, name: str) -> None:
        """Pin or ban ("pinned", "banned") the inspected feature, or free it if it is pinned or banned."""
        if self._feature is not None:
            self._toggle(name, self._feature)

    @Slot(str, int)
    def _toggle(self, name: str, feature: int) -> None:
        """Pin or ban a feature, by its id, or free it; its row stays marked."""
        for panel in self._path_panels:
            panel.hold(feature)
        self._session.toggle(name, feature)

    @Slot()
    def _show(self) -> None:
        """Show the path of the inspected model, or the reason why there is none."""
        model = self._current.shown.inspected
        dataset = self._session.dataset
        if model is None or dataset is None:
            for panel in self._path_panels:
                title = _list_title(self._current.shown) if dataset is not None else ""
                panel.clear(
                    self._absence.fold_model(_EVERY_FOLD_TEXT, NO_PATH),
                    title,
                    self._session.measure,
                )
            return

        # Mark the chosen model as well, if another model of its path is inspected.
        chosen = self._current.model
        choice = None
        if (
            self._current.shown.inspection is not None
            and chosen is not None
            and chosen.path is model.path
        ):
            choice = chosen.x_value
        self._show_path(
            model.path, model.position, feature_groups_of(model.plan), choice
        )

        # For another feature or another model, the profile is computed
        # after a pause. All panels of paths mark the same row.
        row = self._visible_paths()[0].table.current()
        if row is not None and row.feature_id != self._marked_feature:
            self._marked_feature = row.feature_id
            self._inspect_timer.start()
        elif self._feature is not None:
            self._model_timer.start()

    @Slot()
    def _inspect_marked(self) -> None:
        if self._marked_feature is not None:
            self.inspect(self._marked_feature)

    def _selected(self) -> tuple[int, ...]:
        """Return the columns of the features of the inspected model.

        The profile has the correlations of the inspected feature with
        these features.
        """
        model = self._current.shown.inspected
        return model.step.selected if model is not None else ()

    def _weighed_model(self) -> tuple[Plan, Mapping[str, Any], Step] | None:
        """Return plan, parameters and step of the inspected model.

        Return None if its method does not weigh features by penalties:
        such a method gives a lower weight to a feature that is similar
        to others of the model.
        """
        model = self._current.shown.inspected
        if model is None or not model.plan.entry.weighs_features:
            return None
        return model.plan, model.path.unit.parameters, model.step

    @Slot()
    def _explain(self) -> None:
        """Show the reason for a missing path, or for a missing measure of the test part."""
        if self._current.shown.inspected is None and self._session.fold is not None:
            for panel in self._path_panels:
                panel.explain(self._absence.model(NO_PATH))
        self._show_test()

    @Slot(object, object)
    def show_growing(self, path: PathResult, groups: Groups) -> None:
        """Show the growing path of a run in progress, at its newest step."""
        self._show_path(path, len(path.steps) - 1, groups)

    @Slot()
    def update(self) -> None:
        """Show the present results on a page that was hidden."""
        self._show()
        self._show_test()

    def _visible_paths(self) -> list[FeaturesPanel]:
        """Return the visible panels of a path.

        A path may be on the Select page and on the Features page. If
        neither is visible, return the panel of the Select page.
        """
        return [panel for panel in self._path_panels if panel.isVisible()] or [
            self.features
        ]

    def _show_path(
        self, path: PathResult, position: int, groups: Groups, choice: int | None = None
    ) -> None:
        """Show a path, with the model at a position of it, in the visible panels.

        ``choice`` is the k of the chosen model, which is marked if the
        shown model is another one; else None.
        """
        dataset = self._session.dataset
        if dataset is not None:
            ids = dataset.feature_ids
            names = dataset.feature_names
            title = _list_title(self._current.shown)
            for panel in self._visible_paths():
                panel.set_title(title)
                panel.show_path(
                    path, ids, names, self._session.measure, position, groups, choice
                )

    def _show_profile(self, profile: FeatureProfile) -> None:
        """Show a profile in both inspectors, without the test part while that is sealed."""
        if self._session.sealed:
            parts = {
                name: part for name, part in profile.parts.items() if name != "test"
            }
            profile = replace(profile, parts=parts)
        dataset = self._session.dataset
        feature_set = dataset.extension(FeatureSet) if dataset is not None else None
        for inspector in self._inspectors:
            inspector.show_feature(profile)
            inspector.define(feature_set, profile.feature_id)

    @Slot()
    def _show_test(self) -> None:
        """Show the test measures of the inspected model, or the reason why there are none."""
        current = self._current
        model = self._current.shown.inspected
        if model is None:
            return
        rules = rules_text(model.plan.convention, model.plan.evaluated)

        # A model that the user inspects instead of the chosen one
        # (`inspection`) is not tested. A sealed test part is covered by
        # a link.
        for panel in self._visible_paths():
            if self._session.sealed and model.fold.test is not None:
                panel.cover_test()
            elif current.shown.inspection is not None:
                panel.say_untested(_NOT_CHOSEN_TEXT)
            elif current.untested:  # why the model cannot be tested
                # For missing documents, the present state may have a better reason.
                reason = current.untested
                panel.say_untested(
                    reason
                    if reason != NO_DOCUMENTS
                    else self._absence.documents(reason)
                )
            elif current.test or model.fold.test is None:
                panel.show_test(current.test, rules, current.baseline)
            else:
                panel.say_untested(_TESTING_TEXT)

    @Slot()
    def _forget(self) -> None:
        """Forget the inspected feature when other data are opened.

        Computations for this feature that wait are dropped.
        """
        self._feature = None
        self._marked_feature = None
        self._profile_demand.forget()
        self._release()
        self._inspect_timer.stop()
        self._model_timer.stop()
        lacks_documents = (
            self._session.dataset is not None and not self._session.has_documents
        )
        for inspector in self._inspectors:
            inspector.clear(_NO_DOCUMENTS_TEXT if lacks_documents else SELECT)

    @Slot()
    def _release(self) -> None:
        """Move the mark back to the row of the chosen model."""
        for panel in self._path_panels:
            panel.hold(None)

    @Slot()
    def _release_for_inspection(self) -> None:
        """Move the mark in the visible paths to the inspected model.

        The mark stays where it is if no model is inspected any more,
        for instance after a pin.
        """
        if self._session.inspection is not None:
            self._release()

    @Slot()
    def _inspect_again(self) -> None:
        if self._feature is not None:
            self.inspect(self._feature)

    @Slot(int)
    def _inspect_size(self, k: int) -> None:
        """Inspect the model with k features on the path of the inspected model, if it adds features."""
        model = self._current.shown.inspected
        if model is not None and model.path.step_kind is StepKind.FEATURES:
            self._session.inspect(model.values, k)


def _list_title(shown_path: Shown) -> str:
    """Return the title of the list of features: "Path" for a selector, "Weights" for a ranker without path.

    ``shown_path`` is the path that the page shows.
    """
    is_live = shown_path.inspected is not None and shown_path.inspected.live
    if shown_path.plan.entry.featureless:
        return tr("Given scores")
    if shown_path.plan.entry.selects:
        return tr("Path, not run") if is_live else tr("Path")
    return tr("Weights, not run") if is_live else tr("Weights")
