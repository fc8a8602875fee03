"""The form: fields of every method, what it tells, what folds away, and the final ranker."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from hands import pick, type_into, unfold, write
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from windows import open_window
from wording import naming

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog import Kind, method, methods
from rankstudio.engine.methods.catalog.method import Requirement
from rankstudio.engine.methods.catalog.registry import MethodRegistry
from rankstudio.ui.select import fields
from rankstudio.ui.select.fields import FeatureChip, HintedLineEdit, tooltip
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.select.section import _EDITORS
from rankstudio.ui.style.plain_text import shortened
from rankstudio.ui.widgets.choices import NOTE
from rankstudio.ui.widgets.panel import Disclosure

IDS = (1, 2, 25, 39)
NAMES = ("TF of body", "TF of anchor", "BM25 of anchor", "LMIR.DIR of whole document")


@pytest.fixture
def form(theme, stage):
    made = stage(MethodForm(theme), 280, 700)
    made.set_features(IDS, NAMES)
    made.activateWindow()
    QCoreApplication.processEvents()
    return made


@pytest.fixture(scope="module")
def shared_form(theme):
    """A form that is shown; `form` is one of the test's own."""
    made = MethodForm(theme)
    made.set_features(IDS, NAMES)
    made.resize(280, 700)
    made.show()
    yield made
    made.hide()
    made.deleteLater()


@pytest.fixture
def edits(form):
    told = []
    form.edited.connect(told.append)
    return told


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_every_method_of_the_catalog_has_its_fields_with_defaults_and_help(
    shared_form, entry
):
    form = shared_form
    form.set_plan(Plan(data="x", method=entry.key))
    assert form.method_key() == entry.key
    assert form.values() == entry.validate({})
    assert form.caption() == entry.description.citation
    for parameter in entry.parameters:
        field = form.field(parameter.name)
        assert field.isVisible() == (
            parameter.basic and parameter.counts(form.values())
        )
        assert field.label.buddy() is field.editor
        assert field.editor.accessibleName() == parameter.label
        assert shortened(parameter.help) in unescape(field.editor.toolTip())
        for text in (parameter.symbol, parameter.source):
            assert text in unescape(field.editor.toolTip())
    folded = unfold(form)
    for parameter in entry.parameters:
        assert form.field(parameter.name).isVisible() == parameter.counts(form.values())
    for fold in folded:
        QTest.mouseClick(fold.button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_groups_are_told_of_where_they_count_or_are_refused(shared_form, entry):
    form = shared_form
    form.set_plan(Plan(data="x", method=entry.key, groups={"Body": (1, 3)}))
    assert form._groups.isVisible() == (entry.selects or not entry.groups)
    if not entry.groups:
        assert f"{entry.label} selects single features" in form._groups.text()


def test_a_tooltip_tells_symbol_source_range_and_default():
    text = tooltip(method("greedy-rankrls").parameter("regularization"))
    for part in ("λ", "eq. (3)", "greater than 0", "2^0..2^10"):
        assert part in text


def test_a_valid_edit_is_told_once_and_whole(form, edits):
    type_into(form.field("regularization"), "2^-2..2^2")
    assert len(edits) == 1
    assert (edits[0]["method"], edits[0]["ranker"], edits[0]["ranker_parameters"]) == (
        "greedy-rankrls",
        "",
        {},
    )
    values = edits[0]["parameters"]
    assert values["regularization"] == (0.25, 0.5, 1.0, 2.0, 4.0)
    assert values["n_features_to_select"] is None
    assert form.field("regularization").editor._hint == "5 values"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("regularization", "-1", "-1"),
        ("regularization", "many", "many"),
        ("regularization", "", ""),
        ("n_features_to_select", "0", "0"),
        ("n_features_to_select", "3.5", "3.5"),
        ("pinned", "99", "99"),
        ("pinned", "anchor", "2 features"),
        ("pinned", "nothing of the kind", "nothing"),
    ],
)
def test_an_invalid_edit_is_explained_beside_the_field_and_the_last_value_stays(
    form, edits, name, text, found
):
    before = form.values()
    field = form.field(name)
    field.editor.setFocus()
    field.editor.setText(text)
    QTest.keyClick(field.editor, Qt.Key.Key_Return)
    if not text:
        assert field.has_error
    label = field.findChild(QLabel, f"error-{name}")
    assert label.isVisible()
    assert label.text().startswith(field.parameter.label)
    assert naming(found).search(label.text())
    assert field.editor.property("invalid") is True
    assert not edits
    assert form.values() == before
    assert not form.commit()


def test_an_error_goes_while_it_is_mended_and_the_value_is_taken_when_the_field_is_left(
    form, edits
):
    field = form.field("n_features_to_select")
    type_into(field, "0")
    assert field.has_error
    field.editor.selectAll()
    QTest.keyClicks(field.editor, "3")
    assert not field.has_error
    assert not edits
    form.field("regularization").editor.setFocus()
    assert edits[-1]["parameters"]["n_features_to_select"] == 3


def test_commit_takes_what_is_still_being_typed(form, edits):
    field = form.field("n_features_to_select")
    field.editor.setFocus()
    QTest.keyClicks(field.editor, "4")
    assert form.values()["n_features_to_select"] is None
    assert form.commit()
    assert form.values()["n_features_to_select"] == 4
    assert len(edits) == 1


def test_features_are_added_by_id_and_by_name_and_taken_out(form, edits):
    field = form.field("pinned")
    type_into(field, "25, 1")
    type_into(field, "whole")
    assert form.values()["pinned"] == (25, 1, 39)
    QCoreApplication.processEvents()
    chips = [chip for chip in field.findChildren(FeatureChip) if chip.isVisible()]
    assert [chip.feature_id for chip in chips] == [25, 1, 39]
    QTest.keyClick(chips[1], Qt.Key.Key_Delete)
    assert form.values()["pinned"] == (25, 39)
    assert len(edits) == 3


def test_a_completion_adds_its_feature(form, edits):
    field = form.field("banned")
    field.editor.setFocus()
    QTest.keyClicks(field.editor, "bm25")
    assert field.editor.completer().currentCompletion() == "25 BM25 of anchor"
    field.editor.completer().activated.emit("25 BM25 of anchor")
    QCoreApplication.processEvents()
    assert form.values()["banned"] == (25,)
    assert field.editor.text() == ""


def test_of_a_million_features_a_whole_id_or_name_is_found_at_once(form, edits):
    n = 1_000_000
    names = [f"word {i % 7}" if i > 20 else "a common word" for i in range(1, n + 1)]
    names[700_000] = "rare"
    form.set_features(np.arange(1, n + 1), names)
    field = form.field("banned")
    for typed, expected in (
        ("ARE", ""),
        ("rare", "700001 rare"),
        ("70000", "70000 word 0"),
        ("common", "1 a common word"),
    ):
        field.editor.clear()
        QTest.keyClicks(field.editor, typed)
        assert field.editor.completer().currentCompletion() == expected
        assert field.editor.completer().completionModel().rowCount() <= 100
    for typed in ("rare", "999999", "12345 word 4"):
        type_into(field, typed)
    assert form.values()["banned"] == (700_001, 999_999, 12_345)
    type_into(field, "1000001")
    assert field.has_error


def test_a_feature_is_pinned_or_banned_never_both(form, edits):
    type_into(form.field("pinned"), "25 39")
    type_into(form.field("banned"), "25")
    assert form.values()["pinned"] == (39,)
    assert form.values()["banned"] == (25,)
    assert len(edits) == 2
    assert edits[-1]["parameters"]["pinned"] == (39,)


def test_reset_of_one_field_and_of_all(form, edits):
    reset = form.field("n_features_to_select").reset_button
    assert not reset.isVisible()
    type_into(form.field("n_features_to_select"), "3")
    type_into(form.field("regularization"), "1")
    assert reset.isVisible()
    reset.click()
    assert form.values()["n_features_to_select"] is None
    type_into(form.field("pinned"), "1")
    told = len(edits)
    form.reset()
    assert form.values() == method("greedy-rankrls").validate({})
    assert len(edits) == told + 1
    form.reset()
    assert len(edits) == told + 1


def test_showing_a_plan_tells_nobody(form, edits):
    plan = Plan(
        data="x",
        parameters={
            "regularization": "2^3",
            "pinned": (25,),
            "algorithm": "statistics",
        },
        measures=("P@5", "NDCG@3"),
        select_by="NDCG@3",
    )
    form.set_plan(plan)
    assert form.values() == dict(plan.parameters)
    assert form.select_by() == "NDCG@3"
    box = form.field("select_by").editor
    left_out = ["leave-query-out P@5", "leave-query-out NDCG@3"]
    assert [box.itemData(i) for i in range(box.count())] == [
        "P@5",
        "NDCG@3",
        *left_out,
        "criterion",
    ]
    form.set_plan(plan.changed(method="gas", parameters={}))
    assert [box.itemData(i) for i in range(box.count())] == [
        "P@5",
        "NDCG@3",
        "criterion",
    ]
    assert not edits


def test_choices_are_told(form, edits):
    form.set_plan(Plan(data="x"))
    for name, key in (
        ("select_by", "NDCG@10"),
        ("algorithm", "algorithm1"),
        ("method", "rankrls"),
    ):
        pick(form, name, key)
    assert edits.pop(0) == {"select_by": "NDCG@10"}
    assert [edit["method"] for edit in edits] == ["greedy-rankrls", "rankrls"]
    assert edits[0]["parameters"]["algorithm"] == "algorithm1"
    assert set(edits[1]["parameters"]) == set(method("rankrls").defaults)


def test_another_method_and_back_loses_nothing(form, edits):
    type_into(form.field("n_features_to_select"), "4")
    for key in ("rankrls", "greedy-rankrls"):
        pick(form, "method", key)
    assert edits[-1]["parameters"]["n_features_to_select"] == 4


def test_tab_goes_through_the_fields_in_their_order(form):
    fields = [
        form.field(n) for n in ("method", *form.values(), "ranked_by", "select_by")
    ]
    editors = [field.editor for field in fields]
    editors.insert(5, form.findChild(QToolButton, "more-options-button"))
    assert editors[4] is form.field("banned").editor
    reached, at = [], editors[0]
    for _ in range(60):
        if at in editors and at not in reached:
            reached.append(at)
        at = at.nextInFocusChain()
    assert reached == editors


def test_kinds_of_the_catalog_are_all_covered():
    assert set(_EDITORS) == set(Kind)


def test_a_switch_is_told_at_a_click_and_at_the_space_bar(form, edits):
    form.set_plan(Plan(data="x", method="fsmrank"))
    unfold(form)
    field = form.field("project")
    assert not field.editor.isChecked()
    QTest.mouseClick(
        field.editor,
        Qt.MouseButton.LeftButton,
        pos=QPoint(8, field.editor.height() // 2),
    )
    assert [edit["parameters"]["project"] for edit in edits] == [True]
    assert field.reset_button.isVisible()
    field.editor.setFocus()
    QTest.keyClick(field.editor, Qt.Key.Key_Space)
    assert [edit["parameters"]["project"] for edit in edits] == [True, False]
    assert not field.reset_button.isVisible()
    form.set_plan(Plan(data="x", method="fsmrank", parameters={"project": True}))
    assert field.editor.isChecked()
    assert len(edits) == 2


def test_a_measure_is_chosen_or_typed_and_a_wrong_one_is_explained(form, edits):
    form.set_plan(Plan(data="x", method="single-feature"))
    field = form.field("measure")
    assert field.editor.currentText() == "NDCG@10"
    write(field, "NDGC@5")
    label = field.findChild(QLabel, "error-measure")
    assert label.isVisible()
    assert label.text().startswith("measure: expected ")
    assert "NDGC@5" in label.text()
    assert field.editor.property("invalid") is True
    assert not edits
    assert form.values()["measure"] == "NDCG@10"
    assert not form.commit()
    write(field, "ndcg@5")
    assert not label.isVisible()
    assert field.editor.currentText() == "NDCG@5"
    assert form.commit()
    field.editor.setCurrentIndex(field.editor.findData("MAP"))
    field.editor.activated.emit(field.editor.currentIndex())
    assert [edit["parameters"]["measure"] for edit in edits] == ["NDCG@5", "MAP"]


def test_a_number_is_explained_with_its_range(form, edits):
    form.set_plan(Plan(data="x", method="gas"))
    type_into(form.field("c"), "-0.5")
    assert (
        form.field("c").error.text()
        == "penalty c: expected a number from 0 up, got '-0.5'."
    )
    type_into(form.field("c"), "2^-2")
    assert [edit["parameters"]["c"] for edit in edits] == [0.25]
    assert form.field("c").editor.text() == "0.25"


def test_more_features_than_the_data_have_are_explained_at_their_field(form, edits):
    field, most = form.field("n_features_to_select"), len(IDS)
    type_into(field, f"{most + 1}")
    said = f"features k: expected a whole number from 1 to {most}, or empty for all, got '{most + 1}'."
    assert (field.error.text(), edits) == (said, [])
    type_into(field, f"{most}")
    assert (field.has_error, len(edits)) == (False, 1)
    # made for other data
    form.set_plan(Plan(data="x", parameters={"n_features_to_select": most + 1}))
    assert field.has_error and not form.commit()
    form.set_features([*IDS, max(IDS) + 1], [*NAMES, "another"])
    assert form.commit()


@pytest.mark.ability("trees")
def test_what_is_not_installed_cannot_be_chosen_and_says_why(app, theme, monkeypatch):
    lacking = replace(method("lambdamart"), requires=Requirement("no_such_module"))
    entries = (*(m for m in methods() if m.key != "lambdamart"), lacking)
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry(entries))
    made = MethodForm(theme)
    for name in ("method", "ranked_by"):
        box = made.field(name).editor
        item = box.model().item(box.findData("lambdamart"))
        assert not item.isEnabled()
        assert item.toolTip() == lacking.lacking == item.data(NOTE)
        assert box.model().item(box.findData("rankrls")).isEnabled()
    made.set_plan(Plan(data="x", method="lambdamart"))
    assert made.findChild(QLabel, "method-warning").text() == lacking.lacking
    made.deleteLater()


@pytest.mark.ability("trees")
def test_the_list_says_what_cannot_run_with_the_plan_or_the_data_and_what_takes_long(
    form,
):
    def note(key, name="method"):
        box = form.field(name).editor
        return box.itemData(box.findData(key), NOTE) or ""

    assert note("fs-bfs") == form_warning(form, "fs-bfs") != ""
    assert note("gas") == form_warning(form, "gas") == ""
    form.set_plan(Plan(data="x", groups={"Body": (1, 3)}))
    assert "group" in note("gas")
    assert not note("greedy-rankrls") and not note("ranksvm", "ranked_by")
    form.set_plan(Plan(data="x", preferences={"path": "p.csv"}))
    assert "preferences" in note("lambdamart") and "preferences" in note(
        "lambdamart", "ranked_by"
    )
    assert not note("ranksvm")
    form.set_plan(Plan(data="x"))
    form.set_features((1,), ("TF",), greatest_label=31.0)
    assert "31" in note("lambdamart") and "31" in form_warning(form, "lambdamart")
    form.set_features((1,), ("TF",), greatest_label=4.0)
    assert not note("lambdamart")


def form_warning(form, key):
    """Return what stands below the method once it is chosen."""
    pick(form, "method", key)
    label = form.findChild(QLabel, "method-warning")
    return label.text() if label.isVisible() else ""


def test_ties_are_asked_for_only_with_a_cost_that_can_have_them(form, edits):
    unfold(form)
    assert form.field("ties").isVisible()
    form.set_plan(Plan(data="x", parameters={"cost": "unit", "ties": False}))
    assert not form.field("ties").isVisible()
    form.set_plan(Plan(data="x", parameters={"cost": ["unit", "magnitude"]}))
    assert form.field("ties").isVisible()
    field = form.field("cost")
    field.set_value("inverse")
    field.edited.emit("inverse")
    assert edits[-1]["parameters"]["cost"] == "inverse"
    assert not form.field("ties").isVisible()
    field.set_value("magnitude")
    field.edited.emit("magnitude")
    assert form.field("ties").isVisible()


def fold_of(form, name="more-options"):
    return form.findChild(Disclosure, name)


def test_greedy_rankrls_shows_at_first_what_most_runs_change(form):
    shown = [name for name in form.values() if form.field(name).isVisible()]
    assert shown == ["regularization", "n_features_to_select", "pinned", "banned"]


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_what_folds_is_several_fields_and_never_all(entry):
    folded = [p.name for p in entry.parameters if not p.basic]
    assert len(folded) != 1, "a fold takes as much room as the one field in it"
    assert len(folded) < len(entry.parameters)
    assert all(p.basic for p in entry.grids if p.name != "gamma"), (
        "what people tune is in sight"
    )


def test_the_fold_counts_what_was_changed_and_opens_for_it(form, edits):
    fold = fold_of(form)
    assert (fold.opened, fold.button.text()) == (False, "More options")
    form.set_plan(
        Plan(
            data="x",
            parameters={"algorithm": "rows", "n_candidates": 10, "pinned": (25,)},
        )
    )
    assert fold.opened
    assert "2" in fold.button.text()
    assert form.field("algorithm").isVisible()
    fold.button.click()
    form.set_plan(Plan(data="x", parameters={"algorithm": "rows", "n_candidates": 20}))
    assert not fold.opened, "the user closed it"
    pick(form, "method", "gas")
    assert not fold.isVisible(), "GAS has nothing to fold"
    pick(form, "method", "rankrls")
    assert (fold.opened, fold.button.text()) == (False, "More options")
    pick(form, "method", "greedy-rankrls")
    assert fold.opened, "something in it differs from its default"


def test_the_last_change_taken_back_leaves_the_fold_open_under_the_mouse(form, edits):
    form.set_plan(Plan(data="x", parameters={"budget": 5}))
    form.field("budget").reset_button.click()
    assert edits[-1]["parameters"]["budget"] is None
    assert (fold_of(form).opened, fold_of(form).button.text()) == (True, "More options")


def test_the_fold_is_reached_and_opened_by_keyboard(form):
    form.field("banned").editor.setFocus()
    seen = []
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Space, Qt.Key.Key_Tab):
        QTest.keyClick(QApplication.focusWidget(), key)
        seen.append(QApplication.focusWidget())
    assert seen == [
        fold_of(form).button,
        fold_of(form).button,
        form.field("search").editor,
    ]
    assert fold_of(form).opened


def test_an_error_in_the_fold_is_brought_into_sight(form):
    unfold(form)
    type_into(form.field("budget"), "0")
    fold_of(form).button.click()
    assert not form.field("budget").isVisible()
    assert not form.commit()
    assert form.field("budget").error.isVisible()


def test_the_final_ranker_folds_its_own_options(form):
    form.set_plan(
        Plan(
            data="x", method="gas", ranker="ranksvm", ranker_parameters={"max_iter": 5}
        )
    )
    assert fold_of(form, "ranker-more-options").opened
    assert form.field("ranker-max_iter").isVisible()


@pytest.mark.ability("trees")
def test_the_models_of_a_selector_are_called_by_name_with_their_parameters_below(form):
    form.set_plan(Plan(data="x", method="gas"))
    box = form.field("ranked_by").editor
    assert box.currentText() == "RankRLS"
    names = [box.itemText(i) for i in range(box.count())]
    assert len(set(names)) == len(names), (
        "RankRLS as a step of its own has another name"
    )
    heights = [
        form.field(name).mapTo(form, QPoint()).y()
        for name in ("c", "ranked_by", "regularization")
    ]
    assert heights == sorted(heights)
    for key, own in (
        ("fsmsvm", "RankSVM"),
        ("fsmrank", "FSMRank"),
        ("lambdamart-top", "LambdaMART"),
    ):
        pick(form, "method", key)
        assert form.field("ranked_by").editor.currentText() == own


def test_values_that_change_no_model_are_not_compared(form, edits):
    unfold(form)
    boxes = {name: form.field(name).editor for name in ("algorithm", "cost")}
    assert (
        boxes["cost"].count()
        == len(method("greedy-rankrls").parameter("cost").choices) + 1
    )
    assert boxes["algorithm"].count() == len(
        method("greedy-rankrls").parameter("algorithm").choices
    )
    assert "comma" not in form.field("n_candidates").editor.toolTip()
    form.set_plan(Plan(data="x", parameters={"algorithm": ["rows", "columns"]}))
    assert form.values()["algorithm"] == ("rows", "columns"), (
        "a plan of today still opens"
    )


def test_a_fold_is_as_it_was_left(theme, tmp_path):
    for found in (False, True):
        with open_window(theme, tmp_path) as window:
            window.workspace.show_page("select")
            fold = fold_of(window.sections.select.method.form)
            assert fold.opened is found
            if not found:
                fold.button.click()


def test_who_ranks_with_the_selection_is_chosen_with_its_parameters(form, edits):
    form.set_plan(
        Plan(data="x", method="gas", parameters={"regularization": (2.0, 4.0)})
    )
    assert form.field("regularization").isVisible()
    pick(form, "ranked_by", "ranksvm")
    assert not form.field("regularization").isVisible(), (
        "it concerns only GAS's own model"
    )
    assert form.field("c").isVisible()
    unfold(form)
    for parameter in method("ranksvm").parameters:
        field = form.field(f"ranker-{parameter.name}")
        assert field.isVisible() == parameter.counts(form.ranker_values())
        assert field.label.text() == parameter.label
        assert parameter.help in unescape(field.editor.toolTip())
    type_into(form.field("ranker-C"), "0.1, 1")
    assert [edit["ranker"] for edit in edits] == ["ranksvm"] * 2
    assert edits[-1]["ranker_parameters"]["C"] == (0.1, 1.0)
    plan = Plan(data="x", **edits[-1])
    assert [axis.label for axis in plan.axes] == ["RankSVM C"]
    assert plan.parameters["regularization"] == (2.0, 4.0), (
        "kept, for when GAS ranks itself again"
    )
    type_into(form.field("ranker-C"), "0")
    assert (
        form.field("ranker-C")
        .error.text()
        .startswith("C: expected numbers greater than 0")
    )
    assert not form.commit()
    pick(form, "ranked_by", "")
    assert form.field("regularization").isVisible()
    assert (edits[-1]["ranker"], edits[-1]["ranker_parameters"]) == ("", {})
    assert Plan(data="x", **edits[-1]).axes[0].values == (2.0, 4.0)


@pytest.mark.parametrize("ranker", [m.key for m in methods() if not m.selects])
def test_every_ranker_can_ranker_and_what_is_told_is_a_plan(form, edits, ranker):
    form.set_plan(Plan(data="x", method="rfe"))
    pick(form, "ranked_by", ranker)
    assert form.ranker_values() == method(ranker).validate({})
    plan = Plan(data="x", **edits[-1])
    assert plan == Plan(data="x", method="rfe", ranker=ranker)
    assert form.field("regularization").isVisible(), (
        "recursive elimination selects by it"
    )
    form.set_plan(plan)
    assert (form.ranker_key(), form.ranker_values()) == (
        ranker,
        dict(plan.ranker_parameters),
    )
    assert len(edits) == 1


def test_a_ranker_has_no_ranker_and_a_selector_gets_its_own_back(form, edits):
    pick(form, "ranked_by", "ranksvm")
    pick(form, "method", "rankrls")
    assert not form.field("ranked_by").isVisible()
    assert (edits[-1]["ranker"], edits[-1]["ranker_parameters"]) == ("", {})
    assert Plan(data="x", **edits[-1]).ranker_entry is None
    pick(form, "method", "greedy-rankrls")
    assert form.ranker_key() == "ranksvm"
    assert edits[-1]["ranker"] == "ranksvm"


def test_reset_and_tab_go_through_the_rankers_fields_too(form, edits):
    form.set_plan(
        Plan(data="x", method="gas", ranker="ranksvm", ranker_parameters={"C": 3})
    )
    shown = [name for name in form.values() if name != "regularization"]
    values = form.ranker_values()
    ranking = [
        f"ranker-{p.name}" for p in method("ranksvm").parameters if p.counts(values)
    ]
    names = ["method", *shown, "ranked_by", *ranking, "select_by"]
    unfold(form)
    editors = [form.field(name).editor for name in names]
    reached, at = [], editors[0]
    for _ in range(80):
        if at in editors and at not in reached:
            reached.append(at)
        at = at.nextInFocusChain()
    assert reached == editors
    form.reset()
    assert form.ranker_values() == method("ranksvm").validate({})
    assert edits[-1]["ranker_parameters"] == form.ranker_values()
    assert (form.ranker_key(), len(edits)) == ("ranksvm", 1)


def test_the_rule_of_choice_is_told_and_any_rule_of_a_plan_is_shown(form, edits):
    pick(form, "rule", "one-se")
    assert edits == [{"rule": "one-se"}]
    assert Plan(data="x", **edits[0]).rule == "one-se"
    form.set_plan(Plan(data="x", rule="at most 7"))
    assert form.field("rule").value == "at most 7"
    assert form.field("rule").editor.currentText() == "at most 7 features"
    assert len(edits) == 1, "showing a plan tells nobody"


def test_a_kernels_parameters_are_asked_for_only_with_it(form, edits):
    form.set_plan(Plan(data="x", method="gas", ranker="ranksvm"))
    unfold(form)
    fields = ("gamma", "degree", "coef0", "n_basis", "basis")
    for kernel, seen in (
        ("linear", ()),
        ("rbf", ("gamma", "n_basis", "basis")),
        ("poly", fields),
        ("linear, poly", fields),
        ("linear * rbf", ("gamma", "n_basis", "basis")),
        ("2 * linear", ("n_basis", "basis")),
    ):
        form.set_plan(
            Plan(
                data="x",
                method="gas",
                ranker="ranksvm",
                ranker_parameters={"kernel": kernel},
            )
        )
        assert (
            tuple(name for name in fields if form.field(f"ranker-{name}").isVisible())
            == seen
        )


def test_values_that_do_not_fit_are_cut_before_their_number_and_whole_while_edited(
    stage: object,
) -> None:
    line, other = HintedLineEdit(), QLineEdit()
    line.setText("0.01, 0.1, 1, 10, 100, 1000, 10000")
    line.set_hint("7 values")
    both = QWidget()
    column = QVBoxLayout(both)
    column.addWidget(other)
    column.addWidget(line)
    stage(both, 200, 90)
    other.setFocus()
    cut = line.shown_text()
    assert cut.endswith("…") and line.text().startswith(cut[:-1])
    assert line.fontMetrics().horizontalAdvance(cut + line._hint) < line.width()
    picture = line.grab().toImage()
    line.setFocus()
    assert line.shown_text() == line.text()
    assert line.grab().toImage() != picture
    other.setFocus()
    line.setText("0.01, 0.1")
    assert line.shown_text() == line.text()


def test_own_values_come_from_a_file(form, edits, monkeypatch, tmp_path):
    form.set_plan(Plan(data="x", method="fsmrank"))
    field, path = form.field("importance"), str(tmp_path / "s.csv")
    monkeypatch.setattr(fields.QFileDialog, "getOpenFileName", lambda *_: (path, ""))
    own = field.editor.findText("own values…")
    field.editor.setCurrentIndex(own)
    field.editor.activated.emit(own)
    assert field.value == edits[-1]["parameters"]["importance"] == path
    assert field.editor.currentText() == "s.csv"
    form.set_plan(Plan(data="x", method="fsmrank", parameters={"similarity": path}))
    assert form.field("similarity").editor.currentText() == "s.csv"
    assert field.value == "pearson"


def test_sums_of_kernels_are_typed_and_stay_beside_ticked_ones(
    form, edits, monkeypatch
):
    form.set_plan(Plan(data="x", method="ranksvm"))
    unfold(form)
    field = form.field("kernel")

    def type_in(text: str) -> None:
        answer = (text, True)
        monkeypatch.setattr(fields.QInputDialog, "getText", lambda *_: answer)
        item = field.editor.findText("sum or product…")
        field.editor.setCurrentIndex(item)
        field.editor.activated.emit(item)

    type_in("linear + 0.5*rbf")
    assert field.value == edits[-1]["parameters"]["kernel"] == "linear + 0.5 * rbf"
    assert field.editor.currentText() == "linear + 0.5 * rbf"
    type_in("linear + cubic")
    assert field.has_error
    assert "at character 10" in field.error.text()
    assert field.value == "linear + 0.5 * rbf"
    field.menu()
    field._take_ticked()
    assert field.value == "linear + 0.5 * rbf"
    field._boxes["poly"].setChecked(True)
    field._take_ticked()
    assert field.value == ("poly", "linear + 0.5 * rbf")
    assert "0.5 * " in field.toolTip() + field.editor.toolTip()
