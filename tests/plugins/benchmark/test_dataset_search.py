"""The search of datasets below a folder, and what it skips."""

import os
import re
import shutil

import pytest
from letor_folder import save_folds

from rankstudio.engine.analysis.comparisons.batch import load_comparison
from rankstudio.engine.errors import FileAccessError, PlanError
from rankstudio.plugins.benchmark import dataset_search
from rankstudio.plugins.benchmark.dataset_search import DatasetSearch
from rankstudio.plugins.benchmark.planned_benchmark import (
    PlannedBenchmark,
    planned_benchmark,
)


def searched(*folders, excluded=()) -> DatasetSearch:
    search = DatasetSearch(excluded)
    for folder in folders:
        search.search(folder)
    return search


def planned(collection, candidates) -> PlannedBenchmark:
    comparison = load_comparison(collection.parent / "few.toml")
    return planned_benchmark(comparison, candidates)


def test_folds_and_single_files_are_candidates_and_results_are_not(collection):
    search = searched(collection)
    names = {path.relative_to(collection).as_posix() for path in search.candidates}
    assert names == {"alpha", "broken", "deep/beta", "deep/gamma.csv"}
    reasons = {skipped.path.name: skipped.own_reason for skipped in search.skipped}
    assert set(reasons) == {"empty", "half", "results"}
    assert "no training file" in reasons["half"]
    assert "results" in reasons["results"]


def test_what_cannot_be_opened_is_skipped_with_the_reason(collection):
    benchmark = planned(collection, searched(collection).candidates)
    assert [dataset.name for dataset in benchmark.datasets] == [
        "alpha",
        "gamma",
        "beta",
    ]
    (broken,) = benchmark.skipped
    assert broken.path.name == "broken"
    assert '"abc"' in broken.reason


def test_data_without_parts_are_divided_and_others_keep_their_folds(collection):
    benchmark = planned(collection, searched(collection).candidates)
    folds = {d.name: (d.n_folds, d.division) for d in benchmark.datasets}
    assert folds == {
        "alpha": (2, "given"),
        "beta": (1, "given"),
        "gamma": (5, "5-fold"),
    }
    gamma = benchmark.datasets[1]
    assert (gamma.n_queries, gamma.n_documents, gamma.n_features) == (20, 80, 2)
    plans = benchmark.comparison.plans(str(gamma.path))
    assert {plan.protocol for plan in plans} == {"5-fold"}
    alpha = str(benchmark.datasets[0].path)
    assert {plan.protocol for plan in benchmark.comparison.plans(alpha)} == {"given"}


def test_links_in_a_circle_end_and_excluded_folders_are_not_entered(
    collection, tmp_path
):
    tree = shutil.copytree(collection, tmp_path / "tree")
    (tree / "deep" / "loop").symlink_to(tree)
    search = searched(tree, excluded={(tree / "deep").resolve()})
    assert [path.name for path in search.candidates] == ["alpha", "broken"]
    assert len(searched(tree).candidates) == 4


def test_the_normalised_scaling_of_a_collection_is_used(tmp_path):
    for scaling in ("Feature_null", "QueryLevelNorm", "min"):
        save_folds(tmp_path / "Gov" / scaling / "TD2003", 1, n_queries=8, seed=1)
    search = searched(tmp_path)
    assert [path.parent.name for path in search.candidates] == ["QueryLevelNorm"]
    assert all("another scaling" in skipped.reason for skipped in search.skipped)
    assert len(search.skipped) == 2


def test_the_same_data_and_the_same_name_count_once(collection, tmp_path):
    shutil.copytree(collection / "alpha", tmp_path / "copy")
    save_folds(tmp_path / "other" / "alpha", 1, n_queries=20, seed=9)
    candidates = [
        collection / "alpha",
        tmp_path / "copy",
        tmp_path / "other" / "alpha",
    ]
    benchmark = planned(collection, candidates)
    assert [dataset.path for dataset in benchmark.datasets] == [collection / "alpha"]
    reasons = [skipped.reason for skipped in benchmark.skipped]
    assert "the same data as" in reasons[0]
    assert "has the name alpha" in reasons[1]


@pytest.mark.parametrize(
    ("folder", "features", "expected_dataset", "convention"),
    [
        ("MQ2007", 46, "LETOR 4.0", "letor4"),
        ("TD2003", 64, ".Gov of LETOR 3.0", "letor3"),
        ("MSLR-WEB10K", 136, "MSLR-WEB", "mslr"),
        ("Yahoo", 600, "Yahoo! Learning to Rank Challenge", "standard"),
        ("istella-s", 220, "Istella LETOR", "standard"),
        ("unknown", 46, "", "standard"),
    ],
)
def test_collections_are_recognised_and_have_their_measures(
    collection, tmp_path, folder, features, expected_dataset, convention
):
    generated_features = {"n_informative": 4, "n_redundant": 0, "n_constant": 0}
    generated_features |= {"n_noise": features - 4, "n_queries": 10}
    save_folds(tmp_path / folder, 1, seed=3, **generated_features)
    # Comments of made data would say that they are others.
    for file in (tmp_path / folder).rglob("*.txt"):
        file.write_text(re.sub(r" *#.*", "", file.read_text()))
    benchmark = planned(collection, searched(tmp_path).candidates)
    (dataset,) = benchmark.datasets
    assert (dataset.known, dataset.convention) == (
        expected_dataset,
        convention,
    )
    assert dataset.n_features == features


def test_a_dataset_that_no_method_can_use_is_skipped(collection, tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text("query_id,label,a\n1,0,0.5\n1,1,0.7\n")
    benchmark = planned(collection, [path])
    assert benchmark.datasets == ()
    assert benchmark.skipped[0].path == path


def test_a_missing_folder_and_a_whole_disk_are_refused(
    collection, tmp_path, monkeypatch
):
    with pytest.raises(FileAccessError, match="missing"):
        searched(tmp_path / "missing")
    monkeypatch.setattr(dataset_search, "MAX_FOLDERS", 3)
    with pytest.raises(PlanError, match="Choose a folder"):
        searched(collection)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything"
)
def test_an_unreadable_folder_is_skipped(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    try:
        search = searched(tmp_path)
    finally:
        closed.chmod(0o700)
    assert [skipped.path for skipped in search.skipped] == [closed]
