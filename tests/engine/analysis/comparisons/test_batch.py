"""Comparisons: many plans from one file, the table they make, and the published numbers beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, ended
from wording import naming

from rankstudio.engine.analysis.comparisons.batch import (
    comparison_table,
    folder_name,
    is_comparison,
    load_comparison,
)
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.support.resources import resource

TEXT = """
title = "Two by two"
data = ["A", "B"]
measures = ["MAP", "NDCG@10"]
folds = [1]

[[runs]]
method = ["single-feature", "rfe"]
ranker = ["rankrls", "ranksvm"]

[[runs]]
method = "ranksvm"
parameters = { loss = "hinge" }

[parameters.ranksvm]
C = "4^-2..4^-1"

[parameters.rankrls]
regularization = 1.0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TEXT)
    return path


def test_every_method_meets_every_ranker_and_parameters_hold_in_both_roles(
    file: Path,
) -> None:
    assert is_comparison(file)
    made = load_comparison(file)
    assert (made.title, made.data) == ("Two by two", ("A", "B"))
    plans = made.plans("A")
    assert [(p.method, p.ranker) for p in plans] == [
        ("single-feature", "rankrls"),
        ("single-feature", "ranksvm"),
        ("rfe", "rankrls"),
        ("rfe", "ranksvm"),
        ("ranksvm", ""),
    ]
    assert all(
        p.data == "A" and p.folds == (1,) and p.measures == ("MAP", "NDCG@10")
        for p in plans
    )
    assert plans[0].ranker_parameters["regularization"] == (1.0,)
    assert plans[1].ranker_parameters["C"] == plans[4].parameters["C"] == (0.0625, 0.25)
    assert plans[1].ranker_parameters["loss"] == "squared_hinge"
    assert plans[4].parameters["loss"] == "hinge"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('method = "ranksvm"', 'way = "ranksvm"', "runs [[runs]]"),
        ('method = "ranksvm"', 'method = "x"', "x method"),
        ("[parameters.ranksvm]", "[parameters.x]", "x method"),
        ("folds = [1]", "folds = [0]", "folds 1"),
        ("folds = [1]", "colour = 1", "colour"),
        ('"4^-2..4^-1"', '"-1"', "0 numbers"),
    ],
)
def test_what_makes_no_plan_is_told_before_any_work(
    file: Path, old: str, new: str, message: str
) -> None:
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(PlanError, match=naming(message)) as caught:
        load_comparison(file)
    assert str(file) in str(caught.value)


def test_a_plan_is_no_comparison_and_neither_is_anything_else(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('data = "A"')
    (tmp_path / "text.toml").write_text("no toml at all")
    assert not is_comparison(tmp_path / "plan.toml")
    assert not is_comparison(tmp_path / "text.toml")
    assert not is_comparison(tmp_path / "missing.toml")


def test_the_shipped_comparison_has_every_selector_with_both_rankers_and_every_ranker() -> (
    None
):
    made = load_comparison(resource("plans", "selectors.toml"))
    pairs = {(p.method, p.ranker) for p in made.plans("MQ2008")}
    from rankstudio.engine.methods.catalog import methods  # noqa: PLC0415

    # of what every installation has
    for m in (one for one in methods() if not one.requires.extra):
        # the features are those of FSMRank
        if m.selects and m.key not in ("fsmsvm", "fsmrank-top"):
            assert {(m.key, "rankrls"), (m.key, "ranksvm")} <= pairs, (
                f"selectors.toml lacks {m.key}"
            )
        if not m.selects:
            assert (m.key, "") in pairs, f"selectors.toml lacks {m.key}"


def test_the_table_has_a_row_for_every_measure_and_printed_source() -> None:
    plan = Plan(
        "small", method="ranksvm", parameters={"C": 0.1}, measures=("MAP", "P@10")
    )
    last = ended(run(plan, dataset(5)))
    header, rows = comparison_table([last])
    assert len(rows) == 2  # nobody printed anything of these data
    first = dict(zip(header, rows[0], strict=True))
    assert first["average"] == last.average["MAP"]
    singles = [fold.baseline.test["MAP"] for fold in last.folds]
    assert first["best_single_feature"] == pytest.approx(np.mean(singles))
    assert first["published"] == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("runs = [1]", "tables"),
        ("runs = 3", "tables"),
        ('runs = [{ ranker = "gas" }]', "tables"),
        ("runs = [{ method = 3 }]", "method ="),
        ("runs = [{ method = [[1]] }]", "method ="),
        ('runs = [{ method = "gas", ranker = 3 }]', "ranker ="),
        ('runs = [{ method = "gas", parameters = 3 }]', "table method"),
        ('parameters = 3\nruns = [{ method = "gas" }]', "table method"),
        ('parameters = { gas = 3 }\nruns = [{ method = "gas" }]', "table method"),
        ('data = 3\nruns = [{ method = "gas" }]', "3 text list"),
        ('data = ["a", 3]\nruns = [{ method = "gas" }]', "text list"),
        ('runs = [{ method = "kendall", ranker = [] }]', "ranker ="),
        ('title = []\nruns = [{ method = "gas" }]', "title []"),
        ('against = 3\nruns = [{ method = "gas" }]', "against 3"),
        (f'data = [3, "{"x" * 5000}"]\nruns = [{{ method = "gas" }}]', "…."),
        (f"seed = 0x{'f' * 5000}\nruns = [{{ method = 'rankrls' }}]", "digits"),
        ('folds = "x"\nruns = [{ method = "gas" }]', "folds"),
        ('runs = [{ method = "gas", rnaker = "ranksvm" }]', "rnaker ranker"),
    ],
)
def test_what_is_of_the_wrong_kind_is_told(
    text: str, expected: str, file: Path
) -> None:
    file.write_text(text)
    assert is_comparison(file)
    with pytest.raises(PlanError) as caught:
        load_comparison(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert naming(expected).search(str(caught.value))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text", ["runs = " + "[" * 5000, "seed = " + "1" * 5000, "seed = \xe9"]
)
def test_what_no_reader_of_toml_takes_is_told(text: str, file: Path) -> None:
    file.write_bytes(text.encode("latin-1"))
    assert not is_comparison(file)
    with pytest.raises(PlanError, match=naming("TOML")):
        load_plan(file)


def test_a_run_may_have_several_protocols_for_a_learning_curve(tmp_path: Path) -> None:
    file = tmp_path / "curve.toml"
    file.write_text(
        'data = "d"\n[[runs]]\nmethod = ["gas", "fsmrank"]\nprotocol = ["train 20%", "given"]\n'
    )
    plans = load_comparison(file).plans("d")
    assert [(plan.method, plan.protocol) for plan in plans] == [
        ("gas", "train 20%"),
        ("fsmrank", "train 20%"),
        ("gas", "given"),
        ("fsmrank", "given"),
    ]
    assert len({folder_name(plan) for plan in plans}) == 4


def test_every_judge_meets_every_method_and_shares_the_data(tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    head = 'data = "a.csv"\n[columns]\nlabels = ["ann", "bob"]\n[[runs]]\nmethod = ["gas", "ranksvm"]\n'
    path.write_text(head + 'label = ["ann", "bob"]\n')
    plans = load_comparison(path).plans("a.csv")
    assert [(plan.columns["label"], plan.method) for plan in plans] == [
        ("ann", "gas"),
        ("ann", "ranksvm"),
        ("bob", "gas"),
        ("bob", "ranksvm"),
    ]
    path.write_text(
        head.replace('labels = ["ann", "bob"]', "") + 'label = ["ann", "bob"]\n'
    )
    assert load_comparison(path).plans("a.csv") == plans, (
        "the label of one judge is no feature for another"
    )
    for wrong, named in (
        ('label = ["ann", "eve"]\n', "eve"),
        ("label = 3\n", "label text"),
    ):
        path.write_text(head + wrong)
        with pytest.raises(PlanError, match=naming(named)):
            load_comparison(path)
