"""What the window says while kernels are compiled, and that it says nothing where they are not."""

from __future__ import annotations

import threading
from pathlib import Path

from processes import started
from waiting import wait_until
from windows import Opened, finish, open_window, write_folds

from rankstudio.engine.methods.selection.greedy_rankrls import (
    _solved_kernel,
    _statistics_kernel,
)
from rankstudio.engine.support.compilation import announce
from rankstudio.ui.select.curves_panel import NO_CRITERION, NO_MEASURES
from rankstudio.ui.style.theme import Theme


def _says(window) -> tuple[str, str, str]:  # type: ignore[no-untyped-def]
    plots = window.sections.select.curves.plots().values()
    return window.status.text(), *(plot.placeholder for plot in plots)


def test_status_and_empty_curves_say_what_is_compiled_until_it_is_there(
    opened: Opened,
) -> None:
    with opened() as window:
        assert _says(window) == ("Ready", NO_CRITERION, NO_MEASURES)
        compiling = threading.Thread(target=announce, args=["select"])
        compiling.start()
        compiling.join()
        wait_until(lambda: window.status.text() != "Ready")
        sentence = window.status.text()
        assert sentence.startswith(
            "Compiling for this computer (first use only): kernel "
        )
        assert _says(window) == (sentence, sentence, sentence)
        window.models.preparing.emit("")
        assert _says(window) == ("Ready", NO_CRITERION, NO_MEASURES)


def test_what_a_task_compiles_is_said_until_the_task_is_done(opened: Opened) -> None:
    with opened() as window:
        worker, compiled = window.models.task_worker, threading.Event()

        def compile_something() -> None:
            announce("tied_pairs")
            compiled.wait(60)

        worker.task("something", compile_something, on_done=lambda _: None)
        wait_until(
            lambda: (
                window.status.text()
                == "Compiling for this computer (first use only): kernel tied_pairs"
            )
        )
        compiled.set()
        wait_until(lambda: not worker.jobs)
        assert _says(window) == ("Ready", NO_CRITERION, NO_MEASURES)


def test_a_warm_engine_is_prepared_without_a_word(
    opened: Opened, theme: Theme, tmp_path: Path
) -> None:
    with open_window(
        theme, tmp_path / "config", write_folds(tmp_path / "data")
    ) as window:
        window.models.warm_up()
        wait_until(lambda: not window.models.run_worker.jobs, 120)
        said: list[str] = []
        window.models.preparing.connect(said.append)
        window.models.warm_up()
        finish(window)
        assert said == [""]
        assert _says(window)[1:] == (NO_CRITERION, NO_MEASURES)


def test_the_warm_up_compiles_what_the_sample_needs(opened: Opened) -> None:
    with opened() as window:
        window.models.warm_up()
        wait_until(lambda: not window.models.run_worker.jobs, 120)
        for kernel in (
            _solved_kernel.start,
            _solved_kernel.select,
            _statistics_kernel.extend,
        ):
            assert len(kernel.signatures) == 1


def test_what_the_window_loads_has_no_scikit_learn_which_can_be_had_later(
    tmp_path: Path,
) -> None:
    text = (
        "import sys\n"
        "from rankstudio.ui.background import tasks\n"
        "from rankstudio.ui.app import leave_room_for_the_window\n"
        "leave_room_for_the_window()\n"
        "tasks.warm_up()\n"
        "heavy = ('sklearn', 'joblib', 'scipy.stats', 'scipy.optimize', 'pandas', 'pyarrow')\n"
        "print([module for module in heavy if module in sys.modules])\n"
        "from rankstudio.engine.data.synthetic import load_sample\n"
        "from rankstudio.engine.methods.rankers.rankrls import RankRLS\n"
        "data = load_sample().folds[0].train\n"
        "frame = data.to_frame()\n"
        "model = RankRLS().fit(frame.iloc[:, 2:], data.y, qid=data.qid)\n"
        "print(list(model.feature_names_in_) == list(data.feature_names))\n"
    )
    assert started(text, tmp_path) == ("[]\nTrue\n", "")


def test_what_the_first_start_shows_waits_for_no_compiler(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "import rankstudio.ui.main_window\n"
        "from rankstudio.ui.model.study_store import read_sample_run\n"
        "print(len(read_sample_run().result.folds), 'numba' in sys.modules, 'scipy' in sys.modules)\n"
    )
    assert started(text, tmp_path) == ("5 False False\n", "")
