"""The method and its parameters: a form that is generated from the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import feature_groups_of, groups_in_words
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.left_out_names import (
    PAIR_MEASURES,
    left_out_name,
)
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, refusal
from rankstudio.engine.experiment.plan.preference_source import (
    preferences_in_words,
    preferences_of,
)
from rankstudio.engine.experiment.plan.protocol import (
    BEST,
    ONE_SE,
    SMALLEST,
    at_most,
    parse_rule,
)
from rankstudio.engine.methods.catalog import (
    GIVEN,
    GIVEN_MODEL,
    GIVEN_SCORES,
    Kind,
    Method,
    Parameter,
    method,
    methods,
    refusal_of_groups,
)
from rankstudio.engine.support.escaping import html_text
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import (
    ChoiceField,
    FeaturesField,
    Field,
    ProtocolField,
    align_labels,
    link_terms,
)
from rankstudio.ui.select.section import ParameterSection
from rankstudio.ui.style.plain_text import PlainLabel, shortened
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, RemovableNote
from rankstudio.ui.widgets.choices import set_notes
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ColumnArea

_OWN_MODEL = ""
# pixels: a field for a method's name, its reset button, margins, the scroll bar
_WIDTH_BESIDE_LABELS = 228


def _method_parameter(entries: Sequence[Method]) -> Parameter:
    """Return the choice of a method as a parameter of the form.

    ``entries`` are the methods to choose from; the first one is the
    default. Rankings from files (`GIVEN`) follow, in the reverse of the
    catalog's order.
    """
    return Parameter(
        name="method",
        label=tr("method"),
        kind=Kind.CHOICE,
        default=entries[0].key,
        help=tr("The method to run. Each method remembers its own parameters."),
        choices=tuple(
            (entry.key, entry.label) for entry in (*entries, *reversed(GIVEN))
        ),
    )


def _ranker_parameter(selector: Method) -> Parameter:
    """Return the choice of the final ranker, which ranks with a selector's features, as a parameter.

    ``selector`` is the method that selects the features. By default no
    other method ranks: the selector's own model does.
    """
    # All methods that do not select features can rank with the features
    # of another method. Without such a ranker (None), the selector's
    # own model ranks. `final_ranker` returns the label of either.
    rankers = [
        (entry.key, selector.final_ranker(entry))
        for entry in methods()
        if not entry.selects
    ]
    return Parameter(
        name="ranked_by",
        label=tr("final ranker"),
        kind=Kind.CHOICE,
        default=_OWN_MODEL,
        help=(
            tr(
                "The model that ranks with the selected features, for every number of "
                "features. Choose the same ranker for several selectors to compare their "
                "selections."
            )
        ),
        choices=((_OWN_MODEL, selector.final_ranker(None)), *rankers),
    )


def _criterion_parameter(
    measures: Sequence[str], *, left_out: bool = False, pairs: bool = False
) -> Parameter:
    """Return the choice of the criterion that selects the model as a parameter.

    ``measures`` are those that a plan reports; the first is the
    default. With ``left_out``, the measures on left-out training
    queries are among the choices; with ``pairs`` as well, these are the
    measures on left-out pairs of documents.
    """
    # Validation measures first, then left-out measures if the method
    # has them, then its own criterion.
    choices = tuple(
        (name, tr("validation {name}").format(name=name)) for name in measures
    )
    if left_out:
        title = tr("leave-pair-out {name}") if pairs else tr("leave-query-out {name}")
        choices += tuple(
            (left_out_name(name, pairs=pairs), title.format(name=name))
            for name in measures
            if not pairs or name in PAIR_MEASURES
        )
    return Parameter(
        name="select_by",
        label=tr("criterion"),
        kind=Kind.CHOICE,
        default=measures[0],
        help=(
            tr(
                "Selection criterion for the parameters and the number of features: a "
                "validation measure, a leave-query-out measure (RankRLS only), or the method's "
                "own criterion. Ties go to the smaller λ, then to fewer features."
            )
        ),
        choices=(*choices, (CRITERION, tr("training criterion"))),
    )


def _rule_parameter(present_rule: str) -> Parameter:
    """Return the choice of the rule that selects the model, such as "best", as a parameter.

    ``present_rule`` is the rule of the plan, which is offered even if it is an unusual one.
    """
    usual_rules = [BEST, SMALLEST, ONE_SE, *map(at_most, (5, 10, 20))]
    labels = {
        BEST: tr("best"),
        SMALLEST: tr("smallest not significantly worse"),
        ONE_SE: tr("within one standard error"),
    }

    # A rule that limits the number of features is named after the limit.
    rules = dict.fromkeys([*usual_rules, present_rule])
    limits = {rule: parse_rule(rule).most for rule in rules}
    labels |= {
        rule: tr("at most {k} features").format(k=k)
        for rule, k in limits.items()
        if k is not None
    }
    return Parameter(
        name="rule",
        label=tr("rule"),
        kind=Kind.CHOICE,
        default=BEST,
        help=(
            tr(
                "Selects the model of each fold by its validation measure. “Smallest not significantly "
                "worse” uses a paired t-test over the queries. “Within one standard error” takes the "
                "smallest model that is this close to the best. Press Run to apply another rule."
            )
        ),
        source="Breiman et al. 1984",
        choices=tuple((rule, labels[rule]) for rule in rules),
    )


class MethodForm(Panel):
    """The form of a plan: the method, its parameters, the final ranker, and how the model is chosen.

    The form keeps the fields of each method that was shown, so that the
    user can go to another method and back without losing values.

    Attributes
    ----------
    edited : Signal(object)
        The user changed valid attributes of the plan (a dict by name):
        either one of "protocol", "select_by", "rule" and "preferences",
        or all of "method", "parameters", "ranker" and
        "ranker_parameters".
    """

    edited = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Method"), padding=0, name="method-form")

        # The greatest relevance label of the open data, which some methods limit.
        self._greatest_label = 0.0

        # Why a ranking from a file cannot be chosen in the form: a command opens it.
        self._refusals_of_given = {
            GIVEN_SCORES.key: tr(
                "Add scores of another program with Run, Add scores of another program."
            ),
            GIVEN_MODEL.key: tr("Open a model file with File, Open model as ranker."),
        }

        # The fields of the plan itself.
        self._method = ChoiceField(theme, _method_parameter(methods()))
        self._insert_separators(methods())
        self._ranker = ChoiceField(theme, _ranker_parameter(methods()[0]))
        self._protocol = ProtocolField(theme)
        self._select_by = ChoiceField(theme, _criterion_parameter(("MAP",)))
        self._rule = ChoiceField(theme, _rule_parameter(BEST))
        theme.restyled.connect(self._align)

        # Remarks, each of which is shown only when it applies.
        self._groups = named(PlainLabel(wraps=True), "groups-note", role="caption")
        self._groups.hide()
        self._warning = named(PlainLabel(wraps=True), "method-warning", role="caption")
        self._preferences = RemovableNote(
            theme, "preferences-note", tr("Use labels again")
        )
        self._preferences.button.clicked.connect(
            lambda _: self._emit_attribute("preferences", {})
        )

        # The parameters of the method, of the ranking and of the ranker.
        self._method_section = ParameterSection(theme)
        self._ranking_section = ParameterSection(theme, fold="ranking-options")
        self._ranker_section = ParameterSection(theme, prefix="ranker-")
        self._sections = (
            self._method_section,
            self._ranking_section,
            self._ranker_section,
        )
        self._heading = named(PlainLabel(), "choice-heading", role="title")
        self._reset = named(
            self.add_tool("reset", tr("Reset all parameters to their defaults")),
            "reset-all",
        )
        self._page = named(QWidget(), role="page")
        self._scroll = named(ColumnArea(), "method-scroll")
        self._lay_out()

        # Edits of the fields change the plan.
        for section in self._sections:
            section.edited.connect(self._take_parameter_edit)
        self._method.edited.connect(self._take_method_choice)
        self._ranker.edited.connect(self._take_method_choice)
        for field in (self._protocol, self._select_by, self._rule):
            field.edited.connect(partial(self._emit_attribute, field.parameter.name))
        self._reset.clicked.connect(self.reset)

        # Until a plan is set, the form shows one without data.
        self._plan = Plan(data="")
        self._show_method_fields()

    @property
    def wished_width(self) -> int:
        """Preferred width in pixels: that of the labels, which depends on the language, and of the fields."""
        return self._label_width + _WIDTH_BESIDE_LABELS

    def method_key(self) -> str:
        """Return the key of the method that is shown."""
        return str(self._method.value)

    def ranker_key(self) -> str:
        """Return the key of the ranker that ranks with the selected features, "" for the method's own."""
        return (
            str(self._ranker.value) if method(self.method_key()).selects else _OWN_MODEL
        )

    def values(self) -> dict[str, Any]:
        """Return the parameters of the method that is shown; a field in error has its last valid value."""
        return {**self._method_section.values(), **self._ranking_section.values()}

    def ranker_values(self) -> dict[str, Any]:
        """Return the parameters of the final ranker; empty without one."""
        return self._ranker_section.values() if self.ranker_key() else {}

    def select_by(self) -> str:
        """Return the measure or criterion that chooses the model."""
        return str(self._select_by.value)

    def field(self, name: str) -> Field:
        """Return a field of the form by its name.

        The name is that of a parameter of the shown method, that of the
        final ranker's parameter with a prefix ("ranker-C"), or
        "method", "ranked_by", "protocol", "select_by" or "rule".
        """
        fixed: tuple[Field, ...] = (
            self._method,
            self._ranker,
            self._protocol,
            self._select_by,
            self._rule,
        )
        if name.startswith("ranker-"):
            return self._ranker_section.fields[name.removeprefix("ranker-")]

        # No parameter has the name of a fixed field, or is in both sections.
        parameter_fields = {
            **self._method_section.fields,
            **self._ranking_section.fields,
        }
        return (parameter_fields | {field.parameter.name: field for field in fixed})[
            name
        ]

    @Slot(object)
    def offer_methods(self, extra: Method | None = None) -> None:
        """Offer all registered methods, and ``extra``, which may be one that only a study describes.

        If ``extra`` is registered, it is offered once.
        """
        entries = methods()
        if extra is not None and extra.key not in {
            entry.key for entry in (*entries, *GIVEN)
        }:
            entries = (*entries, extra)
        chosen = self.method_key()
        parameter = _method_parameter(entries)
        if parameter == self._method.parameter:  # the same methods as before
            return
        self._method.set_choices(parameter)
        self._method.set_value(chosen)
        # The new list has neither separators nor notes on methods yet.
        self._insert_separators(entries)
        self._note_choices()

    def _insert_separators(self, entries: Sequence[Method]) -> None:
        """Insert separators between selectors, rankers and given rankings in the list of methods."""
        self._method.editor.insertSeparator(sum(entry.selects for entry in entries))
        # + 1 for the first separator
        self._method.editor.insertSeparator(len(entries) + 1)

    def set_plan(self, plan: Plan) -> None:
        """Show a plan without emitting a signal."""
        # Select method and ranker. A method that does not select
        # features has no final ranker: the field keeps the last one for
        # the next method that selects.
        self._plan = plan
        self.offer_methods(plan.entry)
        self._method.set_value(plan.method)
        if plan.entry.selects:
            self._ranker.set_value(plan.ranker)

        # Show the fields of the method and ranker, then their values.
        self._show_method_fields()
        self._method_section.set_values(plan.parameters)
        self._ranking_section.set_values(plan.parameters)
        self._ranker_section.set_values(plan.ranker_parameters)
        self._offer(plan)

        # The note says how features are grouped, or why they cannot be,
        # or which files a ranking is from. A ranker that supports
        # groups uses all features, so that groups make no difference to
        # it, and the note leaves them out.
        grouped = bool(feature_groups_of(plan)) and (
            plan.entry.selects or not plan.entry.groups
        )
        self._groups.setText(groups_text(plan) if grouped else files_text(plan))
        self._groups.setVisible(grouped or plan.extension(GivenRanking) is not None)

        # The note on preferences (pairs of documents of which the user
        # prefers one) is there if the plan learns from them.
        entries = (plan.entry, *filter(None, (plan.ranker_entry,)))
        self._preferences.say(
            preferences_in_words(preferences_of(plan), entries)
            if preferences_of(plan)
            else ""
        )
        self._update_reset()

    def refuse_protocol(self, reason: str) -> None:
        """Show below the protocol why the data cannot be divided by it."""
        self._protocol.refuse(reason)
        self._scroll.ensureWidgetVisible(self._protocol)

    def go_to(self, name: str) -> None:
        """Bring a field into view and give it the keyboard focus."""
        field = self.field(name)
        self._reveal(field)
        field.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def offer_folds(self) -> None:
        """Go to the field of the protocol, and open its list of usual protocols."""
        self.go_to("protocol")
        self._protocol.editor.showPopup()

    def set_features(
        self,
        ids: Sequence[int] | Ints,
        names: Sequence[str],
        greatest_label: float = 0.0,
    ) -> None:
        """Set the features of the data, for the fields that take features, and the data's greatest label."""
        self._method_section.set_features(ids, names)
        self._greatest_label = greatest_label
        self._note_choices()

    def commit(self) -> bool:
        """Take the text being typed in any field; return whether all is valid, else go to the first error.

        Called before a run, because a shortcut starts a run without leaving the field.
        """
        # All other fields are lists, in which nothing is typed.
        invalid = [
            field
            for field in (*self._parameter_fields(), self._protocol)
            if not field.commit()
        ]
        if invalid:
            self._reveal(invalid[0])
            invalid[0].editor.setFocus()
        return not invalid

    @Slot()
    def reset(self) -> None:
        """Set all parameters that are shown to their defaults, as one edit."""
        before = self.values(), self.ranker_values()
        for field in self._parameter_fields():
            field.set_value(field.parameter.default)
        if (self.values(), self.ranker_values()) != before:
            self._emit_method_edit()

    def _reveal(self, field: Field) -> None:
        """Scroll to a field, and open the fold that contains it."""
        for section in self._sections:
            section.reveal(field)
        self._scroll.ensureWidgetVisible(field)

    def _lay_out(self) -> None:
        """Lay out the fields of method, ranker and protocol, with texts on them, below each other."""
        self._heading.setContentsMargins(0, 8, 0, 0)
        # The sections have the parameters of the method, of its own
        # ranking model, and of the final ranker.
        column = QVBoxLayout(self._page)
        fill(
            column,
            self._method,
            self._warning,
            self._groups,
            self._preferences,
            self._method_section,
            self._ranker,
            self._ranking_section,
            self._ranker_section,
            self._heading,
            self._protocol,
            self._select_by,
            self._rule,
            1,
            margins=(12, 12, 12, 12),
            spacing=6,
        )
        self._scroll.setWidget(self._page)
        self.set_content(self._scroll)

    def _show_method_fields(self) -> None:
        """Show the fields of the method and of the ranker."""
        # A final ranker is chosen only for a method that selects
        # features; `ranker` is "" if the method ranks itself.
        entry = method(self.method_key())
        ranker = self.ranker_key()
        self._ranker.setVisible(entry.selects)
        if entry.selects:
            self._offer_rankers(entry)

        # A ranking from a file is one model, so that there is nothing to choose.
        for field in (self._select_by, self._rule):
            field.setVisible(not entry.learns_nothing)

        # The heading names what the criterion chooses.
        self._heading.setText(
            tr("How k is chosen") if entry.selects else tr("How the model is chosen")
        )
        self._heading.setVisible(not entry.learns_nothing)

        # Some parameters of a selector concern only its own final model
        # (p.ranks). They are shown if the method ranks itself;
        # otherwise those of the ranker.
        ranking = [p for p in entry.parameters if p.ranks]
        self._method_section.show_parameters(
            entry.key, [p for p in entry.parameters if not p.ranks]
        )
        self._ranking_section.show_parameters(entry.key, ranking, visible=not ranker)
        self._ranker_section.show_parameters(
            ranker, method(ranker).parameters if ranker else ()
        )

        # Remarks and tooltips on the method and on the ranker.
        self.set_caption(entry.description.citation)
        self._note_choices()
        self._method.editor.setToolTip(about(entry))
        self._ranker.editor.setToolTip(
            about(method(ranker)) if ranker else self._ranker.label.toolTip()
        )

        # Fields have changed, so that their alignment and the order of
        # the Tab key are made anew.
        self._align()
        self._order_tabs()
        self._update_reset()

    def _offer_rankers(self, selector: Method) -> None:
        """Offer the final rankers of a selector, and its own model under its name."""
        ranker = self._ranker.value
        parameter = _ranker_parameter(selector)
        if parameter != self._ranker.parameter:
            self._ranker.set_choices(parameter)
            self._ranker.set_value(ranker)

    def _note_choices(self) -> None:
        """Show which methods cannot run here or are slow: in both lists and, for the chosen ones, below."""
        for field, selects in ((self._method, True), (self._ranker, False)):
            # The reason why a method is disabled, by its key: a package
            # is missing, or it needs a file, which is opened by another
            # command.
            reasons = {
                entry.key: entry.lacking
                for entry in (*methods(), self._plan.entry)
                if entry.lacking
            }
            # Rankings from files are refused here, as a command opens
            # them. The notes say of a method why the plan cannot use
            # it, or that it is slow.
            set_notes(
                field.editor,
                reasons | self._refusals_of_given,
                self._notes(selects=selects),
            )
        # Below the chosen method and ranker: why it cannot run, or that it is slow.
        chosen = [method(key) for key in (self.method_key(), self.ranker_key()) if key]
        warnings = [entry.lacking or self._caution(entry) for entry in chosen]
        self._warning.setText(" ".join(filter(None, warnings)))
        self._warning.setVisible(any(warnings))

    def _notes(self, *, selects: bool) -> dict[str, str]:
        """Return a note on each method as selector or, without ``selects``, as final ranker of the plan."""
        return {
            entry.key: refusal(self._plan, entry, selects=selects)
            or self._caution(entry)
            for entry in methods()
        }

    def _caution(self, entry: Method) -> str:
        """Return why a method cannot run on the data, else a note if it is slow, else ""."""
        slow_note = tr("A run takes a minute or more.") if entry.seconds.slow else ""
        return entry.refusal_of_labels(self._greatest_label) or slow_note

    def _parameter_fields(self) -> list[Field]:
        return [field for section in self._sections for field in section.shown()]

    def _ranker_fields(self) -> list[Field]:
        return [self._ranker] if method(self.method_key()).selects else []

    def _choice_fields(self) -> list[Field]:
        """Return the fields below the heading of the choice of a model: protocol, criterion and rule.

        A ranking that a file gives is one model, so that there is
        nothing to choose: then only the protocol is returned.
        """
        learns_nothing = method(self.method_key()).learns_nothing
        return (
            [self._protocol]
            if learns_nothing
            else [self._protocol, self._select_by, self._rule]
        )

    @Slot()
    def _align(self) -> None:
        """Give all labels the width of the longest one shown."""
        fields = [
            self._method,
            *self._parameter_fields(),
            *self._ranker_fields(),
            *self._choice_fields(),
        ]
        self._label_width = align_labels(fields)
        link_terms(fields)  # to the glossary

    def _order_tabs(self) -> None:
        """Let the Tab key go through the fields from top to bottom, after their order has changed."""
        order = [
            *_focus_widgets([self._method]),
            *self._method_section.tab_order(),
            *_focus_widgets(self._ranker_fields()),
            *self._ranking_section.tab_order(),
            *self._ranker_section.tab_order(),
            *_focus_widgets(self._choice_fields()),
        ]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _offer(self, plan: Plan) -> None:
        """Offer the measures and the rule of a plan, and show the plan's criterion, rule and protocol."""
        # Pairs of documents are left out instead of queries if the plan
        # does so already, or by default if the documents are one
        # ranking without queries.
        pairs = plan.pairs_out or (plan.one_ranking and not plan.leaves_out)
        left_out = plan.can_leave_out or plan.leaves_out
        criterion = _criterion_parameter(
            plan.evaluated,
            left_out=left_out,
            pairs=pairs,
        )
        offered = {self._select_by: criterion, self._rule: _rule_parameter(plan.rule)}
        for field, parameter in offered.items():
            if parameter != field.parameter:
                field.set_choices(parameter)

            # The parameters of these two fields have the names of
            # attributes of the plan.
            field.set_value(getattr(plan, parameter.name))
        self._protocol.set_value(plan.protocol)

    @Slot(object)
    def _take_method_choice(self, _key: object) -> None:
        self._show_method_fields()
        self._emit_method_edit()

    @Slot(object)
    def _take_parameter_edit(self, edited: Field) -> None:
        """Emit an edit; features that were added to one field are removed from the other fields."""
        if isinstance(edited, FeaturesField):
            for field in self._method_section.shown():
                if isinstance(field, FeaturesField) and field is not edited:
                    field.without(edited.value)
        self._emit_method_edit()

    def _emit_attribute(self, name: str, value: object) -> None:
        """Emit the new value of one attribute of the plan, such as the protocol."""
        self.edited.emit({name: value})

    def _emit_method_edit(self) -> None:
        """Emit method, ranker and the values of both as one edit, as they depend on each other.

        The button that resets all parameters is updated first.
        """
        self._update_reset()
        self.edited.emit(
            {
                "method": self.method_key(),
                "parameters": self.values(),
                "ranker": self.ranker_key(),
                "ranker_parameters": self.ranker_values(),
            }
        )

    def _update_reset(self) -> None:
        self._reset.setVisible(any(field.changed for field in self._parameter_fields()))


def _focus_widgets(fields: Sequence[Field]) -> Iterator[QWidget]:
    """Yield the widgets of fields that take the keyboard focus."""
    for field in fields:
        yield from (field.editor, field.reset_button)


def groups_text(plan: Plan) -> str:
    """Return a text on the plan's groups of features and how the method treats them, or why it cannot."""
    # The group rule says how the method treats groups; it is "" for a
    # method that cannot select groups, and then the reason is shown,
    # which depends on the number of groups.
    sentence = plan.entry.group_rule or refusal_of_groups(
        plan.entry, len(feature_groups_of(plan))
    )
    return tr("Groups: {groups_in_words}. {said}").format(
        groups_in_words=groups_in_words(feature_groups_of(plan)), said=sentence
    )


def files_text(plan: Plan) -> str:
    """Return a text with the name and path of the plan's given ranking; "" without one."""
    files = plan.extension(GivenRanking)
    if files is None:
        return ""
    return tr("{name}, read from {path}").format(name=files.name, path=files.path)


def about(entry: Method) -> str:
    """Return the tooltip of a method as rich text: name, summary, formula and paper."""
    text = entry.description
    formula = f"<p><i>{html_text(text.formula)}</i></p>" if text.formula else ""
    heading = f"<b>{entry.label}</b><br>{html_text(shortened(tr(text.summary)))}"
    return f"<p>{heading}</p>{formula}<p><i>{html_text(text.title)}.</i> {html_text(text.citation)}</p>"
