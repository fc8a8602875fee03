"""Substitutes for the selected features: sentences, a map of correlations, and the controller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, isnan, log10
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from rankstudio.engine.analysis.features.selection_stability import selection_matrix
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.feature_groups import Groups, feature_groups_of, group_names
from rankstudio.engine.data.summary import is_wide
from rankstudio.engine.support.number_format import correlation_text
from rankstudio.plugins.features.window.feature_tasks import FeatureTasks
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import either, together, tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.plots.maps.feature_map import (
    ColumnGroup,
    FeatureMapPlot,
    MapFeature,
    MapValues,
    ordinal,
)
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.choices import Segmented
from rankstudio.ui.widgets.layout import fill, named, show_in

if TYPE_CHECKING:
    from rankstudio.plugins.features.substitutes import (
        GroupSwap,
        SubstituteGroup,
        Substitutes,
        Swap,
    )

# unselected features of a cluster that are named; the others are counted
_MAX_NAMED = 5
_DECIMALS = 4  # minimum number of decimals of a change
_MIN_CHANGE = 1e-9  # smaller changes of the criterion count as none
_NOTHING_LIKE = tr("No unselected feature is similar.")
_NOTHING_LIKE_THESE = tr("No unselected feature is similar to {features}.")
_ALL_SELECTED = tr("{features} have no substitutes because all features are selected.")
_MIN_SIMILARITY = 0.3  # |r| below which no features are called similar
NO_MODEL = tr("Run a method to see substitutes of the selected features.")

LIST = "list"
CORRELATION = "correlation"
RUNS = "runs"
"""Views of the panel: sentences, a map of correlations, or a map of the features that runs selected."""
_OPTIONS = (
    (LIST, tr("list")),
    (CORRELATION, tr("correlation")),
    (RUNS, tr("runs × folds")),
)
_NO_RUNS = tr(
    "The features selected by each run on each fold appear here after the first finished fold."
)
# pause after a change of the model before its substitutes are computed
_SETTLED_MILLISECONDS = 150

_EVERY_FOLD = tr(
    "Each fold has its own features. Choose a single fold to see their substitutes."
)
_LOOKING = tr("Computing substitutes …")
_NO_DOCUMENTS = tr("Open the data to see substitutes of the selected features.")
_TOO_MANY = tr(
    "Substitutes compare all pairs of features, and these are too many, or sparse. Export “Data with the "
    "selected features” and open them."
)


@dataclass(frozen=True)
class SubstituteSentence:
    """A title and sentences on substitutes for some features.

    Attributes
    ----------
    title : str
        The features: "LMIR.DIR of body (39), 23 or 40".
    text : str
        How similar the features are, and what a swap costs, in whole sentences.
    hint : str
        Tooltip with the names of all features.
    feature : int or None
        Id of the selected feature, for inspection.
    """

    title: str
    text: str
    hint: str = ""
    feature: int | None = None


@dataclass(frozen=True, eq=False)
class _FeatureNames:
    """Returns the name of a column when called: "BM25 of body (23)".

    Attributes
    ----------
    ids, names : of length n
        Ids and names of the data's columns.
    """

    ids: Ints
    names: Sequence[str]

    def __call__(self, column: int) -> str:
        return f"{self.names[column]} ({self.ids[column]})"

    def id(self, column: int) -> str:
        return str(self.ids[column])

    def listed(self, columns: Iterable[int]) -> str:
        """Return ids and names of columns, one per line."""
        return "\n".join(
            f"{self.ids[column]} {self.names[column]}" for column in columns
        )


def substitute_sentences(
    model_substitutes: Substitutes,
    ids: Ints,
    names: Sequence[str],
    groups: Groups | None = None,
) -> tuple[SubstituteSentence, ...]:
    """Return a sentence for each cluster, in order of the improvement by its best swap.

    Clusters of a single feature without substitutes share a sentence.

    Parameters
    ----------
    model_substitutes : Substitutes
        Clusters of similar features, and swaps of features of the model.
    ids, names : of length n
        Ids and names of the data's n columns.
    groups : Mapping of str to tuple of int, optional
        Ids of the features of each group by its name.
    """
    feature_names = _FeatureNames(ids, names)
    lonely = [group for group in model_substitutes.groups if _is_lonely(group)]
    combined = lonely if len(lonely) > 1 else []  # clusters that share a sentence

    # Pairs of the least change of the criterion and a sentence; a
    # negative change is an improvement.
    better = [swap for swap in model_substitutes.better if swap.change <= -_MIN_CHANGE]
    ranked = (
        [(_greatest_fall(better), _improvements_sentence(better, feature_names))]
        if better
        else []
    )
    ranked += [
        (_greatest_fall(group.swaps), _group_sentence(group, feature_names))
        for group in model_substitutes.groups
        if group not in combined
    ]
    if combined:
        ranked.append((0.0, _lonely_sentence(combined, feature_names)))
    ranked += [
        (
            _greatest_fall([swap]),
            _group_swap_sentence(swap, feature_names, groups or {}),
        )
        for swap in model_substitutes.group_swaps
    ]

    # Sentences without an improvement keep their order, as the sort is stable.
    ordered = [
        sentence
        for _, sentence in sorted(
            ranked, key=lambda fall_and_sentence: fall_and_sentence[0]
        )
    ]
    if model_substitutes.why_no_swaps:
        ordered.append(SubstituteSentence("", tr(model_substitutes.why_no_swaps)))
    return tuple(ordered)


def _greatest_fall(swaps: Iterable[Swap | GroupSwap]) -> float:
    """Return the change of the criterion by the best swap if it is lowered, or 0."""
    least = min((swap.change for swap in swaps if not isnan(swap.change)), default=0.0)
    return least if least <= -_MIN_CHANGE else 0.0


def swap_sentence(change: float, added: str, removed: str) -> str:
    """Describe the effect of a swap on the leave-query-out error.

    ``change`` is the change of the error per document by the feature or
    group of the name ``added`` instead of ``removed``.
    """
    if abs(change) < _MIN_CHANGE:
        text = tr(
            "{added} instead of {removed} does not change the leave-query-out error."
        )
    elif change > 0:
        text = tr(
            "{added} instead of {removed} raises the leave-query-out error by {size} per document."
        )
    else:
        text = tr(
            "{added} instead of {removed} lowers the leave-query-out error by {size} per document."
        )
    return text.format(added=added, removed=removed, size=_size_text(change))


def _size_text(change: float) -> str:
    """Return the size of a change without its sign, with as many decimals as it needs: "0.0004"."""
    first_decimal = -floor(log10(max(abs(change), _MIN_CHANGE)))  # that is not 0
    return f"{abs(change):.{max(_DECIMALS, first_decimal)}f}"


def _group_sentence(
    group: SubstituteGroup, feature_names: _FeatureNames
) -> SubstituteSentence:
    """Return the sentence on a cluster: which features are similar, and what its swaps change."""
    chosen = together([feature_names(column) for column in group.selected])
    title = either(
        [chosen, *(feature_names.id(column) for column in group.others[:_MAX_NAMED])]
    )
    n_more = len(group.others) - _MAX_NAMED
    if n_more > 0:
        title = tr("{first} and {n} more").format(first=title, n=n_more)
    sentences = []
    if not isnan(group.least):
        sentences.append(
            tr("These features correlate with |r| ≥ {r}.").format(
                r=_rounded_down(group.least)
            )
        )
    sentences += _swap_sentences(group, feature_names)
    hint = feature_names.listed((*group.selected, *group.others))
    feature = int(feature_names.ids[group.selected[0]])

    # Several swaps may give the same sentence, which is said once.
    return SubstituteSentence(title, " ".join(dict.fromkeys(sentences)), hint, feature)


def _is_lonely(group: SubstituteGroup) -> bool:
    """Return whether a cluster is a single feature without similar features and without known swaps.

    A swap replaces the feature by an unselected one. It is known if the
    change of the error was computed; it is NaN otherwise.
    """
    has_no_substitute = all(
        abs(swap.correlation) < _MIN_SIMILARITY and isnan(swap.change)
        for swap in group.swaps
    )
    return len(group.selected) == 1 and not group.others and has_no_substitute


def _lonely_sentence(
    groups: Sequence[SubstituteGroup], feature_names: _FeatureNames
) -> SubstituteSentence:
    """Return the sentence on the selected features without substitutes.

    Each of ``groups`` is a cluster of only one such feature. The
    sentence says that no feature is similar to them, or that all
    features are selected, so that there is none to replace them.
    """
    columns = [group.selected[0] for group in groups]

    # `swaps` are the best replacements of the selected feature by
    # unselected ones that are not constant. Without any, all features
    # count as selected.
    has_unselected = any(group.swaps for group in groups)

    # The ids are joined by "or" in the sentence "nothing is similar to
    # …", and by "and" in the other one.
    join_words = either if has_unselected else together
    column_ids = join_words([feature_names.id(column) for column in columns])
    title = tr("{n_columns} features without substitutes").format(
        n_columns=len(columns)
    )
    text = _NOTHING_LIKE_THESE if has_unselected else _ALL_SELECTED
    return SubstituteSentence(
        title=title,
        text=text.format(features=column_ids),
        hint=feature_names.listed(columns),
        feature=int(feature_names.ids[columns[0]]),
    )


def _swap_sentences(group: SubstituteGroup, feature_names: _FeatureNames) -> list[str]:
    """Return the sentences on the swaps of selected features within a cluster of similar features.

    A swap replaces a selected feature by an unselected one.

    A feature that is most similar to several selected features gets the
    same sentence for each of them.
    """
    # If the change of the criterion was not computed (NaN), the
    # similarity is said, or that no feature is similar.
    sentences = []
    for swap in group.swaps:
        assert swap.added is not None  # the swaps of a cluster are no removals
        if not isnan(swap.change):
            sentences.append(
                swap_sentence(
                    swap.change,
                    feature_names(swap.added),
                    feature_names.id(swap.removed),
                )
            )
            if not group.others:
                sentences.append(
                    tr("Their correlation is r = {r}.").format(
                        r=correlation_text(swap.correlation)
                    )
                )
        elif not group.others and abs(swap.correlation) < _MIN_SIMILARITY:
            sentences.append(_NOTHING_LIKE)
        else:
            # All selected features to which this feature is the most similar one.
            near = [
                f"{feature_names.id(s.removed)} (r = {correlation_text(s.correlation)})"
                for s in group.swaps
                if s == swap
                or (
                    s.added == swap.added
                    and isnan(s.change)
                    and abs(s.correlation) >= _MIN_SIMILARITY
                )
            ]
            text = tr("{added} is the unselected feature most similar to {near}.")
            sentences.append(
                text.format(added=feature_names(swap.added), near=together(near))
            )
    return sentences


def _group_swap_sentence(
    swap: GroupSwap, feature_names: _FeatureNames, groups: Groups
) -> SubstituteSentence:
    """Return the sentence on a swap of two candidates as a whole.

    The swap replaces a whole group of features, or a feature by a group.
    """
    name_of_feature = group_names(groups)

    def group_text(columns: tuple[int, ...]) -> str:
        """Return the name of a group, or of a single feature, with the ids of its features.

        ``columns`` are all columns of the group, or that of the feature.
        """
        first = columns[0]
        name = name_of_feature.get(
            int(feature_names.ids[first]), feature_names.names[first]
        )
        return f"{name} ({', '.join(map(feature_names.id, columns))})"

    removed = group_text(swap.removed)
    title = (
        tr("{removed} as a whole").format(removed=removed)
        if len(swap.removed) > 1
        else removed
    )
    return SubstituteSentence(
        title=title,
        text=swap_sentence(swap.change, group_text(swap.added), removed),
        hint=feature_names.listed((*swap.removed, *swap.added)),
        feature=int(feature_names.ids[swap.removed[0]]),
    )


def _improvements_sentence(
    better: Sequence[Swap], feature_names: _FeatureNames
) -> SubstituteSentence:
    """Return one title and text on the swaps that lower the error.

    The first swap of ``better`` has the greatest effect. The tooltip
    has a sentence for each swap.
    """
    first = better[0]
    sentences = [_improvement_sentence(swap, feature_names) for swap in better]
    title = trn(
        "{n} change lowers the error", "{n} changes lower the error", len(better)
    )
    feature = first.removed if first.added is None else first.added
    return SubstituteSentence(
        title=title.format(n=len(better)),
        text=sentences[0],
        hint="\n".join(sentences),
        feature=int(feature_names.ids[feature]),
    )


def _improvement_sentence(swap: Swap, feature_names: _FeatureNames) -> str:
    """Return the sentence on a swap that lowers the error, or on a removal that does."""
    if swap.added is not None:
        return swap_sentence(
            swap.change, feature_names(swap.added), feature_names.id(swap.removed)
        )
    text = tr(
        "Leaving out {feature} lowers the leave-query-out error by {size} per document."
    )
    return text.format(
        feature=feature_names(swap.removed), size=_size_text(swap.change)
    )


def _rounded_down(value: float) -> str:
    """Return a bound with two decimals that the value is not below."""
    return f"{floor(value * 100 + 1e-9) / 100:.2f}"  # 0.29 * 100 is a little below 29


class SubstitutesPanel(Panel):
    """Shows substitutes for the features of a model, in one of three views that the user switches.

    The views are a list of sentences, a map of the correlations between
    features in the order of their clusters, and a map of the features
    that each run selected on its folds.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Substitutes"))
        self.setObjectName("substitutes-panel")
        self.link_title("substitute")
        self._shown_substitutes: Substitutes | None = None  # the shown substitutes

        # Ids and names of the data's columns.
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._names: tuple[str, ...] = ()

        # The map of runs has a column for each of the F folds of all
        # runs: the rank at which each fold selected each of n features,
        # shape (n, F), the runs with the numbers of their folds, and
        # the number of each column's fold.
        self._ranks: Floats = np.empty((0, 0))
        self._groups: tuple[ColumnGroup, ...] = ()
        self._folds: tuple[int, ...] = ()
        self.plot = named(
            FeatureMapPlot(theme), "substitutes-map", tr("Correlation of features")
        )

        # the plot's entry in the list of exports
        self.plot.shared = Shared("substitutes", tr("Map of features"))
        self.switch = named(Segmented(_OPTIONS, tr("show")), "substitutes-switch")
        self._scroll = named(
            QScrollArea(),
            "substitutes-sentences",
            tr("Substitutes of the selected features"),
        )
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        fill(self.body, self.switch, (self._scroll, 1), (self.plot, 1))
        self.switch.chosen.connect(self._draw)
        self.clear()

    def show_substitutes(
        self,
        substitutes: Substitutes,
        ids: Ints,
        names: Sequence[str],
        groups: Groups | None = None,
    ) -> None:
        """Show possible substitutes for the features of a model.

        Parameters
        ----------
        substitutes : Substitutes
        ids, names : of length n
            Ids and names of the data's columns.
        groups : Mapping of str to tuple of int, optional
            Groups of features, given by ids, which are swapped as a whole.
        """
        self._shown_substitutes = substitutes
        self._ids = ids
        self._names = tuple(names)
        self._show_sentences(substitute_sentences(substitutes, ids, names, groups))
        self._draw()

    @property
    def shows_substitutes(self) -> bool:
        """Whether substitutes of a model are shown."""
        return self._shown_substitutes is not None

    def show_runs(
        self, ranks: Floats, folds: Sequence[int], groups: Sequence[ColumnGroup]
    ) -> None:
        """Show which features runs selected on their folds.

        Parameters
        ----------
        ranks : ndarray of shape (n, F)
            Rank at which each fold selected each feature of the data;
            NaN for features it did not select.
        folds : sequence of int of length F
            Numbers of the folds.
        groups : sequence of ColumnGroup
            The run of each successive group of folds.
        """
        self._ranks = ranks
        self._folds = tuple(folds)
        self._groups = tuple(groups)
        if self.switch.value() == RUNS:
            self._draw()

    def clear(self, reason: str = NO_MODEL) -> None:
        """Show a sentence instead of substitutes."""
        self._shown_substitutes = None
        self._show_sentences(())
        self.set_caption("")
        self.plot.show_nothing(reason)
        self._show_view()

    def sentences(self) -> tuple[str, ...]:
        """Return the sentences, for tests and for screen readers."""
        labels = self._scroll.findChildren(PlainLabel)
        return tuple(label.text() for label in labels)

    @Slot()
    def _show_view(self) -> None:
        """Show the list or a map."""
        shows_list = self.switch.value() == LIST and self._shown_substitutes is not None
        self._scroll.setVisible(shows_list)
        self.plot.setVisible(not shows_list)

    @Slot()
    def _draw(self) -> None:
        """Show the sentences or the map, as the user chose."""
        substitutes = self._shown_substitutes
        self._show_view()
        if substitutes is None:
            return

        # Order of selection, from 1, by the column; 0 for features not in the model.
        rank = {
            column: position
            for position, column in enumerate(substitutes.selected, start=1)
        }
        features = [
            MapFeature(int(self._ids[column]), self._names[column], rank.get(column, 0))
            for column in substitutes.columns
        ]

        # The map of correlations is also made while the list is shown, for export.
        has_correlations = self.switch.value() != RUNS
        self.plot.setAccessibleName(
            tr("Correlation of features")
            if has_correlations
            else tr("Features by run and fold")
        )
        if has_correlations:
            text = tr("{n_columns} features, by correlation within queries")
            if substitutes.n_features > len(substitutes.columns):
                text = tr(
                    "{n_columns} of {n_features} features, by correlation within queries"
                )
            caption = text.format(
                n_columns=len(substitutes.columns), n_features=substitutes.n_features
            )
            self.set_caption("" if self.switch.value() == LIST else caption)
            self.plot.show_map(features, self._correlations(substitutes, features))
        elif not self._folds:
            self.set_caption("")
            self.plot.show_nothing(_NO_RUNS)
        else:
            self.set_caption(tr("features selected by each fold, in the same order"))
            self.plot.show_map(features, self._selections(substitutes))

    def _correlations(
        self, substitutes: Substitutes, features: Sequence[MapFeature]
    ) -> MapValues:
        """Return the map of |r|, the correlations between the shown features.

        The same features are rows and columns.
        """
        r = substitutes.correlations
        texts = tuple(tuple(f"r = {correlation_text(v)}" for v in row) for row in r)
        return MapValues(
            values=np.abs(r),
            columns=tuple(
                f"{feature.name} ({feature.feature_id})" for feature in features
            ),
            ticks=("",) * len(features),
            limits=(0.0, 1.0),
            title="|r|",
            bar=tuple((value, f"{value:g}") for value in (0.0, 0.25, 0.5, 0.75, 1.0)),
            texts=texts,
            x_label=tr("the same features"),
            square=True,
        )

    def _selections(self, substitutes: Substitutes) -> MapValues:
        """Return the map of the steps at which the folds of all runs selected the features.

        Rows are the features of ``substitutes``, columns the folds of
        one run after the other.
        """
        ranks = self._ranks[list(substitutes.columns)]
        runs = [group.label for group in self._groups for _ in range(group.size)]

        # The color scale goes from the greatest rank, at least 2, to
        # the first, so that features selected early have the colors of
        # its upper end.
        greatest = (
            max(2, int(np.nanmax(self._ranks))) if np.isfinite(self._ranks).any() else 2
        )
        middle = (1 + greatest) // 2
        marks = sorted({1, middle, greatest})  # ranks written beside the color bar
        return MapValues(
            values=ranks,
            columns=tuple(
                tr("fold {fold} of {run}").format(fold=fold, run=run)
                for fold, run in zip(self._folds, runs, strict=True)
            ),
            ticks=tuple(map(str, self._folds)),
            limits=(float(greatest), 1.0),
            title=tr("chosen as"),
            bar=tuple((float(mark), ordinal(mark)) for mark in marks),
            texts=tuple(
                tuple(
                    tr("not selected")
                    if np.isnan(v)
                    else tr("selected as {v}").format(v=ordinal(int(v)))
                    for v in row
                )
                for row in ranks
            ),
            x_label=tr("fold"),
            groups=self._groups,
        )

    def _show_sentences(self, sentences: Sequence[SubstituteSentence]) -> None:
        """Show the sentences in the list, each with its title above it.

        Screen readers get all sentences at once.
        """
        page = named(QWidget(), role="page")
        lines = fill(QVBoxLayout(page), margins=(0, 0, 4, 0), spacing=2)
        for sentence in sentences:
            if sentence.title:
                lines.addWidget(_text_line(sentence.title, sentence.hint))
            lines.addWidget(_text_line(sentence.text, sentence.hint, "caption"))
            lines.addSpacing(8)
        lines.addStretch(1)
        show_in(self._scroll, page)
        self._scroll.setAccessibleDescription(
            plain("\n".join(f"{s.title}: {s.text}" for s in sentences))
        )


def _text_line(text: str, hint: str, role: str = "") -> PlainLabel:
    return named(PlainLabel(text, wraps=True, selectable=True), tip=hint, role=role)


class SubstitutesController(Controller):
    """Computes substitutes for the features of the shown model, while the panel of substitutes is visible.

    Parameters
    ----------
    theme : Theme
    models : Models
        The shown model, the runs, and the worker that computes substitutes.
    tasks : FeatureTasks
    """

    def __init__(
        self,
        theme: Theme,
        models: Models,
        tasks: FeatureTasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        session = models.session
        runs = models.runs
        current = models.current
        worker = models.task_worker
        self._session = session
        self._runs = runs
        self._current = current
        self._tasks = tasks
        self._absence = models.absence
        self.panel = SubstitutesPanel(theme)
        self.panels = (self.panel,)

        # The substitutes of the chosen model, and the selections of all
        # runs. Each is computed again if its key has changed after one
        # of the signals `on`, and the panel is visible; `clear` is
        # called if the key is None. Substitutes wait until no signal
        # has come for some time (`settled`), as while the user moves
        # along the path.
        self._substitutes = OnDemand(
            parent=self,
            worker=worker,
            key=self._model_key,
            compute=self._find,
            failed=self.failed.emit,
            slot="substitutes",
            panel=self.panel,
            on=(
                current.changed,
                session.foldChanged,
                session.datasetChanged,
                models.absence.changed,
            ),
            clear=lambda: self.panel.clear(self._why_none()),
            settled=_SETTLED_MILLISECONDS,
        )
        self._selections = OnDemand(
            parent=self,
            worker=worker,
            key=self._runs_key,
            compute=self._compare,
            failed=self.failed.emit,
            slot="selection-matrix",
            panel=self.panel,
            on=(
                session.datasetChanged,
                runs.ended,
                runs.removed,
                runs.cleared,
                runs.added,
            ),
        )
        self.panel.plot.inspected.connect(session.inspectAsked)
        session.inspected.connect(self.panel.plot.mark_feature)

    @Slot()
    def update(self) -> None:
        """Find and show the substitutes for the features of the current model.

        Nothing is done if the panel is hidden, or shows these
        substitutes already.
        """
        self.refresh()
        self._substitutes.update()

    @Slot()
    def refresh(self) -> None:
        """Show the selections of the runs on their finished folds, if the panel is visible."""
        self._selections.update()

    def _model_key(self) -> Key | None:
        """Return the model and the fold on which the substitutes depend.

        Return None without a model or documents, and for wide data,
        whose correlations are not computed.
        """
        model = self._current.model
        has_documents = self._session.has_documents
        if model is not None and is_wide(model.fold.train):
            return None
        return None if model is None or not has_documents else (model.step, model.fold)

    def _find(self) -> Computation | None:
        """Return the computation of the substitutes; None without a model."""
        model = self._current.model
        dataset = self._session.dataset
        if model is None or dataset is None:
            return None
        if not self.panel.shows_substitutes:
            self.panel.clear(_LOOKING)
        ids = dataset.feature_ids
        names = dataset.feature_names
        groups = feature_groups_of(model.plan)

        def show(substitutes: Substitutes) -> None:
            """Show the computed substitutes in the panel.

            The ids, names and groups of the features are those of the
            enclosing method.
            """
            self.panel.show_substitutes(substitutes, ids, names, groups)

        return computation(
            tr("Computing substitutes"),
            show,
            self._tasks.substitutes,
            model.plan,
            model.fold,
            model.path,
            model.position,
        )

    def _records(self) -> list[RunRecord]:
        """Return the runs of the open data that select features.

        Such a run selected some but not all features on at least one fold.
        """
        dataset = self._session.dataset
        n_features = dataset.n_features if dataset is not None else 0
        return [
            record
            for record in self._runs.records
            if record.dataset is dataset
            and any(len(fold.selected) < n_features for fold in record.folds.values())
        ]

    def _runs_key(self) -> Key | None:
        """Return the finished folds of all runs that are compared; None without data."""
        if self._session.dataset is None:
            return None
        return tuple(
            fold
            for record in self._records()
            for _, fold in sorted(record.folds.items())
        )

    def _compare(self) -> Computation | None:
        """Return the computation of the selections of all runs and folds; None without data."""
        dataset = self._session.dataset
        records = self._records()
        if dataset is None:
            return None
        folds = [fold for record in records for _, fold in sorted(record.folds.items())]

        # The folds of a run are successive columns, in the color of the run's number.
        groups = [
            ColumnGroup(tr("run {key}").format(key=r.key), r.key - 1, len(r.folds))
            for r in records
        ]

        def show(ranks: Floats) -> None:
            """Show the rank at which each fold selected each feature.

            ``ranks`` has the shape (n, F) for n features and F folds of runs.
            """
            self.panel.show_runs(ranks, [fold.fold for fold in folds], groups)

        title = tr("Comparing the selections of runs")
        return computation(title, show, selection_matrix, folds, dataset.feature_ids)

    def _why_none(self) -> str:
        """Return the reason why there are no substitutes, as a sentence."""
        if self._session.dataset is None or self._current.model is None:
            return self._absence.fold_model(_EVERY_FOLD, NO_MODEL)
        if is_wide(self._current.model.fold.train):
            return _TOO_MANY
        return self._absence.documents(_NO_DOCUMENTS)
