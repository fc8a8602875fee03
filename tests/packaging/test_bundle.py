"""How a bundle starts, how it comes by compiled kernels, and how its window is tried."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.caching import _CacheLocator

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("start", "kernels", "window_session")
PROGRAM = """\
#!{python} -S
# Stands for the bundled program: compiles a kernel named by what it was asked for.
import os, pathlib, signal, sqlite3, sys
words = "-".join(word.lstrip("-") for word in sys.argv[1:3])
numba = pathlib.Path(os.environ["NUMBA_CACHE_DIR"], {folder!r})
numba.mkdir(parents=True, exist_ok=True)
(numba / (words + ".nbc")).touch()
if pathlib.Path(sys.argv[0]).name == "rankstudio-window":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit({status}))
    studies = pathlib.Path(os.environ["RANKSTUDIO_DATA_DIR"], "studies")
    studies.mkdir(parents=True)
    study = sqlite3.connect(studies / "Study.rankstudio", isolation_level=None)
    study.execute("PRAGMA locking_mode = EXCLUSIVE")
    study.execute("PRAGMA journal_mode = WAL")
    study.execute("CREATE TABLE run (finished TEXT)")
    study.execute("INSERT INTO run VALUES ({finished})")
    while {stays}:
        signal.pause()
"""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of ``packaging``, which are scripts and belong to no package."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name)


@pytest.fixture
def start(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> ModuleType:
    """The bundle's first module, in a bundle whose files are in a folder; the command line returns 7."""
    module = modules["start"]
    monkeypatch.setattr(module, "main", lambda: 7)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "bundle"), raising=False)
    (tmp_path / "bundle").mkdir()
    return module


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run", "--sample"],
        ["-m"],
        ["-m", "http.server"],
        ["-I", "-S"],
        ["-I", "-S", __file__],
    ],
    ids=" ".join,
)
def test_what_is_not_the_bundles_own_is_a_command_line(
    start: ModuleType, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["rankstudio", *words])
    assert start.start() == 7
    assert sys.argv[1:] == words


def test_a_module_of_the_program_is_run_as_python_would(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, str, list[str]]] = []
    monkeypatch.setattr(
        start.runpy,
        "run_module",
        lambda name, run_name: ran.append((name, run_name, sys.argv[1:])),
    )
    monkeypatch.setattr(
        sys, "argv", ["rankstudio", "-m", "rankstudio.engine.steps", "--word"]
    )
    assert start.start() == 0
    assert ran == [("rankstudio.engine.steps", "__main__", ["--word"])]


def test_a_script_of_the_bundle_is_run_with_its_arguments(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "bundle" / "script.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nPath(sys.argv[1]).write_text(__name__)\n"
    )
    monkeypatch.setattr(
        sys, "argv", ["rankstudio", "-I", "-S", str(script), str(tmp_path / "said")]
    )
    assert start.start() == 0
    assert (tmp_path / "said").read_text() == "__main__"


def test_the_bundle_understands_every_process_that_the_program_starts() -> None:
    texts = [
        path.read_text(encoding="utf-8") for path in (ROOT / "rankstudio").rglob("*.py")
    ]
    trees = [ast.parse(text) for text in texts if "sys.executable" in text]
    lists = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.List) and node.elts
    ]
    commands = [[ast.unparse(word) for word in node.elts] for node in lists]
    forms = [command[1:3] for command in commands if command[0] == "sys.executable"]
    assert forms
    assert all(form[0] == "'-m'" or form == ["'-I'", "'-S'"] for form in forms), forms


def test_kernels_are_looked_for_where_numba_puts_them(
    modules: dict[str, ModuleType],
) -> None:
    source = ROOT / "rankstudio" / "engine" / "data" / "formats" / "letor.py"
    theirs = _CacheLocator.get_suitable_cache_subpath(str(source))
    assert modules["kernels"].folder_of_numba(source.parent) == Path(theirs).name


def bundle(
    folder: Path, status: int = 0, finished: str = "'now'", stays: bool = True
) -> Path:
    """Make a folder like a bundle's, with a program that stands for the real one."""
    package = folder / "_internal" / "rankstudio"
    package.mkdir(parents=True)
    (package / "__main__.py").touch()
    (package / "resources" / "kernels" / "rankstudio.old").mkdir(parents=True)
    (package / "resources" / "kernels" / "rankstudio.old" / "old.nbc").touch()
    kernels = Path(
        _CacheLocator.get_suitable_cache_subpath(str(package / "__main__.py"))
    ).name
    for name in ("rankstudio", "rankstudio-window"):
        program = folder / name
        program.write_text(
            PROGRAM.format(
                python=sys.executable,
                folder=kernels,
                status=status,
                finished=finished,
                stays=stays,
            )
        )
        program.chmod(0o755)
    return folder


posix = pytest.mark.skipif(
    os.name == "nt", reason="the program is a script that names its interpreter"
)


@posix
def test_kernels_of_terminal_and_window_come_into_the_bundle(
    modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys,
) -> None:
    monkeypatch.setattr(modules["window_session"], "QUIET", 0.0)
    monkeypatch.setattr(modules["kernels"], "ROOT", tmp_path)
    there = tmp_path / "rankstudio" / "__pycache__"
    there.mkdir(parents=True)
    for name in ("there.nbc", "there.nbi", "module.pyc"):
        (there / name).touch()
    made = bundle(tmp_path / "made")
    modules["kernels"].main(made)
    kept = made / "_internal" / "rankstudio" / "resources" / "kernels"
    assert {str(path.relative_to(kept)) for path in kept.rglob("*.nbc")} == {
        "rankstudio/run-sample.nbc",
        "rankstudio/sample-run.nbc",
        "rankstudio/there.nbc",
    }
    assert "3 compiled kernels" in capsys.readouterr().out


@posix
@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ({"stays": False, "finished": "NULL"}, "ended by itself, with status 0"),
        ({"status": 3}, "ended with status 3"),
        ({"finished": "NULL"}, "has not run the sample"),
    ],
    ids=["gone", "fails at its end", "does not run"],
)
def test_a_window_that_does_not_do_its_work_is_told(
    program: dict[str, object],
    sentence: str,
    modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    session = modules["window_session"]
    monkeypatch.setattr(session, "QUIET", 0.0)
    if sentence == "has not run the sample":
        monkeypatch.setattr(session, "LONGEST", 0.0)
    made = bundle(tmp_path / "made", **program)  # type: ignore[arg-type]
    environment = os.environ | {
        "RANKSTUDIO_DATA_DIR": str(tmp_path / "data"),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    with pytest.raises(session.SessionError, match=sentence):
        session.run_sample(made, tmp_path / "data", tmp_path / "numba", environment)
