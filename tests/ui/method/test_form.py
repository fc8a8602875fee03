import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from rankstudio.engine.catalog import CATALOG, Kind, method
from rankstudio.engine.experiment.plan import Plan
from rankstudio.ui.method.features_field import Chip
from rankstudio.ui.method.fields import tooltip
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.method.section import _EDITORS

IDS = (1, 2, 25, 39)
NAMES = ("TF of body", "TF of anchor", "BM25 of anchor", "LMIR.DIR of whole document")


@pytest.fixture
def form(app, theme):
    made = MethodForm(theme)
    made.set_features(IDS, NAMES)
    made.resize(280, 700)
    made.show()
    made.activateWindow()
    QCoreApplication.processEvents()
    yield made
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents()


@pytest.fixture
def edits(form):
    told = []
    form.edited.connect(lambda key, values: told.append((key, values)))
    return told


def type_into(field, text):
    field.editor.setFocus()
    field.editor.selectAll()
    QTest.keyClicks(field.editor, text)
    QTest.keyClick(field.editor, Qt.Key.Key_Return)


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.key)
def test_every_method_of_the_catalog_has_its_fields_with_defaults_and_help(form, entry):
    form.set_plan(Plan(data="x", method=entry.key))
    assert form.method_key() == entry.key
    assert form.values() == entry.validate({})
    assert form.caption() == entry.citation
    for parameter in entry.parameters:
        field = form.field(parameter.name)
        assert field.isVisible()
        assert field.label.buddy() is field.editor
        assert field.editor.accessibleName() == parameter.label
        assert parameter.help in field.editor.toolTip()
        for text in (parameter.symbol, parameter.source):
            assert text in field.editor.toolTip()


def test_a_tooltip_tells_symbol_source_range_and_default():
    text = tooltip(method("greedy-rankrls").parameter("regularization"))
    for part in ("λ", "eq. (3)", "greater than 0", "2^0..2^10"):
        assert part in text


def test_a_valid_edit_is_told_once_and_whole(form, edits):
    type_into(form.field("regularization"), "2^-2..2^2")
    assert len(edits) == 1
    key, values = edits[0]
    assert key == "greedy-rankrls"
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
        ("pinned", "anchor", "2 features match"),
        ("pinned", "nothing of the kind", "nothing of the kind"),
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
    assert found in label.text()
    assert field.editor.property("invalid") is True
    assert not edits
    assert form.values() == before
    assert not form.commit()


def test_an_error_goes_while_it_is_mended_and_the_value_is_taken_when_the_field_is_left(form, edits):
    field = form.field("n_features_to_select")
    type_into(field, "0")
    assert field.has_error
    field.editor.selectAll()
    QTest.keyClicks(field.editor, "12")
    assert not field.has_error
    assert not edits
    form.field("regularization").editor.setFocus()
    assert edits[-1][1]["n_features_to_select"] == 12


def test_commit_takes_what_is_still_being_typed(form, edits):
    field = form.field("n_features_to_select")
    field.editor.setFocus()
    QTest.keyClicks(field.editor, "7")
    assert form.values()["n_features_to_select"] is None
    assert form.commit()
    assert form.values()["n_features_to_select"] == 7
    assert len(edits) == 1


def test_features_are_added_by_id_and_by_name_and_taken_out(form, edits):
    field = form.field("pinned")
    type_into(field, "25, 1")
    type_into(field, "whole")
    assert form.values()["pinned"] == (25, 1, 39)
    QCoreApplication.processEvents()
    chips = [chip for chip in field.findChildren(Chip) if chip.isVisible()]
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


def test_a_feature_is_pinned_or_banned_never_both(form, edits):
    type_into(form.field("pinned"), "25 39")
    type_into(form.field("banned"), "25")
    assert form.values()["pinned"] == (39,)
    assert form.values()["banned"] == (25,)
    assert len(edits) == 2
    assert edits[-1][1]["pinned"] == (39,)


def test_reset_of_one_field_and_of_all(form, edits):
    reset = form.field("n_features_to_select").reset_button
    assert not reset.isVisible()
    type_into(form.field("n_features_to_select"), "5")
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
        parameters={"regularization": "2^3", "pinned": (25,), "algorithm": "statistics"},
        measures=("P@5", "NDCG@3"),
        select_by="NDCG@3",
    )
    form.set_plan(plan)
    assert form.values() == dict(plan.parameters)
    assert form.select_by() == "NDCG@3"
    box = form.field("select_by").editor
    assert [box.itemData(i) for i in range(box.count())] == ["P@5", "NDCG@3", "criterion"]
    assert not edits


def test_choices_are_told(form, edits):
    told = []
    form.selectByEdited.connect(told.append)
    form.set_plan(Plan(data="x"))
    for name, key in (("select_by", "NDCG@10"), ("algorithm", "algorithm1"), ("method", "rankrls")):
        box = form.field(name).editor
        box.setCurrentIndex(box.findData(key))
        box.activated.emit(box.currentIndex())
    assert told == ["NDCG@10"]
    assert [key for key, _ in edits] == ["greedy-rankrls", "rankrls"]
    assert edits[0][1]["algorithm"] == "algorithm1"
    assert set(edits[1][1]) == {"regularization"}


def test_another_method_and_back_loses_nothing(form, edits):
    type_into(form.field("n_features_to_select"), "9")
    for key in ("rankrls", "greedy-rankrls"):
        box = form.field("method").editor
        box.setCurrentIndex(box.findData(key))
        box.activated.emit(box.currentIndex())
    assert edits[-1][1]["n_features_to_select"] == 9


def test_tab_goes_through_the_fields_in_their_order(form):
    fields = [form.field(n) for n in ("method", *form.values(), "select_by")]
    editors = [field.editor for field in fields]
    reached, at = [], editors[0]
    for _ in range(60):
        if at in editors and at not in reached:
            reached.append(at)
        at = at.nextInFocusChain()
    assert reached == editors


def test_kinds_of_the_catalog_are_all_covered():
    assert set(_EDITORS) == set(Kind)
