"""Counting repetitions, and stopping between them."""

import io
import signal
from collections.abc import Iterator

import pytest
from wording import naming

from rankstudio.cli.progress_bar import last_state


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_last_step_is_returned_and_a_file_gets_no_counts() -> None:
    stream = io.StringIO()
    assert last_state(iter([None, 1, None, 2, 3]), int, 3, stream) == (3, False)
    assert stream.getvalue() == ""


def test_a_terminal_is_counted_on_and_left_clean() -> None:
    stream = Terminal()
    assert last_state(iter([1000, 2000]), int, 2000, stream) == (2000, False)
    assert "1,000 of 2,000" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_ctrl_c_ends_it_after_the_step_in_flight(capfd: pytest.CaptureFixture[str]) -> None:
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
