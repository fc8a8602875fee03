"""``python -m rankstudio`` and the command ``rankstudio``: the process around the command line."""

import os
import sys

# typing's own would have to be loaded, and Ctrl+C may come meanwhile
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn

INTERRUPTED = 130


def main() -> int:
    """Carry out the command line of this process.

    Ctrl+C ends it in a sentence, while modules load too, and so does a request to
    terminate.
    """
    interrupted = False

    def interrupt(number: int, frame: object) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    try:
        sys.excepthook = _show
        sys.unraisablehook = _show_unraisable
        import signal  # noqa: PLC0415 - Ctrl+C may come while it loads

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, interrupt)
        from rankstudio.cli import main as carry_out  # noqa: PLC0415 - as above

        status = carry_out()
        # all is done: the process ends with what came of it
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:
        _end()
    except Exception:
        # numpy and numba make an ImportError of what comes while they load.
        if interrupted:
            _end()
        raise
    if status == INTERRUPTED:
        _exit()
    return status


def _show(
    kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
) -> None:
    """Show an uncaught error, or one that compiled code has shown; an interruption ends the process."""
    if issubclass(kind, KeyboardInterrupt):
        _end()
    sys.__excepthook__(kind, error, trace)


def _show_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """Show an error in a callback of the interpreter; an interruption, lost there, ends the process."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _end()
    sys.__unraisablehook__(unraisable)


def _end() -> "NoReturn":
    try:  # noqa: SIM105 - contextlib would have to be loaded
        sys.stderr.write("Interrupted.\n")
    except OSError:  # an interruption came while an earlier one was dealt with, and the stream is half set up
        pass
    _exit()


def _exit() -> "NoReturn":
    """Exit with the status: Python would end itself by the signal where eval() or exec() was interrupted."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would have to be loaded
            stream.flush()
        except OSError:  # full, or its reader is gone
            pass
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    raise SystemExit(main())
