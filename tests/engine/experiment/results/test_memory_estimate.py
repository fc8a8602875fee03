"""The memory that a run needs is told before it starts, and what does not fit is refused in a sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import (
    Fold,
    FoldedDataset,
    RankingDataset,
    default_names,
)
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.memory_estimate import (
    MemoryEstimate,
    WorkersHere,
    memory_estimate,
)
from rankstudio.engine.experiment.runner import check, estimate, run
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.memory_need import DataShape, Reading
from rankstudio.engine.support import memory, threads

LEFT_OUT = "leave-query-out MAP"
# 2.4 GB, of which no byte is written: the file has a hole
DOCUMENTS, FEATURES = 3_000_000, 100


@pytest.fixture(scope="module")
def hollow(tmp_path_factory: pytest.TempPathFactory) -> FoldedDataset:
    """Return mapped data of which a test must not read a document."""
    folder = tmp_path_factory.mktemp("hollow")
    return FoldedDataset(
        "hollow", None, (Fold(1, part(folder, DOCUMENTS), part(folder, 100_000)),)
    )


def part(folder: Path, m: int) -> RankingDataset:
    place = folder / f"{m}.npy"
    np.lib.format.open_memmap(
        place, mode="w+", dtype=np.float64, shape=(m, FEATURES)
    ).flush()
    X = np.load(place, mmap_mode="r")
    ptr, ids = np.arange(0, m + 1, 100), np.arange(1, FEATURES + 1)
    queries = tuple(map(str, range(ptr.size - 1)))
    return RankingDataset(X, np.arange(m) % 3.0, ptr, queries, ids, default_names(ids))


def estimated(
    dataset: FoldedDataset, method: str = "greedy-rankrls", **parameters: Any
) -> MemoryEstimate:
    return estimate(Plan("hollow", method, parameters), dataset)


def goes_by_shards(entry: Method) -> bool:
    """Tell whether a method goes shard by shard, with its parameters as they are by default."""
    return (
        entry.load()().memory_need(DataShape(m=200_000, n=4, Q=2_000, s=65_000)).reading
        is not Reading.WHOLE
    )


def whole_methods() -> list[str]:
    """Return the methods that look at all documents at once, whichever these are."""
    return [
        entry.key
        for entry in methods()
        if not entry.lacking and not goes_by_shards(entry)
    ]


def test_the_disk_is_read_shard_by_shard_within_the_budget(
    hollow: FoldedDataset,
) -> None:
    with memory.within(2e9):
        found = estimated(hollow, n_features_to_select=10)
    assert found.runs and found.large and found.on_disk
    assert found.resident < 2e9
    assert found.sentence == (
        f"3,000,000 documents read from disk, processed in blocks, by the statistics of each query; about "
        f"{memory.size(found.resident)} of memory and {memory.size(found.in_files)} of disk space, "
        "limit 2.0 GB."
    )


def test_a_larger_budget_keeps_more_in_memory_and_less_on_the_disk(
    hollow: FoldedDataset,
) -> None:
    found = []
    for budget in (1e9, 2e9, 4e9):
        with memory.within(budget):
            found.append(estimated(hollow, n_features_to_select=10))
    assert found[0].resident < found[1].resident < found[2].resident
    assert found[0].in_files > found[1].in_files > found[2].in_files


def test_few_features_of_many_are_rows_of_statistics(hollow: FoldedDataset) -> None:
    with memory.within(2e9):
        assert naming("row statistics query").search(
            estimated(hollow, n_features_to_select=2).sentence
        )


def test_what_looks_at_all_documents_is_refused_before_anything_is_read(
    hollow: FoldedDataset,
) -> None:
    for key in [*whole_methods(), "kernel-rankrls"]:
        with (
            memory.within(1e9),
            pytest.raises(OutOfMemoryError, match=naming("1.0 GB")),
        ):
            next(run(Plan("hollow", key), hollow))
        with memory.within(1e9), pytest.raises(OutOfMemoryError):
            check(Plan("hollow", key), hollow)


def test_the_refusal_says_what_would_make_it_run(hollow: FoldedDataset) -> None:
    with memory.within(1e9):
        found = estimated(hollow, "kernel-rankrls", n_basis=100)
        assert not found.need.fits  # the documents alone are larger
        assert naming("--memory Run Workers").search(found.refusal)
        assert naming("Greedy RankRLS FSMRank").search(found.refusal)
        found = estimated(hollow, search="floating", algorithm="columns")
        assert "algorithm=auto, fewer documents" in found.refusal
        assert "such as FSMRank," in found.refusal
    with memory.within(8e9):  # of which the documents take 2.4
        found = estimated(hollow, "kernel-rankrls", n_basis=1000)
        most = int(found.need.fits.removeprefix("n_basis="))
        assert estimated(hollow, "kernel-rankrls", n_basis=most).runs
        assert not estimated(hollow, "kernel-rankrls", n_basis=most + 1).runs


def test_parameters_that_ask_for_all_documents_say_so(hollow: FoldedDataset) -> None:
    with memory.within(1e9):
        assert not estimated(hollow, search="floating", algorithm="columns").runs
        assert estimated(hollow, search="floating").need.reading is Reading.SHARED
        assert estimated(hollow).runs
        assert not estimated(hollow, "ranksvm", kernel="rbf", n_basis=50).runs
        assert estimated(hollow, "ranksvm").runs


@pytest.mark.ability("kernels")
def test_queries_are_left_out_shard_by_shard_where_the_ranker_can(
    hollow: FoldedDataset,
) -> None:
    with memory.within(1e9):
        for key in ("greedy-rankrls", "rankrls"):
            assert estimate(Plan("hollow", key, {}, LEFT_OUT), hollow).runs
        assert not estimate(
            Plan("hollow", "rankrls", {"pairs": "all"}, LEFT_OUT), hollow
        ).runs
        selected = Plan("hollow", "single-feature", {}, LEFT_OUT, ranker="rankrls")
        assert estimate(selected, hollow).runs
        assert not estimate(
            selected.changed(ranker="kernel-rankrls", ranker_parameters={}), hollow
        ).runs


@pytest.mark.parametrize("key", ["lambdamart", "lambdamart-top"])
def test_bins_of_all_documents_have_to_fit_into_the_budget(
    hollow: FoldedDataset, key: str
) -> None:
    with memory.within(2e9):
        found = estimated(hollow, key)
    assert found.runs
    assert naming("processed blocks").search(found.sentence)
    assert found.least > DOCUMENTS * FEATURES  # a byte each
    with memory.within(5e8):
        found = estimated(hollow, key)
        assert not found.runs
        assert naming("runs memory").search(found.sentence)
        assert "a method that processes" not in found.sentence


def test_a_ranker_needs_the_selected_features_alone(hollow: FoldedDataset) -> None:
    few = {"n_features_to_select": 5}
    with memory.within(1e9):
        for ranker in ("rankrls", "ranksvm"):
            plan = Plan("hollow", "single-feature", few, ranker=ranker)
            found = estimate(plan, hollow)
            assert found.runs and found.need.reading is Reading.SHARED
        kernel = {"kernel": "rbf", "n_basis": 8}
        plan = Plan(
            "hollow", "single-feature", few, ranker="ranksvm", ranker_parameters=kernel
        )
        selected, alone = estimate(plan, hollow), estimated(hollow, "ranksvm", **kernel)
        # Of 100 features 95 are not there: 2.3 GB less.
        assert alone.least - selected.least > 2e9
        assert selected.need.reading is Reading.WHOLE


def test_more_workers_need_more(hollow: FoldedDataset) -> None:
    plan = Plan("hollow", "lambdamart", {"learning_rate": (0.1, 0.2, 0.3)})
    with memory.within(8e9):
        one = memory_estimate(plan, hollow.folds)
        two, five = (
            memory_estimate(plan, hollow.folds, WorkersHere(count)) for count in (2, 5)
        )
    assert one.least < two.least < five.least
    assert five.least < 3.1 * one.least  # there are three units


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("budget", [20e6, 150e6, 400e6, 1e9, 3e9])
def test_a_budget_is_kept_or_refused_with_the_least_one_that_works(
    hollow: FoldedDataset, budget: float, count: int
) -> None:
    """With so many processes that share the shards; 0 for the threads of this process."""
    workers = WorkersHere(count, share_shards=True) if count else WorkersHere()
    for entry in methods():
        if entry.lacking or entry.learns_nothing or not goes_by_shards(entry):
            continue
        plan = Plan("hollow", entry.key)
        with memory.within(budget), threads.at_most(8):
            found = memory_estimate(plan, hollow.folds, workers)
        if found.runs:
            assert found.resident <= budget, entry.key
            assert memory.size(found.resident) in found.sentence
            continue
        least = re.search(r"memory limit of ([\d.]+ [MG]B)", found.refusal)
        assert least, entry.key
        enough = memory.n_bytes(least[1])
        assert budget < enough
        with memory.within(enough), threads.at_most(8):
            assert memory_estimate(plan, hollow.folds, workers).runs, entry.key
        unit = 1e8 if enough > 1e9 else 1e6  # by which it is rounded up
        with memory.within(enough - unit - 1), threads.at_most(8):
            assert not memory_estimate(plan, hollow.folds, workers).runs, entry.key


def test_more_processes_that_share_shards_need_more(hollow: FoldedDataset) -> None:
    with memory.within(3e9):
        one, two = (
            memory_estimate(
                Plan("hollow", "gas"),
                hollow.folds,
                WorkersHere(count, share_shards=True),
            )
            for count in (1, 2)
        )
    assert two.least > one.least and two.threads == 2


@pytest.fixture
def small() -> FoldedDataset:
    rng = np.random.default_rng(0)
    part = RankingDataset.from_arrays(
        rng.random((300, 5)), np.arange(300) % 3, np.repeat(np.arange(30), 10)
    )
    return FoldedDataset("small", None, (Fold(1, part, part),))


def test_small_data_are_not_worth_a_word_and_never_refused(
    small: FoldedDataset,
) -> None:
    with memory.within(1e6):
        for entry in methods():
            if not entry.lacking:
                found = estimated(small, entry.key)
                assert found.runs
                assert found.need.least < 1e7


def test_a_run_tells_what_it_needs_when_it_starts(small: FoldedDataset) -> None:
    events = run(Plan("small"), small)
    started = next(events)
    events.close()
    assert started.memory is not None  # type: ignore[union-attr]
    assert not started.memory.large  # type: ignore[union-attr]


def test_data_in_memory_say_so(hollow: FoldedDataset) -> None:
    fold = hollow.folds[0]
    assert fold.vali is not None
    part = replace(fold.vali, X=np.array(fold.vali.X))
    found = estimate(
        Plan("in memory"), FoldedDataset("in memory", None, (Fold(1, part, part),))
    )
    assert naming("100,000 documents in memory processed in blocks").search(
        found.sentence
    )
