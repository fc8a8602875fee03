"""Work shared between this thread and others."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, get_ident

import pytest

from rankstudio.engine.support import threads
from rankstudio.engine.support.threads import (
    STEADY,
    at_most,
    available,
    blas,
    share,
    steadily,
)


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_every_item_is_worked_on_once(workers: int) -> None:
    seen: list[int] = []
    with ThreadPoolExecutor(2) as executor:
        share(executor if workers else None, workers, seen.append, range(1000))
    assert sorted(seen) == list(range(1000))


def test_no_thread_is_waited_for_that_is_busy_with_something_else() -> None:
    seen: list[int] = []
    done = Event()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(done.wait, 60.0)
        share(executor, 2, seen.append, range(10))
        assert not done.is_set()
        done.set()
    assert seen == list(range(10))


def test_threads_that_have_begun_are_waited_for() -> None:
    begun, seen, caller = Event(), [], get_ident()

    def work(item: int) -> None:
        if get_ident() == caller:
            assert begun.wait(60.0)
        else:
            begun.set()
        seen.append(item)

    with ThreadPoolExecutor(1) as executor:
        share(executor, 2, work, range(2))
        assert sorted(seen) == [0, 1]


def test_what_fails_on_another_thread_is_raised_here() -> None:
    begun, caller = Event(), get_ident()

    def work(_: int) -> None:
        if get_ident() != caller:
            begun.set()
            raise ValueError("on the other thread")
        assert begun.wait(60.0)

    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="on the other thread"),
    ):
        share(executor, 2, work, range(2))


def _blas_threads() -> set[int]:
    return {library["num_threads"] for library in blas().info()}


def test_a_thread_is_granted_its_share_and_no_other_thread_is() -> None:
    before = available()
    with at_most(3), ThreadPoolExecutor(1) as executor:
        assert available() == 3
        assert executor.submit(available).result() == before
        with at_most(1):
            assert available() == 1
        assert available() == 3
    assert available() == before


def test_blas_has_one_thread_until_the_last_who_wants_it_so_is_gone() -> None:
    with blas().limit(limits=2):
        with ThreadPoolExecutor(1) as executor:
            with STEADY:
                executor.submit(STEADY.__enter__).result()
                assert _blas_threads() == {1}
            assert _blas_threads() == {1}  # the other thread is still at it
            executor.submit(STEADY.__exit__).result()
        assert _blas_threads() == {2}


def test_a_generator_is_asked_with_one_thread_and_is_closed() -> None:
    seen = []

    def work():
        try:
            seen.append(_blas_threads())
            yield "told"
            seen.append(_blas_threads())
            return "value"
        finally:
            seen.append("closed")

    def whole():
        seen.append((yield from steadily(work())))

    with blas().limit(limits=2):
        for told in whole():
            assert told == "told"
            assert _blas_threads() == {2}
        assert seen == [{1}, {1}, "closed", "value"]
        half = steadily(work())
        next(half)
        half.close()
        assert seen[-1] == "closed"
        assert _blas_threads() == {2}


def test_a_limit_waits_until_nobody_holds_blas_to_one_thread() -> None:
    with blas().limit(limits=2):
        with STEADY:
            STEADY.limit(3)
            assert _blas_threads() == {1}
        assert _blas_threads() == {3}
        STEADY.limit(2)
        assert _blas_threads() == {2}


def test_no_limit_is_taken_back_while_others_hold_theirs() -> None:
    # A limit of threadpoolctl puts back what it found when it began, whoever has set another one since then.
    engine = Path(threads.__file__).parent.parent
    own = [
        path.name
        for path in engine.rglob("*.py")
        if "blas().limit" in path.read_text(encoding="utf-8")
    ]
    assert own == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.20 0.18 0.12 1/80 11206\n", False),  # this thread alone
        ("0.20 0.18 0.12 2/80 11206\n", False),  # one processor is free
        ("0.20 0.18 0.12 3/80 11206\n", True),
        ("", False),
        ("not a load", False),
    ],
)
def test_a_machine_is_busy_if_others_use_all_processors(
    text: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "loadavg"
    monkeypatch.setattr(threads, "_LOAD_FILE", file)
    monkeypatch.setattr(threads, "processors", lambda: 2)
    assert not threads.is_busy()  # no such file
    file.write_text(text, encoding="ascii")
    assert threads.is_busy() is expected
