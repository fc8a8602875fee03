"""Methods and measures of Python files: added after a question, and read again when they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import CodeNotAllowedError, PlanError, RankStudioError
from rankstudio.engine.experiment.plan.toml import method_keys, read_toml
from rankstudio.engine.methods.catalog import Method, method
from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.ui.background.worker import Job
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.widgets import Question

SLOW = 2000
"""Milliseconds after which it is said that code still runs, with a button that stops it."""

_MAX_CHARACTERS = 200_000  # characters of a file in a question


class MethodFiles(Controller):
    """Adds methods and measures of Python files, after a question, and offers to read them again on changes.

    Parameters
    ----------
    models : Models
    parent : QWidget
        Over which questions open.
    """

    added = Signal(object)
    """Methods were added or read again, the last one to be shown (Method)."""
    offered = Signal(str, str, object)
    """A message with its level, and what buttons of it do by their labels."""
    busyChanged = Signal()
    """Code of methods begins to run, or has ended."""

    def __init__(self, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._session = models.session
        self._worker = models.task_worker
        self._keys: dict[str, tuple[str, ...]] = {}
        self._measures: dict[str, dict[str, str]] = {}  # of a file: names in plans by those of the functions
        self._job: Job | None = None  # runs code, which may hang
        self._running = ""  # name of the code
        self._slow = QTimer(self, singleShot=True, interval=SLOW)
        self._slow.timeout.connect(self._offer_stop)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._note_change)

    @property
    def busy(self) -> bool:
        """Whether code of methods runs."""
        return self._job is not None

    @Slot()
    def stop(self) -> None:
        """Leave behind the code that runs; its methods are not added."""
        if self._job is None:
            return
        self._job.abandon()
        name = self._running
        self._end()
        self.failed.emit(
            tr("{name} was stopped before its code had ended. Nothing is added.").format(name=name)
        )

    def _begin(self, job: Job, name: str) -> None:
        """Take note of a job that runs code; one before it, which may hang, is left behind."""
        if self._job is not None:
            self._job.abandon()
        self._job = job
        self._running = name
        self._slow.start()
        self.busyChanged.emit()

    def _end(self) -> None:
        """Take note that the code has ended."""
        self._slow.stop()
        self._job = None
        self.busyChanged.emit()

    @Slot()
    def _offer_stop(self) -> None:
        """Say that code still runs, with a button that stops it."""
        text = tr("The code of {name} is still running. Its methods and measures appear when it ends.")
        self.offered.emit(text.format(name=self._running), "info", {tr("Stop"): self.stop})

    @Slot()
    def ask(self) -> None:
        """Ask for a Python file, and add its methods and measures."""
        title = tr("Add a method")
        name, _ = QFileDialog.getOpenFileName(
            self._window, title, str(Path.home()), tr("Python files (*.py)")
        )
        if name:
            self.open(name)

    @Slot(str)
    def open(self, path: str) -> None:
        """Add the methods of a Python file, after a question about a file that was not allowed before."""

        def answer(allowed: bool) -> None:
            if allowed or self._agrees([Path(path)]):
                self._add(path)

        text = tr("Reading {name}").format(name=Path(path).name)
        self._worker.task(text, _is_allowed, Path(path), on_done=answer, on_error=self.failed.emit)

    def before(self, path: str, then: Callable[[], None]) -> None:
        """Add the methods that a plan names by their code, after a question, and go on."""
        try:
            keys = list(method_keys(read_toml(Path(path))))
        except PlanError:
            keys = []  # whoever reads the plan tells what is wrong with it
        if not any("." in key or key.startswith("command:") for key in keys):
            then()
            return
        self._load(keys, Path(path).absolute().parent, then, allowed=False)

    def _load(self, keys: Sequence[str], folder: Path, then: Callable[[], None], *, allowed: bool) -> None:
        label = tr("Reading the methods of the plan")

        def done(error: RankStudioError | None) -> None:
            self._end()
            if error is None:
                then()
            elif isinstance(error, CodeNotAllowedError) and not allowed:
                files = [folder / _file_name(key) for key in keys if ".py:" in key]
                if self._agrees([path for path in files if path.is_file()], named_by_plan=error.key):
                    self._load(keys, folder, then, allowed=True)
            else:
                self.failed.emit(str(error))

        def fail(text: str) -> None:
            self._end()
            self.failed.emit(text)

        work = partial(_add_keys, tuple(keys), folder, allowed)
        job = self._worker.task(label, work, on_done=done, on_error=fail)
        self._begin(job, ", ".join(key for key in keys if "." in key or key.startswith("command:")))

    def _add(self, path: str) -> None:
        name = Path(path).name
        job = self._worker.task(
            tr("Reading {name}").format(name=name),
            _add_file,
            Path(path),
            on_done=partial(self._show, path),
            on_error=self._tell_failure(path),
        )
        self._watch(path)  # the editor's next save is offered, also while it runs
        self._begin(job, name)

    def _show(self, path: str, entries: tuple[Method | MeasureEntry, ...]) -> None:
        """Show the additions from a file: a method of it, or the measure where it has no method."""
        self._end()
        names = ", ".join(entry.label for entry in entries)
        self.said.emit(tr("Added from {file}: {names}.").format(file=Path(path).name, names=names))
        added = tuple(entry for entry in entries if isinstance(entry, Method))
        measures = {entry.label: entry.key for entry in entries if isinstance(entry, MeasureEntry)}
        if added:
            self._show_methods(path, added)
        self._take_measures(path, measures, shows=not added)

    def _take_measures(self, path: str, measures: dict[str, str], *, shows: bool) -> None:
        """Let the plan report the measures of a file, in place of those of its earlier text, and show one.

        Beside methods they are only offered: functions take long, and one may be a part of a method.
        """
        before = self._measures.get(path, {})
        self._measures[path] = measures

        def renewed(name: str) -> str:
            key, separator, cutoff = name.partition("@")
            label = next((label for label, earlier in before.items() if earlier == key), "")
            return f"{measures[label]}{separator}{cutoff}" if label in measures else name

        plan = self._session.plan
        reported = map(renewed, plan.measures)
        names = tuple(dict.fromkeys((*reported, *(measures.values() if shows else ()))))
        if names != plan.measures:
            text = tr("adding {measures}").format(measures=", ".join(measures))
            self._session.change(text, measures=names, select_by=renewed(plan.select_by))
        measure_name = renewed(self._session.measure)
        if shows and measure_name == self._session.measure:
            measure_name = next(iter(measures.values()))
        self._session.show_measure(measure_name)

    def _show_methods(self, path: str, entries: tuple[Method, ...]) -> None:
        """Show the methods of a file; one that replaces the present method takes its parameters."""
        before = self._keys.get(path, ())
        self._keys[path] = tuple(entry.key for entry in entries)
        plan = self._session.plan
        chosen = entries[0]
        if plan.method in before:
            label = method(plan.method).label
            chosen = next((entry for entry in entries if entry.label == label), chosen)
        parameter_names = {p.name for p in chosen.parameters}
        parameters = {name: value for name, value in plan.parameters.items() if name in parameter_names}
        self.added.emit(chosen)
        changes = {"method": chosen.key, "ranker": plan.ranker if chosen.selects else "", "scores": {}}
        if not changes["ranker"]:
            changes["ranker_parameters"] = {}
        text = tr("choosing {method}").format(method=chosen.label)
        try:
            self._session.change(text, parameters=parameters if plan.method in before else {}, **changes)
        except RankStudioError:
            self._session.change(text, parameters={}, **changes)  # a parameter has other values now

    def _tell_failure(self, path: str) -> Callable[[str], None]:
        def tell(text: str) -> None:
            self._end()
            self.failed.emit(text)

        return tell

    def _watch(self, path: str) -> None:
        if path not in self._watcher.files():
            self._watcher.addPath(path)

    @Slot(str)
    def _note_change(self, path: str) -> None:
        """Offer to read a file again that changed; editors may replace a file, which ends watching it."""
        if Path(path).is_file():
            self._watch(path)
            name = Path(path).name
            text = tr("{name} has changed. Runs keep the earlier text.").format(name=name)
            self.offered.emit(text, "info", {tr("Read again"): partial(self._add, path)})

    def _agrees(self, files: Sequence[Path], named_by_plan: str = "") -> bool:
        """Ask whether code may run, with the text of it at hand."""
        names = ", ".join(path.name for path in files) or named_by_plan
        text = tr("This runs the code of {names}.")
        if named_by_plan:
            text = tr("The plan runs the code of {names}.")
        trust = tr("Run it only if you trust its source: it can do everything that you can do.")
        detail = "\n\n".join(f"# {path}\n{_file_text_or_error(path)}" for path in files)[:_MAX_CHARACTERS]
        question = f"{text.format(names=names)} {trust}"
        return Question.ask(self._window, tr("Run code?"), question, tr("Run code"), detail=detail)


def _file_text_or_error(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return str(error)


def _is_allowed(path: Path) -> bool:
    """Return whether this user allowed a file before; on the worker's thread."""
    from rankstudio.engine.methods.foreign.permission import is_allowed_file  # noqa: PLC0415 - numba

    return is_allowed_file(path)


def _file_name(key: str) -> str:
    """Return the file in the key of a method, or of a measure, which begins so."""
    return key.removeprefix("measure:").partition(":")[0]


def _add_file(path: Path) -> tuple[Method | MeasureEntry, ...]:
    """Add all methods and measures of a file; on the worker's thread."""
    from rankstudio.engine.methods.foreign.permission import add_file  # noqa: PLC0415 - numba

    return add_file(path)


def _add_keys(keys: tuple[str, ...], folder: Path, allowed: bool) -> RankStudioError | None:
    """Add the methods of a plan, on the worker's thread; return why not, to be answered by a question."""
    from rankstudio.engine.methods.foreign.permission import add_of_plan  # noqa: PLC0415 - numba

    try:
        add_of_plan(keys, (folder,), allow_code=allowed)
    except RankStudioError as error:
        return error
    return None
