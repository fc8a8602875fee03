"""Known datasets: recognised by what they are, and not when they are something else."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine.analysis.measurements.score_evaluation import evaluate_file
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data, load_letor
from rankstudio.engine.data.known_datasets import KNOWN, identify, table_of_names
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan, usual_choices
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.resources import resource
from rankstudio.engine.support.sparse_rows import SparseRows

GOV2 = "docid = GX008-86-4444840 inc = 1 prob = 0.086622"
MEDLINE = "docid = 244338"
GOV = "docid = G21-63-2483329"
NOWHERE = Path("/data/mine/train.txt")


def dataset(
    n: int, labels: list[int], comment: str = "", X: float | np.ndarray = 0.5
) -> RankingDataset:
    m = len(labels)
    return RankingDataset.from_arrays(
        np.zeros((m, n)) + X, labels, comments=[comment] * m
    )


@pytest.mark.parametrize(
    ("path", "data", "key"),
    [
        (NOWHERE, dataset(46, [0, 1, 2], GOV2), "letor4"),
        (Path("/x/MQ2007/Fold1/train.txt"), dataset(46, [0, 1, 2]), "letor4"),
        (
            Path("/x/MQ2007-semi/Fold1/train.txt"),
            dataset(46, [-1, 1, 2], GOV2),
            "letor4",
        ),
        (NOWHERE, dataset(46, [0, 1, 2]), None),
        (NOWHERE, dataset(46, [0, 1, 4], GOV2), None),
        (Path("/x/MQ2008/Fold1/train.txt"), dataset(46, [0, 1], "docid = 7"), None),
        (Path("/x/MQ2008/Fold1/train.txt"), dataset(20, [0, 1, 2], GOV2), None),
        (NOWHERE, dataset(45, [0, 1, 2], MEDLINE), "ohsumed"),
        (Path("/x/OHSUMED/Fold1/train.txt"), dataset(45, [0, 1, 2]), "ohsumed"),
        (Path("/x/OHSUMED/Fold1/train.txt"), dataset(25, [0, 1, 2], MEDLINE), None),
        (NOWHERE, dataset(64, [0, 1], GOV), "gov"),
        (
            Path("/x/Gov/2003_hp_dataset/HP2003/Fold1/train.txt"),
            dataset(64, [0, 1]),
            "gov",
        ),
        (NOWHERE, dataset(136, [0, 4], X=1.0), "mslr"),
        (NOWHERE, dataset(136, [0, 4], X=0.5), None),
        (Path("/x/MSLR-WEB30K/Fold1/train.txt"), dataset(136, [0, 4], X=0.5), "mslr"),
        (Path("/x/ltrc_yahoo/set1.train.txt"), dataset(699, [0, 4]), "yahoo"),
        (NOWHERE, dataset(699, [0, 4]), None),
        (NOWHERE, dataset(46, [0, 1, 2], GOV2 + " "), "letor4"),
    ],
)
def test_recognition(path: Path, data: RankingDataset, key: str | None) -> None:
    assert identify(path, data).known == key


def test_conventions() -> None:
    assert {k.key: k.convention for k in KNOWN} == {
        "letor4": "letor4",
        "ohsumed": "letor3",
        "gov": "letor3",
        "mslr": "mslr",
        "yahoo": "standard",
        "istella": "standard",
    }


def scaled(zero: Sequence[int], n: int) -> np.ndarray:
    """Features that are scaled within one query of four documents, with columns of zeros."""
    X = np.tile([[0.0], [0.25], [0.5], [1.0]], n)
    X[:, [column - 1 for column in zero]] = 0.0
    return X


LETOR_ZERO = {46: [6, 7, 8, 9, 10], 45: [5, 6, 7, 20, 21, 22, 35, 36, 37]}


@pytest.mark.parametrize(("n", "key"), [(46, "letor4"), (45, "ohsumed")])
def test_letor_data_without_comments_are_recognised_in_every_folder(
    n: int, key: str
) -> None:
    labels, zero = [0, 1, 2, 0], LETOR_ZERO[n]
    fits = dataset(n, labels, X=scaled(zero, n))
    assert identify(NOWHERE, fits).known == key
    for odd in (
        scaled(zero[1:], n),
        scaled(zero, n) * 2.0,
        scaled(zero, n) * 0.9,
        scaled(zero, n) - 0.5,
    ):
        found = identify(NOWHERE, dataset(n, labels, X=odd))
        assert (found.known, found.convention) == (None, "standard")
    with_sparse_rows = replace(fits, X=SparseRows.of_array(np.array(fits.X)))
    assert identify(NOWHERE, with_sparse_rows).known == key


@pytest.mark.parametrize(
    ("file", "text", "convention"),
    [
        ("mine.txt", "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.1\n", "standard"),
        (
            "MQ2008/test.txt",
            f"1 qid:1 46:0.5 # {GOV2}\n0 qid:1 46:1 # {GOV2}\n",
            "letor4",
        ),
        (
            "other/part.txt",
            f"1 qid:1 46:0.5 # {GOV2}\n0 qid:1 46:1 # {GOV2}\n",
            "letor4",
        ),
        ("OHSUMED/test.txt", "1 qid:1 45:0.5\n0 qid:1 45:1\n", "letor3"),
        ("MSLR-WEB10K/test.txt", "4 qid:1 136:0.5\n0 qid:1 136:1\n", "mslr"),
        ("yahoo/set1.train.txt", "4 qid:1 699:0.5\n0 qid:1 699:1\n", "standard"),
    ],
)
def test_all_doors_give_the_same_data_the_same_convention(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    text: str,
    convention: str,
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + text.replace("qid:1", "qid:2"))
    monkeypatch.chdir(path.parent)
    part, folded = load_data(path.name), open_dataset(path.name)
    plan = Plan(path.name, "single-feature", select_by="criterion")
    result = run_plan(plan, part)
    by_terminal = usual_choices(plan, folded, ())
    Path("a.scores").write_text("0.2\n0.1\n" * 2)
    scored, *_ = evaluate_file(
        Path(path.name), Path("a.scores"), None, [measure("MAP")]
    )
    doors = [
        part.convention,
        folded.convention,
        FoldedDataset.of(part).convention,
        load_letor(path.name).convention,
        result.plan.convention,
        by_terminal.convention,
        scored.convention.key,
    ]
    assert set(doors) == {convention}


@pytest.mark.parametrize(
    ("key", "n"), [("letor4", 46), ("ohsumed", 45), ("gov", 64), ("mslr", 136)]
)
def test_tables(key: str, n: int) -> None:
    names = table_of_names(key)
    assert list(names) == list(range(1, n + 1))
    assert len(set(names.values())) == n
    with resource("features", f"{key}.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["id", "name"]


@pytest.mark.parametrize(
    ("key", "feature", "name"),
    [
        ("letor4", 39, "LMIR.DIR of whole document"),
        ("letor4", 25, "BM25 of anchor"),
        ("letor4", 46, "Number of child pages"),
        ("ohsumed", 1, "TF of title"),
        ("ohsumed", 26, "BM25 of abstract"),
        ("ohsumed", 45, "LMIR.ABS of title and abstract"),
        ("gov", 22, "BM25 of anchor"),
        ("gov", 64, "LMIR.JM of extracted title"),
        ("mslr", 110, "BM25 of whole document"),
        ("mslr", 130, "PageRank"),
    ],
)
def test_some_names(key: str, feature: int, name: str) -> None:
    assert table_of_names(key)[feature] == name


def test_gov_is_named_only_if_its_columns_stand_as_in_the_published_list() -> None:
    X = np.ones((4, 64))
    X[:2, [1, 21]] = 0.0  # no query term in any anchor, so no BM25 of anchor either
    fits = identify(NOWHERE, dataset(64, [0, 1, 0, 1], GOV, X))
    assert fits.names[22] == "BM25 of anchor"
    X[:, 21] = 1.0
    assert identify(NOWHERE, dataset(64, [0, 1, 0, 1], GOV, X)).names == {}


def test_names_are_given_by_id_not_by_column(tmp_path: Path) -> None:
    (tmp_path / "features.csv").write_text('id,name\n5,"BM25, of title"\n')
    data = replace(dataset(2, [0, 1]), feature_ids=np.array([5, 9]))
    named = identify(tmp_path / "train.txt", data).name_features(data)
    assert named.feature_names == ("BM25, of title", "feature 2")


@pytest.mark.parametrize(
    ("damaged", "also"),
    [
        # the names that follow are names of their own
        ('5,"BM25 of title\n9,PageRank', {}),
        ('5,"BM25 of title\n9,PageRank\n' + "10,x\n" * 40_000, {10: "x"}),
        ("5,BM25 of title\n9,PageRank\n" + "1" * 5000 + ",x", {}),
        ("5,BM25 of title\n9,PageRank\n11," + "x" * 200_000, {}),
    ],
)
@pytest.mark.parametrize("header", ["id,name\n", ""])
def test_a_damaged_line_of_names_takes_no_others(
    tmp_path: Path, damaged: str, also: dict[int, str], header: str
) -> None:
    (tmp_path / "features.csv").write_text(header + damaged)
    found = identify(tmp_path / "train.txt", dataset(2, [0, 1]))
    assert found.names == {5: "BM25 of title", 9: "PageRank", **also}
