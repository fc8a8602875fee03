"""Which runs of several datasets are compared, and what is said of the others."""

from dataclasses import replace

import numpy as np
import pytest
from experiment.runs import fold, result

from rankstudio.engine import method_ranks
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.plugins.method_ranks.compared_methods import CandidateRun, method_table
from rankstudio.plugins.method_ranks.mean_ranks import MIN_DATASETS, ranking_of

METHODS = {"gas": 0.3, "rankrls": 0.5, "greedy-rankrls": 0.4}


def run(method="gas", dataset="A", scores=(0.2, 0.4), digest="", **changes):
    folds = [
        replace(fold(1, list(scores)), data_digest=digest or f"digest of {dataset}")
    ]
    return result(folds, dataset, method=method, **changes)


def study(n=6, methods=METHODS, seed=0):
    """Return a run of each method on each dataset, better or worse by its number."""
    rng = np.random.default_rng(seed)
    return [
        run(method, f"D{number}", (level + rng.normal(0, 0.01, 9)).tolist())
        for number in range(n)
        for method, level in methods.items()
    ]


def left_out(ranking):
    return {exclusion.name: exclusion.reason for exclusion in ranking.table.left_out}


class TestRanking:
    def test_values_are_means_over_queries_and_methods_follow_by_rank(self):
        ranking = method_ranks(study(), "MAP")
        assert ranking.methods == ("RankRLS", "Greedy RankRLS", "GAS")
        assert ranking.mean_ranks == [1, 2, 3]
        runs = study()
        assert ranking.table.values[0].tolist() == pytest.approx(
            [runs[i].per_query("MAP").mean() for i in (1, 2, 0)]
        )
        assert ranking.table.left_out == ()

    def test_means_are_over_queries_not_folds(self):
        folds = [fold(1, [1.0]), fold(2, [0.0, 0.0, 0.0])]
        runs = [
            result(folds, dataset, method=method)
            for dataset in "AB"
            for method in METHODS
        ]
        assert set(method_ranks(runs, "MAP").table.values.ravel().tolist()) == {0.25}

    def test_tests_need_five_datasets(self):
        ranking = method_ranks(study(MIN_DATASETS - 1), "MAP")
        assert ranking.tests is None
        assert "at least 5" in ranking.notes()[0]
        assert ranking.wins[0, 1] == 4
        assert method_ranks(study(MIN_DATASETS), "MAP").tests is not None

    def test_the_limits_of_the_approximations_are_said(self):
        notes = " ".join(method_ranks(study(5), "MAP").notes())
        assert "more than 10 datasets and 5 methods" in notes
        assert "0.0625" in notes  # no p of Wilcoxon's test below that
        assert "0.0625" not in " ".join(method_ranks(study(6), "MAP").notes())

    def test_all_equal(self):
        runs = [run(method, f"D{n}") for n in range(6) for method in METHODS]
        ranking = method_ranks(runs, "MAP")
        assert ranking.mean_ranks == [2, 2, 2]
        assert ranking.tests.groups == ((0, 1, 2),)
        assert "equal on every dataset" in " ".join(ranking.notes())

    def test_a_measure_of_which_less_is_better(self):
        runs = [
            replace(
                finished,
                folds=tuple(
                    replace(f, per_query={"Disagreement": f.per_query["MAP"]})
                    for f in finished.folds
                ),
            )
            for finished in study()
        ]
        assert method_ranks(runs, "Disagreement").methods == (
            "GAS",
            "Greedy RankRLS",
            "RankRLS",
        )

    def test_many_methods_have_probabilities_against_the_best_alone(self):
        names = {f"m{n}": n / 100 for n in range(12)}
        runs = [
            CandidateRun(name, run("gas", f"D{d}", (level, level + 0.01 * d)), name)
            for d in range(6)
            for name, level in names.items()
        ]
        ranking = ranking_of(method_table(runs, "MAP"))
        assert len(ranking.tests.pairs) == 66
        assert set(ranking.tests.posterior) == {(0, column) for column in range(1, 12)}

    @pytest.mark.parametrize(
        "levels",
        [{"alpha": 0.0}, {"alpha": 1.0}, {"rope": -1.0}, {"rope": float("nan")}],
    )
    def test_impossible_levels_are_refused(self, levels):
        with pytest.raises(ParameterError):
            method_ranks(study(), "MAP", **levels)


class TestMethods:
    def test_other_parameters_are_another_method(self):
        runs = [
            run("greedy-rankrls", dataset, parameters={"regularization": (weight,)})
            for dataset in "AB"
            for weight in (1.0, 2.0)
        ]
        ranking = method_ranks(runs, "MAP")
        assert len(set(ranking.methods)) == 2
        assert all(name.startswith("Greedy RankRLS · ") for name in ranking.methods)

    def test_protocol_seed_and_data_make_no_other_method(self):
        runs = [
            run("gas", "A", seed=1),
            run("rankrls", "A", seed=1),
            run("gas", "B", protocol="5-fold"),
            run("rankrls", "B", protocol="5-fold"),
        ]
        assert set(method_ranks(runs, "MAP").methods) == {"GAS", "RankRLS"}

    def test_a_criterion_that_depends_on_the_data_makes_no_other_method(self):
        runs = [
            run(method, dataset, select_by=by)
            for dataset, by in (("A", "MAP"), ("B", "RR"))
            for method in METHODS
        ]
        assert set(method_ranks(runs, "MAP").methods) == {
            "GAS",
            "RankRLS",
            "Greedy RankRLS",
        }

    def test_methods_that_differ_in_the_criterion_alone_are_two(self):
        runs = [
            run("gas", dataset, select_by=by)
            for dataset in "AB"
            for by in ("MAP", "RR")
        ]
        assert len(set(method_ranks(runs, "MAP").methods)) == 2

    def test_the_user_may_name_methods_alike(self):
        runs = [
            CandidateRun("1", run("gas", "A"), "ours"),
            CandidateRun("2", run("rankrls", "A")),
            CandidateRun("3", run("greedy-rankrls", "B"), "ours"),
            CandidateRun("4", run("rankrls", "B")),
        ]
        assert method_table(runs, "MAP").methods == ("ours", "RankRLS")

    def test_a_name_that_is_also_a_title_stays_apart(self):
        runs = [
            CandidateRun(f"{dataset}{n}", run(method, dataset), name)
            for dataset in "AB"
            for n, (method, name) in enumerate([("gas", ""), ("rankrls", "GAS")])
        ]
        assert len(set(method_table(runs, "MAP").methods)) == 2

    def test_a_method_that_is_repeated_counts_once(self):
        ranking = method_ranks([*study(2), run("gas", "D0", [0.9] * 9)], "MAP")
        assert left_out(ranking) == {
            "run 7, GAS on D0": "the same method as run 1, GAS, which counts"
        }


class TestLeftOut:
    def test_a_method_must_be_there_on_every_dataset(self):
        ranking = method_ranks([*study(2), run("svm-map", "D0", [0.1] * 9)], "MAP")
        assert ranking.table.datasets[0].name == "D0"
        assert left_out(ranking)["SVM-MAP"] == "no comparable run on D1"

    def test_a_dataset_with_one_method_does_not_take_the_others_away(self):
        ranking = method_ranks([*study(2), run("gas", "alone")], "MAP")
        assert len(ranking.methods) == 3
        assert left_out(ranking) == {"alone": "only GAS has a comparable run"}

    def test_the_same_data_under_two_names_count_once(self):
        twice = [
            run(method, "copy", [0.1] * 9, digest="digest of D0") for method in METHODS
        ]
        ranking = method_ranks([*study(2), *twice], "MAP")
        assert [dataset.name for dataset in ranking.table.datasets] == ["D0", "D1"]
        assert left_out(ranking) == {"copy": "the same data as D0"}

    def test_only_one_group_of_comparable_runs_counts_on_a_dataset(self):
        other = run("svm-map", "D0", [0.1] * 9, protocol="5-fold")
        ranking = method_ranks([*study(2), other], "MAP")
        assert "different folds" in left_out(ranking)["run 7, SVM-MAP on D0"]

    def test_stopped_runs_and_optima_of_the_validation_part_do_not_count(self):
        stopped = replace(run("svm-map", "D0", [0.1] * 9), complete=False)
        validated = replace(
            run("fs-bfs", "D0"), folds=(replace(fold(1, [0.1]), test={}, per_query={}),)
        )
        ranking = method_ranks([*study(2), stopped, validated], "MAP")
        reasons = left_out(ranking)
        assert reasons["run 7, SVM-MAP on D0"] == "not finished"
        assert "validation part that chose the model" in reasons["run 8, FS-BFS on D0"]

    def test_an_absent_or_undefined_measure_leaves_a_run_out(self):
        folds = run("svm-map", "D0", [0.1] * 9).folds
        undefined_map = {"MAP": np.full(9, np.nan)}
        undefined = run("svm-map", "D0")
        undefined = replace(
            undefined, folds=(replace(folds[0], per_query=undefined_map),)
        )
        ranking = method_ranks([*study(2), undefined], "MAP")
        assert left_out(ranking) == {
            "run 7, SVM-MAP on D0": "MAP is not defined in any query"
        }
        with pytest.raises(PlanError, match="has no values of NDCG@3"):
            method_ranks(study(2), "NDCG@3")

    def test_queries_without_a_value_are_left_out_for_all(self):
        nan = float("nan")
        runs = [
            run(method, dataset, scores)
            for dataset in "AB"
            for method, scores in (
                ("gas", [nan, 0.2, 0.4]),
                ("rankrls", [0.9, 0.1, nan]),
            )
        ]
        assert method_ranks(runs, "MAP").table.values[0].tolist() == [0.2, 0.1]

    def test_what_the_user_drops_is_said(self):
        ranking = method_ranks(study(3), "MAP", leave_out=["GAS", "D1"])
        assert set(ranking.methods) == {"RankRLS", "Greedy RankRLS"}
        assert left_out(ranking) == {
            "GAS": "left out on request",
            "D1": "left out on request",
        }
        with pytest.raises(ParameterError, match="leave-out"):
            method_ranks(study(3), "MAP", leave_out=["nothing"])

    @pytest.mark.parametrize(
        "runs",
        [[], study(1), study(3, {"gas": 0.1}), [run("gas", "A"), run("rankrls", "B")]],
    )
    def test_without_two_methods_on_two_datasets_there_is_no_ranking(self, runs):
        with pytest.raises(PlanError, match="at least two"):
            method_ranks(runs, "MAP")

    def test_runs_on_other_parts_are_said(self):
        runs = study(2)
        sealed = [
            replace(
                finished,
                folds=tuple(
                    replace(f, test={}, cross_fitted=f.per_query, per_query={})
                    for f in finished.folds
                ),
            )
            for finished in runs[:3]
        ]
        ranking = method_ranks([*sealed, *runs[3:]], "MAP")
        assert "differ in the part" in " ".join(ranking.notes())
        assert {dataset.part for dataset in ranking.table.datasets} == {
            "test",
            "cross-fitted",
        }
