"""Analyses of packages: a command and a function from one entry; odd ones are one warning or sentence."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed_analyses import Installed, installed_analyses

from rankstudio import cli
from rankstudio.api import (
    Analysis,
    AnalysisTable,
    Kind,
    Needs,
    Parameter,
    analyse,
    formatted,
)
from rankstudio.cli import main
from rankstudio.engine import load_sample
from rankstudio.engine.analysis.catalog_analyses.analysis_code import (
    analysis_as_command,
)
from rankstudio.engine.analysis.catalog_analyses.plugin_analysis import (
    MOST_CELLS,
    analysis_steps,
)
from rankstudio.engine.errors import (
    AnalysisError,
    Cancelled,
    ParameterError,
    PlanError,
    PluginWarning,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.runner import open_data, run
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark
from rankstudio.engine.methods.catalog.analysis import analyses
from rankstudio.engine.support.stop_request import heeding

MODULE = """
import signal, sys, threading, time
import numpy as np
from rankstudio.api import AnalysisResult, AnalysisTable, WorkProgress, formatted

HOLD = threading.Event()


def means(data, digits=2):
    yield WorkProgress("adding", 0.5)
    means = data.X.mean(axis=0).tolist()
    rows = tuple((name, round(mean, digits), None) for name, mean in zip(data.feature_names, means))
    return AnalysisTable("Means", ("feature", "mean", "nothing"), rows, "Of all documents.")


def tested(run, data):
    n_tests = sum(fold.test is not None for fold in data.folds)
    rows = tuple((fold.fold, bool(fold.test), n_tests) for fold in run.folds)
    return [AnalysisTable("Folds", ("fold", "tested", "test parts"), rows)] * 2


def raises(data):
    raise RuntimeError("no \\x1b[2J luck")


def exits(data):
    sys.exit(3)


def number(data):
    return 7


def text(data):
    yield "a text"
    return AnalysisTable("", (), ())


def ragged(data):
    return AnalysisTable("Ragged", ("a", "b"), ((1, 2), (3,)))


def odd(data):
    return AnalysisTable("Odd", ("a",), ((object(),),))


def large(data):
    return AnalysisTable("Large", ("a",), ((1,),) * 2_000_001)


def printing(data):
    print("not for the result")
    return AnalysisTable("\\x1b[2JTitle", ("a\\nb",), (("\\x1b[2J",), (np.float64("nan"),), (np.int64(3),)))


def changing(data):
    data.X[:] = 0
    return AnalysisTable("Changed", (), ())


def hangs(data):
    HOLD.wait()


def partial(data):
    for _ in range(3):  # the first has come when the last is handed over
        yield AnalysisResult((AnalysisTable("Part", ("a",), ((1,),)),), {"done": 1}, ("half",))
    signal.raise_signal(signal.SIGINT)
    yield WorkProgress("going on", 0.5)
    HOLD.wait()


def values(data):
    return AnalysisResult((AnalysisTable("T", ("a",), ((formatted(0.5, "+.3f"),),)),), 5)


def planned(plan, data):
    return AnalysisTable("Plan", ("method",), ((plan.method,),), above="Above\\n\\x1b[2J")


def folds(data, other=None):
    return AnalysisTable("Folds", ("folds", "other"), ((len(data.folds), str(other is not None)),))
"""
DIGITS = Parameter(
    "digits", "digits", Kind.INTEGER, 2, "Decimals of each mean.", low=0, high=9
)
MEANS = Analysis(
    "means",
    "Means",
    "List the mean of each feature",
    "analysis_of_test:means",
    (DIGITS,),
)
TESTED = Analysis(
    "tested",
    "Tested folds",
    "List the folds",
    "analysis_of_test:tested",
    needs=Needs.RUN,
)
BAD = (
    "raises",
    "exits",
    "number",
    "text",
    "ragged",
    "odd",
    "large",
    "changing",
    "values",
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Installed]:
    """A function that has analyses found as those of a package; what they name is in the folder."""
    monkeypatch.chdir(tmp_path)
    with installed_analyses(
        monkeypatch, tmp_path, "analysis_of_test", MODULE
    ) as install:
        yield install


def named(name: str) -> Analysis:
    """Return the analysis of a function of the module."""
    return Analysis(name, name, "Do it", f"analysis_of_test:{name}")


def test_command_and_function_give_the_same_table(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(MEANS)
    assert main(["means", "--sample", "--folds", "2", "--digits", "4", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    train = load_sample().folds[1].train
    (same,) = analyse("means", train, digits=4)
    assert table == same.as_dict()
    assert [row["mean"] for row in table["rows"]] == np.round(
        train.X.mean(axis=0), 4
    ).tolist()
    assert main(["means", "--sample"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Means" and len(printed) == 4 + train.X.shape[1]


def test_values_are_checked_before_the_data_are_read(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(MEANS)
    assert main(["means", "no-such-file", "--digits", "10"]) == 1
    assert "digits" in capsys.readouterr().err
    with pytest.raises(ParameterError):
        analyse("means", load_sample(), digit=3)
    with pytest.raises(PlanError):
        analyse("mean", load_sample())
    with pytest.raises(PlanError):
        analyse("means", load_sample().folds[0].train, load_sample())


@pytest.mark.parametrize("sealed", [True, False])
def test_a_run_is_analysed_without_what_is_sealed(
    installed: Installed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sealed: bool,
) -> None:
    installed(TESTED)
    learned = ["--method", "rankrls", "--lambda", "1", "--folds", "1"]
    assert main(["run", "--sample", *learned, "--study", "s.rankstudio"]) == 0
    if sealed:
        with Study.open(tmp_path / "s.rankstudio") as study:
            study.note_seal(
                SealMark.now(sealed=True, data=study.data(study.runs()[0].key))
            )
    capsys.readouterr()
    assert main(["tested", "s.rankstudio", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["tables"]
    assert first == second
    assert first["rows"] == [
        {"fold": 1, "tested": not sealed, "test parts": 0 if sealed else 5}
    ]


def test_python_takes_a_run_with_its_data(installed: Installed) -> None:
    installed(TESTED)
    plan = Plan(
        SAMPLE, method="rankrls", parameters={"regularization": "1"}, folds=(1,)
    )
    data = open_data(plan)
    (event,) = (event for event in run(plan, data) if isinstance(event, RunFinished))
    table, _ = analyse("tested", event.result, data)
    assert table.rows == ((1, True, 5),)


@pytest.mark.parametrize("name", BAD)
def test_code_that_fails_is_one_sentence(
    installed: Installed, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    installed(named(name))
    with pytest.raises(AnalysisError):
        analyse(name, load_sample())
    assert main([name, "--sample"]) == 1
    captured = capsys.readouterr()
    assert (
        captured.out == ""
        and captured.err.count("\n") == 1
        and "\x1b" not in captured.err
    )
    assert MOST_CELLS == 2_000_000


def test_what_is_printed_and_escaped_stays_out_of_the_result(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(named("printing"))
    assert main(["printing", "--sample"]) == 0
    captured = capsys.readouterr()
    assert (
        "not for the result" not in captured.out
        and "not for the result" in captured.err
    )
    assert "\x1b" not in captured.out and captured.out.splitlines()[-1].strip() == "3"


def test_one_that_hangs_is_left_behind(installed: Installed) -> None:
    installed(named("hangs"))
    entry = analyses()["hangs"]
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Cancelled
        stop.set()

    with heeding(check), pytest.raises(Cancelled):
        list(analysis_steps(entry, (load_sample().folds[0].train,), {}))
    import_module("analysis_of_test").HOLD.set()


def test_what_is_finished_is_printed_if_it_is_stopped(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(named("partial"))
    assert main(["partial", "--sample", "--json"]) == 130
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"done": 1} and "half" in captured.err
    import_module("analysis_of_test").HOLD.set()


def test_it_may_need_folds_or_a_plan(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = replace(named("planned"), needs=Needs.PLAN)
    installed(planned, replace(named("folds"), needs=Needs.FOLDS))
    assert main(["folds", "--sample", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["rows"] == [{"folds": 5, "other": "False"}]
    data = load_sample()
    (same,) = analyse("folds", data, data)
    assert same.rows == ((5, "True"),)
    assert main(["planned", "--sample", "--method", "gas"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["Above", "\\x1b[2J"]
    (table,) = analyse("planned", Plan(SAMPLE, method="gas"), data)
    assert table.rows == (("gas",),)
    for wrong in ((data,), (data, data), (Plan(SAMPLE),)):
        with pytest.raises(PlanError):
            analyse("planned", *wrong)


def test_the_command_of_an_analysis_prints_the_same(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    tested = replace(TESTED, key="folds-of-run")
    installed(MEANS, tested)
    entry = analyses()["means"]
    command = analysis_as_command(entry, Plan(SAMPLE, folds=(2,)), {"digits": 4})
    assert shlex.split(command) == [
        "rankstudio",
        "means",
        "--sample",
        "--folds",
        "2",
        "--digits",
        "4",
    ]
    assert analysis_as_command(tested, Plan(SAMPLE), {}) == ""
    command = analysis_as_command(
        tested, Plan(SAMPLE), {}, Path("my study.rankstudio"), 2
    )
    assert shlex.split(command) == [
        "rankstudio",
        "folds-of-run",
        "my study.rankstudio",
        "--run",
        "2",
    ]
    own = replace(named("planned"), needs=Needs.PLAN)
    command = analysis_as_command(own, Plan(SAMPLE, method="gas"), {})
    assert shlex.split(command)[:5] == [
        "rankstudio",
        "planned",
        "--sample",
        "--method",
        "gas",
    ]
    assert (
        analysis_as_command(replace(own, terminal="anywhere"), Plan(SAMPLE), {}) == ""
    )


OWN_OPTIONS = """
import threading

HOLD = threading.Event()


def add_options(parser):
    parser.add_argument("words", nargs="*")


def read(args):
    if args.words == ["odd"]:
        raise ValueError("no \x1b[2J luck")
    return 5 if args.words else ((), {})


def words(plan, values):
    return {"odd": 1}[plan.method]


def sleeping(plan, values):
    HOLD.wait()
"""


def test_options_of_a_package_that_fail_are_one_sentence(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_options_of_test.py").write_text(OWN_OPTIONS, encoding="utf-8")
    own = replace(named("number"), terminal="own_options_of_test")
    absent = replace(own, key="absent", terminal="no_such_module")
    installed(own, absent)
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "absent" in capsys.readouterr().out
    for words in (["absent"], ["number", "odd"], ["number", "a"], ["number"]):
        assert main(words) == 1
        captured = capsys.readouterr()
        assert (
            captured.out == ""
            and captured.err.count("\n") == 1
            and "\x1b" not in captured.err
        )
    for name in ("words", "sleeping", "absent"):
        failing = replace(own, words=f"own_options_of_test:{name}")
        assert analysis_as_command(failing, Plan(SAMPLE), {}) == ""
    import_module("own_options_of_test").HOLD.set()


def test_a_formatted_number_is_a_number() -> None:
    third = formatted(1 / 3, "+.3f")
    count = formatted(1234, ",d")
    table = AnalysisTable(
        "T", ("a", "b"), ((third, count), (formatted(float("nan"), ".1f"), 5))
    )
    assert table.text_columns == () and table.as_text().rows == [
        ["+0.333", "1,234"],
        ["–", "5"],
    ]
    assert table.as_dict()["rows"][0] == {"a": 1 / 3, "b": 1234}
    assert json.dumps([third, count]) == json.dumps([1 / 3, 1234])


ODD = (
    7,
    replace(MEANS, key="Means"),
    replace(MEANS, key="run"),
    replace(MEANS, compute="os.system"),
    replace(MEANS, label=""),
    replace(MEANS, summary="two\nlines"),
    replace(MEANS, needs="data"),
    replace(MEANS, terminal="../x.py"),
    replace(MEANS, words="os.system"),
    replace(MEANS, description="a\x1b[2J"),
    replace(MEANS, parameters=[DIGITS]),
    replace(MEANS, parameters=(DIGITS, DIGITS)),
    replace(MEANS, parameters=(replace(DIGITS, default=10),)),
)


@pytest.mark.parametrize("entry", ODD, ids=range(len(ODD)))
def test_an_odd_entry_is_a_warning(installed: Installed, entry: Any) -> None:
    installed(entry, MEANS) if getattr(entry, "key", "") != MEANS.key else installed(
        entry
    )
    with pytest.warns(PluginWarning) as warned:
        known = cli.known_commands()
    assert len(warned) == 1 and "\x1b" not in str(warned[0].message)
    assert ("means" in known) == (getattr(entry, "key", "") != MEANS.key)


def test_cells_are_numbers_texts_or_nothing() -> None:
    table = AnalysisTable(
        "T",
        ("a", "b"),
        (("x", 0.123456), (None, float("nan")), (None, 1e-9), (None, 2.0)),
    )
    assert table.text_columns == (0,)
    assert table.as_text().rows == [
        ["x", "0.1235"],
        ["", ""],
        ["", "1e-09"],
        ["", "2.0000"],
    ]
