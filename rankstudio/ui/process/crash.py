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
    """A log of which a full disk loses lines, and nothing else."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass


def log_to_file(folder: Path) -> logging.Handler | None:
    """Keep a log of what goes wrong; None where the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _Log(folder / "rankstudio.log", maxBytes=500_000, backupCount=1, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.INFO)
    logging.getLogger("rankstudio").addHandler(handler)
    return handler


class CrashReports:
    """Catches unexpected errors on any thread, writes them down and tells the window.

    Parameters
    ----------
    folder : Path
        Where the report goes.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "crash.txt"
        self.tell: Callable[[str], None] | None = None
        """Called with one sentence, on whatever thread the error was on."""

    def install(self) -> None:
        """Take over ``sys.excepthook`` and ``threading.excepthook``."""
        sys.excepthook = self.handle
        threading.excepthook = lambda args: self.handle(args.exc_type, args.exc_value, args.exc_traceback)

    def handle(
        self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write an error down and tell of it."""
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
        """Return the report of the last start that went wrong, "" where there is none."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def forget(self) -> None:
        """Remove the report: the user has seen it."""
        with suppress(OSError):  # it will be reported again
            self.path.unlink()

    def _write(self, report: str) -> None:
        head = (
            f"RankStudio {rankstudio.__version__}, Python {platform.python_version()}, "
            f"{platform.platform()}\n{datetime.now().isoformat(timespec='seconds')}\n\n"
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(head + report, encoding="utf-8")
        except OSError:
            _log.info("The crash report could not be written to %s.", self.path)
