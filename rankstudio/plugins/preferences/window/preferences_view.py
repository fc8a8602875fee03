"""Preferences instead of labels in the window: opens a file, and shows and removes it on the Data page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import (
    learned_from,
    preferences_of,
)
from rankstudio.engine.support.number_format import count_text
from rankstudio.plugins.preferences.clicks import ClickRule, PairRule, PositionBiasError
from rankstudio.plugins.preferences.preference_files import ClickFacts
from rankstudio.plugins.preferences.preference_summary import PreferenceSummary
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import CommandController, OtherPages
from rankstudio.ui.process.files_read import ask_beside
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Fact, KeyValue, RemovableNote
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named

_ETA_WIDTH = 84  # pixels
USUAL_ETA = "1"
"""The η where it cannot be estimated: a click at position 2 weighs twice (Joachims et al. 2017)."""

Described = tuple[PreferenceSummary, ClickFacts | None]
"""Counts of preferences, and facts on clicks; None for preferences that are no clicks."""

_Counted = tuple[tuple[tuple[str, str], ...], int | None]
"""The counted preferences: the items of the plan's entry for the file, and the fold (None for all folds)."""


class PreferencesView(QWidget):
    """Shows the plan's preference file and its counts; the user can remove the file or change the rule.

    Attributes
    ----------
    appeared : Signal()
        The view was shown; its content may be out of date.
    title : RemovableNote
        Name of the file, with a button to learn from labels again.
    """

    appeared = Signal()

    def __init__(self, theme: Theme) -> None:
        """Build the view; it is hidden until a plan has preferences."""
        super().__init__()
        named(self, "preferences-view", tr("preferences between documents"))

        # The name of the file, with a button that removes it from the plan.
        self.title = RemovableNote(theme, "preferences-name", tr("Use labels again"))
        self._facts = KeyValue()
        self.rows: tuple[Fact, ...] = ()  # the facts that are shown

        # The rule by which clicks become preferences: the pairs, and
        # the weight of a click.
        rules = (
            ("unclicked", tr("over unclicked")),
            ("skipped", tr("over skipped above")),
        )
        self.pairs = named(choice_box(rules), "click-pairs", tr("pairs of clicks"))
        self.pairs.setToolTip(
            tr(
                "Which unclicked documents of its result list a clicked one is preferred to: all of them, "
                "or those above it."
            )
        )
        self.eta = named(QLineEdit(), "click-eta", tr("weight of clicks"))
        self.eta.setMaximumWidth(scaled(_ETA_WIDTH))
        self.eta.setToolTip(
            tr(
                "A click weighs position^η. η is a number, or “estimated” from documents shown at several "
                "positions; “given” takes the inverse of the column propensity."
            )
        )

        # The row with the rule is a widget of its own, because files of
        # preferences have no rule.
        self.rule = QWidget()
        line = QHBoxLayout(self.rule)
        fill(
            line,
            (self.pairs, 1),
            PlainLabel("η"),
            self.eta,
            margins=(0, 0, 0, 0),
            spacing=6,
        )
        fill(
            QVBoxLayout(self),
            self.title,
            self.rule,
            self._facts,
            margins=(0, 6, 0, 0),
            spacing=6,
        )
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `appeared`, upon which preferences are counted."""
        super().showEvent(event)
        self.appeared.emit()

    def show_file(self, preferences: Mapping[str, str], part: str = "") -> None:
        """Show the preference file of a plan, and the part of the data that is counted.

        ``preferences`` is the plan's entry for the file, whose keys
        "pairs" and "eta" are the rule of clicks; the empty entry, {},
        hides the view.
        """
        title = learned_from(preferences)
        has_clicks = "pairs" in preferences
        if has_clicks:  # their rule is shown below, and not in the title
            title = tr("clicks: {file}").format(file=Path(preferences["path"]).name)
        self.title.say(" · ".join(filter(None, (title, part))) if title else "")
        self.rule.setVisible(has_clicks)
        if has_clicks:
            self.pairs.setCurrentIndex(self.pairs.findData(preferences["pairs"]))
            self.eta.setText(preferences["eta"])
        self.setVisible(bool(title))

    def show_summary(self, counts: Described | None) -> None:
        """Show the counts; None until they are known."""
        summary, clicks = counts if counts is not None else (None, None)
        self.rows = () if summary is None else preference_facts(summary)
        if summary is not None and clicks is not None:
            self.rows = click_facts(summary, clicks)
        self._facts.set_rows(self.rows)


def click_facts(summary: PreferenceSummary, clicks: ClickFacts) -> tuple[Fact, ...]:
    """Return facts to show about clicks: their number, their pairs, an estimated η."""
    pairs = trn("{n:,} pair", "{n:,} pairs", summary.n_pairs).format(n=summary.n_pairs)
    rows = [
        Fact(tr("clicks"), count_text(clicks.n_clicks), pairs, "muted", clicks.sentence)
    ]
    if clicks.bias is not None and clicks.bias.n_documents:
        eta = f"{clicks.bias.eta:.3f} ± {clicks.bias.error:.3f}"
        rows.append(Fact("η", eta, tr("estimated"), "muted", clicks.sentence))
    return tuple(rows)


def preference_facts(summary: PreferenceSummary) -> tuple[Fact, ...]:
    """Return facts to show about preferences: their counts, explained in tooltips."""
    # Counts of preferences, pairs and contradictions are always shown.
    queries = trn("{n:,} query", "{n:,} queries", summary.n_queries).format(
        n=summary.n_queries
    )
    about = tr("Between {n:,} documents.").format(n=summary.n_documents)
    facts = [
        Fact(
            tr("preferences"),
            count_text(summary.n_preferences),
            queries,
            "muted",
            about,
        ),
        Fact(
            tr("pairs"),
            count_text(summary.n_pairs),
            tooltip=tr("Different pairs of documents, in either direction."),
        ),
        Fact(
            tr("contradictions"),
            count_text(summary.n_contradictions),
            tooltip=tr(
                "Pairs with preferences in both directions: every ranking contradicts one of them."
            ),
        ),
    ]

    # The largest cycle is shown only if there is one.
    cycles = tr("largest {n}").format(n=summary.largest) if summary.n_cycles else ""
    meaning = tr(
        "Preference cycles: no ranking can satisfy all {inside:,} preferences inside these "
        "groups of documents. All other preferences can be satisfied together."
    )
    inside = meaning.format(inside=summary.n_cyclic)
    return (
        *facts,
        Fact(tr("cycles"), count_text(summary.n_cycles), cycles, tooltip=inside),
    )


class PreferencesController(CommandController):
    """Puts a file of preferences into the plan, and shows the file with its counts on the Data page.

    Parameters
    ----------
    models : Models
    window : QWidget
        The window over which the dialog opens.

    Attributes
    ----------
    view : PreferencesView
        The view on the Data page, created by :meth:`join`.
    """

    def __init__(self, models: Models, window: QWidget) -> None:
        """Begin without counts; `join` makes the view."""
        super().__init__(models, window)
        self._session = models.session
        self._worker = models.task_worker
        self._dataset: FoldedDataset | None = None
        self._summaries: dict[_Counted, Described] = {}

    @property
    def possible(self) -> bool:
        """Whether a file of preferences can be put into the plan.

        The documents must be open, and read as the plan says.
        """
        return self._session.has_documents and self._session.data_match_plan

    def openers(self) -> Mapping[str, Callable[[str], object]]:  # noqa: D102 - inherited
        return {"preferences": self.open}

    def join(self, pages: OtherPages) -> None:
        """Add the view to the panel of the Data page, and connect it."""
        self.view: PreferencesView = pages.find("data").panel.add_below(PreferencesView)

        # Preferences are counted in the background when the view appears.
        self._counted = OnDemand(
            parent=self,
            worker=self._worker,
            key=self._key,
            compute=self._count,
            failed=self.failed.emit,
            panel=self.view,
            on=(self.view.appeared,),
        )

        # Edits in the view, and changes of the session.
        self.view.title.button.clicked.connect(self.remove)
        self.view.pairs.activated.connect(self.use_rule)
        self.view.eta.editingFinished.connect(self.use_rule)
        for signal in (
            self._session.datasetChanged,
            self._session.planChanged,
            self._session.foldChanged,
        ):
            signal.connect(self._show)

    @Slot()
    def ask(self) -> None:
        """Ask for a file of preferences, beside the data, and open it.

        Nothing happens without data, or if the user cancels.
        """
        dataset = self._session.dataset
        kinds = tr("Preferences (*.csv *.tsv *.csv.* *.tsv.*);;All files (*)")
        title = tr("Preferences: a table of qid, winner, loser")
        path = (
            ask_beside(self._window, title, kinds, dataset.path)
            if dataset is not None
            else ""
        )
        if path:
            self.open(path)

    @Slot(str)
    def open(self, path: str, rule: ClickRule | None = None) -> None:
        """Read a file of preferences in the background, and put it into the plan.

        If other data were opened meanwhile, the plan stays unchanged.
        ``rule`` is how clicks become preferences, None for the default.
        """
        session = self._session
        dataset = session.dataset
        if dataset is None or not session.has_documents:
            self.failed.emit(tr("Preferences refer to documents: open the data first."))
            return

        def use(preferences: dict[str, str]) -> None:
            """Put the entry for the preference file into the plan, and show a message.

            Nothing happens if other data were opened meanwhile.
            ``session``, ``dataset``, ``rule`` and ``path`` are those of
            the enclosing method.
            """
            if dataset is session.dataset:
                session.change(tr("the preferences"), preferences=preferences)

                # The message says how clicks are weighted, if the file has clicks.
                text = tr("The next run learns from the preferences of {file}")
                if (
                    "pairs" in preferences
                    and rule is None
                    and preferences["eta"] == USUAL_ETA
                ):
                    text = tr(
                        "The next run learns from the clicks of {file}. η cannot be estimated from them and "
                        "is set to 1: change it on the Data page."
                    )
                elif "pairs" in preferences:
                    text = tr(
                        "The next run learns from the clicks of {file}, weighted by position"
                    )
                self.said.emit(text.format(file=Path(path).name))

        def fail(reason: str) -> None:
            """Report an error; the plan keeps its preferences."""
            self.failed.emit(reason)
            self._show()  # restores the rule of the plan in the view

        # The file is read in the background. Of two waiting files, only
        # the later one is read.
        self._worker.task(
            tr("Reading preferences"),
            _preference_entry,
            session.plan,
            dataset,
            Path(path),
            rule,
            on_done=use,
            on_error=fail,
            slot="preferences",
        )

    @Slot()
    def use_rule(self) -> None:
        """Convert the clicks to preferences again, by the rule that is entered in the view.

        Nothing happens without clicks, or if the rule is unchanged. An
        invalid rule is reported.
        """
        preferences = preferences_of(self._session.plan)
        view = self.view
        pairs = str(view.pairs.currentData())
        eta = view.eta.text().strip()
        if "pairs" not in preferences or (pairs, eta) == (
            preferences["pairs"],
            preferences["eta"],
        ):
            return
        try:
            rule = ClickRule(pairs=cast(PairRule, pairs), eta=eta)
        except ParameterError as error:
            self.failed.emit(str(error))
            self._show()
            return
        self.open(preferences["path"], rule)

    @Slot()
    def remove(self) -> None:
        """Remove the preferences from the plan, which then learns from labels again."""
        self._session.change(tr("removing the preferences"), preferences={})

    @Slot()
    def _show(self) -> None:
        """Show the file of the plan, and its counts for the shown fold."""
        # Counts of other data are forgotten.
        session = self._session
        preferences = preferences_of(session.plan)
        if session.dataset is not self._dataset:
            self._dataset = session.dataset
            self._summaries = {}
            self._counted.forget()

        # The counts are of the shown fold, or of all folds.
        has_several = session.dataset is not None and len(session.dataset.folds) > 1
        part = ""
        if has_several and session.fold:
            part = tr("training part of fold {fold}").format(fold=session.fold)
        elif has_several:
            part = tr("all parts")

        # Show the counts of the wanted file and fold if they are
        # cached, and count them in the background otherwise.
        self.view.show_summary(self._summaries.get(self._wanted))
        self.view.show_file(preferences if session.dataset is not None else {}, part)
        self._counted.update()

    @property
    def _wanted(self) -> _Counted:
        return tuple(preferences_of(self._session.plan).items()), self._session.fold

    def _key(self) -> Key | None:
        """Return the dataset, file and fold whose preferences are to be counted; None if there are none.

        The file is given by the plan's entry for it, as pairs of key
        and value. Counts that are cached are not needed again.
        """
        dataset = self._session.dataset
        target = self._wanted  # the file and the fold that are shown
        if (
            dataset is None
            or target in self._summaries
            or not self._session.has_documents
        ):
            return None
        return dataset, *target

    def _count(self) -> Computation | None:
        """Return the computation that counts the preferences in the background.

        The counts are shown and cached. Return None without data.
        """
        session = self._session
        target = self._wanted  # the file and the fold that are shown now
        dataset = self._session.dataset
        if dataset is None:
            return None

        def show(counts: Described) -> None:
            """Keep the counts of `target`, and show them."""
            self._summaries[target] = counts
            self.view.show_summary(counts)

        label = tr("Counting preferences")
        return computation(label, show, _described, session.plan, dataset, session.fold)


def _preference_entry(
    plan: Plan, dataset: FoldedDataset, path: Path, rule: ClickRule | None
) -> dict[str, str]:
    """Return the plan's entry for a preference file, which is read and checked.

    If no rule for clicks is specified and η cannot be estimated from
    the clicks, η is `USUAL_ETA`, which the user can change.
    """
    from rankstudio.plugins.preferences.plan_preferences import checked_plan_entry  # noqa: PLC0415 - on the worker only

    try:
        return checked_plan_entry(plan, dataset, path, rule)
    except PositionBiasError:
        if rule is not None:
            raise
        return checked_plan_entry(plan, dataset, path, ClickRule(eta=USUAL_ETA))


def _described(plan: Plan, dataset: FoldedDataset, fold: int | None) -> Described:
    """Return the counts of a plan's preferences in a fold, and facts about clicks."""
    from rankstudio.plugins.preferences import plan_preferences  # noqa: PLC0415 - on the worker only

    return plan_preferences.describe_preferences(
        plan, dataset, fold
    ), plan_preferences.click_facts(plan)
