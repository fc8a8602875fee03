"""Feeds what explains a path: the map of candidates, the margins, and the sentences on one feature."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.analysis.features.candidate_groups import CandidateGroups
from rankstudio.engine.analysis.features.candidate_map import CandidateMap, Margin, candidate_map, margins
from rankstudio.engine.analysis.features.choice_context import Alternative, ChoiceContext
from rankstudio.engine.analysis.features.choice_explanation import TOSS_UP, percent
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore, StepKind
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.features.controller import FeaturesController
from rankstudio.ui.features.why_panel import NO_CANDIDATES, WhyPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.selected_model import SelectedModel
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.style.number_format import axis_value, combination_label
from rankstudio.ui.style.theme import Theme

Picture = tuple[CandidateMap | None, dict[int, Margin]]


class WhyController(Controller):
    """Explains the current model's path while the Features page is seen.

    Parameters
    ----------
    theme : Theme
    models : Models
    inspect : FeaturesController
        Whose path and profile get margins and sentences.
    """

    offered = Signal(bool)
    """Whether the method compares candidates, so that there is a panel."""

    def __init__(
        self, theme: Theme, models: Models, inspect: FeaturesController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        session, current, worker = models.session, models.current, models.task_worker
        self._session, self._current, self._inspect = session, current, inspect
        self._fold_cache, self._absence = models.fold_cache, models.absence
        self._leads: dict[int, Margin] = {}
        self.panel = WhyPanel(theme)
        self.panel.picked.connect(self._on_picked)
        seen = inspect.path
        self._compared = OnDemand(
            worker, self._compared_key, self._compare, slot="why", panel=seen, clear=self._clear, parent=self
        )
        self._explained = OnDemand(
            worker, self._explained_key, self._explain, slot="explanation", panel=seen, parent=self
        )
        for demand in (self._compared, self._explained):
            demand.failed.connect(self.failed)
        for signal in (current.changed, self._absence.changed):
            signal.connect(self.update)
        inspect.inspected.connect(self._look)

    @Slot()
    def update(self) -> None:
        """Show what explains the current model, where somebody sees it."""
        if not self._inspect.path.isVisible():
            return
        model = self._current.model
        offered = model is None or model.plan.candidate_score is not None
        if self.panel.isHidden() is offered:
            self.panel.setVisible(offered)
            self.offered.emit(offered)
        self._compared.update()
        if model is not None and self._leads:
            self._show_margins(model)
        self._look()

    @Slot()
    def _look(self) -> None:
        """Explain the feature that is looked at."""
        model = self._current.model
        if model is not None and self._inspect.path.isVisible() and self._is_compared(model):
            self._mark(model)
        self._explained.update()

    def _is_compared(self, model: SelectedModel) -> bool:
        """Tell whether the method of a model compares candidates."""
        return self._session.dataset is not None and model.plan.candidate_score is not None

    def _compared_key(self) -> Key | None:
        model = self._current.model
        return (model.path,) if model is not None and self._is_compared(model) else None

    def _compare(self) -> Computation | None:
        model = self._current.model
        assert model is not None and model.plan.candidate_score is not None  # as the key says
        self._leads = {}
        path, score, candidates = model.path, model.plan.candidate_score, self._candidates(model)

        def show(found: Picture) -> None:
            shown, leads = found
            steps = tr("step") if path.step_kind is StepKind.FEATURES else tr(path.step_kind.value)
            self.panel.show_map(shown, candidates.names, score, steps)
            model = self._current.model
            if model is not None:
                self._mark(model)
                self._leads = leads
                self._show_margins(model)

        return computation(tr("Comparing candidates"), show, _picture, path, score, candidates)

    def _explained_key(self) -> Key | None:
        model, column = self._current.model, self._inspect.column
        if model is None or column is None or not self._is_compared(model):
            return None
        return column, model.path, model.position

    def _explain(self) -> Computation | None:
        model, column = self._current.model, self._inspect.column
        context = self._context(model) if model is not None else None
        if model is None or column is None or context is None:
            return None
        fold = model.fold if self._session.has_documents else None
        given = context, column, fold, model.plan.convention
        show = self._inspect.profile.explain
        return computation(tr("Explaining a feature"), show, self._fold_cache.explain, *given)

    def _show_margins(self, model: SelectedModel) -> None:
        dataset, score = self._session.dataset, model.plan.candidate_score
        if dataset is None or score is None:
            return
        ids, candidates = dataset.feature_ids, self._candidates(model)
        known = {
            int(ids[member]): lead.share
            for column, lead in self._leads.items()
            if lead.rival is not None
            for member in candidates.members(column)
        }
        chosen = {column: self._leads[column] for column in model.step.selected if column in self._leads}
        said = _note(chosen, candidates.names, model.path)
        self._inspect.path.show_margins(model.path, known, said)

    def _mark(self, model: SelectedModel) -> None:
        column = self._inspect.column
        standing = None if column is None else self._candidates(model).members(column)[0]
        self.panel.mark(standing, model.position)

    def _candidates(self, model: SelectedModel) -> CandidateGroups:
        """Return the groups of features, and the features of none, among which the model's method chose."""
        dataset = self._session.dataset
        assert dataset is not None
        return CandidateGroups.of(dataset.feature_ids, dataset.feature_names, model.plan.groups)

    def _context(self, model: SelectedModel) -> ChoiceContext | None:
        """Return the path with the other ones of its run."""
        score, dataset = model.plan.candidate_score, self._session.dataset
        record = self._current.shown.record
        if score is None or dataset is None:
            return None
        if record is None or not isinstance(model.key, int):
            names, groups = dataset.feature_names, self._candidates(model)
            return ChoiceContext(model.path, model.position, score, names, groups=groups)
        axes, fold, key = record.plan.axes, model.fold.number, model.key
        one = axes[0] if len(axes) == 1 else None
        combinations = [
            Alternative(axis_value(one, values[0]) if one else combination_label(axes, values), path)
            for position, values in enumerate(record.combinations)
            if (path := record.paths.get((fold, position))) is not None
        ]
        folds = [
            Alternative(str(number), path)
            for (number, position), path in sorted(record.paths.items())
            if position == key and number != fold
        ]
        names, axis, groups = (
            dataset.feature_names,
            one.label if one else "combination",
            self._candidates(model),
        )
        return ChoiceContext(model.path, model.position, score, names, axis, combinations, folds, groups)

    @Slot(int, int)
    def _on_picked(self, column: int, place: int) -> None:
        model, dataset = self._current.model, self._session.dataset
        if model is None or dataset is None:
            return
        grows = model.path.step_kind is not StepKind.ITERATIONS
        size = int(model.path.x_values[place]) if grows else None
        self._inspect.show_at(int(dataset.feature_ids[column]), size)

    def _clear(self) -> None:
        self._leads, model = {}, self._current.model
        self._explained.forget()
        self.panel.show_map(None, (), None)
        self.panel.explain(self._absence.model(NO_CANDIDATES))
        self._inspect.profile.explain(None)
        if model is not None:
            self._inspect.path.show_margins(model.path, {}, "")


def _picture(path: PathResult, score: CandidateScore, groups: CandidateGroups) -> Picture:
    return candidate_map(path, score, groups), margins(groups.path(path), score)


def _note(leads: dict[int, Margin], names: tuple[str, ...], path: PathResult) -> str:
    """Return what the margins are, with the closest one as the example where it is a near tie."""
    known = [lead for lead in leads.values() if lead.rival is not None]
    if not known:
        return ""
    if path.step_kind is StepKind.ITERATIONS:
        said = tr("Margin: lead over the next feature.")
    else:
        said = tr("Margin: lead over the next candidate.")
    close = min(known, key=lambda lead: abs(lead.share))
    if close.rival is None or abs(close.share) >= TOSS_UP:
        return said
    example = _of_weights(close.share) if path.step_kind is not StepKind.FEATURES else _at_step(close.share)
    near = example.format(
        name=names[close.feature],
        rival=names[close.rival],
        step=close.number,
        share=percent(abs(close.share)),
    )
    return tr("{definition} Below 1 % is a near tie. {example}").format(definition=said, example=near)


def _at_step(share: float) -> str:
    """Return a sentence on the closest choice of a path that adds a feature in each step."""
    if share == 0:
        return tr("Closest at step {step}: {name} tied with {rival}.")
    if share > 0:
        return tr("Closest at step {step}: {name} led {rival} by {share}.")
    return tr("Closest at step {step}: {name} trailed {rival} by {share}.")


def _of_weights(share: float) -> str:
    """Return a sentence on the closest features of a path without steps of one feature each."""
    if share == 0:
        return tr("Closest: {name} tied with {rival}.")
    if share > 0:
        return tr("Closest: {name} led {rival} by {share}.")
    return tr("Closest: {name} trailed {rival} by {share}.")
