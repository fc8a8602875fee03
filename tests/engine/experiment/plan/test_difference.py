"""What tells one plan from another, in words."""

from __future__ import annotations

import pytest

from rankstudio.engine.experiment.plan.difference import (
    differences,
    distinctions,
    only_pins_differ,
)
from rankstudio.engine.experiment.plan.plan import Plan


def test_only_what_differs_is_told_by_its_name() -> None:
    plain = Plan("x", parameters={"regularization": (1.0, 2.0)})
    assert differences(plain, plain) == ()
    changed = plain.changed(
        parameters={"regularization": 4.0, "n_features_to_select": 3}, rule="one-se"
    )
    several = plain.changed(
        parameters={"regularization": (1.0, 2.0), "pinned": "1 | 2, 3"}
    )
    assert differences(several, plain) == ("pinned 1 | 2, 3",)
    assert differences(changed, plain) == ("λ 4", "features k 3", "rule: one-se")
    assert differences(plain, changed) == ("λ 2^0, 2^1", "features k all", "rule: best")
    assert differences(Plan("x", method="gas"), plain) == ("another method",)


def test_of_a_ranker_what_differs_is_the_ranker_or_its_parameters() -> None:
    own, ranked = Plan("x", method="gas"), Plan("x", method="gas", ranker="ranksvm")
    assert differences(ranked, own) == ("final ranker: RankSVM",)
    assert differences(own, ranked) == ("final ranker: RankRLS",)
    again = own.changed(ranker="rankrls")
    assert differences(again, own) != differences(own, again), (
        "RankRLS twice, by different settings"
    )
    other = ranked.changed(ranker_parameters={"C": 0.5})
    assert differences(other, ranked) == ("RankSVM C 0.5",)
    unused = ranked.changed(parameters={"regularization": 2.0})
    assert differences(unused, ranked) == (), "the ranker ranks, not GAS's own RankRLS"


def test_the_effect_of_pins_is_what_lies_between_runs_that_differ_in_nothing_else() -> (
    None
):
    names = {3: "BM25 of anchor", 5: "PageRank"}
    plain = Plan("x")
    pinned = plain.changed(parameters={"pinned": (3,), "banned": (5,)})
    assert differences(pinned, plain, names) == (
        "pinned BM25 of anchor",
        "banned PageRank",
    )
    assert differences(plain, pinned, names) == (
        "not pinned BM25 of anchor",
        "not banned PageRank",
    )
    assert only_pins_differ(pinned, plain)
    assert not only_pins_differ(plain, plain)
    assert not only_pins_differ(pinned.changed(seed=1), plain)
    assert not only_pins_differ(pinned, Plan("x", method="rankrls"))
    assert differences(plain.changed(parameters={"pinned": (3, 5)}), pinned, names) == (
        "pinned PageRank",
        "not banned PageRank",
    )


def test_runs_of_a_method_are_told_apart_by_the_parameters_that_differ() -> None:
    plain, fewer = Plan("x"), Plan("x", parameters={"n_features_to_select": 5})
    ranker = Plan("x", method="rankrls")
    assert distinctions({1: plain, 2: fewer}) == {
        1: "features k all",
        2: "features k 5",
    }
    assert distinctions({1: plain, 3: ranker}) == {1: "", 3: ""}
    otherwise = plain.changed(select_by="criterion", convention="trec_eval")
    assert distinctions({1: plain, 2: otherwise}) == {
        1: "by MAP · Standard",
        2: "by the criterion · trec_eval",
    }


def test_the_rule_is_told_of_all_runs_where_any_has_another() -> None:
    """Catches "–" beside a run of another method, as if it had chosen k as the first one did."""
    plain, smallest = Plan("x"), Plan("x", method="fsmrank", rule="smallest")
    assert distinctions({1: plain, 2: smallest}) == {1: "", 2: "rule smallest"}
    assert distinctions({1: plain.changed(rule="smallest"), 2: smallest}) == {
        1: "",
        2: "",
    }


def test_the_second_stage_is_told_by_its_name() -> None:
    plans = [
        Plan(
            "x",
            method="gas",
            ranker="ranksvm",
            ranker_parameters={"C": C, "loss": "hinge"},
        )
        for C in ("0.1", "1, 10")
    ]
    assert distinctions(dict(enumerate(plans))) == {
        0: "RankSVM C 0.1",
        1: "RankSVM C 1, 10",
    }


def test_each_of_many_plans_is_looked_at_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To compare each with each took a quarter of a second for 500 runs, on the window's thread."""
    plans = {
        key: Plan("x", parameters={"n_features_to_select": key})
        for key in range(1, 101)
    }
    asked: list[str] = []
    own = Plan.title.fget
    monkeypatch.setattr(
        Plan, "title", property(lambda plan: asked.append("title") or own(plan))
    )
    assert distinctions(plans)[7] == "features k 7"
    assert len(asked) <= 2 * len(plans)
