"""How far work is: the bar of a run, the count of repetitions, and what is compiled meanwhile."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Iterator

import pytest
from wording import naming

from rankstudio.cli.progress_bar import (
    AllRuns,
    ProgressBar,
    clock,
    last_state,
    preparation,
)
from rankstudio.engine import open_dataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.support.compilation import SAMPLE_KERNELS, announce


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_last_step_is_returned_and_a_file_gets_no_counts() -> None:
    stream = io.StringIO()
    assert last_state(iter([None, 1, None, 2, 3]), int, 3, stream) == (3, False)
    assert stream.getvalue() == ""


def test_a_terminal_that_writes_no_line_again_gets_none(monkeypatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    assert last_state(iter([1000, 2000]), int, 2000, stream) == (2000, False)
    assert stream.getvalue() == ""


def test_a_terminal_is_counted_on_and_left_clean() -> None:
    stream = Terminal()
    assert last_state(iter([1000, 2000]), int, 2000, stream) == (2000, False)
    assert "1,000 of 2,000" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_ctrl_c_ends_it_after_the_step_in_flight(capfd) -> None:
    asked: list[int] = []

    def steps() -> Iterator[int]:
        for number in range(1, 100):
            asked.append(number)
            if number == 3:
                signal.raise_signal(signal.SIGINT)
            yield number

    assert last_state(steps(), int, 99, io.StringIO()) == (3, True)
    assert asked == [1, 2, 3]
    assert naming("Ctrl+C").search(capfd.readouterr().err)


def test_a_terminal_says_which_kernel_is_compiled_and_clears_the_line() -> None:
    stream = Terminal()
    with preparation(stream):
        announce("parse")
        announce("select")
    announce("start")
    first, second, last = stream.getvalue().split("\r\x1b[K")[1:]
    assert (
        first
        == f"Compiling for this computer (first use only): kernel 1 of {len(SAMPLE_KERNELS)}"
    )
    assert second.startswith(
        f"Compiling for this computer (first use only): kernel {SAMPLE_KERNELS.index('select') + 1} of "
    )
    assert last == ""


def test_a_file_is_told_once_that_kernels_are_compiled() -> None:
    stream = io.StringIO()
    with preparation(stream):
        announce("leave_out")
        announce("select")
    assert (
        stream.getvalue()
        == "Compiling for this computer (first use only): kernel leave_out\n"
    )


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_nothing_is_said_where_nothing_is_compiled(stream) -> None:
    with preparation(stream):
        pass
    assert stream.getvalue() == ""


def test_on_a_terminal_a_bar_with_time_left_grows(folder, monkeypatch) -> None:
    stream = Terminal()
    ticks = iter(range(100_000))
    monkeypatch.setattr(
        "rankstudio.cli.progress_bar.time.monotonic", lambda: float(next(ticks))
    )
    plan = Plan(
        str(folder),
        parameters={"regularization": "2^-1, 2^0", "n_features_to_select": 3},
    )
    with ProgressBar(stream) as progress:
        for event in run(plan, open_dataset(folder)):
            progress.show(event)
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[0] == ""
    assert "fold 1 of 2  λ 2^-1" in lines[1]
    assert lines[1].endswith("0 %  measuring features")
    assert re.search(r"8 %  \d:\d\d left$", lines[2])
    assert "100 %  0:00 left" in lines[-2]
    assert lines[-1] == ""


def test_several_runs_have_a_time_left_in_all(folder, monkeypatch) -> None:
    stream = Terminal()
    ticks = iter(range(100_000))
    monkeypatch.setattr(
        "rankstudio.cli.progress_bar.time.monotonic", lambda: float(next(ticks))
    )
    plan = Plan(
        str(folder), parameters={"regularization": "2^-1", "n_features_to_select": 3}
    )
    whole = AllRuns(3)
    assert str(whole) == "Run 1 of 3"
    for _ in range(2):
        with ProgressBar(stream, whole) as progress:
            for event in run(plan, open_dataset(folder)):
                progress.show(event)
    took = re.fullmatch(r"Run 3 of 3, 0:(\d\d) left", str(whole))
    assert took is not None
    last = stream.getvalue().split("\r\x1b[K")[-2]
    found = re.search(r"100 %  0:00 left, 0:(\d\d) total", last)  # one run more
    assert found is not None
    assert abs(int(found[1]) - int(took[1])) <= 2


def test_what_a_study_tells_again_is_no_measure_of_time(folder, tmp_path) -> None:
    plan = Plan(str(folder), "rankrls", {"regularization": "2^0..2^3"})
    whole = AllRuns(3)
    with Study.create(tmp_path / "a.rankstudio") as study:
        for _ in range(2):
            with ProgressBar(Terminal(), whole) as progress:
                for event in run_stored(plan, open_dataset(folder), study):
                    progress.show(event)
    assert str(whole).startswith("Run 3 of 3, 0:")
    alone = AllRuns(2)
    alone.add(whole.left(), worked=True)  # as if the second had not been
    assert alone.left() == pytest.approx(whole.left())


def test_times_are_told_with_hours_where_there_are_any() -> None:
    assert [clock(seconds) for seconds in (7.4, 754, 3723)] == [
        "0:07",
        "12:34",
        "1:02:03",
    ]
