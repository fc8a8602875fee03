"""Handling of unexpected errors: a readable message now, and a report for the next start."""

from __future__ import annotations

import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

import rankstudio
from rankstudio.ui.language import tr

_log = logging.getLogger(__name__)


class _Log(RotatingFileHandler):
    """A log file that silently drops lines that it cannot write, for instance on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass


def log_to_file(folder: Path) -> logging.Handler | None:
    """Log messages of level INFO and above to a file, and return the handler that writes it.

    The file is in ``folder``. Return None if the folder cannot be
    written. At half a megabyte, a new file is begun, and the previous
    one is renamed as a backup.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _Log(
            folder / "rankstudio.log", maxBytes=500_000, backupCount=1, encoding="utf-8"
        )
    except OSError:
        return None
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    handler.setLevel(logging.INFO)
    logging.getLogger("rankstudio").addHandler(handler)
    return handler


class CrashReports:
    """Catches unexpected errors on any thread, writes a report to a file and informs the window.

    Parameters
    ----------
    folder : Path
        Folder of the report.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "crash.txt"
        self.tell: Callable[[str], None] | None = None
        """Called with one sentence, on the thread on which the error was raised."""

    def install(self) -> None:
        """Take over ``sys.excepthook`` and ``threading.excepthook``."""
        sys.excepthook = self.handle
        threading.excepthook = lambda args: self.handle(
            args.exc_type, args.exc_value, args.exc_traceback
        )

    def handle(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write a report on an error, and call `tell`, the window's function, with a sentence on it.

        The parameters are those of ``sys.excepthook``.
        ``KeyboardInterrupt`` and ``SystemExit`` are not reported.
        """
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            return
        report = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(report)
        _log.warning("Unexpected error:\n%s", report)
        self._write(report)
        if self.tell is not None:
            self.tell(
                tr("Unexpected error: {name}: {error}. See {path} for details.").format(
                    name=kind.__name__, error=error, path=self.path
                )
            )

    def last(self) -> str:
        """Return the stored crash report, "" if there is none."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def forget(self) -> None:
        """Remove the report, after the user has seen it."""
        # A report that cannot be removed is shown again at the next start.
        with suppress(OSError):
            self.path.unlink()

    def _write(self, report: str) -> None:
        """Write a report to the file, below the versions, the platform and the time."""
        head = (
            f"RankStudio {rankstudio.__version__}, Python {platform.python_version()}, "
            f"{platform.platform()}\n{datetime.now().isoformat(timespec='seconds')}\n\n"
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(head + report, encoding="utf-8")
        except OSError:
            _log.info("The crash report could not be written to %s.", self.path)
