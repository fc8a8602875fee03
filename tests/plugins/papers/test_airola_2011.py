"""What the thesis printed beside ours: every experiment, its rows and what they say."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from abilities import estimator_class
from experiment.small import dataset, ended
from experiment.small import part as small_part
from scipy.linalg import solve
from slow_measures import strict_disagreement
from wording import naming

from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.kernels.nystrom import basis_rows
from rankstudio.engine.statistics.paired import compare_paired, holm
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.plugins.lab.simulation.learners import (
    SelectedRankRLS,
    folds_of_documents,
    folds_of_queries,
)
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection
from rankstudio.plugins.papers import airola_2011
from rankstudio.plugins.papers.airola_2011 import (
    ALL_PAIRS,
    COSTS,
    GRID,
    MEASURE,
    OBJECTS,
    REFERENCE,
    SCORES,
    SIMULATIONS,
    X,
    _exponent_text,
    auc_estimates,
    bipartite_error,
    cost_rows,
    folds_of_queries_in_fifths,
    held_out_errors,
    irrelevant_pairs,
    learners,
    ohsumed_rows,
    removal_error,
    removal_time,
    split_queries,
    training_growth,
)
from rankstudio.plugins.papers.reproduction import load_reproduction

RankBoost = estimator_class("rankboost")


def weight(cost: str, everything: bool, regularization: float) -> float:
    """The minimum of Σ ω (z - w d)² + λ w² over the pairs, d the difference of the inputs."""
    along, squared = 0.0, regularization
    for i, j in combinations(range(4), 2):
        if everything or OBJECTS[i] == OBJECTS[j]:
            high, low = (i, j) if SCORES[i] > SCORES[j] else (j, i)
            magnitude, d = SCORES[high] - SCORES[low], float(X[high, 0] - X[low, 0])
            z = 1.0 if cost == "unit" else magnitude
            omega = magnitude**-2 if cost == "inverse" else 1.0
            along += omega * z * d
            squared += omega * d * d
    return along / squared


@pytest.mark.parametrize("regularization", [1.0, 2.0**-10])
def test_irrelevant_pairs_turn_the_sign_with_each_cost(regularization: float) -> None:
    tables = irrelevant_pairs(regularization)
    assert [row[0] for row in tables.rows] == [
        "RankRLS (20)",
        "RankRLS (21)",
        "RankRLS (22)",
    ]
    for (_, relevant, every), cost in zip(tables.rows, COSTS.values(), strict=True):
        assert relevant == pytest.approx(weight(cost, False, regularization), rel=1e-12)
        assert every == pytest.approx(weight(cost, True, regularization), rel=1e-12)
        assert relevant < 0 < every
    assert tables.said[0].endswith("reverse its sign, as printed.")
    assert tables.as_dict()["rows"][1]["cost"] == "RankRLS (21)"


PRINTED_TIMES = {
    "inputs": [60, 120, 750, 1500],
    "RankRLS": [1, 2, 3, 24],
    "RankSVM": [4, 8, 10],
}


def test_a_row_a_size_with_what_is_printed() -> None:
    tables = training_growth(PRINTED_TIMES, (60, 90))
    assert [row[0] for row in tables.rows] == [60, 90]
    assert [(row[2], row[4]) for row in tables.rows] == [(1, 4), (None, None)]
    assert all(row[1] > 0 and row[3] > 0 for row in tables.rows)
    assert naming("RankRLS 3.0").search(tables.said[1])
    assert tables.text_rows()[1][2] == ""


def test_growth_is_the_slope_between_large_sizes() -> None:
    assert _exponent_text({10: 5.0, 750: 1.0, 1500: 8.0, 3000: 64.0}) == "3.0"
    assert _exponent_text({750: 1.0}) == "too few sizes"


GRIDS = {"ranksvm": {"C": "2^-5 2^-1"}, "rankboost": {"n_rounds": 20}}
PRINTED = {"BioInfer": {REFERENCE: 0.222}, "Jester": {"RankSVM": 0.371}}


def results(data: FoldedDataset) -> dict[str, RunResult]:
    """The shipped rows, each with two values of its grid."""
    tables = {}
    for name, values in load_reproduction("airola-2011").runs.items():
        grid = GRIDS.get(values["method"], {"regularization": "2^0 2^8"})
        told = {name: value for name, value in values.items() if name != "datasets"}
        told |= {"parameters": {**values["parameters"], **grid}, "normalize": "none"}
        plan = plan_from_dict(
            {"data": "nowhere", "measures": (MEASURE,), "convention": "letor4", **told}
        )
        tables[name] = ended(run(plan, data))
    return tables


@pytest.fixture(scope="module")
def small() -> FoldedDataset:
    return dataset(3)


@pytest.fixture(scope="module")
def every(small: FoldedDataset) -> dict[str, RunResult]:
    return results(small)


@pytest.fixture(scope="module")
def runs(every: dict[str, RunResult]) -> dict[str, RunResult]:
    """Those of Tables 2 and 6."""
    return {
        name: result
        for name, result in every.items()
        if name not in ("RankBoost", "RankRLS All pairs")
    }


def test_every_row_is_tested_against_the_magnitudes_by_wilcoxon(
    runs: dict[str, RunResult],
) -> None:
    tables = cost_rows(runs, PRINTED)
    rows = {row[0]: row for row in tables.rows}
    assert list(rows) == list(runs)
    assert rows[REFERENCE][1:] == (
        0.222,
        None,
        runs[REFERENCE].average[MEASURE],
        None,
        None,
        None,
    )
    others = [name for name in runs if name != REFERENCE]
    tests = [
        compare_paired(runs[n].per_query(MEASURE), runs[REFERENCE].per_query(MEASURE))
        for n in others
    ]
    assert [rows[n][5] for n in others] == [one.p_wilcoxon for one in tests]
    assert [rows[n][6] for n in others] == holm(
        [one.p_wilcoxon for one in tests]
    ).tolist()
    assert rows["RankSVM"][2] == 0.371
    change = runs["RankRLS (20)" + ALL_PAIRS].per_query(MEASURE) - runs[
        "RankRLS (20)"
    ].per_query(MEASURE)
    assert f"(20) {np.nanmean(change):+.4f} (p " in tables.said[1]


def test_table_3_tests_the_greatest_label_against_the_others(
    small: FoldedDataset, runs: dict[str, RunResult], every: dict[str, RunResult]
) -> None:
    errors = []
    for fold, own in zip(small.folds, runs[REFERENCE].folds, strict=True):
        assert fold.test is not None
        scores, shares = fold.test.X @ own.chosen.step.coef, []
        for q in range(fold.test.n_queries):
            rows = range(*fold.test.query_ptr[q : q + 2].tolist())
            pairs = [
                (i, j)
                for i in rows
                for j in rows
                if fold.test.y[i] == 2 > fold.test.y[j]
            ]
            shares += (
                [np.mean([scores[i] <= scores[j] for i, j in pairs])] if pairs else []
            )
        errors.append(np.mean(shares))
    assert bipartite_error(runs[REFERENCE], small) == pytest.approx(np.mean(errors))
    printed = {"RankRLS": 0.34, "RankRLS All pairs": 0.346, "RankBoost": 0.351}
    # Its all pairs have those of equal labels, too (section 5.3), which those of Table 2 do not.
    given = {**runs, "RankRLS All pairs": every["RankRLS All pairs"]}
    assert every["RankRLS All pairs"].plan.parameters["ties"] is True
    tables = ohsumed_rows(given, small, printed)
    assert tables.rows[0] == (
        "RankRLS",
        0.34,
        bipartite_error(runs[REFERENCE], small),
        None,
    )
    assert tables.rows[1][2] == bipartite_error(every["RankRLS All pairs"], small)
    assert ohsumed_rows(runs, small, printed).rows[1][2] is None
    assert tables.rows[2][2:] == (None, None)
    assert tables.agrees == ()
    assert naming("6 data").search(tables.said[0])


def test_rankboost_is_measured_at_the_rounds_that_validation_chose(
    small: FoldedDataset, every: dict[str, RunResult]
) -> None:
    errors, rounds = [], []
    for fold, own in zip(small.folds, every["RankBoost"].folds, strict=True):
        assert fold.test is not None and fold.vali is not None
        path = own.paths[0]
        best = int(np.argmin(path.validation[MEASURE]))
        rounds.append(str(path.steps[best].number))
        model = RankBoost(n_rounds=best + 1).fit(
            fold.train.X, fold.train.y, qid=fold.train.qid
        )
        scores = model.predict(fold.test.X)
        rows = [slice(*ends) for ends in pairwise(fold.test.query_ptr)]
        errors.append(
            np.nanmean(
                [
                    strict_disagreement(fold.test.y[own] == 2, scores[own])
                    for own in rows
                ]
            )
        )
    tables = ohsumed_rows(every, small, {"RankBoost": 0.351})
    assert tables.rows == (
        ("RankBoost", 0.351, pytest.approx(np.mean(errors), abs=1e-12), None),
    )
    assert naming("20").search(tables.said[3])
    assert tables.said[3].endswith(f" {', '.join(rounds)} in the folds.")


def test_cells_agree_on_data_with_the_features_of_letor_2() -> None:
    parts = [small_part(seed, n=25) for seed in (1, 2, 3)]
    data = FoldedDataset("OHSUMED", None, (Fold(1, *parts),))
    runs = results(data)
    ours = bipartite_error(runs[REFERENCE], data)
    tables = ohsumed_rows(runs, data, {"RankRLS": round(ours, 3), "RankSVM": 2.0})
    assert tables.agrees == (True, False)
    assert [row[3] for row in tables.rows] == ["✓", None]
    assert replace(tables, rows=()).text_rows() == []


GAMMA = 4.0


def alike(n_queries: int = 40, size: int = 6) -> RankingDataset:
    """Documents that are more like those of their query than others, as parses of a sentence."""
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.random((n_queries, 3)), size, axis=0)
    X = centres + 0.05 * rng.standard_normal(centres.shape)
    y = np.rint(np.clip(X[:, 0] + 0.3 * rng.standard_normal(len(X)), 0, 2))
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), size))


def gaussian(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp(-GAMMA * ((a[:, None] - b[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("removed", [True, False])
def test_each_fold_is_learned_without_its_queries(removed: bool) -> None:
    data = alike()
    errors = held_out_errors(data, 2, GAMMA)["removed" if removed else "kept"]
    basis = basis_rows(data.query_ptr, 80, "per_query", 0)
    fold = airola_2011._fold_of_each_query(data, 0)[data.query_index]
    at = [GRID.index(1e-2), GRID.index(1.0), GRID.index(1e3)]
    expected = np.zeros(3)
    for number in range(10):
        held = fold == number
        own = basis[~held[basis]] if removed else basis
        K, R = gaussian(data.X, data.X[own]), gaussian(data.X[own], data.X[own])
        for place, position in enumerate(at):
            left = K[~held].T @ K[~held] + GRID[position] * R
            dual = solve(
                left + 1e-13 * np.eye(own.size),
                K[~held].T @ data.y[~held],
                assume_a="sym",
            )
            expected[place] += ((K[held] @ dual - data.y[held]) ** 2).sum()
    np.testing.assert_allclose(errors[at], expected / data.y.size, rtol=1e-4)


def test_kept_basis_vectors_raise_the_error_at_small_regularization_alone() -> None:
    errors = held_out_errors(alike())
    ratio = errors["kept"] / errors["removed"]
    assert ratio[:3].min() > 1.5
    np.testing.assert_allclose(ratio[-3:], 1.0, atol=1e-3)
    tables = removal_error(alike(), "Made")
    assert [row[3] for row in tables.rows] == pytest.approx(ratio)
    assert f"is {ratio[0]:,.3g} times the correct one" in tables.said[1]


def test_times_are_of_some_hold_outs_and_scaled_to_all() -> None:
    printed = {
        way: {"efficient": [1.0, 2.0], "baseline": [7.0, 16.0]}
        for way in ("leave-query-out", "10 folds of queries")
    }
    queries, folds = removal_time(alike(), "Made", printed, (1, 2))
    assert (
        [row[:2] for row in queries.rows]
        == [row[:2] for row in folds.rows]
        == [(1, 40), (2, 80)]
    )
    assert [row[6] for row in queries.rows] == [7.0, 8.0]
    assert queries.said[0].startswith(
        "3 of 40 hold-outs were timed and scaled by 13.3."
    )
    assert folds.said[0].startswith("3 of 10 hold-outs were timed")
    assert (queries.source, folds.source) == (
        "Paper III, Table 1",
        "Paper III, Table 2",
    )


def test_every_conclusion_holds_here() -> None:
    tables = auc_estimates(0.3)
    assert len(tables.rows) == len(SIMULATIONS) * len(ESTIMATORS)
    assert [text.split(":")[0] for text in tables.said[1:]] == ["Holds here"] * 5


def test_rows_of_estimates_are_those_of_the_simulation() -> None:
    tables = auc_estimates(0.02, seed=3)
    first = finish(simulate_auc(n_examples=30, shift=0.0, repetitions=200, seed=3))
    assert [row[2] for row in tables.rows[:6]] == first.bias.tolist()
    assert [row[4] for row in tables.rows[:6]] == first.conditional_sd.tolist()
    assert [row[1] for row in tables.rows[:6]] == list(ESTIMATORS)


def of_their_query(n_queries: int = 40, size: int = 10) -> FoldedDataset:
    """Documents whose relevance another feature tells in each query: what one query says no other needs."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), size)
    X = np.zeros((query.size, n_queries))
    X[np.arange(query.size), query] = rng.standard_normal(query.size)
    return FoldedDataset.of(
        RankingDataset.from_arrays(X, (X.sum(axis=1) > 0).astype(float), query)
    )


def test_splitting_queries_is_optimistic_where_a_query_tells_of_itself_alone() -> None:
    data = of_their_query()
    tables = split_queries(data, n_queries=8, repetitions=3)
    assert [row[0] for row in tables.rows] == list(learners())
    linear = tables.rows[0]
    assert linear[1] == pytest.approx(0.5, abs=0.05)
    assert linear[2] == pytest.approx(0.5, abs=0.05)
    assert linear[3] == pytest.approx(0.5, abs=0.1)
    assert linear[4] > 0.9
    assert linear[5] == pytest.approx(linear[4] - linear[3])
    assert naming("0 queries").search(tables.said[1])


def test_rows_of_split_queries_are_those_of_the_simulation() -> None:
    data = of_their_query(20)
    row = split_queries(data, n_queries=6, repetitions=2).rows[0]
    ways = {
        "query": folds_of_queries,
        "fifths": folds_of_queries_in_fifths,
        "document": folds_of_documents,
    }
    same = finish(
        simulate_selection(
            data,
            6,
            measure="AUC",
            repetitions=2,
            learner=SelectedRankRLS(None),
            estimators=ways,
        )
    )
    assert row[1] == same.truth.mean()
    np.testing.assert_allclose(row[2:5], same.estimates.mean(axis=0))


def test_fifths_are_ranked_by_the_scores_of_folds_of_queries() -> None:
    first = of_their_query(20).folds[0].train
    data = group(first.X, first.y, first.qid)
    rng = [np.random.default_rng(0) for _ in range(2)]
    tables = finish(folds_of_queries_in_fifths(SelectedRankRLS(None), data, rng[0]))
    same = finish(folds_of_queries(SelectedRankRLS(None), data, rng[1]))
    np.testing.assert_array_equal(tables.scores, same.scores)
    assert tables.fold is not None
    assert np.bincount(tables.fold).tolist() == [40] * 5


SMALL = airola_2011.Effort((30, 40), (1, 2), 0.005, 2)


def test_table_3_is_of_ohsumed_alone() -> None:
    data = dataset()
    names = list(airola_2011.experiments({}, data))
    assert names[0] == "Paper I, Figure 2"
    assert "Paper I, Table 3" not in names
    assert "Paper I, Table 3" in airola_2011.experiments(
        {}, replace(data, name="OHSUMED QueryLevelNorm")
    )


TABLE_3 = {"RankBoost", "RankRLS All pairs"}
"""Runs that stand in Table 3 alone."""


@pytest.mark.parametrize(
    "name", ["Paper I, Table 1", "Paper III, Figure 1", "Paper III, Tables 1 and 2"]
)
def test_experiments_need_no_runs(name: str) -> None:
    tables = airola_2011.experiments({}, dataset(), SMALL)[name]()
    assert all(one.rows and one.said for one in tables)
    assert len(tables) == (2 if name.endswith("2") else 1)


def test_rankboost_is_run_for_table_3_alone_and_changes_no_other_table() -> None:
    paper = load_reproduction(airola_2011.KEY)
    assert "RankBoost" in paper.plans("OHSUMED QueryLevelNorm", "nowhere", "letor3")
    plans = paper.plans("MQ2008", "nowhere", "letor4")
    assert list(plans) == [name for name in paper.runs if name not in TABLE_3]


def test_what_has_no_data_here_is_named_with_the_reason() -> None:
    absent = airola_2011.absent()
    for name in ("Paper II", "Paper IV", "Paper V", "Paper I, Tables 4 and 5"):
        assert name in absent
    said = " ".join(absent.values())
    for corpus in ("Reuters", "BioInfer", "Jester", "Trec2003", "protein-protein"):
        assert corpus in said


def test_printed_numbers_have_a_row_of_ours_or_say_why_not() -> None:
    paper = load_reproduction(airola_2011.KEY)
    printed = airola_2011._published_values()["printed"]
    assert set(printed["BioInfer"]) == set(paper.runs) - TABLE_3
    assert set(printed["Jester"]) < set(paper.runs)
    assert paper.normalize == "query_minmax"
