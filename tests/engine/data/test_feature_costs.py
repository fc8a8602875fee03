"""Costs of features: read from every form, matched with the data, in plans and commands."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.cli.run_options import add_options, plan_from
from rankstudio.engine.data.cost_files import costs_beside, holds_costs, read_costs
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.runner import usual_choices

LETOR = "".join(
    f"{y} qid:{q} 1:0.{y} 2:{q} 3:1\n"
    for q, y in ((1, 2), (1, 0), (2, 1), (2, 0), (2, 0))
)
NAMES = 'id,name\n1,BM25\n2,"TF, title"\n3,PageRank\n'
TABLE = 'feature,per_document,per_query\nBM25,0.002,0.5\n"TF, title",0.01,\n3,0,0\n'
COSTS = ((1, 0.002, 0.5), (2, 0.01, 0.0), (3, 0.0, 0.0))


def opened(folder: Path, **files: str) -> FoldedDataset:
    """Open three features with names, beside files of such contents."""
    for name, content in {"train.txt": LETOR, "features.csv": NAMES, **files}.items():
        (folder / name).write_text(content)
    return open_dataset(folder / "train.txt")


def read(folder: Path, content: str, name: str = "prices.csv") -> FeatureCosts:
    data = opened(folder)
    (folder / name).write_text(content)
    return read_costs(folder / name, data)


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        TABLE.replace("\n", "\r\n"),
        "per_query;feature;per_document\n0.5;1;0.002\n;2;0.01\n0;PageRank;\n",
        json.dumps(
            {
                "BM25": {"per_document": 0.002, "per_query": 0.5},
                "2": {"per_document": "0.01"},
                "PageRank": {"per_query": 0},
            }
        ),
        json.dumps(
            [
                {"feature": 1, "per_document": 0.002, "per_query": 0.5},
                {"feature": "TF, title", "per_document": 0.01},
                {"feature": "PageRank", "per_query": 0, "of": "another program"},
                {"feature": "of other data", "per_query": 3},
            ]
        ),
    ],
    ids=["CSV", "CRLF", "semicolons", "object", "list"],
)
def test_every_form_gives_the_same_costs(tmp_path: Path, content: str) -> None:
    name = "prices.json" if content[0] in "{[" else "prices.csv"
    found = read(tmp_path, content, name)
    assert found.features == COSTS
    assert found.documents == 2.5
    assert holds_costs(tmp_path / name) and not holds_costs(tmp_path / "features.csv")


def test_milliseconds_are_those_of_a_loop() -> None:
    costs = FeatureCosts(COSTS, 2.5)
    assert costs.milliseconds([1, 2]) == pytest.approx(
        0.5 + 2.5 * (0.002 + 0.01), rel=1e-15
    )
    assert costs.milliseconds([2], 100) == pytest.approx(1.0, rel=1e-15)
    assert costs.prices() == {1: 0.505, 2: 0.025, 3: 0.025e-3}
    with pytest.raises(DatasetError, match=naming("7")):
        costs.milliseconds([1, 7])


def profile(
    *features: tuple[int, int], documents: int, slices: bool = False
) -> dict[str, Any]:
    """Return a response, as the documentation of the Profile API has it, with nanoseconds once and each."""

    def node(kind: str, once: int, each: int, count: int) -> dict[str, Any]:
        breakdown = {
            "create_weight": once // 2,
            "create_weight_count": 1,
            "build_scorer": once - once // 2,
        }
        breakdown |= {
            "build_scorer_count": 2,
            "score": each,
            "score_count": count,
            "next_doc": 0,
            "match": 0,
        }
        breakdown |= {"max_score": 99, "avg_create_weight": 99} if slices else {}
        return {
            "type": kind,
            "description": "x",
            "time_in_nanos": once + each,
            "breakdown": breakdown,
        }

    ltr = node("RankerQuery", 5, 7, documents)
    ltr["children"] = [
        node("TermQuery", once, each, documents // 2) for once, each in features
    ]
    whole = {
        **node("BooleanQuery", 9, 9, documents),
        "children": [node("TermQuery", 1, 1, 1), ltr],
    }
    return {
        "took": 3,
        "profile": {"shards": [{"id": "a", "searches": [{"query": [whole]}]}]},
    }


@pytest.mark.parametrize("lines", [False, True])
def test_profiles_are_means_over_requests_and_documents(
    tmp_path: Path, lines: bool
) -> None:
    answers = [
        profile((1000, 2000), (0, 8000), (500, 0), documents=10, slices=True),
        profile((3000, 1000), (0, 4000), (500, 0), documents=30),
    ]
    text = "\n".join(map(json.dumps, answers)) if lines else json.dumps(answers)
    found = read(tmp_path, text, "profile.json")
    expected = [(1, 3000 / 40, 2000), (2, 12000 / 40, 0), (3, 0, 500)]
    np.testing.assert_allclose(
        found.features, np.array(expected) * [1, 1e-6, 1e-6], rtol=1e-12
    )


def test_features_of_a_profile_are_those_of_the_feature_set(tmp_path: Path) -> None:
    names = ["PageRank", "BM25", "another", "TF, title"]
    features = [{"name": name, "params": [], "template": {}} for name in names]
    data = opened(
        tmp_path,
        **{
            "featureset.json": json.dumps(
                {"featureset": {"name": "s", "features": features}}
            )
        },
    )
    assert data.extension(FeatureSet) is not None
    (tmp_path / "p.json").write_text(
        json.dumps(profile((3, 0), (1, 0), (9, 0), (2, 0), documents=1))
    )
    found = read_costs(tmp_path / "p.json", data)
    assert [round(once * 1e6) for _, _, once in found.features] == [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "prices.csv feature per_document per_query"),
        ("feature,group\n1,2\n", "prices.csv per_document"),
        ("feature,ms\n1,2\n", "prices.csv feature,ms per_document"),
        ("feature,per_query\n1,2\n", "prices.csv 2 TF 3"),
        ("feature,per_query\n1,1\n2,-1\n3,1\n", "prices.csv 3 per_query -1"),
        ("feature,per_query\n1,1\n2,abc\n3,1\n", "prices.csv 3 per_query abc"),
        ("feature,per_query\n1,1\n2,inf\n3,1\n", "prices.csv per_query inf"),
        ("feature,per_query\n1,1\n2,nan\n3,1\n", "prices.csv per_query nan"),
        ("feature,per_query\n1,1\n2,1\n3,1\n2,3\n", "prices.csv 5 2 twice"),
        ("feature,per_query\n1,1\n2,1\n3,1\nBM25,3\n", "prices.csv BM25"),
        ("feature,per_query\n1,0\n2,0\n3,0\n", "prices.csv 0"),
        ("[]", "prices.csv feature"),
        ("{}", "prices.csv feature"),
        ("[1, 2]", "prices.csv feature"),
        ('{"1": 3}', "prices.csv feature"),
        ('{"1": {"per_query": true}}', "prices.csv per_query True"),
        ('{"1": {"price": 3}}', "prices.csv per_query"),
        ("[" * 5000, "prices.csv feature"),
        ('{"profile": {"shards": []}}', "prices.csv RankerQuery"),
        ('{"profile": {"shards": 3}}', "prices.csv feature"),
        (json.dumps(profile((1, 1), documents=3)), "prices.csv 1 3"),
        (
            json.dumps(
                [profile((1, 1), documents=3), profile((1, 1), (1, 1), documents=3)]
            ),
            "prices.csv",
        ),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(DatasetError, match=naming(said)) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_costs_beside_the_data_are_found_or_said_to_be_wrong(tmp_path: Path) -> None:
    data = opened(tmp_path, **{"costs.csv": TABLE})
    assert (
        data.extension(FeatureCosts) is not None
        and data.extension(FeatureCosts).features == COSTS
    )
    plan = usual_choices(Plan(str(tmp_path / "train.txt")), data, ())
    assert plan.extension(FeatureCosts) == data.extension(FeatureCosts)
    unread = opened(tmp_path, **{"costs.csv": "x"})
    assert (
        usual_choices(plan.changed(costs={}), unread, ()).extension(FeatureCosts)
        is None
    )
    wrong = opened(tmp_path, **{"costs.csv": "feature,per_query\n1,2\n"})
    assert wrong.extension(FeatureCosts) is None
    assert any(
        naming("costs.csv 2").search(note) for note in wrong.folds[0].train.warnings
    )
    assert costs_beside(FoldedDataset.of(data.folds[0].train)) is not None


def test_plans_keep_costs_and_commands_say_them(tmp_path: Path) -> None:
    data = opened(tmp_path)
    plan = Plan(
        str(tmp_path / "train.txt"),
        costs=FeatureCosts(COSTS, 2.5).plain(),
        parameters={"costs": "Milliseconds"},
    )
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan and hash(plan)
    prices = np.asarray(
        estimator(
            plan, plan.entry, plan.combinations[0].parameters, data.feature_ids
        ).costs
    )
    np.testing.assert_array_equal(
        prices, list(FeatureCosts(COSTS, 2.5).prices().values())
    )
    parser = argparse.ArgumentParser()
    add_options(parser)
    again = plan_from(parser.parse_args(shlex.split(as_command(plan))[2:]))
    assert again.extension(FeatureCosts) == plan.extension(FeatureCosts)
    assert again.parameters == plan.parameters
    both = plan.changed(parameters={"costs": "milliseconds | 1: 3"})
    assert list(dict.fromkeys(c.parameters["costs"] for c in both.combinations)) == [
        "milliseconds",
        ((1, 3.0),),
    ]


def test_milliseconds_without_costs_are_refused() -> None:
    plan = Plan("sample", parameters={"costs": "milliseconds"})
    with pytest.raises(PlanError, match=naming("costs.csv")):
        estimator(plan, plan.entry, plan.combinations[0].parameters, np.arange(1, 4))


@pytest.mark.parametrize(
    "values",
    [
        3,
        {"documents": 2.0},
        {"documents": 0, "features": [[1, 1, 1]]},
        {"documents": 2, "features": []},
        {"documents": 2, "features": [[1, 1]]},
        {"documents": 2, "features": [[1, 1, -1]]},
        {"documents": 2, "features": [[1, 1, 1], [1, 2, 2]]},
        {"documents": 2, "features": [[1.5, 1, 1]]},
        {"documents": 2, "features": [[1, 1, 1]], "more": 3},
        {"documents": float("nan"), "features": [[1, 1, 1]]},
    ],
)
def test_costs_of_plans_are_checked(values: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Plan("sample", costs=values)
    assert caught.value.name == "costs"


milliseconds = st.floats(0, 1e9)


@given(
    st.lists(st.tuples(milliseconds, milliseconds), min_size=1, max_size=3),
    st.floats(1e-3, 1e6),
    st.sampled_from("x=,"),
)
def test_text_comes_out_as_it_went_in(
    costs: list[tuple[float, float]], documents: float, other: str
) -> None:
    features = tuple((i, *pair) for i, pair in enumerate(costs, start=1))
    found = FeatureCosts(features, documents)
    assert FeatureCosts.parsed(found.text()) == found == FeatureCosts.of(found.plain())
    for sign in ":+;":
        with pytest.raises(ParameterError):
            FeatureCosts.parsed(found.text().replace(sign, other))
