"""The panel on why features were selected: the map of candidates, their densities, and the controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
    CandidateMap,
    Margin,
    candidate_map,
    margins,
)
from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore, StepKind
from rankstudio.engine.support.number_format import percent
from rankstudio.plugins.features.choice_explanation import (
    TOSS_UP,
    Alternative,
    ChoiceContext,
)
from rankstudio.plugins.features.window.candidate_map_plot import CandidateMapPlot
from rankstudio.plugins.features.window.controller import FeaturesController
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.selected_model import SelectedModel
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.plots import Density, DensityPlot
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.style.number_format import axis_value, combination_label
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.panel import ElidedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.features.compared_densities import ComparedDensities

_NEXT_CHOICE = -1  # data of the item "next on the path", in place of a column
_WAITING_TEXT = tr("Estimating the densities …")
_ONE_VALUE_TEXT = tr(
    "Fewer than two values other than 0 in the validation part: nothing to draw."
)
_X_LABEL = tr("validation value")
_DENSITIES_HELP = tr(
    "The densities that the method compares: Gaussian kernels over the training documents of "
    "each grade, evaluated at the validation values. d is the expected divergence, where "
    "distant grades count more. The score of a feature is its NDCG@10 alone plus d."
)
NO_CANDIDATES = tr("Run a method to see the candidates it compared at each step.")
_UNKNOWN_SCORES_TEXT = tr(
    "This run has no stored candidate scores. Run it again to see them."
)

SCORES = "scores"
RANKS = "ranks"
DENSITIES = "densities"
"""The views of the panel."""

_MAP_CHOICES = ((SCORES, tr("scores")), (RANKS, tr("ranks")))
MapAndMargins = tuple[CandidateMap | None, dict[int, Margin]]
"""The map of candidates, and the margin of each selected column."""


class DensitiesView(QWidget):
    """Plots of the densities by which a method compared two features, side by side.

    The left plot shows the inspected feature. The user chooses the
    feature of the right plot, by default the next one on the path. A
    sentence for each feature shows how its score is composed.

    Attributes
    ----------
    otherChosen : Signal(object)
        Column of the feature that the user chose for the right plot;
        None for the next one on the path.
    """

    otherChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "densities-view", role="page")

        # The inspected feature is on the left, and the feature that the
        # user chooses in the box above the plot, by default the next
        # one on the path, on the right.
        self.plots = (
            named(
                DensityPlot(theme),
                "compared-density-left",
                tr("Densities of the feature"),
            ),
            named(
                DensityPlot(theme),
                "compared-density-right",
                tr("Densities of another feature"),
            ),
        )
        self.name = named(
            ElidedLabel("", Qt.TextElideMode.ElideMiddle),
            "densities-name",
            role="caption",
        )

        # The box has an empty option until features are offered.
        self.choice = named(
            choice_box((("", ""),)), "densities-choice", tr("Compare with")
        )
        self.choice.setToolTip(tr("Feature shown on the right"))
        self.sentence = named(
            PlainLabel(wraps=True), "densities-sentence", role="caption"
        )
        self.sentence.setToolTip(_DENSITIES_HELP)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for column, (above, plot) in enumerate(
            zip((self.name, self.choice), self.plots, strict=True)
        ):
            grid.addWidget(above, 0, column)
            grid.addWidget(plot, 1, column)
            grid.setColumnStretch(column, 1)
        grid.addWidget(self.sentence, 2, 0, 1, 2, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(1, 1)
        self.choice.activated.connect(self._on_activated)
        self.clear()

    def clear(self) -> None:
        """Show no feature, but that densities are being estimated."""
        self.name.setText("")
        self.sentence.clear()
        for plot in self.plots:
            plot.placeholder = _WAITING_TEXT
            plot.set_axes(Axes("", _X_LABEL, show_y=False))
            plot.set_densities(())

    def show_choices(
        self, columns: Sequence[int], names: Sequence[str], chosen: int | None
    ) -> None:
        """Offer features for the right plot.

        Parameters
        ----------
        columns : sequence of int
            Columns of the features, in the order in which they are offered.
        names : sequence of str
            Names of all columns.
        chosen : int or None
            Column of the shown feature; None for the next one on the path.
        """
        with QSignalBlocker(self.choice):
            self.choice.clear()
            self.choice.addItem(tr("next on the path"), _NEXT_CHOICE)
            for column in columns:
                self.choice.addItem(names[column], column)
            index = self.choice.findData(_NEXT_CHOICE if chosen is None else chosen)

            # The index is -1 if the chosen feature is not offered; then
            # the first item, "next on the path", is chosen.
            self.choice.setCurrentIndex(max(0, index))

    def show_densities(
        self, compared_features: Sequence[ComparedDensities], names: Sequence[str]
    ) -> None:
        """Show the densities of one feature, or of two side by side.

        ``compared_features`` has one or two features, and ``names`` the
        names of all columns.
        """
        for index, plot in enumerate(self.plots):
            plot.setVisible(index < len(compared_features))
            if index < len(compared_features):
                densities = compared_features[index]
                plot.placeholder = _ONE_VALUE_TEXT
                plot.set_axes(
                    Axes(f"d = {densities.divergence:.4f}", _X_LABEL, show_y=False)
                )
                plot.setAccessibleName(
                    tr("Densities of {names}, d = {divergence:.4f}").format(
                        names=names[densities.column], divergence=densities.divergence
                    )
                )
                plot.subject = names[densities.column]
                plot.set_densities(
                    [
                        Density(c.label, densities.grid, c.density, c.zeros)
                        for c in densities.classes
                    ]
                )

        # If the user has not chosen a feature for the plot at the
        # right, the first item of the box says which one it is.
        self.name.setText(names[compared_features[0].column])
        if self.choice.currentIndex() == 0 and len(compared_features) > 1:
            self.choice.setItemText(
                0, tr("{names} (next)").format(names=names[compared_features[1].column])
            )
        self.sentence.setText(
            "\n".join(
                _score_sentence(compared, names[compared.column])
                for compared in compared_features
            )
        )

    @Slot(int)
    def _on_activated(self, index: int) -> None:
        column = int(self.choice.itemData(index))
        self.otherChosen.emit(None if column == _NEXT_CHOICE else column)


def _score_sentence(densities: ComparedDensities, name: str) -> str:
    """Return the sentence on how the score of a feature is composed.

    The sentence also says at which step the feature was selected, if it
    was selected.
    """
    if densities.rank:
        template = tr(
            "{name}: importance {importance:.4f} + divergence {divergence:.4f} = score {score:.4f}; "
            "step {place}"
        )
    else:
        template = tr(
            "{name}: importance {importance:.4f} + divergence {divergence:.4f} = score {score:.4f}; "
            "not selected"
        )
    scores = {
        "importance": densities.importance,
        "divergence": densities.divergence,
        "score": densities.score,
    }
    return template.format(name=name, place=densities.rank, **scores)


class WhyPanel(Panel):
    """A panel that shows why features were selected, in one of three views that the user switches.

    The first two views are a map of the candidates that the method
    compared at each step, by their scores or by their ranks. The third
    one is offered only for methods that compare the densities of
    features: plots of these densities.

    Attributes
    ----------
    densitiesAsked : Signal()
        The user has switched to the densities.
    """

    densitiesAsked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Why"), name="why-panel")

        # The caption, which is the title of the score, may have this term.
        self.link_caption("leave-query-out", "leave-query-out")
        self.plot = named(
            CandidateMapPlot(theme), "candidate-map", tr("Candidates at each step")
        )
        self.plot.placeholder = NO_CANDIDATES
        self.densities = DensitiesView(theme)
        self.densities.hide()
        self.switch = named(
            Segmented(_MAP_CHOICES, tr("show"), wide=True), "why-switch"
        )
        self.tools.addWidget(self.switch)
        self.set_content(self.plot)
        self.set_content(self.densities)
        self.switch.chosen.connect(self._on_switched)

    @property
    def shows_densities(self) -> bool:
        """Whether the panel shows densities instead of the map."""
        return self.switch.value() == DENSITIES

    def offer_densities(self, offered: bool) -> None:
        """Add the view of densities to those that the user can choose, or remove it."""
        options = (
            (*_MAP_CHOICES, (DENSITIES, tr("densities"))) if offered else _MAP_CHOICES
        )

        # Nothing changes if there are as many views as before. If the
        # present view is no longer there, the first one is chosen.
        if len(self.switch.options()) == len(options):
            return
        chosen = self.switch.value()
        self.switch.set_options(options)
        self.switch.select(chosen)
        self._on_switched(self.switch.value())

    def show_map(
        self,
        scores_map: CandidateMap | None,
        names: Sequence[str],
        score: CandidateScore | None,
        steps: str = "step",
        ids: Sequence[int] | Ints = (),
    ) -> None:
        """Show the candidates of a path at each step, by the scores of the method.

        Parameters
        ----------
        scores_map : CandidateMap or None
            None shows an empty plot.
        names : sequence of str
            Names of all features.
        score : CandidateScore or None
            The kind of score; None for a method without candidates.
        steps : str
            Name of a column: "step", "iteration".
        ids : sequence of int
            Ids of all features.
        """
        self.plot.placeholder = NO_CANDIDATES if score is None else _UNKNOWN_SCORES_TEXT
        self.plot.set_map(scores_map, names, score, steps, ids)
        self.plot.setAccessibleName(
            tr(score.title) if score and scores_map else tr("Candidates at each step")
        )
        self.set_caption(tr(score.title) if scores_map and score else "")

    def explain(self, reason: str) -> None:
        """Show the reason why there is no map."""
        self.plot.placeholder = reason
        self.plot.redraw()

    def mark(self, feature: int | None, step_position: int | None) -> None:
        """Mark the inspected feature, by its column, and the inspected step, by its position on the path."""
        self.plot.mark(feature, step_position)

    @Slot(object)
    def _on_switched(self, view: object) -> None:
        """Show the view that the user chose: the map by scores or by ranks, or the densities."""
        self.densities.setVisible(view == DENSITIES)
        self.plot.setVisible(view != DENSITIES)
        if view == DENSITIES:
            self.densitiesAsked.emit()
        else:
            self.plot.set_ranked(view == RANKS)


class WhyController(Controller):
    """Explains the selections of the inspected model's path while the Features page is visible.

    It shows the map of candidates, the margin of each feature in the
    path panel, and sentences on the inspected feature in the profile
    panel. For methods that score features by densities, it estimates
    the densities of the inspected feature and of another one as the
    method did.

    Parameters
    ----------
    theme : Theme
    models : Models
    features_controller : FeaturesController
        Controller whose path and profile panels get the margins and sentences.
    """

    offered = Signal(bool)
    """The panel is shown or hidden: whether the method compares candidates."""

    def __init__(
        self,
        theme: Theme,
        models: Models,
        features_controller: FeaturesController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        session = models.session
        current = models.current
        worker = models.task_worker
        self._session = session
        self._current = current
        self._features_controller = features_controller
        self._tasks = features_controller.tasks
        self._absence = models.absence

        # The lead of each selected column over the next candidate.
        self._margins: dict[int, Margin] = {}

        # The column that the user chose for the right plot of
        # densities, and the path whose features are offered there.
        self._other_column: int | None = None
        self._path_of_choices: PathResult | None = None
        self.panel = WhyPanel(theme)
        self.panels = (self.panel,)
        self.panel.plot.cellPicked.connect(self._on_picked)
        self.panel.plot.confirms = True
        self.panel.plot.confirmed.connect(current.choose_inspected)
        self.panel.densitiesAsked.connect(self._show_densities)
        self.panel.densities.otherChosen.connect(self._on_other)
        path_panel = features_controller.path

        # The map of candidates, the explanation of the inspected
        # feature, and its densities. Each is computed again if its key
        # has changed, and the panel is visible; `clear` is called if
        # the key is None.
        self._map_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._map_key,
            compute=self._compare,
            failed=self.failed.emit,
            slot="why",
            panel=path_panel,
            clear=self._clear,
        )
        self._explanation_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._explanation_key,
            compute=self._explain,
            failed=self.failed.emit,
            slot="explanation",
            panel=path_panel,
        )
        self._densities_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._densities_key,
            compute=self._estimate,
            failed=self.failed.emit,
            slot="densities",
            panel=path_panel,
        )
        session.datasetChanged.connect(self._forget_densities)
        for signal in (current.changed, current.inspected, self._absence.changed):
            signal.connect(self.update)
        session.inspected.connect(self._explain_inspected)

    @Slot()
    def update(self) -> None:
        """Show the explanation of the current model, if visible.

        If the method has no candidates, the panel is hidden.
        """
        if not self._features_controller.path.isVisible():
            return
        model = self._current.shown.inspected
        is_offered = model is None or model.plan.candidate_score is not None

        # Whether the panel is hidden must differ from whether it is offered.
        if self.panel.isHidden() is is_offered:
            self.panel.setVisible(is_offered)
            self.offered.emit(is_offered)
        self._map_demand.update()
        if model is not None and self._margins:
            self._show_margins(model)
        self._explain_inspected()

    @Slot()
    def _explain_inspected(self) -> None:
        """Mark the inspected feature in the map, and explain it in words.

        The densities of the feature are estimated if their plots are visible.
        """
        model = self._current.shown.inspected
        if (
            model is not None
            and self._features_controller.path.isVisible()
            and self._is_compared(model)
        ):
            self._mark(model)
        self._explanation_demand.update()
        self._show_densities()

    def _is_compared(self, model: SelectedModel) -> bool:
        """Return whether the method of a model compares candidates, and the data are open."""
        return (
            self._session.dataset is not None and model.plan.candidate_score is not None
        )

    def _map_key(self) -> Key | None:
        model = self._current.shown.inspected
        return (model.path,) if model is not None and self._is_compared(model) else None

    def _compare(self) -> Computation | None:
        """Return the computation of the map of candidates and the margins, which are shown at its end.

        A margin is the lead of a selected feature over the next candidate.
        """
        model = self._current.shown.inspected

        # the key is None otherwise
        assert model is not None and model.plan.candidate_score is not None
        self._margins = {}
        path = model.path
        score = model.plan.candidate_score
        candidates = self._candidates(model)
        path_ids = (
            self._session.dataset.feature_ids
            if self._session.dataset is not None
            else ()
        )

        def show(map_and_margins: MapAndMargins) -> None:
            """Show the map of candidates and the margins, which are remembered.

            The mark is that of the model that is inspected by now. The
            path and the candidates are those of the enclosing method,
            from the time of its call.
            """
            scores_map, path_margins = map_and_margins

            # A step that adds features is just called a step; others
            # are iterations or rounds.
            step_name = (
                tr("step")
                if path.step_kind is StepKind.FEATURES
                else tr(path.step_kind.value)
            )
            self.panel.show_map(
                scores_map, candidates.names, score, step_name, path_ids
            )
            model = self._current.shown.inspected
            if model is not None:
                self._mark(model)
                self._margins = path_margins
                self._show_margins(model)

        return computation(
            tr("Comparing candidates"), show, _map_and_margins, path, score, candidates
        )

    def _explanation_key(self) -> Key | None:
        """Return the feature, the path and the model that are explained.

        Return None without a feature, or for a method that compares no candidates.
        """
        model = self._current.shown.inspected
        column = self._features_controller.column
        if model is None or column is None or not self._is_compared(model):
            return None
        return column, model.path, model.position

    def _explain(self) -> Computation | None:
        """Return the computation of the sentences on the inspected feature; None without one."""
        model = self._current.shown.inspected
        column = self._features_controller.column
        context = self._context(model) if model is not None else None
        if model is None or column is None or context is None:
            return None
        fold = model.fold if self._session.has_documents else None

        # `profile` is the panel with the profile of the feature.
        show = self._features_controller.profile.explain
        return computation(
            tr("Explaining a feature"),
            show,
            self._tasks.explain,
            context,
            column,
            fold,
            model.plan.convention,
        )

    def _show_margins(self, model: SelectedModel) -> None:
        """Show by how much each feature was ahead of its rival, and a note on near ties."""
        dataset = self._session.dataset
        score = model.plan.candidate_score
        if dataset is None or score is None:
            return
        ids = dataset.feature_ids
        candidates = self._candidates(model)

        # All features of a group have the margin of the group.
        shares = {
            int(ids[member]): margin.share
            for column, margin in self._margins.items()
            if margin.rival is not None
            for member in candidates.members(column)
        }
        model_margins = {
            column: self._margins[column]
            for column in model.step.selected
            if column in self._margins
        }
        note = _margin_note(model_margins, candidates.names, model.path)
        self._features_controller.path.show_margins(model.path, shares, note)

    def _mark(self, model: SelectedModel) -> None:
        """Mark the row of the inspected feature and the column of the model's step in the map."""
        column = self._features_controller.column
        # The row of a group is that of its first feature.
        row_column = (
            None if column is None else self._candidates(model).members(column)[0]
        )
        self.panel.mark(row_column, model.position)

    def _candidates(self, model: SelectedModel) -> CandidateGroups:
        """Return the candidates that a model's method compares.

        Candidates are the groups of features, and the features without a group.
        """
        dataset = self._session.dataset
        assert dataset is not None
        return CandidateGroups.of(
            dataset.feature_ids, dataset.feature_names, feature_groups_of(model.plan)
        )

    def _context(self, model: SelectedModel) -> ChoiceContext | None:
        """Return the path of a model, and the other paths of its run, to explain the selection.

        The other paths are those with other parameters on the same
        fold, and those with the same parameters on other folds. A model
        without a run has none. The result is None if there is nothing
        to explain.
        """
        score = model.plan.candidate_score
        dataset = self._session.dataset
        record = self._current.shown.record
        if score is None or dataset is None:
            return None

        # The key of a run's model is the position of its parameters
        # among those of the run. A model without a run has a text as
        # its key.
        if record is None or not isinstance(model.key, int):
            return ChoiceContext(
                path=model.path,
                position=model.position,
                score=score,
                names=dataset.feature_names,
                groups=self._candidates(model),
            )
        axes = record.plan.axes
        fold = model.fold.number
        key = model.key

        # With one varied parameter, paths are labelled by its value.
        only_axis = axes[0] if len(axes) == 1 else None
        combinations = [
            Alternative(
                axis_value(only_axis, values[0])
                if only_axis
                else combination_label(axes, values),
                path,
            )
            for position, values in enumerate(record.combinations)
            if (path := record.paths.get((fold, position))) is not None
        ]
        folds = [
            Alternative(str(number), path)
            for (number, position), path in sorted(record.paths.items())
            if position == key and number != fold
        ]
        return ChoiceContext(
            path=model.path,
            position=model.position,
            score=score,
            names=dataset.feature_names,
            axis=only_axis.label if only_axis else "combination",
            combinations=combinations,
            folds=folds,
            groups=self._candidates(model),
        )

    @Slot(int, int)
    def _on_picked(self, column: int, position: int) -> None:
        """Inspect the feature of a cell of the map, and the model of its step.

        ``column`` is that of the feature in the data, and ``position``
        that of the step on the path.
        """
        model = self._current.shown.inspected
        dataset = self._session.dataset
        if model is None or dataset is None:
            return

        # The steps of iterations have no models of their own.
        has_models = model.path.step_kind is not StepKind.ITERATIONS
        size = int(model.path.x_values[position]) if has_models else None
        self._features_controller.show_at(int(dataset.feature_ids[column]), size)

    def _clear(self) -> None:
        """Remove map, explanation and margins, and say why there are none."""
        self._margins = {}
        model = self._current.shown.inspected
        self._explanation_demand.forget()
        self.panel.show_map(None, (), None)

        # why there is no model, or else that it has no candidates
        self.panel.explain(self._absence.model(NO_CANDIDATES))
        self._features_controller.profile.explain(None)
        if model is not None:
            self._features_controller.path.show_margins(model.path, {}, "")

    # Densities

    @Slot()
    def _show_densities(self) -> None:
        """Offer the view of densities for methods that compare them, and update it if visible."""
        if not self._features_controller.path.isVisible():
            return
        model = self._current.shown.inspected
        dataset = self._session.dataset
        compares = model is not None and model.plan.entry.compares_densities
        self.panel.offer_densities(compares and self._session.has_documents)
        if (
            not self.panel.shows_densities
            or model is None
            or dataset is None
            or self._features_controller.column is None
        ):
            return

        # The features to compare with are offered anew for another path.
        if model.path is not self._path_of_choices:
            self._path_of_choices = model.path
            order = model.path.steps[-1].selected
            self.panel.densities.show_choices(
                order, dataset.feature_names, self._other_column
            )
        self._densities_demand.update()

    def _densities_key(self) -> Key | None:
        """Return the path and the two columns on which the densities depend.

        Return None without a feature.
        """
        model = self._current.shown.inspected
        column = self._features_controller.column
        return (
            None
            if model is None or column is None
            else (model.path, column, self._other_column)
        )

    def _estimate(self) -> Computation | None:
        """Return the computation of the densities of the inspected feature and another one.

        The other feature is the user's choice, or the next feature on
        the path. The result is None without a model or an inspected
        feature.
        """
        from rankstudio.plugins.features.compared_densities import neighbour_on_path  # noqa: PLC0415 - heavy

        model = self._current.shown.inspected
        column = self._features_controller.column
        dataset = self._session.dataset
        if model is None or column is None or dataset is None:
            return None
        other = self._other_column
        if other is None or other == column:
            other = neighbour_on_path(model.path, column)
        columns = [column] if other is None else [column, other]
        names = dataset.feature_names

        def show(compared_features: tuple[ComparedDensities, ...]) -> None:
            """Show the estimated densities, with the names of all columns (`names`)."""
            self.panel.densities.show_densities(compared_features, names)

        return computation(
            tr("Estimating densities"),
            show,
            self._tasks.densities,
            model.plan,
            model.fold,
            model.path,
            columns,
        )

    @Slot(object)
    def _on_other(self, column: int | None) -> None:
        self._other_column = column
        self._show_densities()

    @Slot()
    def _forget_densities(self) -> None:
        """Forget the densities and the user's choice of another feature."""
        self._other_column = None
        self._path_of_choices = None
        self._densities_demand.forget()
        self.panel.densities.clear()


def _map_and_margins(
    path: PathResult, score: CandidateScore, groups: CandidateGroups
) -> MapAndMargins:
    return candidate_map(path, score, groups), margins(groups.path(path), score)


_CLOSEST_TEXTS = {
    0: (
        tr("It is smallest at step {step}: {name} tied with {rival}."),
        tr("It is smallest for {name}, which tied with {rival}."),
    ),
    1: (
        tr("It is smallest at step {step}: {name} led {rival} by {share}."),
        tr("It is smallest for {name}, which led {rival} by {share}."),
    ),
    -1: (
        tr("It is smallest at step {step}: {name} trailed {rival} by {share}."),
        tr("It is smallest for {name}, which trailed {rival} by {share}."),
    ),
}
"""Sentences on the closest choice by the sign of its lead: with one feature per step, and for other paths."""


def _margin_note(
    leads: dict[int, Margin], names: tuple[str, ...], path: PathResult
) -> str:
    """Return a sentence that defines the margins, the leads of selected features over other candidates.

    If the closest choice was a near tie, the sentence names it as an
    example. ``leads`` are the margins by the column of the selected
    feature. Return "" if no feature was compared with another
    candidate.
    """
    with_rival = [lead for lead in leads.values() if lead.rival is not None]
    if not with_rival:
        return ""
    if path.step_kind is StepKind.ITERATIONS:
        definition = tr("The margin is the lead over the next feature.")
    else:
        definition = tr("The margin is the lead over the next candidate.")
    close = min(with_rival, key=lambda lead: abs(lead.share))
    if close.rival is None or abs(close.share) >= TOSS_UP:
        return definition

    # 1 if the selected feature was ahead, -1 if it was behind, 0 for a tie.
    sign = (close.share > 0) - (close.share < 0)
    with_step, without_step = _CLOSEST_TEXTS[sign]
    template = with_step if path.step_kind is StepKind.FEATURES else without_step
    example = template.format(
        name=names[close.feature],
        rival=names[close.rival],
        step=close.number,
        share=percent(abs(close.share)),
    )
    return tr("{definition} Less than 1 % is a near tie. {example}").format(
        definition=definition, example=example
    )
