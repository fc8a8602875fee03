"""Starting: why there is no window, what is imported before there is one, and what a crash leaves behind."""

from __future__ import annotations

import ast
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import started
from PySide6.QtCore import QEvent, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QListView
from waiting import turn, wait_until
from windows import Opened, finish, open_window, settle
from wording import naming

from rankstudio.__main__ import INTERRUPTED
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.app import asks_for_sample, begin
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model import study_store
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.process import display_check as display
from rankstudio.ui.process.crash import CrashReports
from rankstudio.ui.process.display_check import why_no_window
from rankstudio.ui.study.dialogs import OpenDialog, holds_data, kind_of
from rankstudio.ui.style.theme import Theme

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="asks for libraries of Linux"
)
FOUND = ctypes.CDLL


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


@linux
def test_no_display_is_said_unless_the_user_chose_a_platform(
    no_display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_no_window() == (
        "No window can be opened: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    )
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert why_no_window() is None


@linux
def test_a_display_that_does_not_answer_is_said(
    no_display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    monkeypatch.setattr(display, "missing_libraries", lambda *_: ())
    assert why_no_window() in (
        "No window can be opened: the display ':4711' (DISPLAY) does not answer.",
        None,  # without libxcb nobody can ask
    )


@linux
def test_all_missing_libraries_are_named_with_their_packages(
    no_display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader names one missing library; the sentence names all that are missing."""
    gone = {"libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxkbcommon-x11.so.0"}

    def load(name: str) -> object:
        if name in gone or name.endswith("libqxcb.so"):
            missing = name if name in gone else "libxcb-cursor.so.0"
            raise OSError(
                f"{missing}: cannot open shared object file: No such file or directory"
            )
        return FOUND(name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setenv("DISPLAY", ":0")
    reason = why_no_window()
    assert reason is not None
    assert all(name in reason for name in gone)
    assert naming("libxcb-cursor0 libxcb-icccm4 libxkbcommon-x11-0").search(reason)


def test_nothing_is_opened_or_imported_before_the_first_paint(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "from PySide6.QtCore import QEvent, QObject\n"
        "from rankstudio.ui import app\n"
        "seen = []\n"
        "class Watch(QObject):\n"
        "    def eventFilter(self, target, event):\n"
        "        if event.type() == QEvent.Type.Paint and not seen:\n"
        "            heavy = ('numba', 'scipy', 'sklearn', 'pandas')\n"
        "            seen.append([module for module in heavy if module in sys.modules])\n"
        "        return False\n"
        "application, watch, begin = app.application(), Watch(), app.begin\n"
        "application.installEventFilter(watch)\n"
        "def begun(*given):\n"
        "    print(seen, flush=True)\n"
        "    begin(*given)\n"
        "    application.closeAllWindows()\n"
        "app.begin = begun\n"
        "app.main(['--sample'])\n"
    )
    assert ast.literal_eval(started(text, tmp_path)[0]) == [[]]


def test_the_process_ends_soon_whatever_a_worker_is_doing(tmp_path: Path) -> None:
    """The study is closed all the same: nothing beside it says that it is in use."""
    text = (
        "import time\n"
        "from pathlib import Path\n"
        "from PySide6.QtCore import QTimer\n"
        "from rankstudio.ui import app\n"
        "begin = app.begin\n"
        "def begun(window, *given):\n"
        "    begin(window, *given)\n"
        "    window.models.study_store.save_as(Path(r'{}'))\n"
        "    def work():\n"
        "        QTimer.singleShot(0, window, window.close_unasked)\n"
        "        time.sleep(300)\n"
        "    window.models.task_worker.task('It did not end', work)\n"
        "app.begin = begun\n"
        "app.main([])\n"
    ).format(tmp_path / "open.rankstudio")
    assert started(text, tmp_path) == ("", "")
    assert (tmp_path / "window.ini").exists()
    assert [path.name for path in tmp_path.glob("open.rankstudio*")] == [
        "open.rankstudio"
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_as_its_user_would(
    tmp_path: Path, number: int
) -> None:
    text = (
        "import os, signal\n"
        "from PySide6.QtCore import QTimer\n"
        "from rankstudio.ui import app\n"
        "application = app.application()\n"
        f"QTimer.singleShot(500, lambda: os.kill(os.getpid(), {int(number)}))\n"
        "app.main(['--sample'])\n"
    )
    assert started(text, tmp_path) == ("", "")
    assert "geometry" in (tmp_path / "window.ini").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("splitters", [1, 6])
def test_a_signal_while_the_window_is_built_ends_the_process(
    tmp_path: Path, number: int, splitters: int
) -> None:
    """An exception there left threads running in what was taken apart, which aborted the process."""
    text = (
        "import os, sys\n"
        "from rankstudio.__main__ import main\n"
        "from rankstudio.ui.language import install\n"
        "install('en')\n"
        "from rankstudio.ui.page import page\n"
        "made, whole = [], page.Splitter.__init__\n"
        "def build(*given):\n"
        "    whole(*given)\n"
        "    made.append(1)\n"
        f"    if len(made) == {splitters}:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "page.Splitter.__init__ = build\n"
        "sys.argv = ['rankstudio']\n"
        "raise SystemExit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "RANKSTUDIO_CONFIG_DIR": str(tmp_path),
            "RANKSTUDIO_DATA_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=230,
        check=False,
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "Interrupted.\n")


def test_a_crash_on_any_thread_is_told_and_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    reports, told = CrashReports(tmp_path / "data"), []
    reports.tell = told.append
    reports.install()
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    assert told == [
        f"Unexpected error: ZeroDivisionError: division by zero. See {reports.path} for details."
    ]
    assert "ZeroDivisionError" in reports.last()
    assert "RankStudio" in reports.last().splitlines()[0]
    reports.forget()
    assert reports.last() == ""


def test_the_report_of_a_crash_is_offered_at_the_next_start(
    opened: Opened, tmp_path: Path
) -> None:
    reports = CrashReports(tmp_path)
    reports.path.write_text("what went wrong")
    with opened() as window:
        begin(window, [], reports)
        assert window.notice.text() == "RankStudio failed unexpectedly the last time."
        window.notice.newest._buttons[0].click()
        assert QGuiApplication.clipboard().text() == "what went wrong"
        assert not reports.path.exists()
        wait_until(lambda: not window.models.run_worker.jobs)


def test_the_sample_of_the_command_line_is_opened_with_its_finished_run(
    opened: Opened, tmp_path: Path
) -> None:
    with opened() as window:
        begin(window, ["--sample"], CrashReports(tmp_path))
        wait_until(lambda: window.runs.records and window.session.dataset is not None)
        assert window.session.dataset.name == "Sample"
        assert window.runs.records[0].state is RunState.DONE and not window.runs.busy
        settle(window)


def test_the_run_of_the_sample_is_in_the_first_picture_and_its_data_are_opened_later(
    opened: Opened, tmp_path: Path
) -> None:
    with opened() as window:
        assert asks_for_sample(window, [])
        window.models.hold_work(True)
        window.open_controller.show_sample_run()
        record = window.runs.shown
        assert record is not None and record.state is RunState.DONE
        turn()
        assert window.models.loader.busy and not window.session.has_documents
        begin(window, [], CrashReports(tmp_path))
        wait_until(lambda: window.session.has_documents)
        settle(window)
        assert (
            window.runs.records == (record,)
            and record.dataset is window.session.dataset
        )
        assert not asks_for_sample(
            window, ["--sample", "--run"]
        ) and not asks_for_sample(window, ["data.txt"])


def test_a_run_that_waits_for_kernels_can_be_paused_and_stopped(
    window: MainWindow,
) -> None:
    """At the first start they are compiled for minutes on a busy machine."""
    wait_until(lambda: not window.models.loader.busy)
    compiled = threading.Event()
    window.models.run_worker.task(
        "Starting the engine", compiled.wait, slot="preparation"
    )
    try:
        window.commands["run"].trigger()
        record = window.runs.records[0]
        assert record.state is RunState.QUEUED
        for state in (RunState.PAUSED, RunState.QUEUED, RunState.PAUSED):
            assert window.commands["pause"].isEnabled()
            window.commands["pause"].trigger()
            assert record.state is state
        assert window.commands["stop"].isEnabled()
        window.commands["stop"].trigger()
        assert record.state is RunState.CANCELLED and not window.runs.busy
        window.commands["run"].trigger()
        window.commands["pause"].trigger()
    finally:
        compiled.set()
    other = window.runs.records[1]
    wait_until(lambda: not window.models.run_worker.jobs[:-1])
    assert other.state is RunState.PAUSED and not other.paths
    window.commands["pause"].trigger()
    finish(window)
    assert other.state is RunState.DONE


@pytest.mark.thorough
def test_the_first_start_and_the_next_show_the_sample_with_its_finished_run(
    theme: Theme, tmp_path: Path
) -> None:
    for start in ("first", "next"):
        with open_window(theme, tmp_path / "config", sealed=True) as window:
            begin(window, [], CrashReports(tmp_path))
            wait_until(lambda window=window: window.runs.shown is not None)
            record = window.runs.shown
            assert (
                record.state is RunState.DONE
                and record.result is not None
                and record.key == 1
            ), start
            assert window.session.plan == record.plan and record.paths
            wait_until(lambda window=window: window.session.has_documents)
            assert record.dataset is window.session.dataset and record.recorded is None
            assert window.runs.records == (record,) and not window.runs.busy
            settle(window)


def test_the_sample_with_its_run_is_shown_again_after_a_look_at_its_test_part(
    theme: Theme, tmp_path: Path
) -> None:
    """And beside a study of the user that has no runs."""
    own = tmp_path / "own.rankstudio"
    Study.create(own).close()
    for start in ("first", "next", "with a study"):
        with open_window(theme, tmp_path / "config", sealed=True) as window:
            if start == "with a study":
                window.study_files._settings.set("study/file", str(own))
            begin(window, [], CrashReports(tmp_path))
            wait_until(lambda window=window: window.runs.shown is not None)
            wait_until(lambda window=window: window.session.has_documents)
            settle(window)
            assert [record.key for record in window.runs.records] == [1], start
            assert window.runs.shown.dataset is window.session.dataset
            window.session.seal(False)
            settle(window)


@pytest.mark.parametrize(
    "content", [None, b"", b"SQLite format 3\0" + bytes(2000), "without runs"]
)
def test_the_sample_alone_is_opened_without_a_readable_run(
    opened: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | str | None,
) -> None:
    run = tmp_path / "run.rankstudio"
    if isinstance(content, str):
        Study.create(run).close()
    elif content is not None:
        run.write_bytes(content)
    monkeypatch.setattr(study_store, "resource", lambda *_: run)
    with opened() as window:
        window.open_controller.show_sample_run()
        assert window.runs.shown is None
        window.open_controller.load_sample()
        wait_until(lambda: window.session.has_documents)
        settle(window)
        assert not window.runs.records and window.session.plan.data == SAMPLE
        assert not window.notice.isVisible()


def test_the_open_dialog_takes_a_folder_of_data_and_goes_into_any_other(
    theme: Theme, tmp_path: Path
) -> None:
    data = tmp_path / "MQ2008"
    (data / "Fold1").mkdir(parents=True)
    assert holds_data(data)
    assert not holds_data(tmp_path)
    assert not holds_data(tmp_path / "nowhere")
    dialog = OpenDialog(theme, None, str(tmp_path))
    dialog.selectFile(str(data))
    dialog.accept()
    assert dialog.result() == OpenDialog.DialogCode.Accepted
    assert dialog.paths() == [str(data)]
    dialog.deleteLater()


def test_programs_and_folders_called_like_parts_are_no_fold(
    theme: Theme, tmp_path: Path
) -> None:
    (tmp_path / "project" / "test").mkdir(parents=True)
    for name in ("test_x.py", "train.ipynb", "development.md", "validate.sh"):
        (tmp_path / "project" / name).write_text("")
    (tmp_path / "fold").mkdir()
    for name in ("set1.train.txt.gz", "trainingset"):
        (tmp_path / "fold" / name).write_text("")
        assert kind_of(tmp_path / "fold" / name) == "file"
    assert (
        kind_of(tmp_path / "project")
        == kind_of(tmp_path / "project" / "test_x.py")
        == ""
    )
    assert kind_of(tmp_path / "fold") == "fold"
    assert not holds_data(tmp_path / "project")
    dialog = OpenDialog(theme, None, str(tmp_path))
    dialog.show()
    dialog.selectFile(str(tmp_path / "project"))
    dialog.accept()
    assert dialog.result() != OpenDialog.DialogCode.Accepted
    assert dialog.directory().path() == str(tmp_path / "project"), (
        "it goes into what is no fold"
    )
    dialog.deleteLater()


def test_a_double_click_in_the_open_dialog_opens_datasets_and_folds_and_enters_what_is_none(
    theme: Theme, tmp_path: Path
) -> None:
    for folder in ("MQ2008/Fold1", "plain/deeper"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "MQ2008" / "Fold1" / "train.txt").write_text("1 qid:1 1:1\n")
    names = {
        "MQ2008": "dataset",
        "MQ2008/Fold1": "fold",
        "plain": "",
        "MQ2008/Fold1/train.txt": "file",
    }
    assert {name: kind_of(tmp_path / name) for name in names} == names
    assert [
        kind_of(tmp_path / name) for name in ("a.rankstudio", "b.toml", "c.jpg")
    ] == ["study", "plan", ""]
    dialog = OpenDialog(theme, None, str(tmp_path))
    dialog.show()
    view = dialog.findChild(QListView, "listView")

    def index(name: str) -> QModelIndex:
        model, root = view.model(), view.rootIndex()
        rows = (model.index(row, 0, root) for row in range(model.rowCount(root)))
        return next((i for i in rows if i.data() == name), QModelIndex())

    wait_until(lambda: index("MQ2008").isValid() and index("plain").isValid())
    icons = [
        index(name).data(Qt.ItemDataRole.DecorationRole) for name in ("MQ2008", "plain")
    ]
    assert icons[0].cacheKey() != icons[1].cacheKey()
    for name, opens in (("plain", False), ("MQ2008", True)):
        at = view.visualRect(index(name)).center()
        event = QMouseEvent(
            QEvent.Type.MouseButtonDblClick,
            at.toPointF(),
            view.viewport().mapToGlobal(at).toPointF(),
            Qt.MouseButton.LeftButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        assert dialog.eventFilter(view.viewport(), event) == opens
    assert dialog.paths() == [str(tmp_path / "MQ2008")]
    assert dialog.result() == OpenDialog.DialogCode.Accepted
    dialog.deleteLater()
