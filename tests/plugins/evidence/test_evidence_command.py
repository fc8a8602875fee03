"""``rankstudio evidence``, as a user calls it."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from experiment.local_cluster import LocalCluster

from rankstudio.cli import main
from rankstudio.engine import GAS, GreedyRankRLS, open_dataset, selection_evidence
from rankstudio.engine.analysis.tried_models.smallest_set import smallest_set_beside
from rankstudio.engine.errors import OutOfMemoryError, StoreError
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.support import threads
from rankstudio.engine.support.memory import within
from rankstudio.plugins.evidence import selection_evidence as gathering
from rankstudio.plugins.evidence.evidence_codec import unpack_evidence
from rankstudio.plugins.evidence.model_importance import model_place

FAST = ["--halves", "5", "--permutations", "19"]


def test_json_is_what_the_function_returns(folder: Path, answer) -> None:
    options = [
        "--fold",
        "2",
        "--k",
        "3",
        "--lambda",
        "4",
        "--loss",
        "MAP",
        "--seed",
        "2",
        "--json",
    ]
    printed = answer(["evidence", "--data", str(folder), *options, *FAST])
    train = open_dataset(folder).folds[1].train
    found = selection_evidence(
        GreedyRankRLS(3, 4.0),
        train.X,
        train.y,
        qid=train.qid,
        measure="MAP",
        n_halves=5,
        n_permutations=19,
        seed=2,
    )
    ids = train.feature_ids
    assert (printed["fold"], printed["measure"], printed["seed"]) == (2, "MAP", 2)
    assert [row["feature"] for row in printed["features"]] == [
        int(ids[row.column]) for row in found.rows
    ]
    for told, row in zip(printed["features"], found.rows, strict=True):
        assert (
            told["probability"] == row.probability and told["selected"] == row.selected
        )
        if row.selected:
            assert (
                told["loss"] == row.loss.value and told["verdict"] == row.verdict.value
            )
            assert told["substitute"] == ids[row.substitute] and told[
                "share"
            ] == pytest.approx(row.share)
    assert printed["best"][-1]["features"] == [
        int(ids[column]) for column in found.best.features
    ]
    assert printed["p"] == found.significance.p_values.tolist()


def test_the_table_has_a_line_for_each_feature_and_sentences_follow(
    folder: Path, done
) -> None:
    command = [
        "evidence",
        "--data",
        str(folder),
        "--k",
        "2",
        "--threshold",
        "0.8",
        *FAST,
    ]
    lines = done(command).out.splitlines()
    assert (
        "Greedy RankRLS" in lines[0] and "2 of " in lines[1] and "10 halves" in lines[1]
    )
    assert lines[3].split()[0] == "feature" and lines[3].split()[-1] == "verdict"
    table = lines[5 : lines.index("", 5)]
    assert [line.startswith("(") for line in table[:2]] == [False, False]
    assert all(line.startswith("(") for line in table[2:])
    assert any("80 %" in line and "halves" in line for line in lines[-2:])


def test_the_selection_of_a_run_is_that_of_its_model(study: Path, answer) -> None:
    """Catches another λ, another fold, and a size of the path in place of the chosen one."""
    with Study.open(study, reading=True) as there:
        run = next(run for run in there.runs() if run.key.id == 1)
        result = there.result(run.key)
    printed = answer(
        ["evidence", str(study), "--run", "1", "--fold", "2", "--json", *FAST]
    )
    fold = next(fold for fold in result.folds if fold.fold == 2)
    chosen = [row["feature"] for row in printed["features"] if row["selected"]]
    assert chosen == list(fold.selected)
    train = open_dataset(study.parent / "Made").folds[1].train
    regularization = fold.chosen.unit.parameters["regularization"]
    direct = selection_evidence(
        GreedyRankRLS(len(chosen), regularization),
        train.X,
        train.y,
        qid=train.qid,
        parts=("losses",),
    )
    with Study.open(study, reading=True) as there:
        place = model_place(fold.chosen.unit.position, fold.chosen.step.selected)
        kept = unpack_evidence(there.evidence(run.key, 2, place) or b"")
    assert [row.loss.value for row in kept.rows if row.selected] == [
        row["loss"] for row in printed["features"] if row["selected"]
    ], "the window reads it there"
    assert {"losses", "best"} <= set(kept.done), (
        "the window goes on with five halves and 19 permutations"
    )
    assert not {"stability", "significance", "repeated"} & set(kept.done)
    values = [row["loss"] for row in printed["features"] if row["selected"]]
    np.testing.assert_allclose(
        values, [row.loss.value for row in direct.rows], rtol=1e-9
    )
    first = answer(["evidence", str(study), "--run", "1", "--k", "2", "--json", *FAST])
    assert sum(row["selected"] for row in first["features"]) == 2 and first["fold"] == 1


@pytest.mark.ability("report")
def test_the_set_to_look_at_is_said_first_and_in_the_report(
    study: Path, tmp_path: Path, answer, done
) -> None:
    command = [
        "evidence",
        str(study),
        "--run",
        "1",
        "--halves",
        "2",
        "--permutations",
        "1",
    ]
    advice = answer([*command, "--json"])["advice"]
    with Study.open(study) as opened:
        result = opened.result(opened.runs()[0].key)
    fold = result.folds[0]
    sets = smallest_set_beside(result.plan, fold, fold.chosen.step.selected)
    assert sets is not None
    assert advice == sets.sentence
    assert done(command).out.startswith(f"{advice}\n\n")
    page = tmp_path / "page.html"
    assert (
        main(["report", str(study), "--out", str(page), "--sections", "evidence"]) == 0
    )
    assert sets.sentence in page.read_text(encoding="utf-8")


def test_evidence_that_cannot_be_stored_is_printed(
    study: Path, done, monkeypatch
) -> None:
    """Catches a result that is lost because another process has opened the study in the meantime."""

    def refuse(self, *_: object) -> None:
        raise StoreError("in use")

    monkeypatch.setattr(Study, "save_evidence", refuse)
    printed = done(["evidence", str(study), "--run", "3", "--fold", "2", *FAST])
    assert "halves" in printed.out and "in use" in printed.err
    assert (
        "another seed"
        in done(["evidence", str(study), "--run", "3", "--seed", "5", *FAST]).err
    )


def test_other_selectors_have_what_applies(study: Path, folder: Path, answer) -> None:
    printed = answer(["evidence", str(study), "--run", "3", "--json", *FAST])
    assert (
        printed["method"] == "single-feature"
        and printed["best"] == []
        and printed["p"] is None
    )
    assert all(
        row["loss"] is not None for row in printed["features"] if row["selected"]
    )
    printed = answer(
        ["evidence", "--data", str(folder), "--method", "fsmrank", "--json", *FAST]
    )
    assert all(row["loss"] is None for row in printed["features"])


def test_the_table_and_figures_are_written_and_replaced_only_by_force(
    folder: Path, tmp_path: Path, done
) -> None:
    out = tmp_path / "evidence"
    command = ["evidence", "--data", str(folder), "--k", "2", "--out", str(out), *FAST]
    assert "Written" in done(command).err
    rows = list(
        csv.DictReader((out / "evidence.csv").read_text(encoding="utf-8").splitlines())
    )
    assert [row["selected"] for row in rows[:3]] == ["True", "True", "False"]
    names = {path.stem for path in out.iterdir()} - {"evidence"}
    kinds = {"probability", "loss", "sets", "steps", "left-out"}
    assert names == {f"evidence-{kind}" for kind in kinds - {"steps"}}, (
        "19 permutations are too few for steps"
    )
    assert all(
        (out / f"{name}.{end}").stat().st_size
        for name in names
        for end in ("pdf", "csv", "txt")
    )
    before = (out / "evidence.csv").read_bytes()
    assert main(command) == 1
    assert main([*command, "--force"]) == 0
    assert (out / "evidence.csv").read_bytes() == before


def test_a_file_in_place_of_the_folder_is_refused_before_the_work(
    folder: Path, tmp_path: Path, capsys
) -> None:
    (tmp_path / "taken").write_text("")
    assert (
        main(
            [
                "evidence",
                "--data",
                str(folder),
                "--k",
                "2",
                "--out",
                str(tmp_path / "taken"),
                *FAST,
            ]
        )
        == 1
    )
    printed = capsys.readouterr()
    assert not printed.out and "taken: expected a folder" in printed.err


def test_ctrl_c_keeps_what_was_found(
    folder: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    stability = gathering._Evidence._stability

    def pressing(self):
        for told in stability(self):
            yield told
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(gathering._Evidence, "_stability", pressing)
    out = tmp_path / "stopped"
    command = [
        "evidence",
        "--data",
        str(folder),
        "--k",
        "2",
        "--halves",
        "200",
        "--out",
        str(out),
    ]
    assert main(command) == 130
    printed = capsys.readouterr()
    assert "2 of " in printed.out and "Stopped at" in printed.err
    assert (out / "evidence.csv").exists() and (
        out / "evidence-probability.csv"
    ).exists()
    assert not (out / "evidence-left-out.csv").exists(), (
        "what was not computed is not there"
    )


def test_what_cannot_be_asked_is_refused(
    study: Path, folder: Path, tmp_path: Path, refused
) -> None:
    refused(["evidence"], "STUDY --data")
    refused(["evidence", str(study), "--data", str(folder)], "STUDY --data")
    refused(["evidence", str(study)], "--run 3 runs")
    refused(
        ["evidence", str(study), "--run", "1", "--lambda", "4"],
        "--regularization study",
    )
    refused(["evidence", str(study), "--run", "1", "--method", "gas"], "--method study")
    refused(["evidence", str(study), "--run", "1", "--fold", "7"], "--fold 1 2 7")
    refused(["evidence", str(study), "--run", "2"], "RankRLS")
    refused(["evidence", "--data", str(folder), "--run", "1"], "--run")
    refused(["evidence", "--data", str(folder), "--lambda", "1,2"], "several")
    refused(
        ["evidence", "--data", str(folder), "--threshold", "0.4"], "threshold 0.5 0.4"
    )
    refused(["evidence", "--data", str(folder), "--loss", "beauty"], "beauty")
    refused(["evidence", "--data", str(tmp_path / "nowhere")], "nowhere")


def test_halves_that_were_learned_are_not_learned_again(
    folder: Path, tmp_path: Path, answer, monkeypatch
) -> None:
    """Catches halves that are lost when the command ends early, and numbers that depend on the workers."""
    gas = [
        "evidence",
        "--data",
        str(folder),
        "--method",
        "gas",
        "--k",
        "2",
        "--halves",
        "6",
        "--json",
    ]
    expected = answer([*gas, "--workers", "1"])
    out = ["--out", str(tmp_path / "out")]
    first = GAS.work
    learned: list[int] = []

    def until_the_fifth(self, data):
        learned.append(data.ptr.size)
        if len(learned) == 6:  # the selection itself comes first
            raise KeyboardInterrupt
        yield from first(self, data)

    monkeypatch.setattr(GAS, "work", until_the_fifth)
    with suppress(KeyboardInterrupt):
        main([*gas, "--workers", "1", *out])
    assert not (tmp_path / "out" / "evidence.csv").exists()
    with Study.open(tmp_path / "out" / "halves.rankstudio", reading=True) as study:
        assert study.runs()[0].n_finished == 4
    learned[:] = [0] * 10
    assert answer([*gas, *out, "--workers", "1"]) == expected
    # the selection, its margins, and features of equal scores
    assert len(learned) == 10 + 8 + 3


SLOW = """
import sys, time
from rankstudio.cli import main
from rankstudio.engine import GAS

usual = GAS.work

def slow(self, data):
    yield from usual(self, data)
    print(flush=True)  # it has learned
    time.sleep(0.05)

GAS.work = slow
main(sys.argv[1:])
"""


@pytest.mark.thorough
def test_a_killed_command_loses_at_most_the_halves_in_progress(
    folder: Path, tmp_path: Path, answer
) -> None:
    """Catches halves that are stored together at the end."""
    gas = [
        "evidence",
        "--data",
        str(folder),
        "--method",
        "gas",
        "--k",
        "2",
        "--halves",
        "60",
        "--json",
    ]
    expected = answer(gas)
    out, place = (
        ["--out", str(tmp_path / "out")],
        tmp_path / "out" / "halves.rankstudio",
    )
    command = [sys.executable, "-c", SLOW, *gas, *out, "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        # the selection itself is first
        learned = [running.stdout.readline() for _ in range(1 + 9)][1:]
        running.kill()
    assert not (tmp_path / "out" / "evidence.csv").exists()
    with Study.open(place, reading=True) as study:
        # one on each thread, and one that is being stored
        in_progress = 1 + threads.available()
        assert len(learned) - in_progress <= study.runs()[0].n_finished < 120
    assert answer([*gas, *out]) == expected
    with Study.open(place, reading=True) as study:
        assert study.runs()[0].n_finished == 120


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [["--lambda", "64", "--loss", "MAP"], ["--method", "l1-path"]]
)
def test_data_beyond_the_memory_limit_have_the_numbers_of_others(
    options: list[str], tmp_path: Path, answer
) -> None:
    """Catches a part of the evidence that asks for all documents at once."""
    large, size = (
        str(tmp_path / "Large"),
        ["--documents", "1.2e5", "--queries", "1000", "--features", "6"],
    )
    assert main(["generate", large, *size]) == 0
    few = ["--halves", "2", "--permutations", "4"]
    command = ["evidence", "--data", large, "--k", "2", *few, *options, "--json"]
    train = open_dataset(large).folds[0].train
    limit = 1.2 * train.X.nbytes
    with within(limit):
        mapped = group_training(open_dataset(large).folds[0])
        assert mapped.several
        with pytest.raises(OutOfMemoryError):
            mapped.whole("The evidence")
    found = answer([*command, "--memory", f"{limit / 1e6:.1f}MB"])
    # where data are changes no bit
    assert found == answer([*command, "--memory", "4GB"])


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("distributed") is None, reason="dask is not installed")
def test_a_cluster_learns_the_halves_with_the_same_numbers(
    folder: Path, tmp_path: Path, answer
) -> None:
    command = [
        "evidence",
        "--data",
        str(folder),
        "--method",
        "gas",
        "--k",
        "2",
        "--halves",
        "10",
        "--json",
    ]
    expected = answer(command)
    with closing(LocalCluster(tmp_path)) as cluster:
        cluster.keep(1)
        assert answer([*command, "--scheduler", cluster.address]) == expected
