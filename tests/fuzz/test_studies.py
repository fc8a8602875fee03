"""Damaged studies: every run that is shown is the one that was written, or is named as damaged."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rankstudio.plugins.report")  # its folder may be absent

from experiment.small import ended
from fuzzer import Attempt, Outcome, refusal
from study_damage import (
    damaged_log,
    damaged_pages,
    edit_cells,
    edit_with_digest,
    make_foreign,
    move_results,
)
from study_files import (
    LABELS,
    REMOVED,
    REPORT,
    SEALS,
    UNFINISHED,
    Original,
    make_study,
    plans,
    result_shown,
    units_shown,
    write_data,
)

from rankstudio.cli import main
from rankstudio.engine.analysis.reported_runs import read_study
from rankstudio.engine.errors import RankStudioError, StoreError
from rankstudio.engine.experiment.reports import write_results
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.storage.study import RunSummary, Study
from rankstudio.engine.experiment.storage.study_contents import ReportSettings, RunLabel
from rankstudio.plugins.report.document import html_page
from rankstudio.plugins.report.report import make_report
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.study_store import StudyStore

Fuzz = Callable[[str, Attempt, int], None]
Damage = Callable[[random.Random, Path, Original], None]


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    folder = tmp_path_factory.mktemp("studies")
    wanted = plans(write_data(folder / "some", 1), write_data(folder / "other", 2))
    return make_study(folder / "study.rankstudio", wanted)


def look(path: Path, original: Original, *, whole: bool = True) -> Outcome:
    """Look at all of a study, and hold every run against what it was; ``whole`` says that no row may lack."""
    content = path.read_bytes()
    told: list[str] = []
    try:
        opened = Study.open(path)
    except RankStudioError as error:
        assert path.read_bytes() == content
        return refusal(error, path)
    try:
        with opened as study:
            told += study.damage()
            listed = study.runs()
            told += [summary.damage for summary in listed if summary.damage]
            for summary in listed:
                check_run(study, summary, original, whole)
            check_what_was_written(study, whole and not told)
    except RankStudioError as error:
        return refusal(error, path)
    for sentence in told:
        refusal(RankStudioError(sentence), path)
    lost = set(original.plans) - {summary.key.id for summary in listed} - {REMOVED}
    ranges = [named(sentence.removeprefix(str(path))) for sentence in told]
    unnamed = [number for number in lost if not any(number in runs for runs in ranges)]
    assert not unnamed, f"runs {unnamed} are neither shown nor named: {told}"
    return Outcome.REFUSED if told else Outcome.READ


def named(sentence: str) -> range:
    """Return the runs that a sentence names."""
    found = re.search(r"runs? (\d+)(?: to (\d+))?", sentence)
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)


def check_run(
    study: Study, summary: RunSummary, original: Original, whole: bool
) -> None:
    """Hold a listed run against what it was."""
    number = summary.key.id
    assert summary.key.plan.agrees(original.plans[number])
    units = units_shown(study, summary.key)
    assert units.items() <= original.units[number].items()
    if summary.damage:
        with pytest.raises(StoreError):
            study.result(summary.key)
        return
    if summary.finished:
        assert result_shown(study.result(summary.key)) == original.results[number]
    if summary.finished or whole:
        assert units == original.units[number]
        assert bool(summary.finished) is (number != UNFINISHED) or number == REMOVED


def check_what_was_written(study: Study, whole: bool) -> None:
    """Hold what a person said of runs and for the report against what it was: it is that, or is not there."""
    assert study.report_settings in (REPORT, *[ReportSettings()] * (not whole))
    labels = [
        (study.label(summary.key), LABELS.get(summary.key.id, RunLabel()))
        for summary in study.runs()
    ]
    assert all(label in (was, *[RunLabel()] * (not whole)) for label, was in labels)
    assert not whole or study.seal_marks == SEALS


def go_on(rng: random.Random, path: Path, original: Original) -> None:
    """Go on with a run of a study that can be opened: what is damaged is computed again, to the same bits."""
    number = rng.choice(sorted(original.plans))
    with Study.open(path) as study:
        events = run_stored(original.plans[number], original.data[number], study)
        result = ended(events)
        assert result_shown(result) == original.results[number]
        (own,) = [
            run
            for run in study.runs()
            if run.key.plan.agrees(original.plans[number])
            and not run.damage
            and run.finished
        ][-1:]
        assert result_shown(study.result(own.key)) == original.results[number]
        study.remove(own.key)
        assert own.key.id not in [s.key.id for s in study.runs()]


def attempt_to_go_on(rng: random.Random, path: Path, original: Original) -> None:
    try:
        go_on(rng, path, original)
    except RankStudioError as error:
        refusal(error, path)


def damage_pages(rng: random.Random, path: Path, original: Original) -> None:
    path.write_bytes(damaged_pages(rng, original.content))


def damage_cells(rng: random.Random, path: Path, original: Original) -> None:
    path.write_bytes(original.content)
    if rng.random() < 0.1:
        move_results(rng, path, original.other)
    else:
        edit_cells(rng, path)


def write_foreign(rng: random.Random, path: Path, original: Original) -> None:
    kept = path.with_name("kept.rankstudio")
    kept.write_bytes(original.content)
    make_foreign(rng, path, kept)
    kept.unlink()


@pytest.mark.parametrize(
    ("damage", "whole", "gone_on", "checks"),
    [
        (damage_pages, True, 0.2, 60),
        (damage_cells, False, 0.3, 60),
        (write_foreign, False, 1.0, 20),
    ],
)
def test_damage(
    fuzz: Fuzz,
    original: Original,
    damage: Damage,
    whole: bool,
    gone_on: float,
    checks: int,
) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "study.rankstudio"
        damage(rng, path, original)
        outcome = look(path, original, whole=whole)
        if rng.random() < gone_on:
            attempt_to_go_on(rng, path, original)
        return outcome

    fuzz(f"study {damage.__name__.partition('_')[2]}", attempt, checks)


def test_impossible_rows(fuzz: Fuzz, original: Original) -> None:
    """A digest that fits does not make a row possible: whatever is in it, it is a value or a sentence."""

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "study.rankstudio"
        path.write_bytes(original.content)
        edit_with_digest(rng, path)
        outcome = Outcome.READ
        try:
            with Study.open(path) as study:
                told = [*study.damage(), *(s.damage for s in study.runs() if s.damage)]
                for sentence in told:
                    outcome = refusal(RankStudioError(sentence), path)
                for summary in study.runs():
                    try:
                        study.finished_units(summary.key)
                        if summary.finished:
                            write_results(
                                study.result(summary.key), folder / str(summary.key.id)
                            )
                    except RankStudioError as error:
                        outcome = refusal(error, path)
                if rng.random() < 0.2:  # it takes most of the time
                    html_page(make_report(read_study(study))).encode()
                attempt_plan = rng.choice(sorted(original.plans))
                list(
                    run_stored(
                        original.plans[attempt_plan], original.data[attempt_plan], study
                    )
                )
        except RankStudioError as error:
            return refusal(error, path)
        return outcome

    fuzz("study rows", attempt, 60)


def test_logs(fuzz: Fuzz, original: Original) -> None:
    """What was committed is in the log until it is in the file: none of it goes without a word.

    Two things nobody can tell: whether a log was cut, and whether the last commit was ever finished.
    """

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "study.rankstudio"
        path.write_bytes(original.base)
        cut = rng.random() < 0.2
        log = (
            original.log[: rng.randrange(len(original.log))]
            if cut
            else damaged_log(rng, original.log)
        )
        Path(f"{path}-wal").write_bytes(log)
        for end in ("-shm", "-owner", "-journal"):
            if rng.random() < 0.3:
                Path(f"{path}{end}").write_bytes(
                    rng.choice((b"", b"\xff" * 40, rng.randbytes(70_000)))
                )
        try:
            with Study.open(path) as study:
                told = [*study.damage(), *(s.damage for s in study.runs() if s.damage)]
                assert not told or cut
                listed = study.runs()
                for summary in listed:
                    check_run(study, summary, original, whole=not cut)
        except RankStudioError as error:
            return refusal(error, path)
        assert cut or {s.key.id for s in listed} - {REMOVED} == set(original.plans) - {
            REMOVED
        }
        return Outcome.READ

    fuzz("study logs", attempt, 40)


DAMAGES: dict[str, Callable[[random.Random, Path], object]] = {
    "pages": lambda rng, path: path.write_bytes(damaged_pages(rng, path.read_bytes())),
    "cells": edit_cells,
    "rows": edit_with_digest,
}


def terminal(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """Carry a command line out, and return what was printed: nothing but sentences where it failed."""
    code = main(arguments)
    out, err = capsys.readouterr()
    assert code == 0 or not out
    for line in () if arguments[0] == "run" else err.splitlines():
        assert line.startswith(
            ("Note: ", "Written: ") if code == 0 else ("rankstudio: ", "Note: ")
        ), err
    assert code == 0 or err.splitlines()[-1].startswith("rankstudio: ")
    return out, err


def test_terminal_and_window(
    fuzz: Fuzz,
    original: Original,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # main puts its own in place
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "study.rankstudio"
        path.write_bytes(original.content)
        whole = terminal(capsys, "compare", str(path), "--json")[0]
        kind = rng.choice(sorted(DAMAGES))
        DAMAGES[kind](rng, path)
        out, told = terminal(capsys, "studies", str(path), "--json")
        rows = json.loads(out) if out else []
        compared, noted = terminal(capsys, "compare", str(path), "--json")
        assert not compared or noted or kind != "pages" or compared == whole
        if rng.random() < 0.3:
            page = folder / "report.html"
            terminal(
                capsys,
                "report",
                str(path),
                "--out",
                str(page),
                "--without-data",
                "--json",
            )
            assert not page.exists() or page.read_text("utf-8").endswith("</html>\n")
        if rng.random() < 0.1:
            resumed(rng, path, original, capsys)
            return Outcome.REFUSED if told else Outcome.READ
        listed, sentences = window_list(path)
        assert len(listed) == len(rows)
        if kind != "rows":
            assert [bool(record.failure) for record in listed] == [
                bool(row["damage"]) for row in rows
            ]
            assert bool(told) == bool(
                sentences or any(record.failure for record in listed)
            )
        return Outcome.REFUSED if told else Outcome.READ

    fuzz("study shown", attempt, 12)


def resumed(
    rng: random.Random,
    path: Path,
    original: Original,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Have the terminal go on with what is left of a study; what it finishes is what it was."""
    out, _ = terminal(capsys, "run", "--resume", str(path), "--json")
    try:
        with Study.open(path) as study:
            for summary in study.runs():
                if summary.finished and not summary.damage:
                    shown = result_shown(study.result(summary.key))
                    assert not out or shown in original.results.values()
    except RankStudioError as error:
        refusal(error, path)


def window_list(path: Path) -> tuple[list[RunRecord], list[str]]:
    """Return the runs that the window lists of a study, and what it says."""
    store = StudyStore(path.parent)
    listed: list[RunRecord] = []
    sentences: list[str] = []
    try:
        for message in store.read(path)(lambda: False):
            match message:
                case RunRecord():
                    listed.append(message)
                case str():
                    sentences.append(message)
    except RankStudioError as error:
        refusal(error, path)
        sentences.append(str(error))
    finally:
        store.close_all()
    return listed, sentences
