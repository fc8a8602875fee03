"""Who ranks with what a method selects, in the form."""

from html import unescape

import pytest
from hands import pick, type_into, unfold

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog import CATALOG, method


def test_who_ranks_with_the_selection_is_chosen_with_its_parameters(form, edits):
    form.set_plan(Plan(data="x", method="gas", parameters={"regularization": (2.0, 4.0)}))
    assert form.field("regularization").isVisible()
    pick(form, "ranked_by", "ranksvm")
    assert not form.field("regularization").isVisible(), "it concerns only GAS's own model"
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
    assert plan.parameters["regularization"] == (2.0, 4.0), "kept, for when GAS ranks itself again"
    type_into(form.field("ranker-C"), "0")
    assert form.field("ranker-C").error.text().startswith("C: expected numbers greater than 0")
    assert not form.commit()
    pick(form, "ranked_by", "")
    assert form.field("regularization").isVisible()
    assert (edits[-1]["ranker"], edits[-1]["ranker_parameters"]) == ("", {})
    assert Plan(data="x", **edits[-1]).axes[0].values == (2.0, 4.0)


@pytest.mark.parametrize("ranker", [m.key for m in CATALOG if not m.selects])
def test_every_ranker_can_ranker_and_what_is_told_is_a_plan(form, edits, ranker):
    form.set_plan(Plan(data="x", method="rfe"))
    pick(form, "ranked_by", ranker)
    assert form.ranker_values() == method(ranker).validate({})
    plan = Plan(data="x", **edits[-1])
    assert plan == Plan(data="x", method="rfe", ranker=ranker)
    assert form.field("regularization").isVisible(), "recursive elimination selects by it"
    form.set_plan(plan)
    assert (form.ranker_key(), form.ranker_values()) == (ranker, dict(plan.ranker_parameters))
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
    form.set_plan(Plan(data="x", method="gas", ranker="ranksvm", ranker_parameters={"C": 3}))
    shown = [name for name in form.values() if name != "regularization"]
    values = form.ranker_values()
    ranking = [f"ranker-{p.name}" for p in method("ranksvm").parameters if p.counts(values)]
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
    ):
        form.set_plan(Plan(data="x", method="gas", ranker="ranksvm", ranker_parameters={"kernel": kernel}))
        assert tuple(name for name in fields if form.field(f"ranker-{name}").isVisible()) == seen
