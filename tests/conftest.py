"""What all tests share."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Threads of libraries that have nothing to do sleep: to wait for the next sum they would turn in circles, and
# several test processes have them on the same processors. Read when numpy and LightGBM are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import pytest
from fuzz_report import rows_of, table
from hypothesis import settings

# Modules are compiled once, whatever the surroundings say: the tests start hundreds of processes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a shell starts with "&" ignores Ctrl+C, and so would every process that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The window speaks the system's language, and tests read English. Qt reads this where it would read LANG.
os.environ["LANGUAGE"] = "en"

# Compiling a kernel takes longer than any deadline, and timings are no test.
# What is tried is the same each time, so that a failure repeats; the thorough profile tries other things.
settings.register_profile(
    "rankstudio", deadline=None, max_examples=10, derandomize=True
)
settings.register_profile("checks", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("rankstudio")

TESTS = Path(__file__).resolve().parent
LETOR_FOLDER = TESTS.parents[1] / "shared" / "letor"
MARKERS = {TESTS / "ui": "gui", TESTS / "cli": "cli"}
MARKERS |= dict.fromkeys(TESTS.glob("plugins/*/window"), "gui")

THOROUGH = tuple(
    TESTS / place
    for place in (
        "fuzz",
        "hostile",
        "kills",
        "packaging",
        "plans",
        "plugins/search_engines/test_cascade_command.py",
        "plugins/papers/test_reproduce_command.py",
        "plugins/permutation/window/test_permutation_band.py",
        "cli/test_batch_runner.py",
        "cli/test_help.py",
        "cli/test_interrupts.py",
        "plugins/mlflow/test_mlflow_log.py",
        "cli/test_standard_streams.py",
        "cli/test_study_file_option.py",
        "cli/test_worker_options.py",
        "docs/test_code_blocks.py",
        "plugins/evidence/test_evidence_by_shards.py",
        "plugins/lab/test_simulation.py",
        "plugins/cluster/test_dask_cluster.py",
        "engine/experiment/execution/test_executors.py",
        "engine/experiment/execution/test_methods_on_workers.py",
        "engine/experiment/execution/test_shard_executors.py",
        "engine/experiment/storage/test_damage.py",
        "engine/experiment/test_sharded_runs.py",
        "engine/methods/selection/greedy_rankrls/test_sharded_others.py",
        "engine/methods/shards/test_measure_rankers.py",
        "engine/methods/shards/test_narrowed.py",
        "engine/methods/shards/test_resident_memory.py",
        "plugins/papers/test_published_averages.py",
        "engine/support/test_compilation.py",
        "ui/compare/test_choices_in_the_window.py",
        "ui/compare/test_measures_in_the_window.py",
        "ui/compare/test_run_changes.py",
        "ui/data/test_resplit.py",
        "plugins/evidence/window/test_kept_evidence.py",
        "ui/export/test_what_leaves_runs_again.py",
        "plugins/features/window/test_substitutes_in_the_window.py",
        "plugins/lab/window/test_own_data.py",
        "ui/language/test_german_window.py",
        "ui/model/test_absence.py",
        "ui/model/test_execution.py",
        "ui/model/test_run_rankings.py",
        "ui/select/test_left_out_queries.py",
        "ui/study/test_study_failures.py",
        "ui/study/test_waiting_runs.py",
        "ui/style/test_theme_of_pages.py",
        "ui/test_app.py",
        "ui/test_data_from_disk.py",
        "ui/test_full_disk.py",
        "ui/test_many_folds.py",
        "ui/test_methods_in_the_window.py",
        "ui/test_preparation.py",
        "ui/test_second_thoughts.py",
        "ui/test_sessions.py",
        "ui/test_what_is_shown_belongs_together.py",
        "ui/walks/test_at_twice_the_size.py",
        "ui/walks/test_by_keyboard.py",
        "ui/walks/test_by_mouse.py",
        "ui/walks/test_no_growth.py",
    )
)
"""Where most of the time goes, by a run with ``--durations=0``."""
MARKERS |= dict.fromkeys(THOROUGH, "thorough")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say how long damaged files are tried, how many runs are killed, how far the window is walked."""
    group = parser.getgroup("fuzz", "damaged files")
    group.addoption(
        "--fuzz-seconds",
        type=float,
        help="try damaged files for so long, shared by the kinds of file",
    )
    group.addoption(
        "--fuzz-seed",
        type=int,
        help="the seed of the damage: 0, or a fresh one for each kind",
    )
    group.addoption(
        "--fuzz-input", type=int, help="try only the input of this number again"
    )
    parser.addoption(
        "--kill-runs",
        type=int,
        default=10,
        help="kill so many runs, over all ways of execution",
    )
    walks = parser.getgroup("walks", "random walks through the window")
    walks.addoption(
        "--walk-steps",
        type=int,
        default=60,
        help="steps of each long walk: 60 in the checks",
    )
    walks.addoption(
        "--walk-seed",
        type=int,
        help="the seed in place of one that changes with the program",
    )
    parser.addoption(
        "--whole-sample",
        action="store_true",
        help="try every page of the guide on the sample",
    )
    parser.addoption(
        "--random-plans",
        type=int,
        help="run so many plans drawn at random; 20 in the checks",
    )
    parser.addoption(
        "--plans-seed",
        type=int,
        help="their seed: 0, or a fresh one where their number is given",
    )
    studies = parser.getgroup(
        "studies", "random studies, of which every output is read"
    )
    studies.addoption(
        "--random-studies", type=int, help="draw so many studies; 16 in the checks"
    )
    studies.addoption(
        "--studies-seed",
        type=int,
        help="their seed: 0, or a fresh one if their number is given",
    )
    studies.addoption(
        "--study-number", type=int, help="draw only the study of this number again"
    )
    sparse = parser.getgroup("sparse", "runs and commands on sparse and on dense rows")
    sparse.addoption(
        "--sparse-runs",
        type=int,
        help="draw so many runs, with all commands; 3 in the checks",
    )
    sparse.addoption(
        "--sparse-seed",
        type=int,
        help="their seed: 0, or a fresh one if their number is given",
    )
    sparse.addoption(
        "--sparse-number", type=int, help="draw only the run of this number again"
    )
    parser.addoption(
        "--plan-number", type=int, help="run only the plan of this number again"
    )
    parser.addoption(
        "--slowest",
        type=Path,
        metavar="FILE",
        help="write the slowest files and tests to a file",
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what came of the damaged files, and write which tests were the slowest."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    if rows := rows_of(reports):
        terminalreporter.section("damaged files")
        for line in table(rows):
            terminalreporter.write_line(line)
    if config.option.slowest:
        _write_slowest(config.option.slowest, reports)


def _write_slowest(path: Path, reports: Iterable[object]) -> None:
    """Write how long all tests, the 40 slowest files and the 100 slowest tests took, with what was set up."""
    seconds: Counter[str] = Counter()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration
    files: Counter[str] = Counter()
    for name, taken in seconds.items():
        files[name.partition("::")[0]] += taken
    lines = [f"{seconds.total():7.1f}  {len(seconds)} tests", ""]
    lines += [f"{taken:7.1f}  {name}" for name, taken in files.most_common(40)]
    lines += [
        "",
        *(f"{taken:7.1f}  {name}" for name, taken in seconds.most_common(100)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _default_run(config: pytest.Config) -> bool:
    """Return whether neither a path nor a marker is asked for."""
    return not config.option.markexpr and {
        Path(place).resolve() for place in config.args
    } <= {
        TESTS,
        TESTS.parent,
    }


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what a run leaves out: each worker would need seconds for it."""
    if config.option.markexpr == "thorough":
        return None if _may_be_thorough(collection_path) else True
    return True if collection_path in THOROUGH and _default_run(config) else None


def _may_be_thorough(path: Path) -> bool:
    """Return whether a folder or a file may have thorough tests: by its place, or a marker in its text."""
    if path.suffix != ".py" or not {path, *path.parents}.isdisjoint(THOROUGH):
        return True
    texts = (
        file.read_text("utf-8")
        for file in (path, path.parent / "conftest.py")
        if file.is_file()
    )
    return any(
        word in text for text in texts for word in ("thorough", "representatives")
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark tests by where they are; without a path or a marker, leave out those that take long.

    ``pytest tests/kills`` and ``pytest -m thorough`` run these, ``pytest -m "not gui"`` all but the window's.
    """
    if missing := [
        str(place)
        for place in THOROUGH
        if not place.exists() and _should_be_there(place)
    ]:
        raise pytest.UsageError(
            f"tests/conftest.py marks what is not there: {', '.join(missing)}"
        )
    # by file: there are thousands of tests, and a hundred places
    found: dict[Path, list[str]] = {}
    for item in items:
        if item.path not in found:
            places = {item.path, *item.path.parents}
            found[item.path] = [
                marker for place, marker in MARKERS.items() if place in places
            ]
        for marker in found[item.path]:
            item.add_marker(marker)
        if reason := _lacking(item):
            item.add_marker(pytest.mark.skip(reason))
    # The longest have a limit of their own. They come first: no worker waits for them at the end.
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)
    if _default_run(config):
        thorough = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=thorough)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def _should_be_there(path: Path) -> bool:
    """Return whether a place is in a folder that is there: that of an ability may be absent."""
    parts = path.relative_to(TESTS).parts
    return parts[0] != "plugins" or (TESTS / "plugins" / parts[1]).is_dir()


def _lacking(item: pytest.Item) -> str:
    """Return which extra or ability a case names that is not there; "" for a case that can run."""
    from rankstudio.engine.methods.catalog import methods  # noqa: PLC0415 - not before options are read
    from rankstudio.engine.methods.catalog.absent import recorded_methods  # noqa: PLC0415
    from rankstudio.engine.methods.catalog.method import Method  # noqa: PLC0415

    for ability in item.iter_markers("ability"):
        if not _has_folder(ability.args[0]):
            return f"needs the ability {ability.args[0]}"
    from rankstudio.engine.data.formats.format_catalog import absent_data_format  # noqa: PLC0415
    from rankstudio.engine.export.formats.registry import absent_plugin_of  # noqa: PLC0415

    present = {entry.key: entry for entry in methods()}
    entries = {**recorded_methods(), **present}
    case: Any = getattr(item, "callspec", None)
    for value in case.params.values() if case else ():
        entry = (
            entries.get(value)
            if isinstance(value, str)
            else getattr(value, "entry", value)
        )
        if isinstance(entry, Method) and entry.lacking:
            return entry.lacking
        if isinstance(value, str) and (
            lacking := absent_plugin_of(value) or absent_data_format(value)
        ):
            return lacking
        ranker = getattr(value, "ranker", "")
        if isinstance(ranker, str) and ranker in entries and entries[ranker].lacking:
            return entries[ranker].lacking
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test whose fixtures ask for what an absent ability has."""
    with _skipped_without_ability():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test that asks for what an absent ability has."""
    with _skipped_without_ability():
        return (yield)


@contextmanager
def _skipped_without_ability() -> Generator[None]:
    """Skip where the program refuses a method or format because the folder of its ability is absent."""
    from rankstudio.engine.errors import RankStudioError  # noqa: PLC0415 - not before options are read

    try:
        yield
    except (RankStudioError, SystemExit) as error:
        # of an option refused
        reason = str(error.__context__ if isinstance(error, SystemExit) else error)
        if reason.endswith("which is absent or left out."):
            pytest.skip(reason)
        raise


def _has_folder(ability: str) -> bool:
    return (TESTS.parent / "rankstudio" / "plugins" / ability / "__init__.py").is_file()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage before all is loaded, and leave that, thousands of tests too, out afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


_LAST_RESORT = 120.0  # seconds after the time limit at which a test's process ends
_LONGEST = 3600.0  # for tests without a limit


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process of a test that its time limit did not end: the others still run.

    The limit is an exception in the main thread. It does not reach a thread that waits inside Qt or for a
    lock in C, and what a slot raises Qt passes to ``sys.excepthook``.
    """
    marker = item.get_closest_marker("timeout")
    limit = (
        float(marker.args[0]) if marker else float(item.config.getini("timeout") or 0.0)
    )
    with os.fdopen(os.dup(2), "w") as stderr:
        faulthandler.dump_traceback_later(
            limit + _LAST_RESORT if limit else _LONGEST, exit=True, file=stderr
        )
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


_GRACE = 2.0  # seconds for threads that are on their way out


@pytest.fixture(autouse=True)
def nothing_left_behind(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail on logged errors, and on threads that outlive the test."""
    before = set(threading.enumerate())
    yield
    errors = [
        r.getMessage() for r in caplog.get_records("call") if r.levelno >= logging.ERROR
    ]
    assert not errors, f"errors were logged: {errors}"
    deadline = time.monotonic() + _GRACE
    while (left := _started_since(before)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left, f"threads were left running: {left}"


@pytest.fixture(autouse=True)
def own_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the methods that a test added: they would be in the help and the window of the next test."""
    from rankstudio.engine.methods import catalog  # noqa: PLC0415 - not before options are read

    monkeypatch.setattr(catalog, "METHODS", catalog.MethodRegistry(catalog.methods()))


def _started_since(before: set[threading.Thread]) -> list[str]:
    """Return the names of Python's own threads that were started and still run; Qt's are watched apart."""
    return [
        t.name
        for t in threading.enumerate()
        if t not in before
        and t.is_alive()
        and not isinstance(t, threading._DummyThread)
    ]


@pytest.fixture(autouse=True, scope="session")
def unsynced() -> Iterator[None]:
    """Wait for no disk: no test cuts the power, and many write files for which a disk takes 20 ms each."""
    from rankstudio.engine.experiment.storage import sqlite_file  # noqa: PLC0415 - not before options are read

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(sqlite_file, "_SYNCHRONOUS", "OFF")
        yield


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the tests out of the user's own cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(autouse=True, scope="session")
def user_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the tests out of the user's own studies and log."""
    folder = tmp_path_factory.mktemp("user-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_DATA_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def letor_dir() -> Path:
    """The folder with LETOR's files, for tests marked ``realdata``."""
    chosen = os.environ.get("RANKSTUDIO_LETOR_DIR")
    folder = Path(chosen) if chosen else LETOR_FOLDER
    if not folder.is_dir():
        pytest.skip(
            f"no LETOR files: RANKSTUDIO_LETOR_DIR is not set and there is no {LETOR_FOLDER}"
        )
    return folder


@pytest.fixture(scope="session")
def kills(pytestconfig: pytest.Config) -> int:
    """How many runs are killed."""
    return int(pytestconfig.getoption("--kill-runs"))
