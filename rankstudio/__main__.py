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
    """Carry out the command line of this process, and return the exit status.

    Ctrl+C, or a request to terminate, ends it with a sentence, also
    while modules load.
    """
    interrupted = False

    def interrupt(number: int, frame: object) -> None:
        """Handle a signal: note it, and raise KeyboardInterrupt."""
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

        # All is done: a signal does not change the status any more.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:
        _end()
    except Exception:
        # numpy and numba turn a KeyboardInterrupt into an ImportError while they load.
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
    """End the process with the status of an interruption.

    Python would end itself by the signal where eval() or exec() was
    interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would have to be loaded
            stream.flush()
        except OSError:  # full, or its reader is gone
            pass
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    raise SystemExit(main())
