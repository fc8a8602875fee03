"""The permutation test of one path of a plan, as it grows."""

import numpy as np
import pytest

from rankstudio.engine.analysis.permutation.criterion_band import CriterionBand, band_steps, single_plan
from rankstudio.engine.analysis.permutation.label_permutation import (
    PermutationTest,
    permutation_steps,
    permutation_test,
)
from rankstudio.engine.analysis.permutation.plan_permutation import PermutedPlan
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.support.work import finish


@pytest.mark.parametrize("key", ["greedy-rankrls", "rankrls"])
def test_it_is_the_test_of_the_path_however_many_a_step(key: str) -> None:
    data = make_ranking(20, n_informative=2, n_noise=3, documents=(4, 9))
    plan = Plan("x", method=key, parameters={"regularization": (0.25, 1.0, 4.0)}, seed=3, select_by="NDCG@5")
    single = single_plan(plan, plan.combination((4.0,)).parameters, 2)
    assert single.folds == (2,) and len(single.combinations) == 1
    assert single == single_plan(plan.changed(rule="one-se"), plan.combination((4.0,)).parameters, 2)
    seen = list(band_steps(single, data, n_permutations=99))
    assert [band.n_permutations for band in seen] == [32, 64, 96, 99]
    train = data.folds[1].train
    last, m = seen[-1], train.n_documents
    what = PermutedPlan.of(single, data, plan.entry.defaults)
    whole = finish(permutation_steps(what.method, what.data, 99, 3))
    for values, expected in (
        (last.observed, whole.observed),
        (last.mean, whole.permuted.mean(axis=0)),
        (last.low, whole.band()[0]),
        (last.high, whole.band()[1]),
    ):
        np.testing.assert_array_equal(values, expected / m)
    np.testing.assert_array_equal(last.p_values, whole.p_values)
    method = plan.entry.load()(regularization=4.0)
    alone = permutation_test(method, train.X, train.y, train.qid, n_permutations=99, seed=3)
    np.testing.assert_allclose(whole.permuted, alone.permuted, rtol=1e-9)


def test_how_many_are_as_good_is_counted() -> None:
    permuted = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    band = CriterionBand.of(PermutationTest(np.array([2.0, 4.0]), permuted), 2.0)
    assert [band.as_good(0), band.as_good(1)] == [2, 0] and band.observed.tolist() == [1.0, 2.0]
