"""Models of every kind, learned on MQ2008 and on data with many ties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine import open_dataset
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import chosen_model
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.export.model_files import model_scores
from rankstudio.engine.export.models import Model
from rankstudio.engine.methods.catalog import method as entry_of

PLANS = {
    "weights": ("rankrls", {"regularization": (1.0,)}),
    "few weights": (
        "greedy-rankrls",
        {"regularization": (1.0,), "n_features_to_select": 5},
    ),
    "thresholds": ("rankboost", {"n_rounds": 30}),
    "trees": ("lambdamart", {"n_rounds": 12, "num_leaves": 9}),
}


@dataclass(frozen=True)
class Learned:
    """A model, and the documents that it is to rank."""

    model: Model
    test: RankingDataset

    @property
    def linear(self) -> bool:
        return not self.model.beyond

    @property
    def rows(self) -> list[dict[int, float]]:
        """The documents, each with its values by the features' ids."""
        ids = self.test.feature_ids.tolist()
        return [dict(zip(ids, row, strict=True)) for row in self.test.X.tolist()]

    def same(self, scores: list[float]) -> str:
        """Compare the rankings of every query, ties included; say on how many they are identical."""
        expected = model_scores(self.model, self.test).tolist()
        assert len(scores) == len(expected)
        alike = 0
        for first, last in zip(
            self.test.query_ptr[:-1], self.test.query_ptr[1:], strict=True
        ):
            alike += ranks(expected[first:last]) == ranks(scores[first:last])
        return f"{alike} of {self.test.n_queries}"

    @property
    def all(self) -> str:
        return f"{self.test.n_queries} of {self.test.n_queries}"


def ranks(scores: list[float]) -> list[int]:
    """Return the rank of each score, equal ones the same."""
    places = {score: place for place, score in enumerate(sorted(set(scores)))}
    return [places[score] for score in scores]


@cache
def mq2008(folder: Path) -> FoldedDataset:
    return replace(open_dataset(folder / "MQ2008"), name="MQ2008")


@cache
def rounded() -> FoldedDataset:
    """Documents of few values, so that many are equal and thresholds are met."""
    data = make_ranking(n_queries=40, seed=3)
    fold = data.folds[0]
    parts = {
        name: replace(
            part,
            X=np.round(part.X * 4) / 4,
            feature_names=("price €", *part.feature_names[1:]),
        )
        for name, part in fold.parts.items()
    }
    return replace(data, name="Rounded */ data", folds=(replace(fold, **parts),))


@cache
def learned(kind: str, where: str, folder: Path | None) -> Learned:
    data = rounded() if folder is None else mq2008(folder)
    method, parameters = PLANS[kind]
    if lacking := entry_of(method).lacking:
        pytest.skip(lacking)
    *_, last = run(Plan(where, method, parameters, folds=(1,)), data)
    assert isinstance(last, RunFinished)
    fold = last.result.folds[0]
    test = data.folds[0].test
    assert test is not None
    return Learned(chosen_model(last.result, fold), test)


@pytest.fixture(
    params=[
        "rounded",
        pytest.param("MQ2008", marks=[pytest.mark.realdata, pytest.mark.thorough]),
    ]
)
def where(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(where: str, request: pytest.FixtureRequest) -> Path | None:
    return request.getfixturevalue("letor_dir") if where == "MQ2008" else None


@pytest.fixture(params=list(PLANS))
def given(request: pytest.FixtureRequest, where: str, folder: Path | None) -> Learned:
    """A model of each kind."""
    return learned(request.param, where, folder)


@pytest.fixture(params=["weights", "few weights"])
def weighted(
    request: pytest.FixtureRequest, where: str, folder: Path | None
) -> Learned:
    """A weighted sum."""
    return learned(request.param, where, folder)


@pytest.fixture(params=["thresholds", "trees"])
def grown(request: pytest.FixtureRequest, where: str, folder: Path | None) -> Learned:
    """Trees that are added up."""
    return learned(request.param, where, folder)
