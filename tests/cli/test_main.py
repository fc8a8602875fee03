"""The command line: what it opens, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from wording import naming

import rankstudio.cli
from rankstudio import __version__
from rankstudio.cli import known_commands, main
from rankstudio.engine.errors import Cancelled, DatasetError


@pytest.fixture
def languages(monkeypatch, tmp_path: Path) -> list[str]:
    """The languages that were chosen, in place of choosing one for all tests of this process."""
    chosen: list[str] = []
    monkeypatch.setenv("RANKSTUDIO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr("rankstudio.ui.language.install", chosen.append)
    return chosen


@pytest.fixture
def window(monkeypatch, languages: list[str]) -> list[list[str]]:
    """What the window was opened with, in place of the window."""
    opened: list[list[str]] = []
    app = types.ModuleType("rankstudio.ui.app")
    app.main = lambda argv: opened.append(list(argv)) or 0  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, "rankstudio.ui.app", app)
    monkeypatch.setattr(
        "rankstudio.ui.process.display_check.why_no_window", lambda: None
    )
    return opened


@pytest.fixture
def no_display(monkeypatch) -> None:
    monkeypatch.setattr(
        "rankstudio.ui.process.display_check.why_no_window",
        lambda: "No window can be opened: no display.",
    )


def test_without_a_command_the_window_opens(
    window: list[list[str]], tmp_path: Path
) -> None:
    assert main([]) == 0
    assert main(["--sample"]) == 0
    assert main([str(tmp_path)]) == 0
    assert main(["--sample", str(tmp_path)]) == 0
    assert window == [[], ["--sample"], [str(tmp_path)], [str(tmp_path), "--sample"]]


def test_the_window_speaks_what_is_asked_for_else_what_the_settings_say(
    window: list[list[str]], languages: list[str], tmp_path: Path
) -> None:
    assert main(["--language", "de", str(tmp_path)]) == 0
    assert main(["--sample", "--language=en"]) == 0
    assert main([]) == 0
    assert languages == ["de", "en", "system"]
    assert window == [[str(tmp_path)], ["--sample"], []]


def test_an_unknown_language_is_a_wrong_command_line(
    window: list[list[str]], capsys
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--language", "klingon"])
    assert "klingon" in capsys.readouterr().err
    assert window == []


def test_a_file_that_has_the_name_of_a_command_can_be_opened(
    window: list[list[str]], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").touch()
    assert main(["./run"]) == 0
    assert window == [["./run"]]


def test_what_is_neither_a_file_nor_a_command(window: list[list[str]], capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["evalute"])
    assert naming("evaluate").search(capsys.readouterr().err)
    with pytest.raises(SystemExit, match="2"):
        main(["/nowhere/MQ2008"])
    assert naming("file folder").search(capsys.readouterr().err)
    with pytest.raises(SystemExit, match="2"):
        main(["--smaple"])
    assert window == []


def test_without_a_display_one_line_says_why(no_display: None, capsys) -> None:
    assert main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "No window can be opened: no display."
    assert "rankstudio run" in printed.err


def test_without_a_display_the_sample_study_runs_in_the_terminal(
    no_display: None, monkeypatch
) -> None:
    monkeypatch.setattr(
        "rankstudio.cli.commands.run.run", lambda args: 7 if args.sample else 0
    )
    assert main(["--sample"]) == 7


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (
            DatasetError("These files do not belong together."),
            1,
            "rankstudio: These files do not belong together.\n",
        ),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (Cancelled("Loading"), 130, "Interrupted.\n"),
    ],
)
def test_how_it_ends(
    error: BaseException,
    status: int,
    printed: str,
    monkeypatch,
    capsys,
) -> None:
    def fail(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(rankstudio.cli, "_dispatch", fail)
    assert main(["methods"]) == status
    assert capsys.readouterr().err == printed


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch) -> None:
    def fail(arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(rankstudio.cli, "_dispatch", fail)
    with pytest.raises(ZeroDivisionError):
        main([])


def test_version_and_help(capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"RankStudio {__version__}\n"
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(f"    {command} " in text for command in known_commands())
    assert "exit status" in text


def test_help_waits_for_nothing_heavy() -> None:
    code = (
        "import contextlib, sys; from rankstudio.cli import known_commands, main\n"
        "heavy = {'numba', 'scipy', 'sklearn', 'pandas', 'PySide6', 'pyqtgraph'}\n"
        "for command in known_commands():\n"
        "    with contextlib.suppress(SystemExit): main([command, '--help'])\n"
        "    print(command, *heavy & sys.modules.keys(), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert all(
        f"usage: rankstudio {command} " in done.stdout for command in known_commands()
    )
    assert done.stderr.split("\n")[:-1] == list(known_commands())


@pytest.mark.skipif(
    sys.platform == "win32", reason="pipes are closed differently there"
)
def test_a_reader_that_has_seen_enough() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "rankstudio", "methods"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="nothing here is always full"
)


def in_process(
    *arguments: object, output: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a shell does, its output going where the shell is told."""
    command = " ".join(["exec", '"$@"', output])
    return subprocess.run(
        [
            "sh",
            "-c",
            command,
            "sh",
            sys.executable,
            "-m",
            "rankstudio",
            *map(os.fspath, arguments),
        ],
        check=False,
        capture_output=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_the_output_cannot_encode_is_escaped(encoding: str) -> None:
    done = in_process("methods", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u03a3" in done.stdout
    assert b"\\u2500" not in done.stdout
    assert b"\\u2013" not in done.stdout


@needs_full
@pytest.mark.parametrize("command", ["methods", "--version", "run --help"])
def test_a_full_output_is_told_in_a_sentence(command: str) -> None:
    # What Python does not buffer it fails to write at once, and else at the end.
    done = in_process(
        *command.split(),
        output="> /dev/full",
        PYTHONUNBUFFERED="1" * ("run" in command),
    )
    assert done.returncode == 1
    assert naming("rankstudio: No space left on device").search(done.stderr.decode())
    assert done.stderr.count(b"\n") == 1


@needs_full
def test_a_full_error_stream_ends_no_work() -> None:
    done = in_process("methods", "gas", output="2> /dev/full")
    assert (done.returncode, done.stdout[:3]) == (0, b"gas")
    assert (
        in_process(
            "--help", output="> /dev/full 2> /dev/full", PYTHONUNBUFFERED=""
        ).returncode
        == 1
    )
    assert in_process("nowhere/at/all", output="2> /dev/full").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="a shell's way to close an output")
def test_a_closed_output_is_no_fault() -> None:
    done = in_process("methods", output=">&-")
    assert (done.returncode, done.stderr) == (0, b"")
    done = in_process("studies", "nowhere.rankstudio", output="2>&-")
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere all names of files are text"
)
def test_paths_that_are_not_utf8_are_told_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    data = folder / "data.txt"
    lines = [f"{i % 2} qid:{q} 1:{i}.{q} 2:{i % 3}" for q in range(6) for i in range(4)]
    data.write_text("\n".join(lines), encoding="utf-8")
    options = ["run", "--data", data, "--method", "single-feature", "--folds", "1"]
    for where in (
        ["--study", tmp_path / "study.rankstudio"],
        ["--out", tmp_path / "out"],
    ):
        kept = in_process(*options, *where, PYTHONUTF8="1")
        assert kept.returncode == 1
        assert b"Traceback" not in kept.stderr
        assert naming("UTF-8").search(kept.stderr.decode())


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["studies", "a\nb\x1b[31m"], 1),
        (["compare", "a\nb"], 1),
        (["methods", "--no\nsuch"], 2),
        (["run", "--data", ""], 2),
        (["run", "--data", "a", "--out", ""], 2),
        (["predict", "", "--model", "a"], 2),
        (["permute", ""], 2),
        (["run", "--data", "a", "--workers", "9" * 30], 1),
    ],
)
def test_a_mistake_is_one_line_whatever_was_typed(
    command: list[str], status: int, capsys
) -> None:
    try:
        found = main(command)
    except SystemExit as left:
        found = int(left.code or 0)
    assert found == status
    *usage, sentence, end = capsys.readouterr().err.split("\n")
    assert end == "" and sentence.isprintable()
    assert sentence.startswith("rankstudio")
    assert bool(usage) == (status == 2)
