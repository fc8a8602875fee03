"""Damaged plans, comparisons and results: the values that stand there, or a sentence with the file's name."""

from __future__ import annotations

import json
import random
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated, mutated_value

from rankstudio.cli.commands.convert import selected_features
from rankstudio.cli.commands.run import _paths_beside
from rankstudio.engine.analysis.comparisons.batch import (
    folder_name,
    is_comparison,
    load_comparison,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import RankStudioError, shown_path
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    plan_as_dict,
    plan_from_dict,
    save_plan,
    with_data_beside,
)
from rankstudio.engine.experiment.reports import plan_of_results
from rankstudio.engine.experiment.runner import check, open_data
from rankstudio.engine.support.resources import resource

TESTS = Path(__file__).resolve().parents[1]

PLANS: tuple[dict[str, Any], ...] = (
    tomllib.loads((TESTS / "data" / "plan-0.1.toml").read_text(encoding="utf-8")),
    {"data": "MQ2008"},
    plan_as_dict(
        Plan(
            "x y",
            parameters={"pinned": (3,), "costs": {2: 0.5}, "size_penalty": 0.1},
            folds=(1, 2),
            protocol="5-fold, nested 3-fold",
            rule="one-se",
            seed=7,
        )
    ),
    {
        "data": "a",
        "method": "fsmrank",
        "ranker": "listnet",
        "parameters": {"max_iter": [5, 10]},
    },
    {
        "data": "a",
        "method": "lambdamart",
        "parameters": {"num_leaves": "7, 31", "learning_rate": 0.1},
    },
    {
        "data": "a",
        "method": "adarank",
        "measures": ["map", "ndcg@3"],
        "select_by": "criterion",
    },
    {
        "data": "a",
        "groups": {"TF: all": [1, 2], "=x": [5]},
        "parameters": {"pinned": [1]},
    },
)

COMPARISONS: tuple[dict[str, Any], ...] = (
    tomllib.loads(resource("plans", "selectors.toml").read_text(encoding="utf-8")),
    {
        "data": "a",
        "runs": [
            {
                "method": "gas",
                "ranker": ["rankrls", "ranksvm"],
                "parameters": {"c": 0.5},
            }
        ],
        "parameters": {"rankrls": {"regularization": "1..3"}},
        "against": "gas/ranksvm",
        "folds": [1],
    },
    {
        "title": "T",
        "runs": [{"method": ["rankrls"]}, {"method": "kendall", "ranker": "rankrls"}],
    },
)


def damaged(rng: random.Random, values: tuple[dict[str, Any], ...]) -> bytes:
    """Return TOML with damaged text, or with values of another kind."""
    chosen = rng.choice(values)
    if rng.random() < 0.5:
        try:
            return tomli_w.dumps(mutated_value(rng, chosen)).encode()
        except (TypeError, ValueError, AttributeError):  # what TOML cannot say
            pass
    return mutated(
        rng, tomli_w.dumps(chosen).encode(), [tomli_w.dumps(v).encode() for v in values]
    )


@cache
def dataset() -> FoldedDataset:
    return make_ranking(n_queries=12, seed=3)


def stands_there(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def ids_of_groups(values: dict[str, Any]) -> list[tuple[int, ...]]:
    """Return the ids of each group of a plan that was written with lists of them."""
    groups = values.get("groups", {})
    if isinstance(groups, str):
        return []  # a text, which none of the damage makes one with ids
    listed = [
        ids.replace(",", " ").split() if isinstance(ids, str) else ids
        for ids in groups.values()
    ]
    return sorted(tuple(sorted({int(i) for i in ids})) for ids in listed)


def check_data(plan: Plan) -> None:
    """Make sure that data which are not there are told so."""
    if (
        plan.data == SAMPLE
        or (place := Path(plan.data)).is_absolute()
        or ".." in place.parts
    ):
        return
    with pytest.raises(RankStudioError) as raised:
        open_data(plan.changed(data=f"nowhere/{plan.data}"))
    place = f"nowhere/{plan.data}" if "\0" not in plan.data and plan.data else "nowhere"
    refusal(raised.value, shown_path(place))


def test_plans(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "some.toml"
        path.write_bytes(damaged(rng, PLANS))
        is_comparison(path)
        try:
            plan = load_plan(path)
        except RankStudioError as error:
            return refusal(error, path)
        values = stands_there(path)
        for name in ("data", "method", "seed", "missing", "normalize", "convention"):
            assert getattr(plan, name) == values.get(name, getattr(Plan("a"), name))
        assert plan.folds == tuple(dict.fromkeys(values.get("folds", ())))
        assert sorted(feature_groups_of(plan).values()) == ids_of_groups(values)
        save_plan(plan, folder / "again.toml")
        assert load_plan(folder / "again.toml") == plan
        assert (
            plan_from_dict(json.loads(json.dumps(plan_as_dict(plan), allow_nan=False)))
            == plan
        )
        assert with_data_beside(plan, path).changed(data=plan.data) == plan
        assert len(folder_name(plan)) > 0
        for entry, given in (
            (plan.entry, plan.parameters),
            (plan.ranker_entry, plan.ranker_parameters),
        ):
            for p in entry.parameters if entry else ():
                assert p.validate(p.written(given[p.name])) == given[p.name]
        if rng.random() < 0.1:
            check_data(plan)
        assert len(plan.combinations) >= 1
        try:
            check(plan, dataset())
        except RankStudioError as error:
            refusal(error)
        return Outcome.READ

    fuzz("plans", attempt, 1500)


def test_comparisons(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "some.toml"
        path.write_bytes(damaged(rng, COMPARISONS))
        if not is_comparison(path):
            with pytest.raises(RankStudioError) as raised:
                load_comparison(path)
            return refusal(raised.value, path)
        try:
            comparison = load_comparison(path)
        except RankStudioError as error:
            return refusal(error, path)
        values = stands_there(path)
        assert comparison.title == values.get("title", "some")
        assert comparison.against == values.get("against", "")
        plans = comparison.plans("a")
        assert plans and all(plan.data == "a" for plan in plans)
        methods = [run["method"] for run in values["runs"]]
        keys = {
            key
            for given in methods
            for key in ([given] if isinstance(given, str) else given)
        }
        assert {plan.method for plan in plans} == keys
        assert len(_paths_beside(comparison.data, path)) == len(comparison.data)
        for name in ("seed", "missing", "convention"):
            assert {getattr(plan, name) for plan in plans} == {
                values.get(name, getattr(Plan("a"), name))
            }
        return Outcome.READ

    fuzz("comparisons", attempt, 700)


def results() -> tuple[bytes, ...]:
    """Return results as version 0.1 wrote them, and short ones."""
    old = sorted((TESTS / "data" / "results-0.1").glob("*/results.json"))
    short = [
        {"plan": plan_as_dict(plan_from_dict(values)), "folds": []} for values in PLANS
    ]
    return (
        *(path.read_bytes() for path in old[:2]),
        *(json.dumps(v, indent=1).encode() for v in short),
    )


def test_results(fuzz: Fuzz) -> None:
    """Results whose plan cannot be read are those of another run: none is replaced by mistake."""
    whole = results()
    plans = [plan_from_dict(json.loads(content)["plan"]) for content in whole]

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = rng.choice(whole)
        if rng.random() < 0.5:
            values = mutated_value(rng, json.loads(content)["plan"])
            content = json.dumps({"plan": values}).encode()
        else:
            content = mutated(rng, content, whole)
        (folder / "results.json").write_bytes(content)
        plan = plan_of_results(folder)
        if plan is None:
            return Outcome.REFUSED
        values = json.loads(content)["plan"]
        assert plan.data == values["data"]
        assert plan in plans or plan_from_dict(plan_as_dict(plan)) == plan
        return Outcome.READ

    fuzz("results", attempt, 700)


def results_of(numbers: tuple[int, ...]) -> dict[str, Any]:
    """Return what the terminal writes of a run with folds, cut down."""
    return {
        "version": "1.0",
        "plan": {"data": "MQ2008", "method": "greedy-rankrls"},
        "folds": [
            {
                "fold": number,
                "values": {"regularization": 2.0},
                "n_features": 3,
                "selected": [39, 23 + number, 7],
                "weights": [0.5, -0.25, 0.125],
                "test": {"MAP": 0.47},
            }
            for number in numbers
        ],
        "mean": {"MAP": 0.47},
    }


RESULTS = (results_of((1,)), results_of((1, 2, 3)), results_of((7, 2)))


def test_features_of_a_fold(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "results.json"
        values = rng.choice(RESULTS)
        if rng.random() < 0.5:
            text = json.dumps(
                mutated_value(rng, values), ensure_ascii=rng.random() < 0.5
            )
            path.write_bytes(text.encode(errors="surrogatepass"))
        else:
            others = [json.dumps(other).encode() for other in RESULTS]
            path.write_bytes(
                mutated(rng, json.dumps(values, indent=2).encode(), others)
            )
        fold = rng.choice((None, 1, 2, 7))
        try:
            found = selected_features(path, None, fold)
        except RankStudioError as error:
            return refusal(error, path)
        entries = json.loads(path.read_bytes().decode("utf-8", "replace"))["folds"]
        (own,) = (
            entry["selected"]
            for entry in entries
            if fold is None or entry["fold"] == fold
        )
        assert list(found) == own and found
        assert all(type(i) is int and i > 0 for i in own) and len(set(own)) == len(own)
        return Outcome.READ

    fuzz("results of runs", attempt, 700)
