"""One feature closely: its density by relevance, how it ranks alone, what it resembles."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from rankstudio.engine.data.feature_sets import LABELS, FeatureSet
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.escaping import html_text
from rankstudio.engine.support.number_format import correlation_text
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots import Density, DensityPlot
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named, show_in
from rankstudio.ui.widgets.panel import ColumnArea, ElidedLabel, WrappedLabel

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.fsmrank_bounds import FSMRankBounds
    from rankstudio.plugins.features.choice_explanation import ChoiceExplanation
    from rankstudio.plugins.features.feature_profile import FeatureProfile, SelectedCorrelation

SELECT = tr("Select a feature in the table to see its values by relevance.")
_NBSP = "\N{NO-BREAK SPACE}"  # a number stays beside its sign where the line breaks
_ALONE_HELP = tr(
    "Measures of the ranking by this feature alone on each part, in the direction that is better on the "
    "training part"
)
_CORRELATION_HELP = tr(
    "Pearson's correlation within queries with each feature of the selected model, and the similarity A by "
    "which the method penalises the two, if it does"
)
_IMPORTANCE_HELP = tr(
    "Importance by which the method penalises the weight of the feature, or of its negative (−)"
)
_BOUNDS_HELP = tr(
    "Bounds of the paper on FSMRank: how far the objective of the model is above the minimum at most, and "
    "how much it grows at most on unseen pairs, with probability 0.95. The latter is far from tight."
)
_EXPLAINED_LABEL = tr("all of them, R²")
_EXPLAINED_HELP = tr(
    "Share of its variance within queries explained by a linear function of all selected features"
)
_MAX_ROWS = 60  # a row takes 0.2 ms of the window, and a ranker with all features has thousands
_MIN_HEIGHT = 96  # pixels
_MIN_PLOT_HEIGHT = 52
VALUES = "values"
CANDIDATES = "candidates"
"""Views of a feature: its values, or its rank among the candidates of a step."""
_VIEWS = ((VALUES, tr("values")), (CANDIDATES, tr("candidates")))


class InspectorPanel(Panel):
    """Shows a `FeatureProfile`.

    Parameters
    ----------
    theme : Theme
    name : str
        For the program and its tests.
    tables : bool
        Whether there is room for its numbers on each part, and beside those of a model's features.

    Attributes
    ----------
    inspected : Signal(int)
        Id of the closest other feature, when the user follows its link.
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme, name: str = "inspector", *, tables: bool = False) -> None:
        super().__init__(theme, tr("Inspector"), name=f"{name}-panel")
        self.plot = named(DensityPlot(theme), "density-plot", tr("Values by relevance"))
        self.plot.setMinimumHeight(_MIN_PLOT_HEIGHT)  # less than other plots: the facts come first
        facts = WrappedLabel(text_format=Qt.TextFormat.RichText)
        self.facts = named(facts, "inspector-facts", tr("Facts about the feature"), role="caption")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.definition = named(ElidedLabel(), "inspector-definition", role="caption")
        self.why_title = named(PlainLabel(), "why-title", role="title")
        label = WrappedLabel(keeps=False)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.why = named(label, "why-sentences", tr("Why the feature is or is not in the model"))
        fill(self.body, (self.plot, 1), self.facts, self.definition, self.why_title, self.why, spacing=4)
        self.tables = ProfileTables() if tables else None
        if self.tables is not None:
            self.body.insertWidget(1, self.tables, 1)
        self.switch = named(Segmented(_VIEWS, tr("show")), "inspector-switch")
        self.switch.chosen.connect(self._show_view)
        self.switch.hide()
        self.body.insertWidget(0, self.switch)
        self._candidates: QWidget | None = None
        self.facts.linkActivated.connect(self._on_link)
        theme.changed.connect(self._restyle)
        self.clear()

    def add_candidates(self, view: QWidget) -> None:
        """Add the candidates of the current step, among which the feature was one."""
        self._candidates = view
        self.body.addWidget(view, 1)
        self.offer_candidates(False)

    @Slot(bool)
    def offer_candidates(self, offered: bool) -> None:
        """Let the user see them, where the method compares any."""
        self.switch.setVisible(offered)
        self._show_view()

    @Slot()
    def _show_view(self) -> None:
        compared = not self.switch.isHidden() and self.switch.value() == CANDIDATES
        for widget in (self.plot, self.facts):
            widget.setVisible(not compared)
        if self._candidates is not None:
            self._candidates.setVisible(compared)

    def show_feature(self, profile: FeatureProfile) -> None:
        """Show a feature."""
        self.set_title(profile.name)
        self.set_caption(str(profile.feature_id))
        self.plot.placeholder = tr("All of its values are equal.")
        self.plot.subject = profile.name
        self.plot.set_densities(
            [Density(tr(c.label), profile.grid, c.density, c.zeros) for c in profile.classes]
        )
        if self.tables is not None:
            self.tables.show_feature(profile)
        self._say(facts(profile, with_measures=self.tables is None))
        self.facts.setToolTip(
            tr(
                "Measures of the ranking by this feature alone on the training part, by the {label} "
                "convention, and its correlation with other features within queries"
            ).format(label=convention(profile.convention).label)
        )

    def define(self, feature_set: FeatureSet | None, feature: int) -> None:
        """Show the definition of the feature in a search engine's feature set, where it is in one."""
        text = feature_set.definition(feature) if feature_set is not None else ""
        if self.tables is not None:
            self.tables.define(tr(LABELS[feature_set.engine]) if feature_set is not None else "", text)
        self.definition.setText(_short_definition(text))
        self.definition.setVisible(bool(text) and self.tables is None)

    def explain(self, explanation: ChoiceExplanation | None) -> None:
        """Show sentences on why the feature is in the model or not; None removes them."""
        self.why_title.setText(explanation.title if explanation else "")
        text = "\n".join(explanation.sentences) if explanation else ""
        self.why.setText(text.replace(" %", f"{_NBSP}%").replace(" = ", f"{_NBSP}={_NBSP}"))
        self.why_title.setVisible(explanation is not None)
        self.why.setVisible(explanation is not None)

    def clear(self, reason: str = SELECT) -> None:
        """Remove the feature, and show the reason."""
        self.set_title(tr("Inspector"))
        self.set_caption("")
        self.plot.placeholder = reason
        self.plot.set_densities(())
        if self.tables is not None:
            self.tables.clear()
        self.define(None, 0)
        self._say("")
        self.explain(None)

    def _say(self, text: str) -> None:
        """Show facts; the keyboard goes to them only where they have a link."""
        self.facts.setText(text)
        linked = Qt.FocusPolicy.StrongFocus if "<a " in text else Qt.FocusPolicy.NoFocus
        self.facts.setFocusPolicy(linked)

    @Slot()
    def _restyle(self) -> None:
        """Read the rich text anew: a link takes its colour from the palette when it is read."""
        text = self.facts.text()
        self.facts.clear()
        self.facts.setText(text)

    @Slot(str)
    def _on_link(self, target: str) -> None:
        self.inspected.emit(int(target))


def facts(profile: FeatureProfile, *, with_measures: bool = True) -> str:
    """Return the facts on a feature beside its densities, as rich text with a link to the closest one.

    ``with_measures`` tells whether its measures alone are part of it.
    """
    parts = []
    if profile.constant:
        parts.append(tr("constant within every query: it cannot change any ranking"))
    measures = " · ".join(f"{name} {value:.4f}" for name, value in profile.alone.items())
    if with_measures:
        template = (
            tr("alone: {measures}, small values first") if profile.ascending else tr("alone: {measures}")
        )
        parts.append(template.format(measures=measures))
    elif profile.ascending:
        parts.append(tr("ranks small values first when alone"))
    if profile.closest_id is not None:
        name = html_text(profile.closest_name)
        number = correlation_text(profile.correlation)
        link = f'<a href="{profile.closest_id}">{profile.closest_id} {name}</a>'
        parts.append(tr("closest: {link} (r\xa0=\xa0{number})").format(link=link, number=number))
    if profile.importance and with_measures:
        parts.append(tr("importance s\xa0=\xa0{number}").format(number=_importance_text(profile)))
    return " · ".join(parts)


class ProfileTables(ColumnArea):
    """Shows the numbers of a `FeatureProfile` as two tables, one under the other."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "profile-tables", tr("The feature in numbers"))
        self.setMinimumHeight(_MIN_HEIGHT)
        self._texts: tuple[tuple[str, ...], ...] = ()
        self._tables: list[tuple[list[tuple[str, ...]], str]] = []
        self._defined = ("", "")

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the rows of both tables as texts."""
        return self._texts

    def show_feature(self, profile: FeatureProfile) -> None:
        """Show a feature."""
        alone_rows = _alone_rows(profile)
        together = _together_rows(profile)
        self._tables = (
            [(alone_rows, _ALONE_HELP), (together, _CORRELATION_HELP)]
            if together
            else [(alone_rows, _ALONE_HELP)]
        )
        if profile.importance:
            rows: list[tuple[str, ...]] = [
                (tr("how the method weighs it"), "s"),
                (tr("importance"), _importance_text(profile)),
            ]
            self._tables.insert(1, (rows, _IMPORTANCE_HELP))
        if profile.bounds is not None:
            self._tables.append((_bound_rows(profile.bounds), _BOUNDS_HELP))
        self._show()

    def clear(self) -> None:
        """Show no feature."""
        self._tables = []
        self._defined = ("", "")
        self._show()

    def define(self, engine: str, definition: str) -> None:
        """Show the definition of the feature in a search engine; "" for none."""
        if (engine, definition) != self._defined:
            self._defined = engine, definition
            self._show()

    def _show(self) -> None:
        """Show the tables, and the definition of the feature in its search engine."""
        page = named(QWidget(), role="page")
        lines = fill(QVBoxLayout(page), margins=(0, 4, 4, 0), spacing=10)
        for rows, tip in self._tables:
            lines.addWidget(_table_widget(rows, tip))
        engine, definition = self._defined
        defined = [(tr("definition in {engine}").format(engine=engine), _indented_definition(definition))]
        for head, text in defined if definition else []:
            lines.addWidget(named(PlainLabel(head), role="caption"))
            label = named(
                WrappedLabel(), "profile-definition", tr("Definition of the feature"), role="caption"
            )
            label.setText(text)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            lines.addWidget(label)
        lines.addStretch(1)
        show_in(self, page)
        self._texts = tuple(row for rows, _ in self._tables for row in rows)
        self._texts += tuple(defined) if definition else ()
        self.setAccessibleDescription(plain("\n".join(" ".join(row) for row in self._texts)))
        self.setVisible(bool(self._tables))


def _indented_definition(definition: str) -> str:
    """Return a definition, indented over several lines if it is JSON."""
    if not definition.startswith("{"):
        return definition
    text = json.dumps(json.loads(definition), indent=2, ensure_ascii=False)
    return re.sub(r"(?m)^ +", lambda blanks: _NBSP * len(blanks[0]), text)


def _short_definition(definition: str) -> str:
    """Return a definition in one line: JSON as its name and its template or parameters."""
    if not definition.startswith("{"):
        return definition
    values = json.loads(definition)
    means = values.get("template", values.get("params", ""))
    return f"{values['name']}: {means if isinstance(means, str) else json.dumps(means, ensure_ascii=False)}"


def _alone_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return a row for each part with its measures, after a header."""
    rows = [(tr(name), *map(_number_or_dash, part.values())) for name, part in profile.parts.items()]
    return [(tr("alone"), *profile.alone), *rows]


def _number_or_dash(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}"


def _together_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return the correlations with the selected features, after a header; nothing where none is selected."""
    if not profile.with_selected:
        return []
    listed = profile.with_selected
    if len(listed) > _MAX_ROWS:
        listed = tuple(sorted(listed, key=lambda correlation: -abs(correlation.correlation))[:_MAX_ROWS])
    rows = [
        (
            f"{correlation.name} ({correlation.feature_id})",
            correlation_text(correlation.correlation),
            *_similarity_cells(correlation),
        )
        for correlation in listed
    ]
    n_left_out = len(profile.with_selected) - len(listed)
    if n_left_out:
        least = correlation_text(abs(listed[-1].correlation))
        template = trn("{n} other, |r| up to {r}", "{n} others, |r| up to {r}", n_left_out)
        rows.append((template.format(n=n_left_out, r=least), ""))
    explained = "–" if isnan(profile.explained) else f"{profile.explained:.2f}"
    header = (
        tr("with the selected features"),
        "r",
        *(["A"] if _similarity_cells(profile.with_selected[0]) else []),
    )
    return [header, *rows, (_EXPLAINED_LABEL, explained)]


def _similarity_cells(correlation: SelectedCorrelation) -> tuple[str, ...]:
    """Return the similarity by which the method penalises a pair; nothing for one without."""
    return () if isnan(correlation.similarity) else (f"{correlation.similarity:.2f}",)


def _bound_rows(bounds: FSMRankBounds) -> list[tuple[str, ...]]:
    return [
        (tr("objective of the model"), f"{bounds.objective:.4f}"),
        (tr("distance to the minimum (Theorem 2)"), f"≤ +{bounds.above_minimum:.2g}"),
        (tr("unseen pairs, Th. 3"), f"≤ +{bounds.unseen:.2g}"),
    ]


def _importance_text(profile: FeatureProfile) -> str:
    """Return the importance of a feature, and that of its negative where it is another number."""
    importance, negative = profile.importance
    return f"{importance:.3g}" if importance == negative else f"{importance:.3g}, −: {negative:.3g}"


def _table_widget(rows: Sequence[tuple[str, ...]], tip: str) -> QWidget:
    """Return a widget with a table whose first row is its header."""
    table = named(QWidget(), tip=tip)
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(0, 1)
    for line, row in enumerate(rows):
        head = named(ElidedLabel(row[0]), role="caption" if line == 0 else "")
        head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid.addWidget(head, line, 0)
        for column, text in enumerate(row[1:], start=1):
            cell = named(PlainLabel(text), role="caption" if line == 0 else "")
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if row[0] == _EXPLAINED_LABEL:
                cell.setToolTip(plain(_EXPLAINED_HELP))
            grid.addWidget(cell, line, column)
    return table
