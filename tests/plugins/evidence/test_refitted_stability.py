"""Stability selection by units of work: the numbers of refitting, anywhere, after any end of the process."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_problems import planted
from experiment.local_cluster import LocalCluster
from experiment.small import AtOnce

from rankstudio.engine import GAS, SingleFeatureRanking, stability_selection
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.splitting.query_halves import half_of, halved
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.experiment.execution.executors import (
    on_cluster,
    on_processes,
    on_threads,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.support.file_pages import in_file
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.refitted_stability import (
    refitting_seconds,
    refitting_steps,
    stability_by_refitting,
)

GAS_PLAN = Plan("small", "gas", {"n_features_to_select": 3})


def part(seed: int = 0, n: int = 8) -> RankingDataset:
    X, y, qid = planted(seed)
    return RankingDataset.from_arrays(X[:, :n], np.clip(np.round(y + 2), 0, 4), qid)


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.places, other.places)
    np.testing.assert_array_equal(one.counts, other.counts)
    assert (one.n_candidates, one.seed) == (other.n_candidates, other.seed)


def by_arrays(method: Any, data: RankingDataset, n_halves: int, seed: int = 0) -> Any:
    qid = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    return stability_selection(
        method, data.X, data.y, qid=qid, n_halves=n_halves, seed=seed
    )


@pytest.mark.parametrize(
    ("key", "parameters"),
    [
        ("gas", {"n_features_to_select": 3}),
        ("mutual-information", {"n_features_to_select": 2}),
        ("rfe", {"regularization": 1.0, "n_features_to_select": 3}),
        ("l1-path", {"n_features_to_select": 3}),
        ("fsmrank", {"lambda1": 0.1, "lambda2": 1e-4}),
        (
            "greedy-rankrls",
            {"regularization": 4.0, "search": "swap", "n_features_to_select": 4},
        ),
        (
            "greedy-rankrls",
            {"regularization": 4.0, "n_features_to_select": 4, "pinned": (7,)},
        ),
    ],
)
def test_the_numbers_are_those_of_refitting_estimators(
    key: str, parameters: dict[str, Any]
) -> None:
    plan, data = Plan("small", key, parameters), part()
    options = dict(parameters)
    if "pinned" in options:
        options["pinned"] = (6,)  # plans name features by ids, estimators by columns
    expected = by_arrays(plan.entry.load()(**options), data, 3, seed=7)
    assert_same(stability_by_refitting(plan, data, n_halves=3, seed=7), expected)


def test_what_chooses_and_ranks_does_not_count() -> None:
    plan = GAS_PLAN.changed(
        ranker="rankrls",
        select_by="NDCG@10",
        folds=(1,),
        protocol="5-fold",
        rule="smallest",
    )
    expected = stability_by_refitting(GAS_PLAN, part(), n_halves=2)
    assert_same(stability_by_refitting(plan, part(), n_halves=2), expected)


def test_any_executor_gives_the_same() -> None:
    data = part()
    expected = by_arrays(GAS(n_features_to_select=3), data, 3)
    with on_threads(3) as threads, on_processes(2) as processes:
        for executor in (threads, processes, AtOnce()):
            assert_same(
                stability_by_refitting(GAS_PLAN, data, n_halves=3, executor=executor),
                expected,
            )


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("distributed") is None, reason="dask is not installed")
def test_a_cluster_gives_the_same_though_a_worker_is_killed(tmp_path: Path) -> None:
    data = part()
    with closing(LocalCluster(tmp_path)) as cluster:
        cluster.keep(2)
        with on_cluster(cluster.address) as executor:
            told = 0
            for one in refitting_steps(GAS_PLAN, data, None, 20, 0, executor):
                told += isinstance(one, PartialResult)
                if told == 3:
                    cluster.workers.pop().kill()
                    told += 1
                found = one
    assert isinstance(found, PartialResult)
    assert_same(found.found, by_arrays(GAS(n_features_to_select=3), data, 20))


def test_parts_mapped_from_a_file_are_learned_from_in_files(tmp_path: Path) -> None:
    data = part()
    np.save(tmp_path / "X.npy", data.X)
    mapped = RankingDataset(
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        data.y,
        data.query_ptr,
        data.query_ids,
        data.feature_ids,
        data.feature_names,
    )
    (first, *_) = halved(mapped, 1, 0).folds
    assert in_file(first.train.X)
    assert first.train.from_disk
    assert_same(
        stability_by_refitting(GAS_PLAN, mapped, n_halves=3),
        stability_by_refitting(GAS_PLAN, data, n_halves=3),
    )


def test_halves_of_several_shards() -> None:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(1900), 70)  # each half has more documents than a shard
    X = rng.normal(size=(qid.size, 2))
    data = RankingDataset.from_arrays(
        X, np.round(np.clip(X[:, 1] + rng.normal(size=qid.size), 0, 2)), qid
    )
    plan = Plan("large", "single-feature", {"n_features_to_select": 1})
    expected = by_arrays(SingleFeatureRanking(n_features_to_select=1), data, 1)
    assert_same(stability_by_refitting(plan, data, n_halves=1), expected)


def test_halves_are_folds_of_any_run() -> None:
    data = part()
    folds = halved(data, 2, 5)
    for number, fold in enumerate(folds.folds):
        queries = half_of(data.n_queries, 5, number)
        rows = np.concatenate([np.arange(*data.query_ptr[q : q + 2]) for q in queries])
        half = fold.train
        np.testing.assert_array_equal(half.X, data.X[rows])
        np.testing.assert_array_equal(half.y, data.y[rows])
        assert half.query_ids == tuple(data.query_ids[q] for q in queries)
        assert (half.n_documents, half.n_queries, half.n_features) == (
            rows.size,
            queries.size,
            8,
        )
    result = run_plan(GAS_PLAN.changed(select_by="criterion"), folds)
    assert [len(fold.selected) for fold in result.folds] == [3] * 4


def test_what_a_study_has_is_not_learned_again(tmp_path: Path) -> None:
    data, path = part(), tmp_path / "halves.rankstudio"
    expected = stability_by_refitting(GAS_PLAN, data, n_halves=4)
    with (
        Study.create(path) as study,
        closing(refitting_steps(GAS_PLAN, data, study, 4)) as work,
    ):
        done = 0
        for told in work:
            if isinstance(told, PartialResult):
                done = told.found.n_paths
                assert told.share == done / 8
                (run,) = study.runs()
                assert run.n_finished >= done  # stored before it is told
            if done == 3:
                break
    with Study.open(path) as study:
        (run,) = study.runs()
        before = run.n_finished
        assert before >= 3
        told = [
            one
            for one in refitting_steps(GAS_PLAN, data, study, 4)
            if isinstance(one, PartialResult)
        ]
        assert [one.found.n_paths for one in told] == list(range(before, 9))
        assert_same(told[-1].found, expected)
        assert_same(stability_by_refitting(GAS_PLAN, data, study, n_halves=4), expected)
        # Other halves, other parameters and other data are runs of their own.
        stability_by_refitting(GAS_PLAN, data, study, n_halves=4, seed=1)
        stability_by_refitting(GAS_PLAN, part(1), study, n_halves=4)
        assert len(study.runs()) == 3


KILLED = """
import sys
sys.path[:0] = {paths!r}
from test_refitted_stability import GAS_PLAN, part
from rankstudio.plugins.evidence.refitted_stability import refitting_steps
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.engine.experiment.execution.executors import on_cluster, on_processes, on_threads
from rankstudio.engine.experiment.storage.study import Study

if __name__ == "__main__":
    with Study.create({study!r}) as study, {executor} as executor:
        for told in refitting_steps(GAS_PLAN, part(), study, 200, 0, executor):
            if isinstance(told, PartialResult):
                print(told.found.n_paths, flush=True)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("executor", ["on_threads(1)", "on_processes(2)"])
def test_a_killed_process_loses_no_half_that_was_told_of(
    executor: str, tmp_path: Path
) -> None:
    folder = Path(__file__).parent
    study = tmp_path / "halves.rankstudio"
    tests = folder.parents[1]
    paths = [str(folder), str(tests / "engine"), str(tests), str(tests.parent)]
    program = tmp_path / "halves.py"
    program.write_text(KILLED.format(paths=paths, study=str(study), executor=executor))
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        told = [running.stdout.readline() for _ in range(7)]
        running.kill()
    assert told[-1].strip() == "7"
    for _ in range(50):  # its processes end with it
        try:
            opened = Study.open(study)
            break
        except Exception:
            time.sleep(0.1)
    with opened:
        (run,) = opened.runs()
        assert 7 <= run.n_finished < 400
        begun = next(
            one
            for one in refitting_steps(GAS_PLAN, part(), opened, 200)
            if isinstance(one, PartialResult)
        )
        assert begun.found.n_paths == run.n_finished
        # processes finish in any order
        done = sorted(fold - 1 for fold, _ in opened.finished_units(run.key))
    expected = by_arrays(GAS(n_features_to_select=3), part(), done[-1] // 2 + 1)
    np.testing.assert_array_equal(begun.found.places, expected.places[done])


def test_the_time_is_estimated_from_the_size_of_the_work() -> None:
    data = part()
    once = refitting_seconds(GAS_PLAN, data, 10)
    assert once > 0
    assert refitting_seconds(GAS_PLAN, data, 50) == pytest.approx(5 * once)
    assert refitting_seconds(GAS_PLAN, data, 10, workers=4) == pytest.approx(once / 4)
    assert (
        refitting_seconds(
            Plan("small", "fs-bfs", {"n_features_to_select": 3}), data, 10
        )
        > once
    )
    ran = run_plan(GAS_PLAN.changed(select_by="criterion"), data)
    known = refitting_seconds(GAS_PLAN, data, 10, finished=[ran])
    assert known == pytest.approx(20 * ran.seconds / 2, rel=0.5)


def test_what_cannot_be_done_is_refused() -> None:
    data = part()
    with pytest.raises(ParameterError, match="a method that selects features"):
        stability_by_refitting(Plan("small", "ranksvm", {}), data)
    with pytest.raises(ParameterError, match="one value for stability selection"):
        stability_by_refitting(
            Plan("small", "greedy-rankrls", {"regularization": (1.0, 2.0)}), data
        )
    with pytest.raises(ParameterError):
        stability_by_refitting(GAS_PLAN, data, n_halves=0)
    with pytest.raises(DatasetError):
        stability_by_refitting(
            GAS_PLAN, RankingDataset.from_arrays(data.X[:7], data.y[:7], [1] * 7)
        )
