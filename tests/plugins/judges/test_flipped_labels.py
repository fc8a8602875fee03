"""Selections with flipped labels: which labels are flipped, and the shares against runs one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstudio.engine import RankingDataset, run_plan
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.plugins.judges.flipped_labels import flip_labels, flip_steps

GRADES = (0.0, 1.0, 4.0)


def made(seed: int, sizes: list[int]) -> RankingDataset:
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return RankingDataset.from_arrays(
        rng.random((qid.size, 2)), rng.choice(GRADES, qid.size), qid
    )


@settings(deadline=None)
@given(
    seed=st.integers(0, 99),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    share=st.floats(0.01, 1.0),
    larger=st.floats(0.0, 1.0),
)
def test_a_share_of_each_query_gets_other_grades(
    seed: int, sizes: list[int], share: float, larger: float
) -> None:
    data = made(seed, sizes)
    y = flip_labels(data, share, GRADES, seed, 1)
    flipped = y != data.y
    assert set(y) <= set(GRADES)
    n = np.add.reduceat(flipped, data.query_ptr[:-1])
    exact = share * np.array(sizes)
    assert (np.floor(exact) <= n).all() and (n <= np.floor(exact) + 1).all()
    more = flip_labels(data, share + larger * (1 - share), GRADES, seed, 1)
    np.testing.assert_array_equal(more[flipped], y[flipped])
    # A query alone, as in another fold, gets the same flips.
    last = RankingDataset.from_arrays(
        data.X[data.query_ptr[-2] :],
        data.y[data.query_ptr[-2] :],
        [data.query_ids[-1]] * sizes[-1],
    )
    np.testing.assert_array_equal(
        flip_labels(last, share, GRADES, seed, 1), y[data.query_ptr[-2] :]
    )


def test_flips_have_the_share_and_equal_probabilities_on_average() -> None:
    data = made(0, [7] * 40)
    draws = np.array([flip_labels(data, 0.1, GRADES, 3, draw) for draw in range(200)])
    flipped = draws != data.y
    # 56,000 labels, each flipped with probability 0.1: four standard errors are 0.005.
    assert abs(flipped.mean() - 0.1) < 0.005
    to = draws[:, data.y == 0.0][flipped[:, data.y == 0.0]]
    assert abs((to == 1.0).mean() - 0.5) < 4 * 0.5 / np.sqrt(to.size)


@pytest.mark.parametrize("protocol", ["given", "nested 3-fold"])
def test_shares_are_those_of_runs_one_by_one(protocol: str) -> None:
    data = dataset(2)
    plan = Plan(
        "a.txt",
        parameters={"n_features_to_select": 3, "regularization": (1.0, 16.0)},
        protocol=protocol,
    )
    *_, found = flip_steps(plan, data, (0.3, 0.1), 3, seed=5)
    assert found.shares == (0.0, 0.1, 0.3) and found.n_draws == 3
    original = run_plan(plan, data)
    divided = parse_protocol(protocol).divide(data, plan.seed)
    grades = sorted(
        {
            float(y)
            for fold in divided.folds
            for part in fold.parts.values()
            for y in part.y
        }
    )
    for at, share in enumerate(found.shares):
        runs = []
        for draw in range(3):
            folds = [
                Fold(
                    fold.number,
                    *(
                        part
                        and part.changed(y=flip_labels(part, share, grades, 5, draw))
                        for part in (fold.train, fold.vali)
                    ),
                    fold.test,
                )
                for fold in divided.folds
            ]
            runs.append(
                run_plan(plan, replace(divided, folds=tuple(folds)))
                if share
                else original
            )
        for column, feature in enumerate(found.feature_ids.tolist()):
            has = [feature in fold.selected for run in runs for fold in run.folds]
            assert found.selected[at, column] == pytest.approx(np.mean(has))
        pairs = [
            (set(fold.selected), set(own.selected))
            for run in runs
            for fold, own in zip(run.folds, original.folds, strict=True)
        ]
        assert found.jaccard[at] == pytest.approx(
            np.mean([len(a & b) / len(a | b) for a, b in pairs])
        )
        for name, values in found.values.items():
            np.testing.assert_array_equal(
                values[at], [run.average[name] for run in runs]
            )
    order = found.order()
    assert set(order.tolist()) == set(
        np.flatnonzero(found.selected.any(axis=0)).tolist()
    )
    assert (np.diff(found.selected[0, order]) <= 0).all()


def test_what_cannot_be_flipped_is_refused() -> None:
    data, plan = dataset(1), Plan("a.txt")
    for shares, draws in (((), 1), ((0.0,), 1), ((1.5,), 1), ((0.1,), 0)):
        with pytest.raises(ParameterError):
            next(flip_steps(plan, data, shares, draws))
    with pytest.raises(PlanError):
        next(flip_steps(Plan("a.txt", "rankrls"), data))
    same = [
        Fold(
            1,
            *(
                part.changed(y=np.ones(part.n_documents))
                for part in fold.parts.values()
            ),
        )
        for fold in data.folds
    ]
    with pytest.raises(DatasetError):
        next(flip_steps(plan, replace(data, folds=tuple(same))))
