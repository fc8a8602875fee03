"""The worker: messages in order, pause, step, stop, nothing stale, failures as sentences, a clean end."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QApplication
from waiting import turn, wait_until

from rankstudio.engine.errors import Cancelled, DatasetError
from rankstudio.engine.support.stop_request import stop_if_asked
from rankstudio.ui.background import worker as background_worker
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, Outcome, Worker


class Heard:
    """What a job has told, and where it was told."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.outcomes: list[Outcome] = []
        self.threads: set[int] = set()

    def message(self, message: Any) -> None:
        self.messages.append(message)
        self.threads.add(threading.get_ident())

    def end(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def job(self, function: Any, **options: Any) -> Job:
        return Job(
            "Counting", function, on_message=self.message, on_end=self.end, **options
        )


def count_to(n: int) -> Any:
    return lambda cancelled: iter(range(n))


def count_for_ever(_: CancelFlag) -> Iterator[int]:
    yield from itertools.count()


def test_messages_arrive_in_order_on_the_gui_thread(worker: Worker) -> None:
    heard, ran_on = Heard(), []

    def work(_: CancelFlag) -> Iterator[int]:
        for i in range(10_000):  # more than may wait at once
            ran_on.append(threading.get_ident())
            yield i

    worker.submit(heard.job(work))
    wait_until(lambda: heard.outcomes)
    assert heard.messages == list(range(10_000))
    assert heard.outcomes == [Outcome(Ending.DONE)]
    assert heard.threads == {threading.get_ident()}
    assert threading.get_ident() not in ran_on
    assert worker.jobs == ()


def test_a_turn_delivers_for_ten_milliseconds_and_the_rest_later_in_order(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, now = Heard(), [0.0]

    def take_four_milliseconds(message: int) -> None:
        now[0] += 0.004
        heard.message(message)

    monkeypatch.setattr(background_worker.time, "perf_counter", lambda: now[0])
    worker._timer.stop()
    job = Job(
        "Counting", count_to(8), on_message=take_four_milliseconds, on_end=heard.end
    )
    worker._jobs.append(job)
    worker._outbox.extend([*((job, i) for i in range(8)), (job, Outcome(Ending.DONE))])
    for delivered in (3, 6, 8):
        assert worker.jobs == (job,)
        worker._drain()
        assert heard.messages == list(range(delivered))
    assert heard.outcomes == [Outcome(Ending.DONE)]
    assert worker.jobs == ()


def test_jobs_are_done_one_after_another(worker: Worker) -> None:
    order: list[str] = []
    for name in "abc":
        job = Job(
            name, count_to(3), on_message=lambda m, n=name: order.append(f"{n}{m}")
        )
        worker.submit(job)
    wait_until(lambda: not worker.jobs)
    assert order == [f"{name}{i}" for name in "abc" for i in range(3)]


def test_a_paused_job_is_not_asked_and_goes_on(worker: Worker) -> None:
    heard = Heard()
    job = worker.submit(heard.job(count_for_ever))
    wait_until(lambda: len(heard.messages) > 10)
    job.pause()
    wait_until(lambda: job.held and not worker._outbox)
    stood = len(heard.messages)
    turn()
    assert len(heard.messages) == stood
    job.resume()
    wait_until(lambda: len(heard.messages) > stood)
    job.cancel()
    wait_until(lambda: heard.outcomes)
    assert heard.messages == list(range(len(heard.messages)))


def test_a_step_ends_at_the_next_message_that_counts(worker: Worker) -> None:
    heard = Heard()
    job = heard.job(count_for_ever, is_step=lambda m: m % 5 == 4, paused=True)
    worker.submit(job)
    wait_until(lambda: job.held)
    assert heard.messages == []
    job.step()
    wait_until(lambda: len(heard.messages) >= 5 and job.held)
    assert heard.messages == [0, 1, 2, 3, 4]
    job.step()
    job.step()
    wait_until(lambda: len(heard.messages) >= 15 and job.held)
    assert heard.messages == list(range(15))


def test_cancelling_closes_the_generator_and_keeps_what_it_told(worker: Worker) -> None:
    closed = threading.Event()
    heard = Heard()

    def work(_: CancelFlag) -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.set()

    job = worker.submit(heard.job(work))
    wait_until(lambda: heard.messages)
    job.cancel()
    wait_until(lambda: heard.outcomes)
    assert heard.outcomes[0].ending is Ending.CANCELLED
    assert closed.is_set()
    assert heard.messages


def test_a_paused_job_can_be_cancelled(worker: Worker) -> None:
    heard = Heard()
    job = worker.submit(heard.job(count_for_ever, paused=True))
    turn(0.02)
    job.cancel()
    wait_until(lambda: heard.outcomes)
    assert heard.outcomes[0].ending is Ending.CANCELLED


def test_of_an_abandoned_job_nothing_arrives(worker: Worker) -> None:
    heard = Heard()
    told = threading.Event()

    def work(_: CancelFlag) -> Iterator[int]:
        yield 1
        told.set()
        yield 2

    job = worker.submit(heard.job(work))
    assert told.wait(10)  # messages are in the deque, and the window has not looked yet
    job.abandon()
    wait_until(lambda: not worker.jobs)
    assert heard.messages == []
    assert heard.outcomes == []


def test_of_waiting_jobs_of_one_slot_the_last_is_done(worker: Worker) -> None:
    first, dropped, last = Heard(), Heard(), Heard()
    begun, go = threading.Event(), threading.Event()

    def slow(_: CancelFlag) -> Iterator[str]:
        begun.set()
        go.wait(10)
        yield "first"

    worker.submit(first.job(slow, slot="path"))
    assert begun.wait(10)
    for _ in range(20):
        worker.submit(dropped.job(count_to(1), slot="path"))
    worker.submit(last.job(count_to(1), slot="path"))
    go.set()
    wait_until(lambda: last.outcomes)
    # what works is not interrupted: the slider would never show anything
    assert first.messages == ["first"]
    assert dropped.messages == []
    assert dropped.outcomes == []
    assert last.messages == [0]


def test_a_task_brings_what_a_plain_function_returns(worker: Worker) -> None:
    done: list[int] = []
    ran_on: list[int] = []

    def add(a: int, b: int) -> int:
        ran_on.append(threading.get_ident())
        return a + b

    worker.task("Adding", add, 2, 3, on_done=done.append, on_error=pytest.fail)
    wait_until(lambda: not worker.jobs)
    assert done == [5]
    assert ran_on != [threading.get_ident()]


def test_a_task_that_fails_says_so_in_a_sentence(worker: Worker) -> None:
    done: list[object] = []
    failed: list[str] = []
    worker.task("Dividing", divmod, 1, 0, on_done=done.append, on_error=failed.append)
    wait_until(lambda: failed)
    assert failed[0].startswith("Dividing failed unexpectedly with ZeroDivisionError: ")
    assert done == []


def test_a_task_out_of_memory_says_so_in_a_sentence(worker: Worker) -> None:
    failed: list[str] = []
    worker.task(
        "Opening data", bytearray, 1 << 60, on_done=pytest.fail, on_error=failed.append
    )
    wait_until(lambda: failed)
    assert failed[0].startswith("Opening data: not enough memory; ")


def test_of_an_abandoned_task_no_stale_result_arrives(worker: Worker) -> None:
    done: list[object] = []
    begun, go = threading.Event(), threading.Event()

    def slow(value: str) -> str:
        begun.set()
        go.wait(10)
        return value

    job = worker.task(
        "Computing", slow, "stale", on_done=done.append, on_error=done.append
    )
    assert begun.wait(10)
    job.abandon()
    go.set()
    worker.task("Computing", slow, "new", on_done=done.append)
    wait_until(lambda: not worker.jobs)
    assert done == ["new"]


def test_an_error_of_the_engine_is_its_sentence(worker: Worker) -> None:
    heard = Heard()

    def work(_: CancelFlag) -> Iterator[int]:
        yield 1
        raise DatasetError("Fold2/test.txt has 45 features, Fold1/test.txt has 46.")

    worker.submit(heard.job(work))
    wait_until(lambda: heard.outcomes)
    assert heard.outcomes == [
        Outcome(Ending.FAILED, "Fold2/test.txt has 45 features, Fold1/test.txt has 46.")
    ]


def test_an_unexpected_error_becomes_a_sentence_and_the_worker_goes_on(
    worker: Worker,
) -> None:
    heard, after = Heard(), Heard()

    def work(_: CancelFlag) -> Iterator[int]:
        yield 1
        raise ZeroDivisionError("division by zero")

    worker.submit(heard.job(work))
    worker.submit(after.job(count_to(2)))
    wait_until(lambda: after.outcomes)
    [outcome] = heard.outcomes
    assert outcome.ending is Ending.FAILED
    assert outcome.text == (
        "Counting failed unexpectedly with ZeroDivisionError: division by zero. See the log for details."
    )
    assert heard.messages == [1]
    assert after.messages == [0, 1]


def test_a_job_that_stops_itself_was_cancelled(worker: Worker) -> None:
    heard = Heard()

    def work(cancelled: CancelFlag) -> Iterator[int]:
        yield 1
        while not cancelled():
            pass
        raise Cancelled("Reading")

    job = worker.submit(heard.job(work))
    wait_until(lambda: heard.messages)
    job.cancel()
    wait_until(lambda: heard.outcomes)
    assert heard.outcomes == [Outcome(Ending.CANCELLED)]


@pytest.mark.parametrize("paused", [False, True])
def test_closing_while_a_job_works_waits_for_the_thread(
    app: QApplication, paused: bool
) -> None:
    heard = Heard()
    worker = Worker("closing", interval=1)
    job = worker.submit(heard.job(count_for_ever))
    wait_until(lambda: heard.messages)
    if paused:
        job.pause()
    worker.close()
    seen = len(heard.messages)
    turn(0.02)
    assert len(heard.messages) == seen
    assert all(thread.isFinished() for thread in worker.findChildren(QThread))
    worker.deleteLater()


def test_an_idle_worker_wakes_nobody(worker: Worker) -> None:
    heard = Heard()
    worker.submit(heard.job(count_to(1)))
    wait_until(lambda: heard.outcomes)
    wait_until(lambda: not worker._timer.isActive())


def test_a_job_that_gives_way_lets_others_go_first_between_two_messages(
    worker: Worker,
) -> None:
    long, short, later = Heard(), Heard(), Heard()
    begun, go_on = threading.Event(), threading.Event()

    def work(_: CancelFlag) -> Iterator[int]:
        begun.set()
        go_on.wait()
        yield from range(3)

    first = worker.submit(long.job(work, gives_way=True))
    begun.wait()
    worker.submit(short.job(count_to(2)))
    also = worker.submit(later.job(count_to(2), gives_way=True))
    go_on.set()
    wait_until(lambda: short.outcomes)
    wait_until(lambda: long.outcomes and later.outcomes)
    assert long.messages == [0, 1, 2]
    assert short.messages == later.messages == [0, 1]
    assert worker.jobs == ()
    assert first.gives_way and also.gives_way


def test_a_worker_closes_while_a_job_has_given_way(app: QApplication) -> None:
    made, long, other = Worker("test-worker", interval=1), Heard(), Heard()
    made.submit(long.job(count_for_ever, gives_way=True))
    wait_until(lambda: long.messages)
    made.submit(other.job(count_for_ever))
    wait_until(lambda: other.messages)
    made.close()
    assert not long.outcomes and not other.outcomes
    made.deleteLater()


def test_work_that_tells_nothing_is_stopped_where_it_asks(worker: Worker) -> None:
    heard, asking = Heard(), threading.Event()

    def work(_: CancelFlag) -> Iterator[int]:
        while True:  # as a slow measure of somebody else between two queries
            asking.set()
            stop_if_asked()
        yield 1

    job = heard.job(work)
    worker.submit(job)
    assert asking.wait(10)
    job.cancel()
    wait_until(lambda: heard.outcomes)
    assert heard.outcomes == [Outcome(Ending.CANCELLED)]


def test_a_worker_that_is_held_begins_nothing_until_it_is_let_go(
    worker: Worker,
) -> None:
    heard = Heard()
    worker.hold(True)
    worker.submit(heard.job(count_to(3)))
    turn()
    assert not heard.messages and worker.jobs
    worker.hold(False)
    wait_until(lambda: heard.outcomes)
    assert heard.messages == [0, 1, 2]


def test_a_worker_that_is_held_can_be_closed(app: QApplication) -> None:
    held = Worker("held")
    held.hold(True)
    held.submit(Job("Counting", count_to(3)))
    held.close()
    assert not held.jobs
