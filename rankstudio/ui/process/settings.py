"""Settings that last from one start of the program to the next, in a folder of the user's configuration."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEvent,
    QMetaObject,
    QObject,
    QSettings,
    Qt,
    QThread,
    QTimer,
    Slot,
)

from rankstudio.engine.errors import OutputError, RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.ui.language import LANGUAGES, SYSTEM, tr
from rankstudio.ui.process.turns import single_shot

_log = logging.getLogger(__name__)

# serialized objects of Qt in a settings file
_OBJECT = re.compile(rb"@(Variant|DateTime)\(")

MOST_RECENT = 8
_TEXT_SIZES = (8, 40)  # least and greatest valid size; other stored sizes are damaged
THEMES = ("system", "light", "dark")


def config_folder() -> Path:
    """Return the folder of the settings; ``RANKSTUDIO_CONFIG_DIR`` overrides the platform's."""
    override = os.environ.get("RANKSTUDIO_CONFIG_DIR")
    if override:
        return Path(override)
    from platformdirs import user_config_path  # noqa: PLC0415 - only where nothing overrides it

    return user_config_path("RankStudio", appauthor=False)


def _set_aside_objects(path: Path) -> None:
    """Rename a settings file that contains serialized objects of Qt, so that it is not read.

    ``path`` is the file. RankStudio stores no such objects, and reading
    damaged objects can crash the process.
    """
    try:
        if _OBJECT.search(path.read_bytes()):
            path.replace(path.with_suffix(".damaged"))
            _log.info("The settings in %s are none of ours; starting afresh.", path)
    except OSError:
        # The file does not exist or is unreadable. In the latter case,
        # QSettings reports it in its status.
        pass


def _loaded(path: Path) -> Plan | None:
    """Return a stored plan; None if it cannot be used, which is logged."""
    try:
        return load_plan(path)
    except (RankStudioError, OSError, TypeError, ValueError) as error:
        _log.info("The plan in %s cannot be used: %s", path, error)
        return None


class Settings:
    """The stored settings of the window; values that are missing, damaged or of a wrong type count as not set.

    Parameters
    ----------
    folder : Path, optional
        Folder of the settings; by default :func:`config_folder`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or config_folder()
        path = self.folder / "window.ini"
        _set_aside_objects(path)  # before Qt reads the file
        self._store = _Store(str(path), QSettings.Format.IniFormat)
        if self._store.status() != QSettings.Status.NoError:
            _log.info(
                "The settings in %s cannot be read; starting afresh.", self.folder
            )

        # All present values; damaged ones are left out.
        self._values = {
            key: value
            for key in self._store.allKeys()
            if (value := self._read(key)) is not None
        }

        # Set if changes are written on another thread.
        self._writer: _BackgroundWriter | None = None

    def write_aside(self) -> None:
        """Write later changes on another thread, as the disk may be slow."""
        self._writer = _BackgroundWriter(self._store)

    def close(self) -> None:
        """Write to the disk now, and end the thread that writes."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self.sync()

    def bytes(self, key: str) -> QByteArray | None:
        """Return stored bytes, such as the geometry of a window; None without any."""
        value = self._value(key)
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def text(self, key: str, default: str = "") -> str:
        """Return a stored text."""
        value = self._value(key)
        return value if isinstance(value, str) else default

    def number(self, key: str) -> float | None:
        """Return a stored number, or None."""
        try:
            return float(self._value(key))
        except (TypeError, ValueError):
            return None

    def set(self, key: str, value: QByteArray | str | float | list[str] | None) -> None:
        """Store a value for a key; None removes the setting.

        The file of the settings is written later; by a writer's thread,
        if such a thread was started.
        """
        if self._values.get(key) == value:
            return
        self._values[key] = value
        if self._writer is not None:
            self._writer.put(key, value)
        else:
            self._store.put({key: value})

    def sync(self) -> None:
        """Write to the disk now."""
        if self._writer is not None:
            self._writer.hand_over()
        self._store.sync()

    @property
    def theme(self) -> str:
        """The mode of the theme: "system", "light" or "dark"."""
        mode = self.text("window/theme", "system")
        return mode if mode in THEMES else "system"

    @property
    def language(self) -> str:
        """A key of the languages of the window, or "system"."""
        key = self.text("window/language", SYSTEM)
        return key if key in LANGUAGES else SYSTEM

    @property
    def names_folder(self) -> Path:
        """Folder of the user's names for the features of datasets."""
        return self.folder / "names"

    @property
    def text_size(self) -> int:
        """Size of ordinary text in logical pixels; 0 if the user has not changed it."""
        size = self.number("window/text-size")
        return (
            int(size)
            if size is not None and _TEXT_SIZES[0] <= size <= _TEXT_SIZES[1]
            else 0
        )

    @property
    def recent(self) -> tuple[str, ...]:
        """The files and folders opened last, latest first."""
        value = self._value("recent")

        # QSettings reads a list of one text as a text.
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, list):
            return ()
        return tuple(path for path in paths if isinstance(path, str) and path)[
            :MOST_RECENT
        ]

    def add_recent(self, path: str) -> None:
        """Put a path first among the recently opened ones."""
        older = [item for item in self.recent if item != path]
        self.set("recent", [path, *older][:MOST_RECENT])

    def remove_recent(self, path: str) -> None:
        """Remove a path from the recently opened ones."""
        self.set("recent", [item for item in self.recent if item != path])

    def clear_recent(self) -> None:
        """Remove all recently opened paths."""
        self.set("recent", None)

    @property
    def plan(self) -> Plan | None:
        """The plan that was stored last; None without one."""
        path = self.folder / "plan.toml"
        return _loaded(path) if path.exists() else None

    def save_plan(self, plan: Plan) -> None:
        """Store the plan for the next start.

        Raises
        ------
        OutputError
            If the plan cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_plan(plan, self.folder / "plan.toml")
        except OSError as error:
            raise OutputError(
                tr("{folder}: the plan could not be stored: {strerror}.").format(
                    folder=self.folder, strerror=error.strerror
                )
            ) from error

    @property
    def waiting(self) -> tuple[Plan, ...]:
        """The stored plans of runs that were waiting for their turn, in their order."""
        folder = self.folder / "waiting"
        paths = sorted(folder.glob("*.toml")) if folder.is_dir() else ()
        plans = (_loaded(path) for path in paths)
        return tuple(plan for plan in plans if plan is not None)

    def save_waiting(self, plans: Sequence[Plan]) -> None:
        """Store the plans of the runs that wait, instead of those stored before.

        The names of the files, 0000.toml and so on, have the order of
        the runs. A failure is only logged.
        """
        folder = self.folder / "waiting"
        if not plans and not folder.is_dir():
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [f"{number:04d}.toml" for number in range(len(plans))]
            for plan, name in zip(plans, names, strict=True):
                save_plan(plan, folder / name)
            for path in folder.glob("*.toml"):
                if path.name not in names:
                    path.unlink()
        except (RankStudioError, OSError) as error:
            _log.info("The runs that wait could not be kept: %s", error)

    def _value(self, key: str) -> Any:
        """Return the value of a key; None without one."""
        return self._values.get(key)

    def _read(self, key: str) -> Any:
        """Return the stored value of a key; None for a damaged one."""
        try:
            return self._store.value(key)
        except (
            EOFError,
            RuntimeError,
            TypeError,
            ValueError,
        ):  # a damaged serialized value
            return None


class _Store(QSettings):
    """A settings file that is written only on an explicit call of ``sync``."""

    def event(self, event: QEvent) -> bool:
        """Ignore Qt's request to write in the event loop."""
        return event.type() == QEvent.Type.UpdateRequest or super().event(event)

    def put(self, values: Mapping[str, Any]) -> None:
        """Set values; None removes one."""
        for key, value in values.items():
            if value is None:
                self.remove(key)
            else:
                self.setValue(key, value)


class _BackgroundWriter(QObject):
    """Writes changes of a store to the disk on a thread that runs only Qt's event loop.

    A call of ``sync`` from Python would block the interpreter, and so
    the window, while the disk works. Changes of the store would also
    block while the thread writes, so the changes are kept here until
    the thread has finished.

    Parameters
    ----------
    store : _Store
        The values, which can be changed in memory and written to a file.
    """

    def __init__(self, store: _Store) -> None:
        super().__init__()
        self._store = store

        # Changes that wait until the thread has finished writing: values by keys.
        self._waiting_changes = dict[str, Any]()
        self._is_writing = False
        self._thread = QThread()
        self._thread.setObjectName("settings")

        # Two QSettings of one file share their values. So this one,
        # which belongs to the thread, writes the changes that are made
        # in the store.
        self._disk = QSettings(store.fileName(), store.format())

        # A timer of the thread, which runs out once the thread has written.
        self._written_timer = QTimer(singleShot=True, interval=0)
        self._written_timer.timeout.connect(self._go_on)
        for member in (self._disk, self._written_timer):
            member.moveToThread(self._thread)

            # Only its own thread may stop the timer and delete both.
            self._thread.finished.connect(member.deleteLater)
        self._thread.start()

        # Writes all changes of a turn of the event loop together.
        self._write_timer = single_shot(0, self._write, self)

    def put(self, key: str, value: Any) -> None:
        """Have a value written, together with all values put in the same turn of the event loop."""
        if self._is_writing:
            self._waiting_changes[key] = value
        else:
            self._store.put({key: value})
            self._write_timer.start()

    def close(self) -> None:
        """End the thread, and hand the waiting changes to the store."""
        self._thread.quit()
        self._thread.wait()
        self.hand_over()

    def hand_over(self) -> None:
        """Make the waiting changes in the store, even if that has to wait for the thread."""
        self._write_timer.stop()
        self._store.put(self._waiting_changes)
        self._waiting_changes = {}

    @Slot()
    def _write(self) -> None:
        """Have the thread write the values to the disk, and then start the timer that reports the end.

        The requests to write and to start the timer go through the
        event loop of the thread, in this order.
        """
        self._is_writing = True
        QCoreApplication.postEvent(self._disk, QEvent(QEvent.Type.UpdateRequest))
        QMetaObject.invokeMethod(
            self._written_timer, "start", Qt.ConnectionType.QueuedConnection
        )

    @Slot()
    def _go_on(self) -> None:
        """Write the changes that were put while the thread wrote, if any."""
        self._is_writing = False
        if self._waiting_changes:
            self.hand_over()
            self._write()
