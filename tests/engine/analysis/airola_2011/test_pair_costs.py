"""Rows of costs on graded labels: their tests are those of compare, and Table 3's errors count every pair."""

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset
from experiment.small import part as small_part
from wording import naming

from rankstudio.engine.analysis.airola_2011.pair_costs import (
    ALL_PAIRS,
    MEASURE,
    REFERENCE,
    bipartite_error,
    cost_rows,
    disagreement,
    ohsumed_rows,
)
from rankstudio.engine.analysis.reproduction import load_reproduction
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.rankers.rankboost import RankBoost
from rankstudio.engine.statistics.paired import compare_paired, holm

GRIDS = {"ranksvm": {"C": "2^-5 2^-1"}, "rankboost": {"n_rounds": 20}}
PRINTED = {"BioInfer": {REFERENCE: 0.222}, "Jester": {"RankSVM": 0.371}}


def results(data: FoldedDataset) -> dict[str, RunResult]:
    """The shipped rows, each with two values of its grid."""
    found = {}
    for name, values in load_reproduction("airola-2011").runs.items():
        grid = GRIDS.get(values["method"], {"regularization": "2^0 2^8"})
        told = {name: value for name, value in values.items() if name != "datasets"}
        told |= {"parameters": {**values["parameters"], **grid}, "normalize": "none"}
        plan = plan_from_dict({"data": "nowhere", "measures": (MEASURE,), "convention": "letor4", **told})
        *_, last = run(plan, data)
        assert isinstance(last, RunFinished)
        found[name] = last.result
    return found


@pytest.fixture(scope="module")
def small() -> FoldedDataset:
    return dataset(3)


@pytest.fixture(scope="module")
def every(small: FoldedDataset) -> dict[str, RunResult]:
    return results(small)


@pytest.fixture(scope="module")
def runs(every: dict[str, RunResult]) -> dict[str, RunResult]:
    """Those of Tables 2 and 6."""
    return {name: result for name, result in every.items() if name not in ("RankBoost", "RankRLS All pairs")}


def test_every_row_is_tested_against_the_magnitudes_by_wilcoxon(runs: dict[str, RunResult]) -> None:
    found = cost_rows(runs, PRINTED)
    rows = {row[0]: row for row in found.rows}
    assert list(rows) == list(runs)
    assert rows[REFERENCE][1:] == (0.222, None, runs[REFERENCE].average[MEASURE], None, None, None)
    others = [name for name in runs if name != REFERENCE]
    tests = [compare_paired(runs[n].per_query(MEASURE), runs[REFERENCE].per_query(MEASURE)) for n in others]
    assert [rows[n][5] for n in others] == [one.p_wilcoxon for one in tests]
    assert [rows[n][6] for n in others] == holm([one.p_wilcoxon for one in tests]).tolist()
    assert rows["RankSVM"][2] == 0.371
    change = runs["RankRLS (20)" + ALL_PAIRS].per_query(MEASURE) - runs["RankRLS (20)"].per_query(MEASURE)
    assert f"(20) {np.nanmean(change):+.4f} (p " in found.said[1]


def test_table_3_tests_the_greatest_label_against_the_others(
    small: FoldedDataset, runs: dict[str, RunResult], every: dict[str, RunResult]
) -> None:
    errors = []
    for fold, own in zip(small.folds, runs[REFERENCE].folds, strict=True):
        assert fold.test is not None
        scores, shares = fold.test.X @ own.chosen.step.coef, []
        for q in range(fold.test.n_queries):
            rows = range(*fold.test.query_ptr[q : q + 2].tolist())
            pairs = [(i, j) for i in rows for j in rows if fold.test.y[i] == 2 > fold.test.y[j]]
            shares += [np.mean([scores[i] <= scores[j] for i, j in pairs])] if pairs else []
        errors.append(np.mean(shares))
    assert bipartite_error(runs[REFERENCE], small) == pytest.approx(np.mean(errors))
    printed = {"RankRLS": 0.34, "RankRLS All pairs": 0.346, "RankBoost": 0.351}
    # Its all pairs have those of equal labels, too (section 5.3), which those of Table 2 do not.
    given = {**runs, "RankRLS All pairs": every["RankRLS All pairs"]}
    assert every["RankRLS All pairs"].plan.parameters["ties"] is True
    found = ohsumed_rows(given, small, printed)
    assert found.rows[0] == ("RankRLS", 0.34, bipartite_error(runs[REFERENCE], small), None)
    assert found.rows[1][2] == bipartite_error(every["RankRLS All pairs"], small)
    assert ohsumed_rows(runs, small, printed).rows[1][2] is None
    assert found.rows[2][2:] == (None, None)
    assert found.agrees == ()
    assert naming("6 data").search(found.said[0])


def test_rankboost_is_measured_at_the_rounds_that_validation_chose(
    small: FoldedDataset, every: dict[str, RunResult]
) -> None:
    errors, rounds = [], []
    for fold, own in zip(small.folds, every["RankBoost"].folds, strict=True):
        assert fold.test is not None and fold.vali is not None
        path = own.paths[0]
        best = int(np.argmin(path.validation[MEASURE]))
        rounds.append(str(path.steps[best].number))
        model = RankBoost(n_rounds=best + 1).fit(fold.train.X, fold.train.y, qid=fold.train.qid)
        scores = model.predict(fold.test.X)
        errors.append(disagreement(fold.test.y == 2, scores, fold.test.query_ptr))
    found = ohsumed_rows(every, small, {"RankBoost": 0.351})
    assert found.rows == (("RankBoost", 0.351, pytest.approx(np.mean(errors), abs=1e-12), None),)
    assert naming("20").search(found.said[3])
    assert found.said[3].endswith(f" {', '.join(rounds)} in the folds.")


def test_equal_scores_are_errors_and_queries_of_one_kind_do_not_count() -> None:
    ptr, scores = np.array([0, 3, 5]), np.array([1.0, 1.0, 0.0, 3.0, 4.0])
    assert disagreement(np.array([True, False, False, True, True]), scores, ptr) == 0.5


def test_cells_agree_on_data_with_the_features_of_letor_2() -> None:
    parts = [small_part(seed, n=25) for seed in (1, 2, 3)]
    data = FoldedDataset("OHSUMED", None, (Fold(1, *parts),))
    runs = results(data)
    ours = bipartite_error(runs[REFERENCE], data)
    found = ohsumed_rows(runs, data, {"RankRLS": round(ours, 3), "RankSVM": 2.0})
    assert found.agrees == (True, False)
    assert [row[3] for row in found.rows] == ["✓", None]
    assert replace(found, rows=()).text_rows() == []
