"""Ctrl+C: once finishes the unit in flight and says how to go on, twice at once; also while modules load."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.cli.progress_bar import ProgressBar
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.results.events import Event, FoldFinished, StepDone
from rankstudio.engine.experiment.storage.study import Study

ASKED = "Stopping after this unit. Press Ctrl+C again to stop immediately."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three folds of LETOR text."""
    root = tmp_path_factory.mktemp("data") / "Made"
    return save_folds(root, 3, n_queries=60, seed=5)


def press(monkeypatch, when: Callable[[Event], bool], times: int = 1) -> None:
    """Send this process SIGINT, as Ctrl+C does, when the progress shows an event."""
    show, left = ProgressBar.show, [times]

    def pressing(self: ProgressBar, event: Event) -> None:
        show(self, event)
        if left and when(event):
            for _ in range(left.pop()):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressBar, "show", pressing)


def third_step(event: Event) -> bool:
    return isinstance(event, StepDone) and event.step.number == 3


def units(study: Path) -> list[int]:
    with Study.open(study) as there:
        return [run.n_finished for run in there.runs()]


@pytest.mark.parametrize(("times", "kept"), [(1, 1), (2, 0)])
def test_once_finishes_the_unit_and_twice_does_not(
    folder, tmp_path, monkeypatch, capfd, times, kept
) -> None:
    out = tmp_path / "with a blank"
    command = [
        "run",
        "--data",
        str(folder),
        "--lambda",
        "2^0..2^3",
        "--out",
        str(out),
        "--workers",
        "1",
    ]
    with monkeypatch.context() as patched:
        press(patched, third_step, times)
        assert main(command) == 130
    printed = capfd.readouterr()
    assert ASKED in printed.err
    assert naming("0 folds").search(printed.err)
    assert naming("fold").search(printed.out)
    assert units(out / "study.rankstudio") == [kept]
    (told,) = [
        line for line in printed.err.splitlines() if line.startswith("  rankstudio run")
    ]
    assert shlex.split(told)[1:] == command
    assert main(shlex.split(told)[1:]) == 0
    assert units(out / "study.rankstudio") == [12]
    assert json.loads((out / "results.json").read_text())["complete"] is True
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fold_whose_units_are_done_is_finished_and_so_is_the_last_run(
    folder, tmp_path, monkeypatch, capfd
) -> None:
    command = [
        "run",
        "--data",
        str(folder),
        "--lambda",
        "2^0",
        "--out",
        str(tmp_path / "out"),
    ]
    with monkeypatch.context() as patched:
        press(patched, third_step)
        assert main(command) == 130
    assert naming("1 folds").search(capfd.readouterr().err)
    with monkeypatch.context() as patched:
        press(patched, lambda event: third_step(event) and event.unit.fold == 3)
        assert main(command) == 0  # nothing was left to do
    assert "Stopped" not in capfd.readouterr().err


def test_what_is_stored_nowhere_cannot_go_on(folder, monkeypatch, capfd) -> None:
    press(monkeypatch, third_step)
    assert main(["run", "--data", str(folder), "--lambda", "2^0"]) == 130
    printed = capfd.readouterr()
    assert naming("--study FILE").search(printed.err)
    assert naming("Greedy RankRLS Made").search(printed.out)


def test_a_comparison_stops_between_its_runs_too(
    folder, tmp_path, monkeypatch, capfd
) -> None:
    plan = tmp_path / "few.toml"
    plan.write_text(
        '[[runs]]\nmethod = ["rankrls", "single-feature", "mutual-information"]\n'
    )
    out = tmp_path / "out"
    command = ["run", str(plan), "--data", str(folder), "--out", str(out)]
    with monkeypatch.context() as patched:
        press(
            patched,
            lambda event: isinstance(event, FoldFinished) and event.result.fold == 3,
        )
        assert main(command) == 130
    printed = capfd.readouterr()
    assert ASKED in printed.err
    assert "RankRLS" in printed.out
    assert "Single features" not in printed.out
    assert len(units(out / "study.rankstudio")) == 1
    assert f"  rankstudio run {plan}" in printed.err
    assert main(command) == 0
    assert len(units(out / "study.rankstudio")) == 3


def start(*arguments: str, error: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rankstudio", "run", *arguments],
        stderr=error,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )


def test_another_process_finishes_cleanly(folder, tmp_path) -> None:
    grid = " ".join(f"2^{e}" for e in range(-20, 21))
    process = start(
        "--data", str(folder), "--lambda", grid, "--out", str(tmp_path), "--json"
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("Fold 1"):
            process.send_signal(signal.SIGINT)
            break
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert ASKED in errors
    values = json.loads(printed)
    assert values["complete"] is False
    assert naming(f"{len(values['folds'])} folds").search(errors)
    assert values == json.loads((tmp_path / "results.json").read_text())
    (kept,) = units(tmp_path / "study.rankstudio")
    assert 41 <= kept < 123


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
def test_a_long_unit_is_stopped_at_once_by_the_second(tmp_path) -> None:
    terminal, own = os.openpty()
    # minutes
    options = [
        "--method",
        "coordinate-ascent",
        "--restarts",
        "1000",
        "--max-iter",
        "10000",
    ]
    process = start("--sample", *options, "--out", str(tmp_path), error=own)
    os.close(own)
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(terminal, 10_000).decode(errors="replace")

    wait_for("start 1")
    process.send_signal(signal.SIGINT)
    wait_for(ASKED)
    time.sleep(0.3)
    assert process.poll() is None  # it goes on with the unit
    process.send_signal(signal.SIGINT)
    wait_for("Stopped. Completed folds kept: 0.")
    process.communicate(timeout=60)
    assert process.returncode == 130
    os.close(terminal)
    assert units(tmp_path / "study.rankstudio") == [0]


# A program that has copies of itself interrupted at many places, each of which has to end in a sentence.
BEFORE = """
import os, runpy, sys

tried, folder = [], sys.argv[1]

def try_copy(place, interrupt):
    if os.fork() == 0:
        printed = os.open(f"{folder}/{place}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        interrupt()
        os._exit(99)
    status = os.waitstatus_to_exitcode(os.wait()[1])
    tried.append((place, status, open(f"{folder}/{place}").read()))
"""
AFTER = """
sys.argv = ["rankstudio", *sys.argv[2:]]
try:
    runpy.run_module("rankstudio", run_name="__main__")
finally:
    failed = [t for t in tried if t[1:] != (130, "Interrupted.\\n")]
    with open("tried", "w") as file:
        print(len(tried), *failed, sep="\\n", file=file)
"""

# At each line, also of the codecs, that is carried out while the streams are set up.
STREAMS = """
def interrupt():
    import signal
    signal.raise_signal(signal.SIGTERM)

def interrupting(frame, event, argument):
    if event == "line":
        try_copy(f"{os.path.basename(frame.f_code.co_filename)}-{frame.f_lineno}-{len(tried)}", interrupt)
    return interrupting

from rankstudio.cli import streams

set_up = streams.set_up
def traced():
    sys.settrace(interrupting)
    set_up()
    sys.settrace(None)
streams.set_up = traced
"""

# At each import that the command makes; the process goes on.
MODULES = """
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        package, _, rest = name.partition(".")
        if name in ("rankstudio", "rankstudio.__main__"):  # before the program's first line
            return None
        if rest.count(".") > 0 and package != "rankstudio":
            return None
        try_copy(name, self.interrupt)
        return None

    def interrupt(self):
        sys.meta_path.remove(self)
        # exec() has Python remember an interruption until its end
        number = "SIGTERM" if len(tried) % 2 and "rankstudio.cli" in sys.modules else "SIGINT"
        exec(f"import signal; signal.raise_signal(signal.{number})")

sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied there")
@pytest.mark.parametrize(
    ("code", "command", "least"),
    [
        (STREAMS, "methods gas", 20),
        (MODULES, "methods gas", 50),
        (MODULES, "evaluate train.txt scores.txt --measures MAP", 50),
    ],
)
def test_whichever_line_or_module_is_interrupted(
    code: str, command: str, least: int, tmp_path: Path
) -> None:
    train = make_ranking(n_queries=5, seed=3).folds[0].train
    save_letor(train, tmp_path / "train.txt")
    (tmp_path / "scores.txt").write_text("1\n" * train.n_documents)
    (tmp_path / "printed").mkdir()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            BEFORE + code + AFTER,
            str(tmp_path / "printed"),
            *command.split(),
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    count, *failed = (tmp_path / "tried").read_text().splitlines()
    assert int(count) > least
    assert failed == []
    assert done.stderr == ""


def test_a_signal_after_the_work_changes_nothing(tmp_path: Path) -> None:
    """A signal after "Written:" ended the process with -15, as though the file were not there."""
    program = (
        "import os, signal, sys\n"
        "import rankstudio.cli\n"
        "from rankstudio.__main__ import main\n"
        "rankstudio.cli.main = lambda: 0\n"
        "status = main()\n"
        "for number in (signal.SIGTERM, signal.SIGINT):\n"
        "    os.kill(os.getpid(), number)\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=60, check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
