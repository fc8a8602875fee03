"""Folds made anew: queries are never split, each is tested once, and a seed says which goes where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.splitting import splits as protocols
from rankstudio.engine.data.splitting.splits import (
    every_query,
    k_fold,
    nested,
    select_queries,
    single_split,
    training_share,
    whole,
)
from rankstudio.engine.data.synthetic import load_sample, make_ranking
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import open_data, run
from rankstudio.engine.support.file_pages import in_file


def one_file(sizes: list[int]) -> FoldedDataset:
    """Queries of these sizes in one file; every number in them says which document it is."""
    m = sum(sizes)
    data = RankingDataset.from_arrays(
        np.arange(3.0 * m).reshape(m, 3),
        np.arange(m),
        np.repeat([f"q{i}" for i in range(len(sizes))], sizes),
        comments=[f"docid = {i}" for i in range(m)],
    )
    warned = replace(data, warnings=("mended",))
    origin = DatasetOrigin(known="ohsumed")
    return FoldedDataset(
        "File", None, (Fold(1, warned),), convention="ohsumed", origin=origin
    )


def documents(part: RankingDataset) -> list[tuple[object, ...]]:
    """Everything about each document, without its place."""
    return list(
        zip(
            map(tuple, part.X),
            part.y,
            part.qid,
            part.document_ids,
            list(part.comments),
            strict=True,
        )
    )


def check_fold(fold: Fold, everything: set[tuple[object, ...]]) -> None:
    """The parts hold every document once, grouped by query and in order; no query is in two of them."""
    queries = [q for part in fold.parts.values() for q in part.query_ids]
    assert len(set(queries)) == len(queries)
    found = [d for part in fold.parts.values() for d in documents(part)]
    assert len(found) == len(everything)
    assert set(found) == everything
    for part in fold.parts.values():
        assert (np.diff(part.y) > 0).all()  # labels count the rows of the file
        assert part.query_ptr[-1] == part.n_documents
        assert not (part.X.flags.writeable or part.y.flags.writeable)


sizes = st.lists(st.integers(1, 4), min_size=2, max_size=25)


@given(sizes=sizes, seed=st.integers(0, 2**40), data=st.data())
def test_k_folds_split_no_query_and_test_each_once(sizes, seed, data) -> None:
    k = data.draw(st.integers(2, len(sizes)))
    given_data = one_file(sizes)
    everything = set(documents(given_data.folds[0].train))
    made = k_fold(given_data, k, seed)
    assert [fold.number for fold in made.folds] == list(range(1, k + 1))
    for fold in made.folds:
        check_fold(fold, everything)
    tested = [q for fold in made.folds for q in fold.test.query_ids]
    assert sorted(tested) == sorted(given_data.folds[0].train.query_ids)
    counts = [fold.test.n_queries for fold in made.folds]
    assert max(counts) - min(counts) <= 1
    if k == 2:
        assert all(fold.vali is None for fold in made.folds)
    else:  # as in LETOR: what validates in a fold is tested in the one before
        for i, fold in enumerate(made.folds):
            assert fold.vali.query_ids == made.folds[i - 1].test.query_ids


@given(sizes=sizes, seed=st.integers(0, 1000), vali=st.integers(0, 98), data=st.data())
def test_a_single_split_has_its_shares_within_one_query(
    sizes, seed, vali, data
) -> None:
    train = data.draw(st.integers(1, 99 - vali))
    shares = (train, vali, 100 - train - vali)
    given_data = one_file(sizes)
    try:
        made = single_split(given_data, shares, seed)
    except DatasetError:
        # Refused only where a part's exact share is less than a query.
        assert min(share for share in shares if share) * len(sizes) < 100
        return
    (fold,) = made.folds
    check_fold(fold, set(documents(given_data.folds[0].train)))
    for share, name in zip(shares, ("train", "vali", "test"), strict=True):
        count = fold.parts[name].n_queries if name in fold.parts else 0
        assert abs(count - share * len(sizes) / 100) < 1


@given(sizes=sizes, seed=st.integers(0, 1000), share=st.integers(1, 99))
def test_nested_validation_comes_out_of_the_training_part_alone(
    sizes, seed, share
) -> None:
    given_data = k_fold(one_file(sizes), 2, 1)
    try:
        made = nested(given_data, share, seed)
    except DatasetError:
        assert min(share, 100 - share) * (len(sizes) // 2) < 100
        return
    for before, after in zip(given_data.folds, made.folds, strict=True):
        assert after.test is before.test
        check_fold(Fold(1, after.train, after.vali), set(documents(before.train)))
        assert abs(after.vali.n_queries - share * before.train.n_queries / 100) < 1


@pytest.mark.parametrize("share", [10, 24, 50, 99])
def test_a_share_of_the_training_queries_is_part_of_every_larger_one(
    share: int,
) -> None:
    data = k_fold(load_sample(), 3, 1)
    for seed in (0, 5):
        made, larger = (
            training_share(data, percent, seed) for percent in (share, share + 1)
        )
        for fold, less, more in zip(data.folds, made.folds, larger.folds, strict=True):
            n = fold.train.n_queries
            assert less.train.n_queries == n * share // 100
            assert (
                set(less.train.query_ids)
                <= set(more.train.query_ids)
                <= set(fold.train.query_ids)
            )
            assert (less.vali, less.test) == (fold.vali, fold.test)
            chosen = [
                fold.train.query_ids.index(query) for query in less.train.query_ids
            ]
            expected = select_queries(fold.train, np.array(chosen))
            assert np.array_equal(less.train.X, expected.X) and np.array_equal(
                less.train.y, expected.y
            )
    drawn = [training_share(data, 50, seed).folds[0].train.query_ids for seed in (0, 1)]
    assert drawn[0] != drawn[1]


def test_nested_keeps_the_validation_parts_there_are() -> None:
    given_data = k_fold(one_file([2] * 9), 3)
    assert nested(given_data, 20).folds == given_data.folds


@pytest.mark.parametrize(
    "divide",
    [
        lambda d, seed: k_fold(d, 5, seed),
        lambda d, seed: single_split(d, (60, 20, 20), seed),
        lambda d, seed: nested(d, 30, seed),
    ],
)
def test_equal_seeds_deal_equally_and_others_otherwise(divide) -> None:
    data = one_file([1] * 30)
    a, b, c = (divide(data, seed).folds[0].train.query_ids for seed in (1, 1, 2))
    assert a == b
    assert a != c
    made = divide(data, 1)
    assert (made.name, made.convention, made.origin.known) == (
        "File",
        "ohsumed",
        "ohsumed",
    )
    assert made.warnings == ("mended",)
    assert made.divided_by.endswith(", seed 1")


def test_the_whole_of_letors_five_folds_are_their_test_parts() -> None:
    sample = load_sample()
    everything = whole(sample)
    assert everything.n_queries == 250
    fold = sample.folds[0]
    assert set(everything.query_ids) == {
        q for part in fold.parts.values() for q in part.query_ids
    }
    again = k_fold(sample, 10, 3)
    assert sorted(whole(again).query_ids) == sorted(everything.query_ids)
    assert whole(again).X.sum() == pytest.approx(everything.X.sum(), rel=1e-12)


def test_the_whole_of_one_fold_are_all_its_parts() -> None:
    fold = load_sample().folds[0]
    alone = FoldedDataset("Fold1", None, (fold,))
    assert whole(alone).n_documents == sum(
        part.n_documents for part in fold.parts.values()
    )
    assert whole(FoldedDataset("File", None, (Fold(1, fold.train),))) is fold.train


def test_the_whole_of_a_nested_validation_is_the_files_again() -> None:
    """A part that was dealt out of a file does not know what was missing there; one that is a file does."""
    fold = load_sample().folds[0]
    files = FoldedDataset("Files", None, (Fold(1, fold.train, None, fold.test),))
    made = whole(nested(files, 20, 1))
    assert sorted(documents(made)) == sorted(
        documents(fold.train) + documents(fold.test)
    )
    assert not made.missing.size


def test_folds_whose_test_parts_are_not_everything_are_refused() -> None:
    sample = load_sample()
    with pytest.raises(DatasetError, match=naming("Fold 1")):
        whole(replace(sample, folds=sample.folds[:3]))
    untested = replace(
        sample, folds=tuple(replace(fold, test=None) for fold in sample.folds)
    )
    with pytest.raises(DatasetError, match=naming("folds test parts")):
        whole(untested)
    fold = sample.folds[0]
    with pytest.raises(DatasetError, match=naming("query parts")):
        whole(FoldedDataset("Same", None, (Fold(1, fold.train, fold.train),)))


def test_every_query_of_complete_folds_are_their_test_parts() -> None:
    for data in (
        load_sample(),
        k_fold(load_sample(), 10, 3),
        FoldedDataset("1", None, load_sample().folds[:1]),
    ):
        np.testing.assert_array_equal(every_query(data).X, whole(data).X)
        assert every_query(data).query_ids == whole(data).query_ids


def test_every_query_is_there_once_although_the_test_parts_have_only_some() -> None:
    sample = load_sample()
    untested = replace(
        sample, folds=tuple(replace(fold, test=None) for fold in sample.folds)
    )
    for data in (replace(sample, folds=sample.folds[:3]), untested):
        every = every_query(data)
        assert len(set(every.query_ids)) == every.n_queries == 250
        assert sorted(documents(every)) == sorted(documents(whole(sample)))


def test_queries_of_one_id_with_other_documents_are_refused() -> None:
    fold, other = load_sample().folds[:2]
    changed = other.train.changed(y=other.train.y[::-1].copy())
    data = FoldedDataset("Two", None, (fold, replace(other, train=changed, test=None)))
    with pytest.raises(DatasetError):
        every_query(data)


def test_comments_are_taken_with_their_documents() -> None:
    data = one_file([2, 3, 1]).folds[0].train
    part = select_queries(data, np.array([2, 0]))
    assert part.query_ids == ("q0", "q2")
    assert (
        [part.comments[i] for i in range(3)]
        == list(part.comments)
        == ["docid = 0", "docid = 1", "docid = 5"]
    )
    assert part.document_ids == ("0", "1", "5")
    assert select_queries(replace(data, comments=()), np.array([1])).comments == ()


@pytest.mark.parametrize(
    ("divide", "error", "message"),
    [
        (lambda d: k_fold(d, 1), ParameterError, "k 2 1"),
        (lambda d: k_fold(d, 4), DatasetError, "4 3 folds queries"),
        (lambda d: k_fold(d, 2, -1), ParameterError, "seed 0 -1"),
        (lambda d: single_split(d, (60, 20, 10)), ParameterError, "shares 100"),
        (lambda d: single_split(d, (80, 20, 0)), ParameterError, "0 test"),
        (lambda d: single_split(d, (98, 1, 1)), DatasetError, "3 98/1/1"),
        (lambda d: nested(d, 100), ParameterError, "share 1 99 100"),
        (lambda d: training_share(d, 0), ParameterError, "share 1 100 0"),
        (lambda d: training_share(d, 1), DatasetError, "3 training queries 1"),
        (lambda d: nested(d, 1), DatasetError, "3 99/1"),
    ],
)
def test_what_cannot_be_dealt_is_refused_with_a_sentence(
    divide, error, message
) -> None:
    with pytest.raises(error) as caught:
        divide(one_file([2, 2, 2]))
    assert naming(message).search(str(caught.value))


def test_folds_too_large_for_the_memory_are_refused_before_they_are_made(
    monkeypatch,
) -> None:
    monkeypatch.setattr(protocols.memory, "available", lambda: 1000.0)
    with pytest.raises(DatasetError, match=naming("0.0 GB")):
        k_fold(one_file([10] * 10), 5)


def mapped(folder, dataset: FoldedDataset) -> FoldedDataset:
    """Return a dataset of one fold whose features are read from files."""
    parts = {}
    for name, part in dataset.folds[0].parts.items():
        np.save(folder / f"{name}.npy", part.X)
        parts[name] = replace(part, X=np.load(folder / f"{name}.npy", mmap_mode="r"))
    return replace(dataset, folds=(Fold(1, **parts),))


def test_folds_of_data_from_the_disk_are_on_the_disk(tmp_path) -> None:
    sample = load_sample()
    one = replace(sample, folds=sample.folds[:1])
    found, expected = k_fold(mapped(tmp_path, one), 3, seed=4), k_fold(one, 3, seed=4)
    for fold, other in zip(found.folds, expected.folds, strict=True):
        for name, part in fold.parts.items():
            assert in_file(part.X)
            assert np.array_equal(part.X, other.parts[name].X)
            assert part.query_ids == other.parts[name].query_ids


def test_folds_too_large_for_the_disk_are_refused_before_they_are_made(
    tmp_path, monkeypatch
) -> None:
    sample = load_sample()
    data = mapped(tmp_path, replace(sample, folds=sample.folds[:1]))
    monkeypatch.setattr(
        protocols.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000)
    )
    with pytest.raises(DatasetError, match=naming("0.0 MB")):
        k_fold(data, 3)


def sized(folder: Path, folds: int = 1) -> FoldedDataset:
    """Write folds of SVMlight text beside sizes of queries, whose ids are their numbers in a file."""
    given = make_ranking(n_queries=20, seed=1).folds[0].parts
    for number in range(1, folds + 1):
        for name, part in given.items():
            place = folder / (f"Fold{number}" if folds > 1 else ".")
            place.mkdir(exist_ok=True)
            save_dataset(part, place / f"{name}.txt", format_of_key("xgboost"))
    return open_dataset(folder, cache=False)


@pytest.mark.parametrize(
    "protocol",
    [
        "3-fold",
        "split 60/20/20",
        "leave-query-out",
        "5-fold, nested 3-fold",
        "nested 3-fold",
    ],
)
def test_queries_that_have_only_sizes_are_dealt_and_learned_from_again(
    tmp_path: Path, protocol: str
) -> None:
    given = sized(tmp_path)
    data = whole(given)
    assert (
        len(set(data.query_ids))
        == data.n_queries
        == sum(p.n_queries for p in given.folds[0].parts.values())
    )
    assert data.X.tolist() == [
        row for part in given.folds[0].parts.values() for row in part.X.tolist()
    ]
    plan = Plan(
        str(tmp_path),
        protocol=protocol,
        method="rankrls",
        parameters={"regularization": (1.0,)},
        select_by="criterion",
    )
    dataset = open_data(plan)
    finished = list(run(plan, dataset))[-1]
    assert isinstance(finished, RunFinished)
    assert refit(finished.result, dataset).features


def test_folds_of_queries_that_have_only_sizes_cannot_be_put_together(
    tmp_path: Path,
) -> None:
    with pytest.raises(DatasetError, match=r"train\.txt\.group"):
        whole(sized(tmp_path, folds=2))


def one_ranking(m: int) -> FoldedDataset:
    return one_file([m])


def check_documents(
    fold: Fold, everything: set[tuple[object, ...]], *, ordered: bool = True
) -> None:
    """The parts have every document once, in the order of the file, and one query each: the same."""
    found = [d for part in fold.parts.values() for d in documents(part)]
    assert len(found) == len(everything)
    assert set(found) == everything
    for part in fold.parts.values():
        assert part.query_ids == ("q0",)
        assert part.query_ptr.tolist() == [0, part.n_documents]
        # labels count the rows of the file
        assert not ordered or (np.diff(part.y) > 0).all()
        assert not (part.X.flags.writeable or part.y.flags.writeable)


@given(m=st.integers(2, 40), seed=st.integers(0, 2**40), data=st.data())
def test_k_folds_of_one_ranking_deal_documents(m, seed, data) -> None:
    k = data.draw(st.integers(2, m))
    given_data = one_ranking(m)
    everything = set(documents(given_data.folds[0].train))
    made = k_fold(given_data, k, seed)
    for fold in made.folds:
        check_documents(fold, everything)
    counts = [fold.test.n_documents for fold in made.folds]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == m
    assert sorted(d for fold in made.folds for d in documents(fold.test)) == sorted(
        everything
    )
    again = whole(made)
    assert again.query_ids == ("q0",)
    assert again.query_ptr.tolist() == [0, m]
    assert set(documents(again)) == everything


@given(m=st.integers(6, 40), seed=st.integers(0, 2**40))
def test_splits_and_inner_folds_of_one_ranking_deal_documents(m, seed) -> None:
    given_data = one_ranking(m)
    everything = set(documents(given_data.folds[0].train))
    split = single_split(given_data, (50, 20, 30), seed)
    check_documents(split.folds[0], everything)
    check_documents(nested(given_data, 30, seed).folds[0], everything)
    joined = protocols.for_inner_folds(split, 3, seed).folds[0]
    check_documents(joined, everything, ordered=False)  # the validation part comes last
    inner = list(protocols.inner_folds(joined, 3, seed))
    learned = set(documents(joined.train))
    for fold in inner:
        check_documents(fold, learned, ordered=False)
    assert sorted(d for fold in inner for d in documents(fold.vali)) == sorted(learned)


def test_queries_are_never_split_where_there_are_several() -> None:
    given_data = one_file([3, 4])
    halves = k_fold(given_data, 2)
    assert [fold.train.n_queries for fold in halves.folds] == [1, 1]
    for divide in (
        lambda: nested(halves, 50),
        lambda: protocols.for_inner_folds(halves, 2),
    ):
        with pytest.raises(DatasetError):
            divide()
    with pytest.raises(DatasetError, match=naming("File 1")):
        protocols.leave_query_out(one_ranking(9))
    for divide in (
        lambda: k_fold(one_ranking(4), 5),
        lambda: single_split(one_ranking(1), (50, 0, 50)),
        lambda: protocols.for_inner_folds(one_ranking(2), 3),
    ):
        with pytest.raises(DatasetError):
            divide()


def test_files_of_one_ranking_are_put_together_once() -> None:
    whole_file = one_ranking(10).folds[0].train
    rows = np.arange(10)
    parts = [
        protocols.select_items(whole_file, rows[a:b])
        for a, b in ((0, 4), (4, 6), (6, 10))
    ]
    dataset = FoldedDataset("Parts", None, (Fold(1, *parts),))
    assert protocols.is_one_ranking(dataset)
    assert documents(whole(dataset)) == documents(whole_file)
    assert len(k_fold(dataset, 5).folds) == 5
    missing = FoldedDataset(
        "Parts", None, (Fold(1, *parts), Fold(2, parts[1], None, parts[0]))
    )
    with pytest.raises(DatasetError, match=naming("Parts 8 10")):
        whole(missing)
