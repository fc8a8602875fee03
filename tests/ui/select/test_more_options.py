"""Most fields of a method fold away: which, what the fold says of them, and when it opens by itself."""

import pytest
from hands import pick, type_into, unfold
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from windows import open_window

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog import CATALOG, method
from rankstudio.ui.widgets.disclosure import Disclosure


def fold_of(form, name="more-options"):
    return form.findChild(Disclosure, name)


def test_greedy_rankrls_shows_at_first_what_most_runs_change(form):
    shown = [name for name in form.values() if form.field(name).isVisible()]
    assert shown == ["regularization", "n_features_to_select", "pinned", "banned"]


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.key)
def test_what_folds_is_several_fields_and_never_all(entry):
    folded = [p.name for p in entry.parameters if not p.basic]
    assert len(folded) != 1, "a fold takes as much room as the one field in it"
    assert len(folded) < len(entry.parameters)
    assert all(p.basic for p in entry.grids if p.name != "gamma"), "what people tune is in sight"


def test_the_fold_counts_what_was_changed_and_opens_for_it(form, edits):
    fold = fold_of(form)
    assert (fold.opened, fold.button.text()) == (False, "More options")
    form.set_plan(Plan(data="x", parameters={"algorithm": "rows", "n_candidates": 10, "pinned": (25,)}))
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
    assert seen == [fold_of(form).button, fold_of(form).button, form.field("search").editor]
    assert fold_of(form).opened


def test_an_error_in_the_fold_is_brought_into_sight(form):
    unfold(form)
    type_into(form.field("budget"), "0")
    fold_of(form).button.click()
    assert not form.field("budget").isVisible()
    assert not form.commit()
    assert form.field("budget").error.isVisible()


def test_the_final_ranker_folds_its_own_options(form):
    form.set_plan(Plan(data="x", method="gas", ranker="ranksvm", ranker_parameters={"max_iter": 5}))
    assert fold_of(form, "ranker-more-options").opened
    assert form.field("ranker-max_iter").isVisible()


def test_the_models_of_a_selector_are_called_by_name_with_their_parameters_below(form):
    form.set_plan(Plan(data="x", method="gas"))
    box = form.field("ranked_by").editor
    assert box.currentText() == "RankRLS"
    names = [box.itemText(i) for i in range(box.count())]
    assert len(set(names)) == len(names), "RankRLS as a step of its own has another name"
    heights = [form.field(name).mapTo(form, QPoint()).y() for name in ("c", "ranked_by", "regularization")]
    assert heights == sorted(heights)
    for key, own in (("fsmsvm", "RankSVM"), ("fsmrank", "FSMRank"), ("lambdamart-top", "LambdaMART")):
        pick(form, "method", key)
        assert form.field("ranked_by").editor.currentText() == own


def test_values_that_change_no_model_are_not_compared(form, edits):
    unfold(form)
    boxes = {name: form.field(name).editor for name in ("algorithm", "cost")}
    assert boxes["cost"].count() == len(method("greedy-rankrls").parameter("cost").choices) + 1
    assert boxes["algorithm"].count() == len(method("greedy-rankrls").parameter("algorithm").choices)
    assert "comma" not in form.field("n_candidates").editor.toolTip()
    form.set_plan(Plan(data="x", parameters={"algorithm": ["rows", "columns"]}))
    assert form.values()["algorithm"] == ("rows", "columns"), "a plan of today still opens"


def test_a_fold_is_as_it_was_left(theme, tmp_path):
    for found in (False, True):
        with open_window(theme, tmp_path) as window:
            window.workspace.show_page("select")
            fold = fold_of(window.sections.method.form)
            assert fold.opened is found
            if not found:
                fold.button.click()
