"""``rankstudio evaluate``, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.metrics.names import LETOR_MEASURES
from rankstudio.engine.statistics.auc import auc_interval

LABELS = [0, 2, 1, 0, 0, 1]
SCORES = [0.5, 0.9, 0.5, 1.0, 2.0, 3.0]
QUERIES = [7, 7, 7, 30, 30, 30]


def _write(
    folder: Path,
    rows: list[tuple[int, int, float]],
    comments: list[str] | None = None,
) -> tuple[str, str]:
    data, scores = folder / "test.txt", folder / "test.score"
    comments = comments or [""] * len(rows)
    data.write_text(
        "".join(
            f"{y} qid:{q} 1:0.5{c}\n"
            for (y, q, _), c in zip(rows, comments, strict=True)
        ),
        encoding="utf-8",
    )
    scores.write_text("".join(f"{s}\n" for _, _, s in rows), encoding="utf-8")
    return str(data), str(scores)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return _write(tmp_path, list(zip(LABELS, QUERIES, SCORES, strict=True)))


def measured(text: str) -> dict[str, float]:
    """Return the measures of a JSON answer, which also names the convention and the greatest grade."""
    answer = json.loads(text)
    assert CONVENTIONS[answer.pop("convention")]
    assert answer.pop("greatest_grade") >= 0
    return answer


@pytest.mark.parametrize("key", [None, *CONVENTIONS])
def test_json_is_what_the_function_returns(
    files: tuple[str, str], key: str | None, capsys
) -> None:
    assert (
        main(
            [
                "evaluate",
                *files,
                "--json",
                *([] if key is None else ["--convention", key]),
            ]
        )
        == 0
    )
    expected = evaluate(LABELS, SCORES, QUERIES, convention=key or "standard")
    printed = json.loads(capsys.readouterr().out)
    rules = printed.pop("convention"), printed.pop("greatest_grade")
    assert rules == (expected.convention.key, expected.greatest_grade)
    assert printed == dict(expected)
    assert list(printed) == list(LETOR_MEASURES)


def test_scores_stand_in_the_order_of_the_file_even_where_queries_scatter(
    tmp_path: Path, done
) -> None:
    y, q, s = LABELS, [7, 30, 7, 30, 30, 7], SCORES
    files = _write(tmp_path, list(zip(y, q, s, strict=True)))
    expected = dict(evaluate(y, s, q))
    for _ in range(2):  # as parsed, and as kept in the cache
        printed = done(["evaluate", *files, "--json"])
        assert measured(printed.out) == expected
        assert "2 queries" in printed.err


def test_document_ids_break_ties_as_trec_eval_does(tmp_path: Path, done) -> None:
    rows = [(1, 1, 0.5), (0, 1, 0.5)]
    command = ["--convention", "trec_eval", "--measures", "MAP", "--json"]
    for ids, expected in [(("b", "a"), 1.0), (("a", "b"), 0.5)]:
        files = _write(tmp_path, rows, [f" #docid = {name}" for name in ids])
        printed = done(["evaluate", *files, *command])
        assert measured(printed.out) == {"MAP": expected}
        assert printed.err == ""
    files = _write(tmp_path, rows, [" #docid = b", ""])
    printed = done(["evaluate", *files, *command])
    assert measured(printed.out) == {"MAP": 0.5}
    assert naming("document id").search(printed.err)


def test_the_table_has_a_line_a_measure_and_names_the_convention(
    files: tuple[str, str], capsys
) -> None:
    assert (
        main(
            [
                "evaluate",
                *files,
                "--measures",
                "ndcg@1,NDCG@2,MAP",
                "--convention",
                "ranklib",
            ]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("2 queries, 6 documents")
    assert lines[1] == "RankLib convention"
    assert lines[3].split() == ["measure", "@1", "@2", "all"]
    expected = evaluate(
        LABELS,
        SCORES,
        QUERIES,
        convention="ranklib",
        measures=["NDCG@1", "NDCG@2", "MAP"],
    )
    figures = [f"{value:.4f}" for value in expected.values()]
    assert [line.split() for line in lines[5:]] == [
        ["ndcg", *figures[:2]],
        ["MAP", figures[2]],
    ]


def test_per_query(tmp_path: Path, answer, done) -> None:
    files = _write(tmp_path, [(1, 7, 1.0), (0, 7, 2.0), (0, 30, 1.0)])
    command = ["evaluate", *files, "--measures", "MAP,Disagreement", "--per-query"]
    assert [line.split() for line in done(command).out.splitlines()[-4:]] == [
        ["query", "MAP", "Disagreement"],
        ["─" * len("query     MAP  Disagreement")],
        ["7", "0.5000", "1.0000"],
        ["30", "0.0000", "–"],
    ]
    assert answer([*command, "--json"]) == {
        "convention": "standard",
        "greatest_grade": 1.0,
        "average": {"MAP": 0.25, "Disagreement": 1.0},
        "queries": [
            {"query": "7", "MAP": 0.5, "Disagreement": 1.0},
            {"query": "30", "MAP": 0.0, "Disagreement": None},
        ],
    }


def test_another_number_of_scores_names_both_files(
    files: tuple[str, str], capsys
) -> None:
    Path(files[1]).write_text("1\n2\n", encoding="utf-8")
    assert main(["evaluate", *files]) == 1
    text = capsys.readouterr().err
    assert (
        files[0] in text
        and files[1] in text
        and naming("6 documents 2 scores").search(text)
    )
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (["evaluate", "DATA", "missing.score"], "missing.score"),
        (["evaluate", "missing.txt", "SCORES"], "missing.txt"),
        (["evaluate", "SCORES", "SCORES"], "test.score 1"),
        (["evaluate", "DATA", "DATA"], "test.txt 1 0 qid:7 1:0.5"),
        (["evaluate", "DATA", "SCORES", "--measures", "MRR"], "measure RR"),
        (["evaluate", "DATA", "SCORES", "--measures", ","], "--measures"),
    ],
)
def test_errors_are_one_sentence(
    files: tuple[str, str], changed: list[str], text: str, capsys
) -> None:
    names = {"DATA": files[0], "SCORES": files[1]}
    assert main([names.get(word, word) for word in changed]) == 1
    printed = capsys.readouterr()
    assert naming(text).search(printed.err)
    assert printed.out == ""


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("data", "folder", "convention"),
    [
        ("MQ2008", "Mq2008", "LETOR 4.0"),
        ("OHSUMED/QueryLevelNorm", "OHSUMED", "LETOR 3.0"),
    ],
)
def test_letors_own_figures(
    letor_dir: Path, data: str, folder: str, convention: str, done
) -> None:
    metrics = letor_dir / "metrics" / folder / "RankBoost"
    part = (
        (metrics / "expected.txt")
        .read_text(encoding="utf-8")
        .split("performance on testing set")[1]
    )
    tables = [
        line.split()
        for line in part.splitlines()
        if line.startswith(("Folds", "Fold5"))
    ][:4]
    printed = dict(zip(tables[0][1:], tables[1][1:], strict=True))
    printed |= dict(zip(tables[2][1:], tables[3][1:], strict=True))
    files = [
        str(letor_dir / data / "Fold5" / "test.txt"),
        str(metrics / "Fold5.test.score"),
    ]
    ours = measured(done(["evaluate", *files, "--json"]).out)
    assert {name: f"{value:.4f}" for name, value in ours.items()} == printed
    assert f"{convention} convention" in done(["evaluate", *files]).out


@pytest.mark.parametrize("convention", ["trec_eval", "letor4"])
def test_run_and_evaluate_measure_a_model_alike(
    convention: str, tmp_path: Path, capsys
) -> None:
    rng = np.random.default_rng(4)
    folder = tmp_path / "Small"
    folder.mkdir()
    for name, greatest in (("train", 3), ("vali", 2), ("test", 1)):
        lines = []
        for query in range(1, 13):
            for feature in rng.integers(0, 3, 6):
                label = min(greatest, max(0, feature + rng.integers(-1, 2)))
                other, number = rng.integers(0, 3), rng.integers(1000)
                lines.append(
                    f"{label} qid:{query} 1:{feature} 2:{other} #docid = GX{number:03d}\n"
                )
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    measures = "MAP,RR,ERR,ERR@3,NDCG@3"
    command = [
        "run",
        str(folder),
        "--method",
        "rankboost",
        "--rounds",
        "3",
        "--convention",
        convention,
    ]
    assert main([*command, "--measures", measures, "--out", str(tmp_path / "out")]) == 0
    results = json.loads(
        (tmp_path / "out" / "results.json").read_text(encoding="utf-8")
    )
    assert results["greatest_grade"] == 3
    assert "greatest grade 3" in capsys.readouterr().out
    model = next((tmp_path / "out" / "models").glob("*.json"))
    command = [
        "evaluate",
        str(folder / "test.txt"),
        "--model",
        str(model),
        "--convention",
        convention,
    ]
    assert (
        main([*command, "--measures", measures, "--greatest-grade", "3", "--json"]) == 0
    )
    figures = measured(capsys.readouterr().out)
    assert figures == pytest.approx(results["folds"][0]["test"], abs=1e-15)
    assert main([*command, "--measures", "ERR", "--greatest-grade", "0.5"]) == 1
    assert "greatest_grade" in capsys.readouterr().err


def test_one_ranking_has_an_interval_of_its_area(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "objects.csv").write_text("label,a\n1,3\n0,1\n1,2\n0,2.5\n0,0\n")
    (tmp_path / "scores.txt").write_text("3\n1\n2\n2.5\n0\n")
    command = [
        "evaluate",
        str(tmp_path / "objects.csv"),
        str(tmp_path / "scores.txt"),
        "--no-queries",
    ]
    assert main([*command, "--measures", "AUC,Tau", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["AUC"] == 5 / 6
    np.testing.assert_allclose(
        found["AUC interval"], auc_interval([3, 1, 2, 2.5, 0], [1, 0, 1, 0, 0])
    )
    assert main([*command, "--measures", "AUC"]) == 0
    assert "DeLong" in capsys.readouterr().out
    assert main([*command, "--measures", "MAP"]) == 0
    assert "DeLong" not in capsys.readouterr().out
