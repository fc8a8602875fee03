"""``rankstudio permute``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine import GreedyRankRLS, open_dataset, sample_preferences
from rankstudio.plugins.permutation.label_permutation import permutation_test


@pytest.fixture
def folder(place: Path) -> str:
    return str(place / "data")


def test_json_is_what_the_function_returns(folder: str, answer) -> None:
    options = [
        "--features",
        "3",
        "--lambda",
        "4",
        "--permutations",
        "19",
        "--seed",
        "2",
        "--folds",
        "2",
    ]
    printed = answer(["permute", folder, *options, "--json"])
    train = open_dataset(folder).folds[1].train
    method = GreedyRankRLS(3, 4.0)
    told = permutation_test(method, train.X, train.y, train.qid, 19, seed=2)
    steps = printed.pop("steps")
    m = train.n_documents
    low, high = told.band(0.95)
    for name, values in (
        ("criterion", told.observed / m),
        ("permuted_mean", told.permuted.mean(axis=0) / m),
        ("permuted_low", low / m),
        ("permuted_high", high / m),
        ("p", told.p_values),
    ):
        np.testing.assert_allclose([step[name] for step in steps], values, rtol=1e-14)
    order = method.fit(train.X, train.y, qid=train.qid).selection_order_
    assert [step["feature"] for step in steps] == train.feature_ids[order].tolist()
    assert (printed["fold"], printed["permutations"], printed["seed"]) == (2, 19, 2)
    assert (printed["method"], printed["parameters"]["regularization"]) == (
        "greedy-rankrls",
        [4.0],
    )


def test_the_table_has_a_line_for_every_size(folder: str, done) -> None:
    lines = done(
        ["permute", folder, "--features", "2", "--permutations", "9"]
    ).out.splitlines()
    assert naming("1 18 336").search(lines[0])
    assert naming("labels permuted 9 times").search(lines[1])
    assert lines[3].split() == "k feature criterion permuted 2.5 % 97.5 % p".split()  # noqa: SIM905
    assert [line.split()[0] for line in lines[5:]] == ["1", "2"]
    assert all(float(line.split()[-1]) == 0.1 for line in lines[5:])


def test_preferences_take_the_place_of_labels(
    folder: str, tmp_path: Path, refused, answer, done
) -> None:
    files = pytest.importorskip("rankstudio.plugins.preferences.preference_files")
    data = open_dataset(folder)
    train = data.folds[0].train
    lines = []
    for part in data.folds[0].parts.values():
        some = sample_preferences(part, share=0.5, noise=0.1)
        query = part.query_index[some.winner]
        ids = [part.query_ids[q] for q in query]
        first = part.query_ptr[query]
        pairs = some.winner - first + 1, some.loser - first + 1, some.magnitude
        lines += [
            f"{q},{w},{lost},{size:g}"
            for q, w, lost, size in zip(ids, *pairs, strict=True)
        ]
    path = tmp_path / "clicks.csv"
    path.write_text("\n".join(lines))
    options = [
        "permute",
        folder,
        "--features",
        "2",
        "--permutations",
        "9",
        "--preferences",
        str(path),
    ]
    printed = answer([*options, "--json"])
    assert printed["preferences"] == str(path)
    given = files.read_preference_file(path).of_part(
        train, set(data.folds[0].vali.query_ids) | {*data.folds[0].test.query_ids}
    )
    told = permutation_test(
        GreedyRankRLS(2), train.X, None, train.qid, 9, preferences=given
    )
    found = [step["criterion"] for step in printed["steps"]]
    np.testing.assert_allclose(found, told.observed / train.n_documents, rtol=1e-12)
    assert [step["p"] for step in printed["steps"]] == told.p_values.tolist()
    assert naming("preferences clicks.csv permuted 9 times").search(
        done(options).out.splitlines()[1]
    )
    refused([*options, "--method", "gas"], "GAS")


def test_a_ranker_has_one_line_and_no_feature(folder: str, answer) -> None:
    (step,) = answer(
        ["permute", folder, "--method", "rankrls", "--permutations", "9", "--json"]
    )["steps"]
    assert (step["feature"], step["p"]) == (None, 0.1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--lambda", "1,2"], "λ value"),
        (["--folds", "1,2"], "--folds 1,2"),
        (["--folds", "9"], "--folds 1 2 3 4 5 9"),
        (["--permutations", "0"], "--permutations 1 0"),
        (["--method", "rankrls", "--features", "3"], "RankRLS --features --lambda"),
    ],
)
def test_what_makes_no_sense_is_refused(
    folder: str, options: list[str], text: str, refused
) -> None:
    refused(["permute", folder, *options], text)
