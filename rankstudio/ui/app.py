"""Starts the window, in a fixed order: excepthook, identity, theme, window, first paint, and its content."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import NoReturn

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication, QWidget

import rankstudio
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.support import threads
from rankstudio.engine.support.compiler_process import compiler_process
from rankstudio.engine.support.user_folders import data_folder
from rankstudio.ui.language import translate_qt
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.crash import CrashReports, log_to_file
from rankstudio.ui.process.memory import GarbageCollection
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.fonts import BASE
from rankstudio.ui.style.icons import app_icon
from rankstudio.ui.style.theme import Theme

# a worker holds the interpreter for at most this time while the window waits for it
SWITCH_SECONDS = 0.001

SIGNALS = (signal.SIGINT, signal.SIGTERM)

LEAVE_SECONDS = 0.8  # after this time, the process ends whatever a worker is doing

CLOSE_SECONDS = 2.0  # before the process ends, the study has this time to be closed

# the first paint is waited for at most this long; a minimized window has none
_MAX_PAINT_MILLISECONDS = 1000


def main(argv: Sequence[str] = ()) -> int:
    """Open the window and return the exit status when it is closed.

    Parameters
    ----------
    argv : sequence of str
        Arguments of the command line: a file, folder, plan or study to
        open. ``--sample`` opens the bundled sample with its finished
        run, and ``--run`` runs the plan of what is opened.
    """
    # Until the window is built, a signal ends the process at once.
    for number in SIGNALS:
        signal.signal(number, end_at_once)
    reports = CrashReports(data_folder())
    reports.install()
    logging.getLogger("rankstudio").setLevel(logging.INFO)
    log_to_file(data_folder())
    leave_room_for_the_window()  # in the number of threads for computations
    app = application()
    garbage = GarbageCollection(app)
    settings = Settings()
    theme = Theme(settings.theme, settings.text_size or BASE)  # type: ignore[arg-type]
    theme.apply(app)

    # While the window is built, the style sheet is applied once, not to each widget.
    with theme.building():
        window = MainWindow(theme, settings)
    reports.tell = window.crashed.emit
    window.closing.connect(partial(leave_in_time, window.models.study_store.close_all))
    interrupts = Interrupts(window.close_unasked, window)
    interrupts.setObjectName("interrupts")
    if asks_for_sample(window, argv):
        # Opening the sample's data waits until the window is painted.
        window.models.hold_work(True)
        window.open_controller.show_sample_run()

    def go_on() -> None:
        """Begin the work that waits until the window is painted."""
        garbage.begin()
        begin(window, argv, reports)

    FirstPaint(window, go_on)
    window.show()
    return app.exec()


def asks_for_sample(window: MainWindow, argv: Sequence[str]) -> bool:
    """Return whether the window begins with the sample's run: with ``--sample``, or at the first start."""
    return argv == ["--sample"] or (not argv and window.open_controller.is_first_start)


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """End the process at once, which is harmless while its window is still being built.

    An exception would leave widgets half built, and the interpreter
    would then delete them in an order in which Qt reads objects that
    are already deleted. ``number`` and ``frame`` are what Python passes
    to the handler of a signal; both are ignored. The exit status is the
    usual one after Ctrl+C.
    """
    # 2 is the error stream; the status is the usual one after this signal.
    os.write(2, b"Interrupted.\n")
    os._exit(128 + signal.SIGINT)


def leave_room_for_the_window() -> None:
    """Keep one core free for the window, and let threads hand over the interpreter quickly.

    On data of moderate size, the engine is not faster with all cores,
    and the window would have to wait. So kernels get one thread less
    than there are cores. A number of threads that the user set in
    ``RANKSTUDIO_THREADS`` stays. Kernels are compiled in a process of
    their own.
    """
    compiler_process().wanted = True
    os.environ.setdefault(threads.VARIABLE, str(max(1, threads.available() - 1)))
    sys.setswitchinterval(SWITCH_SECONDS)


def leave_in_time(close_study: Callable[[], None]) -> None:
    """End the process soon, even if a worker cannot stop at once.

    Compiled kernels and imports cannot be interrupted. By now the state
    is stored, and the only files that workers write, those of the data
    cache, are replaced as a whole or not at all. The study is closed
    between two of its transactions. If that does not succeed in time,
    nothing is lost, but the log file that remains beside the study
    makes it look as if it were in use.

    Parameters
    ----------
    close_study : callable
        Closes the study; called on another thread.
    """

    def leave() -> None:
        """Call `close_study`, which may take some seconds, and end the process in any case."""
        try:
            closing = threading.Thread(target=close_study, daemon=True)
            closing.start()
            closing.join(CLOSE_SECONDS)
        finally:
            os._exit(0)  # without waiting for other threads

    # A daemon thread does not keep the process alive, should it end by itself before.
    timer = threading.Timer(LEAVE_SECONDS, leave)
    timer.daemon = True
    timer.start()


def application() -> QApplication:
    """Return the application with its name, version and icon; create it if necessary."""
    # Tests have one application for all of their windows.
    running = QApplication.instance()
    app = running if isinstance(running, QApplication) else QApplication(["rankstudio"])
    translate_qt(app)
    app.setApplicationName("RankStudio")
    app.setApplicationDisplayName("RankStudio")
    app.setApplicationVersion(rankstudio.__version__)
    app.setDesktopFileName("rankstudio")
    app.setWindowIcon(app_icon())
    return app


def begin(window: MainWindow, argv: Sequence[str], reports: CrashReports) -> None:
    """Carry out the work that waits for the window: open files, load code, report the last crash.

    ``argv`` are the arguments of the command line, and ``reports`` has
    the report of a crash, if there was one.
    """
    files = [argument for argument in argv if argument not in ("--sample", "--run")]
    runs = "--run" in argv

    # The finished run of the sample is shown before the window is painted. With
    # --run, a new run of the sample is started instead.
    if "--sample" in argv and runs:
        window.open_path(SAMPLE, run=True)
    elif files:
        window.open_path(files[0], run=runs)
    elif window.runs.records:
        pass  # the sample's run is already shown
    elif asks_for_sample(window, argv):
        window.open_controller.load_sample()
    else:
        window.restore()
    window.models.hold_work(False)
    window.models.warm_up_later()
    if reports.last():
        window.help.offer_crash_report(reports)


class FirstPaint(QObject):
    """Calls a function once, when a window has been painted first or cannot be painted for a second.

    Parameters
    ----------
    window : QWidget
    then : callable
        The function, which is called without arguments.
    """

    def __init__(self, window: QWidget, then: Callable[[], object]) -> None:
        super().__init__(window)
        self._window = window
        self._timer = single_shot(_MAX_PAINT_MILLISECONDS, then, self)
        self._timer.start()
        window.installEventFilter(self)

    def eventFilter(self, target: QObject, event: QEvent) -> bool:
        """Continue once this paint and the paints of the widgets in the window are done."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            if self._timer.isActive():
                self._timer.start(0)
        return False


class Interrupts(QObject):
    """Calls a function on the GUI thread, between two events, when a signal asks the process to end.

    Python itself would raise an exception wherever the interpreter
    happens to be. In the middle of a paint event, that would crash Qt.

    Parameters
    ----------
    call : callable
        The function, called without arguments at each of these signals.
    """

    def __init__(
        self, call: Callable[[], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._call = call

        # The interpreter writes the number of a signal into one end of
        # the pair, and Qt waits at the other.
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._notifier = QSocketNotifier(
            self._read.fileno(), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._on_signal)
        for number in SIGNALS:
            # A handler is needed for Python to write the number to the
            # socket below; it has nothing to do.
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)

    @Slot()
    def _on_signal(self) -> None:
        numbers = self._read.recv(64)  # one byte for each signal
        if any(number in numbers for number in SIGNALS):
            self._call()
