"""The panel of one feature: its density by relevance, its ranking alone, and similar features."""

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
    from rankstudio.plugins.features.feature_profile import (
        FeatureProfile,
        SelectedCorrelation,
    )

SELECT = tr("Select a feature in the table to see its values by relevance.")
_NBSP = "\N{NO-BREAK SPACE}"  # keeps a number and its sign on one line
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
    "how much it grows at most on unseen pairs, with probability 0.95. The latter is far from tight, and "
    "not proven for the logistic loss (–)."
)
_EXPLAINED_LABEL = tr("all of them, R²")
_EXPLAINED_HELP = tr(
    "Share of its variance within queries explained by a linear function of all selected features"
)
# rows of a table: each takes 0.2 ms, and a ranker with all features
# would have thousands
_MAX_ROWS = 60
_MIN_HEIGHT = 96  # pixels of the tables
_MIN_PLOT_HEIGHT = 52  # pixels
VALUES = "values"
CANDIDATES = "candidates"
"""Views of a feature: its values, or its rank among the candidates of a step."""
_VIEWS = ((VALUES, tr("values")), (CANDIDATES, tr("candidates")))


class InspectorPanel(Panel):
    """Shows one feature in detail: a plot of its densities, facts, and why it is in the model or not.

    A link in the facts leads to the most similar feature.

    Parameters
    ----------
    theme : Theme
    name : str
        Beginning of the object name.
    tables : bool
        Whether the panel has tables with the feature's measures on each
        part, and with its correlations with the features of a model;
        otherwise these are among the facts.

    Attributes
    ----------
    inspected : Signal(int)
        Id of the closest other feature, when the user follows its link.
    """

    inspected = Signal(int)

    def __init__(
        self, theme: Theme, name: str = "inspector", *, tables: bool = False
    ) -> None:
        super().__init__(theme, tr("Inspector"), name=f"{name}-panel")
        self.plot = named(DensityPlot(theme), "density-plot", tr("Values by relevance"))

        # The minimum is less than that of other plots, so that there is
        # room for the facts.
        self.plot.setMinimumHeight(_MIN_PLOT_HEIGHT)
        facts_label = WrappedLabel(text_format=Qt.TextFormat.RichText)
        self.facts = named(
            facts_label,
            "inspector-facts",
            tr("Facts about the feature"),
            role="caption",
        )
        self.facts.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
        )
        self.definition = named(ElidedLabel(), "inspector-definition", role="caption")
        self.why_title = named(PlainLabel(), "why-title", role="title")

        # Without room, its last lines are cut off.
        why_label = WrappedLabel(keeps=False)
        why_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.why = named(
            why_label, "why-sentences", tr("Why the feature is or is not in the model")
        )
        fill(
            self.body,
            (self.plot, 1),
            self.facts,
            self.definition,
            self.why_title,
            self.why,
            spacing=4,
        )

        # The tables are below the plot, and the switch is above it.
        self.tables = ProfileTables() if tables else None
        if self.tables is not None:
            self.body.insertWidget(1, self.tables, 1)
        self.switch = named(Segmented(_VIEWS, tr("show")), "inspector-switch")
        self.switch.chosen.connect(self._show_view)
        self.switch.hide()
        self.body.insertWidget(0, self.switch)
        self._candidates: QWidget | None = None  # set by `add_candidates`
        self.facts.linkActivated.connect(self._on_link)
        theme.changed.connect(self._restyle)
        self.clear()

    def add_candidates(self, view: QWidget) -> None:
        """Add a view of the candidates of the current step, which the user can switch to."""
        self._candidates = view
        self.body.addWidget(view, 1)
        self.offer_candidates(False)

    @Slot(bool)
    def offer_candidates(self, offered: bool) -> None:
        """Show or hide the switch to the view of candidates."""
        self.switch.setVisible(offered)
        self._show_view()

    @Slot()
    def _show_view(self) -> None:
        """Show the values of the feature or the candidates of a step, as the user chose."""
        shows_candidates = (
            not self.switch.isHidden() and self.switch.value() == CANDIDATES
        )
        for widget in (self.plot, self.facts):
            widget.setVisible(not shows_candidates)
        if self._candidates is not None:
            self._candidates.setVisible(shows_candidates)

    def show_feature(self, profile: FeatureProfile) -> None:
        """Show a feature: its densities by relevance, and its facts or tables."""
        self.set_title(profile.name)
        self.set_caption(str(profile.feature_id))
        self.plot.placeholder = tr("All of its values are equal.")
        self.plot.subject = profile.name

        # a curve per relevance class, and its share of zeros, which may
        # be missing on the grid of values
        self.plot.set_densities(
            [
                Density(tr(c.label), profile.grid, c.density, c.zeros)
                for c in profile.classes
            ]
        )
        if self.tables is not None:
            self.tables.show_feature(profile)
        self._show_facts(facts(profile, with_measures=self.tables is None))
        self.facts.setToolTip(
            tr(
                "Measures of the ranking by this feature alone on the training part, by the {label} "
                "convention, and its correlation with other features within queries"
            ).format(label=convention(profile.convention).label)
        )

    def define(self, feature_set: FeatureSet | None, feature: int) -> None:
        """Show the definition of a feature in a search engine's feature set.

        ``feature`` is the id. Nothing is shown if the set does not have
        it, or without a set (None).
        """
        text = feature_set.definition(feature) if feature_set is not None else ""
        if self.tables is not None:
            self.tables.define(
                tr(LABELS[feature_set.engine]) if feature_set is not None else "", text
            )
        self.definition.setText(_short_definition(text))
        self.definition.setVisible(bool(text) and self.tables is None)

    def explain(self, explanation: ChoiceExplanation | None) -> None:
        """Show sentences on why the feature is in the model or not; None removes them."""
        # Blanks within "5 %" and "k = 8" must not break a line.
        self.why_title.setText(explanation.title if explanation else "")
        text = "\n".join(explanation.sentences) if explanation else ""
        self.why.setText(
            text.replace(" %", f"{_NBSP}%").replace(" = ", f"{_NBSP}={_NBSP}")
        )
        self.why_title.setVisible(explanation is not None)
        self.why.setVisible(explanation is not None)

    def clear(self, reason: str = SELECT) -> None:
        """Remove the feature, and show the reason or what to do."""
        self.set_title(tr("Inspector"))
        self.set_caption("")
        self.plot.placeholder = reason
        self.plot.set_densities(())
        if self.tables is not None:
            self.tables.clear()
        self.define(None, 0)
        self._show_facts("")
        self.explain(None)

    def _show_facts(self, text: str) -> None:
        """Show facts as rich text, which gets the keyboard focus only if it has a link."""
        self.facts.setText(text)
        focus_policy = (
            Qt.FocusPolicy.StrongFocus if "<a " in text else Qt.FocusPolicy.NoFocus
        )
        self.facts.setFocusPolicy(focus_policy)

    @Slot()
    def _restyle(self) -> None:
        """Set the rich text again: a link takes its color from the palette when the text is set."""
        text = self.facts.text()
        self.facts.clear()
        self.facts.setText(text)

    @Slot(str)
    def _on_link(self, target: str) -> None:
        self.inspected.emit(int(target))


def facts(profile: FeatureProfile, *, with_measures: bool = True) -> str:
    """Return the facts on a feature as rich text, with a link to the most similar feature.

    The measures and the importance of the feature are included if ``with_measures``.
    """
    parts = []
    if profile.constant:
        parts.append(tr("constant within every query: it cannot change any ranking"))
    measures = " · ".join(
        f"{name} {value:.4f}" for name, value in profile.alone.items()
    )
    if with_measures:
        template = (
            tr("alone: {measures}, small values first")
            if profile.ascending
            else tr("alone: {measures}")
        )
        parts.append(template.format(measures=measures))
    elif profile.ascending:
        parts.append(tr("ranks small values first when alone"))
    if profile.closest_id is not None:
        name = html_text(profile.closest_name)
        number = correlation_text(profile.correlation)
        link = f'<a href="{profile.closest_id}">{profile.closest_id} {name}</a>'
        parts.append(
            tr("closest: {link} (r\xa0=\xa0{number})").format(link=link, number=number)
        )
    if profile.importance and with_measures:
        parts.append(
            tr("importance s\xa0=\xa0{number}").format(number=_importance_text(profile))
        )
    return " · ".join(parts)


class ProfileTables(ColumnArea):
    """Shows the numbers of a `FeatureProfile` as tables, and the feature's definition in a search engine.

    The tables are, one below the other: the measures of the feature
    alone on each part, its importance, its correlations with the
    features of a model, and bounds; those that do not apply are left
    out.
    """

    def __init__(self) -> None:
        super().__init__()
        named(self, "profile-tables", tr("The feature in numbers"))
        self.setMinimumHeight(_MIN_HEIGHT)
        self._texts: tuple[tuple[str, ...], ...] = ()  # all rows, for screen readers

        # Rows and tooltip of each table; the first row is the header.
        self._tables: list[tuple[list[tuple[str, ...]], str]] = []
        self._definition = ("", "")  # name of the search engine, and definition

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the rows of all tables as texts, and the definition."""
        return self._texts

    def show_feature(self, profile: FeatureProfile) -> None:
        """Show a feature in a table for each kind of numbers.

        The tables are the measures of the feature alone and, if the
        profile has these, importance, correlations and bounds.
        """
        self._tables = [(_alone_rows(profile), _ALONE_HELP)]
        if profile.importance:
            importance_rows: list[tuple[str, ...]] = [
                (tr("how the method weighs it"), "s"),
                (tr("importance"), _importance_text(profile)),
            ]
            self._tables.append((importance_rows, _IMPORTANCE_HELP))
        correlation_rows = _correlation_rows(profile)
        if correlation_rows:
            self._tables.append((correlation_rows, _CORRELATION_HELP))
        if profile.bounds is not None:
            self._tables.append((_bound_rows(profile.bounds), _BOUNDS_HELP))
        self._show()

    def clear(self) -> None:
        """Show no feature."""
        self._tables = []
        self._definition = ("", "")
        self._show()

    def define(self, engine: str, definition: str) -> None:
        """Show the definition of the feature in a search engine; "" for none."""
        if (engine, definition) != self._definition:
            self._definition = engine, definition
            self._show()

    def _show(self) -> None:
        """Show the tables, and the definition of the feature in its search engine."""
        page = named(QWidget(), role="page")
        lines = fill(QVBoxLayout(page), margins=(0, 4, 4, 0), spacing=10)
        for rows, tip in self._tables:
            lines.addWidget(_table_widget(rows, tip))
        self._texts = tuple(row for rows, _ in self._tables for row in rows)
        engine, definition = self._definition
        if definition:
            head = tr("definition in {engine}").format(engine=engine)
            text = _indented_definition(definition)
            self._texts += ((head, text),)
            lines.addWidget(named(PlainLabel(head), role="caption"))
            label = named(
                WrappedLabel(),
                "profile-definition",
                tr("Definition of the feature"),
                role="caption",
            )
            label.setText(text)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            lines.addWidget(label)
        lines.addStretch(1)
        show_in(self, page)
        self.setAccessibleDescription(
            plain("\n".join(" ".join(row) for row in self._texts))
        )
        self.setVisible(bool(self._tables))


def _indented_definition(definition: str) -> str:
    """Return a definition, indented over several lines if it is JSON."""
    if not definition.startswith("{"):
        return definition
    text = json.dumps(json.loads(definition), indent=2, ensure_ascii=False)
    return re.sub(r"(?m)^ +", lambda blanks: _NBSP * len(blanks[0]), text)


def _short_definition(definition: str) -> str:
    """Return the definition of a feature in a search engine, in one line.

    JSON is shortened to its name and its template or parameters. Other
    text stays as it is.
    """
    if not definition.startswith("{"):
        return definition
    values = json.loads(definition)
    details = values.get("template", values.get("params", ""))
    text = (
        details if isinstance(details, str) else json.dumps(details, ensure_ascii=False)
    )
    return f"{values['name']}: {text}"


def _alone_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return a header, and a row for each part with the measures of the feature alone."""
    rows = [
        (tr(name), *map(_number_or_dash, part.values()))
        for name, part in profile.parts.items()
    ]
    return [(tr("alone"), *profile.alone), *rows]


def _number_or_dash(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}"


def _correlation_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return the table of a feature's correlations with the selected features, with a header as first row.

    Return nothing if there is no selected feature. The last row has the
    share of variance that all selected features explain.
    """
    if not profile.with_selected:
        return []

    # Of very many, the greatest correlations have rows; another row counts the rest.
    listed = profile.with_selected
    if len(listed) > _MAX_ROWS:
        listed = tuple(
            sorted(listed, key=lambda correlation: -abs(correlation.correlation))[
                :_MAX_ROWS
            ]
        )
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
        template = trn(
            "{n} other, |r| up to {r}", "{n} others, |r| up to {r}", n_left_out
        )
        rows.append((template.format(n=n_left_out, r=least), ""))
    explained = "–" if isnan(profile.explained) else f"{profile.explained:.2f}"

    # A is the similarity by which the method penalises pairs, if it uses one.
    header = (
        tr("with the selected features"),
        "r",
        *(["A"] if _similarity_cells(profile.with_selected[0]) else []),
    )
    return [header, *rows, (_EXPLAINED_LABEL, explained)]


def _similarity_cells(correlation: SelectedCorrelation) -> tuple[str, ...]:
    """Return the cell with the similarity by which the method penalises a pair.

    The pair is the profile's feature and a feature of the model. The
    result is () if the method uses no similarity.
    """
    return () if isnan(correlation.similarity) else (f"{correlation.similarity:.2f}",)


def _bound_rows(bounds: FSMRankBounds) -> list[tuple[str, ...]]:
    """Return a table with a row for each bound of FSMRank's paper.

    The first row, a header, has the objective of the model.
    """
    # The bound on unseen pairs of documents is None for a loss for
    # which the paper does not prove Theorem 3.
    unseen = "–" if bounds.unseen is None else f"≤ +{bounds.unseen:.2g}"
    return [
        (tr("objective of the model"), f"{bounds.objective:.4f}"),
        (tr("distance to the minimum (Theorem 2)"), f"≤ +{bounds.above_minimum:.2g}"),
        (tr("unseen pairs, Th. 3"), unseen),
    ]


def _importance_text(profile: FeatureProfile) -> str:
    """Return the importance of a feature as a text.

    The importance of its negative is added if the two differ.
    """
    importance, negative = profile.importance
    return (
        f"{importance:.3g}"
        if importance == negative
        else f"{importance:.3g}, −: {negative:.3g}"
    )


def _table_widget(rows: Sequence[tuple[str, ...]], tip: str) -> QWidget:
    """Return a widget with a table whose first row is its header, with a tooltip.

    The first column takes the width that the others leave, and is cut.
    The other columns are aligned to the right.
    """
    table = named(QWidget(), tip=tip)
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(0, 1)
    for line, (title, *texts) in enumerate(rows):
        head = named(ElidedLabel(title), role="caption" if line == 0 else "")
        head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid.addWidget(head, line, 0)
        for column, text in enumerate(texts, start=1):
            cell = named(PlainLabel(text), role="caption" if line == 0 else "")
            cell.setAlignment(
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            )
            if title == _EXPLAINED_LABEL:
                cell.setToolTip(plain(_EXPLAINED_HELP))
            grid.addWidget(cell, line, column)
    return table
