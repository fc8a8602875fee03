"""Evidence for documents without queries: halves of the documents, recomputed by hand, anywhere."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import AtOnce
from wording import naming

from rankstudio.engine import (
    GAS,
    GreedyRankRLS,
    MutualInformation,
    selection_evidence,
    stability_selection,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.splitting.query_halves import half_of, halved, has_halves
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.evidence_codec import pack_evidence, unpack_evidence
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.evidence_table import (
    evidence_sentences,
    evidence_text,
)
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.refitted_stability import (
    refitting_steps,
    stability_by_refitting,
)
from rankstudio.plugins.evidence.selection_evidence import (
    EvidenceOptions,
    evidence_steps,
)
from rankstudio.plugins.evidence.stability_selection import stability_steps

COLUMNS = {"no_queries": True}


def planted(seed: int = 0, m: int = 61) -> tuple[np.ndarray, np.ndarray]:
    """Columns 0 and 1 are strong, 4 is 0 but for 1 % noise, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6))
    X[:, 4] = X[:, 0] + 0.01 * rng.normal(size=m)
    return X, np.round(2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=m))


def part(m: int = 61) -> RankingDataset:
    X, y = planted(m=m)
    return RankingDataset.from_arrays(X, np.clip(y + 2, 0, 4), ["1"] * m)


def order_of(method: Any, X: np.ndarray, y: np.ndarray) -> list[int]:
    """Return the columns in the order of selection, of a fitted copy of a method."""
    fresh = type(method)(**method.get_params(deep=False))
    steps = list(fresh.learn(group(X, y, np.zeros(len(y)))))
    if isinstance(method, GrowingSelector):
        return list(steps[-1].selected)
    weights = np.abs(steps[-1].coef)
    return sorted(steps[-1].selected, key=lambda column: (-weights[column], column))


@pytest.mark.parametrize(
    "method",
    [
        GreedyRankRLS(n_features_to_select=3),
        GreedyRankRLS(n_features_to_select=3, pairs="pointwise"),
        MutualInformation(n_features_to_select=3),
        GAS(n_features_to_select=3),
    ],
    ids=["pairs", "documents", "filter", "gas"],
)
def test_counts_are_those_of_selecting_on_halves_of_the_documents(method: Any) -> None:
    X, y = planted()
    stability = stability_selection(method, X, y, qid=None, n_halves=5, seed=3)
    places = []
    for division in range(5):
        order = np.random.default_rng([3, division]).permutation(61)
        for half in (order[:30], order[30:60]):
            rows = np.sort(half)
            selected = order_of(method, X[rows], y[rows])
            place = np.zeros(6, dtype=int)
            place[selected] = np.arange(1, len(selected) + 1)
            places.append(place)
    np.testing.assert_array_equal(stability.places, places)
    for k in range(1, 4):
        within = (np.array(places) > 0) & (np.array(places) <= k)
        np.testing.assert_array_equal(stability.counts[k - 1], within.sum(axis=0))
    assert stability.n_candidates == 6


def test_the_queries_of_one_ranking_are_its_documents_whatever_the_id() -> None:
    X, y = planted()
    method = MutualInformation(n_features_to_select=2)
    without = stability_selection(method, X, y, qid=None, n_halves=2)
    named = stability_selection(method, X, y, qid=["a"] * 61, n_halves=2)
    np.testing.assert_array_equal(without.places, named.places)


def test_a_half_is_a_fold_of_half_of_the_documents() -> None:
    data = part()
    folds = halved(data, 3, 5).folds
    for number, fold in enumerate(folds):
        rows = half_of(61, 5, number)
        np.testing.assert_array_equal(fold.train.X, data.X[rows])
        np.testing.assert_array_equal(fold.train.y, data.y[rows])
        assert fold.train.query_ptr.tolist() == [0, 30]
        assert fold.train.query_ids == ("1",)
        assert fold.train.n_documents == 30
        assert fold.train.n_queries == 1
    for first, second in zip(folds[::2], folds[1::2], strict=True):
        rows = [tuple(row) for half in (first, second) for row in half.train.X]
        assert len(set(rows)) == 60  # complementary: no document is in both


def by_arrays(method: Any, data: RankingDataset, n_halves: int) -> Any:
    return stability_selection(method, data.X, data.y, qid=None, n_halves=n_halves)


PLAN = Plan(
    "objects", "greedy-rankrls", {"n_features_to_select": 2}, columns=COLUMNS
).changed(
    parameters={"n_features_to_select": 2, "regularization": (1.0,)}, select_by="AUC"
)


@pytest.mark.parametrize("place", ["here", "threads", "processes"])
def test_workers_learn_the_same_halves(place: str) -> None:
    data = part()
    expected = by_arrays(GreedyRankRLS(n_features_to_select=2), data, 2)
    if place == "processes":
        with on_processes(2) as executor:
            stability = stability_by_refitting(
                PLAN, data, n_halves=2, executor=executor
            )
    elif place == "threads":
        with ThreadPoolExecutor(2) as executor:
            stability = stability_by_refitting(
                PLAN, data, n_halves=2, executor=executor
            )
    else:
        stability = stability_by_refitting(PLAN, data, n_halves=2, executor=AtOnce())
    np.testing.assert_array_equal(stability.places, expected.places)
    np.testing.assert_array_equal(stability.counts, expected.counts)


def test_a_single_query_with_an_id_is_one_ranking_too() -> None:
    data = part()
    stability = stability_by_refitting(
        PLAN.changed(columns={}), data, n_halves=2, executor=AtOnce()
    )
    expected = by_arrays(GreedyRankRLS(n_features_to_select=2), data, 2)
    np.testing.assert_array_equal(stability.places, expected.places)


def test_halves_of_documents_mapped_from_a_file_are_mapped(tmp_path: Path) -> None:
    data = part()
    np.save(tmp_path / "X.npy", data.X)
    mapped = replace(data, X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert in_file(mapped.X)
    half = halved(mapped, 1, 0).folds[0].train
    assert in_file(half.X)
    np.testing.assert_array_equal(half.X, halved(data, 1, 0).folds[0].train.X)
    rows = half_of(61, 0, 1)
    taken = training_data(group(mapped.X, mapped.y)).taken_documents(rows)
    np.testing.assert_array_equal(taken.X, data.X[rows])
    assert taken.one_ranking
    stability = stability_by_refitting(PLAN, mapped, n_halves=2, executor=AtOnce())
    expected = by_arrays(GreedyRankRLS(n_features_to_select=2), data, 2)
    np.testing.assert_array_equal(stability.places, expected.places)


def test_sparse_documents_are_taken_too() -> None:
    X, y = planted()
    X[np.abs(X) < 0.8] = 0.0
    method = MutualInformation(n_features_to_select=2)
    dense = stability_selection(method, X, y, qid=None, n_halves=2)
    data = SparseQueryData.of(group(X, y))
    of_sparse = finish(stability_steps(method, data, n_halves=2))
    np.testing.assert_array_equal(of_sparse.places, dense.places)
    stability = finish(evidence_steps(method, data, EvidenceOptions(n_halves=2)))
    of_dense = selection_evidence(method, X, y, qid=None, n_halves=2)
    assert stability.stability is not None and of_dense.stability is not None
    np.testing.assert_array_equal(stability.stability.places, of_dense.stability.places)
    assert stability.n_documents == 61


def test_a_study_keeps_the_halves_of_documents(tmp_path: Path) -> None:
    data = part()
    path = tmp_path / "halves.rankstudio"
    expected = stability_by_refitting(PLAN, data, n_halves=3, executor=AtOnce())
    with Study.create(path) as study:
        work = refitting_steps(PLAN, data, study, 3, executor=AtOnce())
        for progress in work:
            if isinstance(progress, PartialResult) and progress.found.n_paths == 2:
                assert "documents" in progress.what
                break
        work.close()
        (run,) = study.runs()
        before = run.n_finished
        assert 2 <= before < 6
        stability = stability_by_refitting(
            PLAN, data, study, n_halves=3, executor=AtOnce()
        )
    np.testing.assert_array_equal(stability.places, expected.places)


def evidence(**changes: Any) -> SelectionEvidence:
    X, y = planted(m=120)
    method = GreedyRankRLS(n_features_to_select=3)
    return selection_evidence(method, X, y, qid=None, n_halves=20, **changes)


def test_the_evidence_has_what_halves_of_documents_give() -> None:
    stability = evidence()
    assert set(stability.done) == {"stability", "alternatives"}
    assert stability.one_ranking
    assert stability.n_documents == stability.n_halved == 120
    rows = {row.column: row for row in stability.rows if row.selected}
    assert rows[1].verdict is not None and rows[1].verdict.value == "secure"
    first = next(column for column in (0, 4) if column in rows)
    assert rows[first].verdict is not None
    assert rows[first].verdict.value == "interchangeable"
    assert rows[first].partner == 4 - first
    for row in rows.values():
        assert row.n_deciding is row.loss is row.share is row.substitute is None
    np.testing.assert_array_equal(
        stability.stability.places,  # type: ignore[union-attr]
        stability_selection(
            GreedyRankRLS(n_features_to_select=6),
            *planted(m=120),
            qid=None,
            n_halves=20,
        ).places,
    )


def test_texts_are_about_documents() -> None:
    stability = evidence()
    *_, last = evidence_sentences(stability, str)
    assert naming("one ranking").search(last)
    note = evidence_text("", stability, stability.rows, str, str).note
    assert "documents" in note and "queries" not in note
    with_queries = selection_evidence(
        GreedyRankRLS(n_features_to_select=2),
        *planted(m=60),
        qid=np.repeat(np.arange(10), 6),
        n_halves=2,
        parts=("stability",),
    )
    assert with_queries.n_documents is None
    assert not with_queries.one_ranking_sentence


@pytest.mark.parametrize("m", [1, 2, 7])
def test_too_few_documents_are_refused(m: int) -> None:
    X, y = planted(m=m)
    for compute in (stability_selection, selection_evidence):
        with pytest.raises(DatasetError, match=naming(f"8 documents {m}")):
            compute(MutualInformation(n_features_to_select=1), X, y, qid=None)
    assert not has_halves(part(m))
    assert has_halves(part(8))
    assert selection_evidence(
        GreedyRankRLS(n_features_to_select=1), *planted(m=8), qid=None, n_halves=2
    ).done


def test_what_needs_queries_is_still_refused() -> None:
    X, y = planted()
    with pytest.raises(ParameterError):
        evidence(parts=("documents",))
    deciding = selection_evidence(
        GreedyRankRLS(n_features_to_select=1),
        X,
        y,
        qid=None,
        parts=("deciding", "best"),
    )
    assert deciding.deciding is deciding.best is None


def test_constant_features_are_no_candidates() -> None:
    X, y = planted()
    X[:, 5] = 1.0
    stability = stability_selection(
        GreedyRankRLS(n_features_to_select=2), X, y, qid=None, n_halves=3
    )
    assert stability.n_candidates == 5
    assert not stability.counts[:, 5].any()


def test_stored_evidence_keeps_the_number_of_documents() -> None:
    stability = evidence()
    again = unpack_evidence(pack_evidence(stability), 6)
    assert again.n_documents == 120
    assert again.rows == stability.rows
    with pytest.raises(Exception, match="n_documents"):
        unpack_evidence(pack_evidence(replace(stability, n_documents=-1)), 6)


def table_of_objects(folder: Path, m: int = 61) -> str:
    X, y = planted(m=m)
    lines = [",".join(["label", *"abcdef"])]
    lines += [
        ",".join(map(str, [max(label, 0), *row]))
        for row, label in zip(X, y, strict=True)
    ]
    (folder / "objects.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "objects.csv")


def test_the_command_says_documents(tmp_path: Path, done) -> None:
    table = table_of_objects(tmp_path)
    words = ["evidence", "--data", table, "--no-queries", "--k", "2", "--halves", "3"]
    out = done(words).out
    assert naming("one ranking 6 halves 61 documents").search(out)
    assert "Give the query" not in out
    printed = json.loads(done([*words, "--json"]).out)
    assert printed["documents"] == 61
    assert [row["deciding_queries"] for row in printed["features"][:2]] == [None, None]
    by_hand = stability_selection(
        GreedyRankRLS(n_features_to_select=6),
        planted()[0],
        np.maximum(planted()[1], 0),
        qid=None,
        n_halves=3,
    ).probability[1]
    shares = {row["feature"]: row["probability"] for row in printed["features"]}
    assert shares == {f: by_hand[f - 1] for f in shares}


@pytest.mark.ability("report")
def test_a_study_and_its_report_say_documents(tmp_path: Path, done) -> None:
    table = table_of_objects(tmp_path)
    study = str(tmp_path / "s.rankstudio")
    run = ["run", "--data", table, "--no-queries", "--k", "2", "--study", study]
    done([*run, "--protocol", "3-fold"])
    out = done(["evidence", study, "--fold", "2", "--halves", "50"]).out
    assert naming("one ranking 100 halves").search(out)
    done(["report", study, "--out", str(tmp_path / "r.html")])
    report = (tmp_path / "r.html").read_text()
    assert "halves of the documents" in report
    assert "halves of the queries" not in report


@pytest.mark.ability("permutation")
def test_permuted_labels_are_of_all_documents(tmp_path: Path, done) -> None:
    table = table_of_objects(tmp_path)
    words = ["permute", table, "--no-queries", "--k", "1", "--permutations", "3"]
    out = done(words).out
    assert naming("one ranking 61 documents").search(out)
    assert naming("leave-pair-out permuted among all documents").search(out)
    pointwise = json.loads(done([*words, "--pairs", "pointwise", "--json"]).out)
    assert pointwise["criterion"] == "leave-one-out error per document"


def test_importance_says_what_to_do_instead(tmp_path: Path, done, refused) -> None:
    table = table_of_objects(tmp_path)
    study = str(tmp_path / "s.rankstudio")
    done(["run", "--data", table, "--no-queries", "--k", "2", "--study", study])
    refused(["importance", study], "one ranking rankstudio evidence")
