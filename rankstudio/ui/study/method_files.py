"""Adds methods and measures of Python files, after a question, and reads changed files again."""

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
"""Milliseconds after which a message says that code still runs, with a button that stops the code."""

_MAX_CHARACTERS = 200_000  # of the code that a question shows


class MethodFiles(Controller):
    """Adds methods and measures of Python files, after a question, and offers to read changed files again.

    Parameters
    ----------
    models : Models
    parent : QWidget
        Widget over which questions open.
    """

    added = Signal(object)
    """Methods were added or read again; the signal carries the one to show (Method)."""
    offered = Signal(str, str, object)
    """A message: text, level, and the actions of its buttons by their labels."""
    busyChanged = Signal()
    """Code of methods has begun to run, or has ended."""

    def __init__(self, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._session = models.session
        self._worker = models.task_worker

        # Keys of the methods of each file, by its path. A key names the
        # code, and a changed file has new keys.
        self._method_keys: dict[str, tuple[str, ...]] = {}

        # By the path of each file: the keys of its measures by their labels.
        self._measure_keys: dict[str, dict[str, str]] = {}
        self._job: Job | None = None  # runs code, which may hang
        self._running_name = ""  # name of the code that runs
        self._slow_timer = QTimer(self, singleShot=True, interval=SLOW)
        self._slow_timer.timeout.connect(self._offer_stop)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._note_change)

    @property
    def busy(self) -> bool:
        """Whether code of methods runs."""
        return self._job is not None

    @Slot()
    def stop(self) -> None:
        """Abandon the code that runs; its methods are not added. A message says so."""
        if self._job is None:
            return
        self._job.abandon()
        name = self._running_name
        self._end()
        self.failed.emit(
            tr(
                "{name} was stopped before its code had ended. Nothing is added."
            ).format(name=name)
        )

    def _begin(self, job: Job, name: str) -> None:
        """Remember a job that runs code, and the code's name for messages.

        An earlier job, which may hang, is abandoned. If the code takes
        long, the user can stop it.
        """
        if self._job is not None:
            self._job.abandon()
        self._job = job
        self._running_name = name
        self._slow_timer.start()
        self.busyChanged.emit()

    def _end(self) -> None:
        """Forget the job whose code has ended."""
        self._slow_timer.stop()
        self._job = None
        self.busyChanged.emit()

    @Slot()
    def _offer_stop(self) -> None:
        """Show a message that code still runs, with a button that stops it."""
        text = tr(
            "The code of {name} is still running. Its methods and measures appear when it ends."
        )
        self.offered.emit(
            text.format(name=self._running_name), "info", {tr("Stop"): self.stop}
        )

    @Slot()
    def ask(self) -> None:
        """Ask the user for a Python file, and add its methods and measures."""
        title = tr("Add a method")
        name, _ = QFileDialog.getOpenFileName(
            self._window, title, str(Path.home()), tr("Python files (*.py)")
        )
        if name:
            self.open(name)

    @Slot(str)
    def open(self, path: str) -> None:
        """Add the methods and measures of a Python file.

        The file is at ``path``. The user is asked first, unless the
        file is allowed already.
        """

        def answer(allowed: bool) -> None:
            """Add the methods of a Python file if it was allowed before, or if the user agrees now.

            ``allowed`` says whether it was allowed before. The path is
            that of the enclosing method.
            """
            if allowed or self._agrees([Path(path)]):
                self._add(path)

        text = tr("Reading {name}").format(name=Path(path).name)
        self._worker.task(
            text, _is_allowed, Path(path), on_done=answer, on_error=self.failed.emit
        )

    def add_methods_of_plan(self, path: str, then: Callable[[], None]) -> None:
        """Add the methods whose code a plan names, after a question to the user, and then call ``then``.

        ``path`` is that of the plan. ``then`` is called at once if the
        plan names no code. Without the user's consent, it is not
        called.
        """
        try:
            keys = list(method_keys(read_toml(Path(path))))
        except PlanError:
            keys = []  # the function that reads the plan afterwards reports the error
        if not any(map(_is_code, keys)):
            then()
            return
        self._add_code_of_plan(keys, Path(path).absolute().parent, then, allowed=False)

    def _add_code_of_plan(
        self,
        keys: Sequence[str],
        folder: Path,
        then: Callable[[], None],
        *,
        allowed: bool,
    ) -> None:
        """Add the methods of a plan on the worker, and then call a function.

        If the user has not allowed the code of the methods yet, ask and
        try again.

        Parameters
        ----------
        keys : sequence of str
            Keys of methods and measures; a key may name code in a file.
        folder : Path
            Folder of the plan, in which the files are searched.
        then : callable
            Called after the methods were added.
        allowed : bool
            Whether the user has allowed the code.
        """
        label = tr("Reading the methods of the plan")

        def done(error: RankStudioError | None) -> None:
            """Go on if methods were added without an error; else ask for permission, or report the error.

            The work returns its error instead of raising it. With the
            permission, the enclosing method, which adds the methods of
            a plan, is called again. Its parameter ``then`` is what to
            go on with.
            """
            self._end()
            if error is None:
                then()
            elif isinstance(error, CodeNotAllowedError) and not allowed:
                # The question shows the files of code; modules and commands have none.
                files = [folder / _file_name(key) for key in keys if ".py:" in key]
                if self._agrees(
                    [path for path in files if path.is_file()], named_by_plan=error.key
                ):
                    self._add_code_of_plan(keys, folder, then, allowed=True)
            else:
                self.failed.emit(str(error))

        work = partial(_add_keys, tuple(keys), folder, allowed)
        job = self._worker.task(label, work, on_done=done, on_error=self._fail)
        self._begin(job, ", ".join(filter(_is_code, keys)))

    def _add(self, path: str) -> None:
        """Add the methods and measures of an allowed file, whose code runs on the worker."""
        name = Path(path).name
        job = self._worker.task(
            tr("Reading {name}").format(name=name),
            _add_file,
            Path(path),
            on_done=partial(self._show_additions, path),
            on_error=self._fail,
        )

        # Already now, so that a change while the code runs is noticed.
        self._watch(path)
        self._begin(job, name)

    def _show_additions(
        self, path: str, entries: tuple[Method | MeasureEntry, ...]
    ) -> None:
        """Show the additions of the file at ``path``, in a message and in the plan.

        The plan gets a method, or a measure if the file has no method.
        ``entries`` are the additions.
        """
        self._end()
        names = ", ".join(entry.label for entry in entries)
        self.said.emit(
            tr("Added from {file}: {names}.").format(file=Path(path).name, names=names)
        )
        methods = tuple(entry for entry in entries if isinstance(entry, Method))
        measures = {
            entry.label: entry.key
            for entry in entries
            if isinstance(entry, MeasureEntry)
        }
        if methods:
            self._show_methods(path, methods)
        self._use_measures(path, measures, shows=not methods)

    def _use_measures(
        self, path: str, measures: dict[str, str], *, shows: bool
    ) -> None:
        """Replace measures of an earlier version of a file in the plan by those of the present version.

        ``measures`` has the key of each measure by its label. ``shows``
        says whether to add all measures of the file to the plan, and to
        show one. ``shows`` is False for a file with methods: measures
        that are functions take long, and a function may be a part of a
        method.
        """
        # The keys of the earlier version, by labels; none for a file
        # that is read for the first time. A measure is the same if it
        # has the same label.
        old_keys = self._measure_keys.get(path, {})
        self._measure_keys[path] = measures

        def present_name(name: str) -> str:
            """Return the name of a measure in the present version of the file.

            ``name`` is the name of a measure in the plan. Names of
            measures that are not from this file are returned as they
            are.
            """
            # A name is a key, or a key with a cut-off, such as "key@10".
            key, separator, cutoff = name.partition("@")
            label = next(
                (label for label, old_key in old_keys.items() if old_key == key), ""
            )
            return (
                f"{measures[label]}{separator}{cutoff}" if label in measures else name
            )

        plan = self._session.plan
        new_names = measures.values() if shows else ()

        # Each name once, the plan's own measures first.
        names = tuple(dict.fromkeys((*map(present_name, plan.measures), *new_names)))
        if names != plan.measures:
            text = tr("adding {measures}").format(measures=", ".join(measures))
            self._session.change(
                text, measures=names, select_by=present_name(plan.select_by)
            )

        # The shown measure is replaced by its new version. If it is
        # none of the file's, its name is the same as before: the file's
        # first is shown.
        measure_name = present_name(self._session.measure)
        if shows and measure_name == self._session.measure:
            measure_name = next(iter(measures.values()))
        self._session.show_measure(measure_name)

    def _show_methods(self, path: str, entries: tuple[Method, ...]) -> None:
        """Choose a method of the file at ``path`` in the form.

        The chosen method is the new version of the present method, or
        else the first method. A new version keeps the values of the
        parameters that it still has. The keys of the methods are
        remembered, by which the next version is recognized. ``entries``
        are the methods of the file.
        """
        old_keys = self._method_keys.get(path, ())
        self._method_keys[path] = tuple(entry.key for entry in entries)
        plan = self._session.plan
        chosen = entries[0]
        is_new_version = plan.method in old_keys
        if is_new_version:
            label = method(plan.method).label
            chosen = next((entry for entry in entries if entry.label == label), chosen)
        parameter_names = {p.name for p in chosen.parameters}
        parameters = {
            name: value
            for name, value in plan.parameters.items()
            if name in parameter_names
        }
        self.added.emit(chosen)

        # A method that does not select features has no final ranker,
        # and scores of a file belong to the method that read them.
        changes = {
            "method": chosen.key,
            "ranker": plan.ranker if chosen.selects else "",
            "scores": {},
        }
        if not changes["ranker"]:
            changes["ranker_parameters"] = {}
        text = tr("choosing {method}").format(method=chosen.label)
        try:
            self._session.change(
                text, parameters=parameters if is_new_version else {}, **changes
            )
        # The new version may refuse a value of the earlier one: all
        # parameters get their defaults then.
        except RankStudioError:
            self._session.change(text, parameters={}, **changes)

    def _fail(self, text: str) -> None:
        """Report that code has failed, and forget its job."""
        self._end()
        self.failed.emit(text)

    def _watch(self, path: str) -> None:
        """Watch a file for changes, unless it is watched already."""
        if path not in self._watcher.files():
            self._watcher.addPath(path)

    @Slot(str)
    def _note_change(self, path: str) -> None:
        """Offer to read a changed file again; nothing is done if it was deleted."""
        if Path(path).is_file():
            self._watch(path)  # Qt stops watching a file that an editor has replaced
            name = Path(path).name
            text = tr("{name} has changed. Runs keep the earlier text.").format(
                name=name
            )
            self.offered.emit(
                text, "info", {tr("Read again"): partial(self._add, path)}
            )

    def _agrees(self, files: Sequence[Path], named_by_plan: str = "") -> bool:
        """Ask the user whether code may run, and show the code; return the answer.

        ``named_by_plan`` is the key by which a plan names the code,
        such as a command, and is shown if there are no files; "" for a
        file that the user has chosen.
        """
        names = ", ".join(path.name for path in files) or named_by_plan
        text = tr("This runs the code of {names}.")
        if named_by_plan:
            text = tr("The plan runs the code of {names}.")
        trust = tr(
            "Run it only if you trust its source: it can do everything that you can do."
        )
        detail = "\n\n".join(
            f"# {path}\n{_file_text_or_error(path)}" for path in files
        )[:_MAX_CHARACTERS]
        question = f"{text.format(names=names)} {trust}"
        return Question.ask(
            self._window, tr("Run code?"), question, tr("Run code"), detail=detail
        )


def _file_text_or_error(path: Path) -> str:
    """Return the text of a file, or the error if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return str(error)


def _is_allowed(path: Path) -> bool:
    """Return whether this user has already allowed a file.

    The file is at ``path``. Called on the worker.
    """
    from rankstudio.engine.methods.foreign.permission import is_allowed_file  # noqa: PLC0415 - numba

    return is_allowed_file(path)


def _is_code(key: str) -> bool:
    """Return whether the key of a method or a measure names code: a file, a module or a command."""
    return "." in key or key.startswith("command:")


def _file_name(key: str) -> str:
    """Return the file name at the beginning of the key of a method or a measure."""
    return key.removeprefix("measure:").partition(":")[0]


def _add_file(path: Path) -> tuple[Method | MeasureEntry, ...]:
    """Add all methods and measures of a file; called on the worker."""
    from rankstudio.engine.methods.foreign.permission import add_file  # noqa: PLC0415 - numba

    return add_file(path)


def _add_keys(
    keys: tuple[str, ...], folder: Path, allowed: bool
) -> RankStudioError | None:
    """Add the methods of a plan by their keys; called on the worker.

    Return None, or an error, which may lead to a question to the user.
    Files of code are searched in ``folder``, and ``allowed`` says
    whether the user has allowed them.
    """
    from rankstudio.engine.methods.foreign.permission import add_code_of_plan  # noqa: PLC0415 - numba

    try:
        # It adds each method and measure that one of the keys names, by its code.
        add_code_of_plan(keys, (folder,), allow_code=allowed)
    except RankStudioError as error:
        return error
    return None
