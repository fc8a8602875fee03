"""``rankstudio completion``: the script, and what a shell makes of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rankstudio.cli import known_commands, main
from rankstudio.cli.commands.completion import SHELLS
from rankstudio.engine.methods.catalog import methods


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_every_command_and_method(shell: str, done) -> None:
    script = done(["completion", shell]).out
    assert all(command in script for command in known_commands())
    assert all(method.key in script for method in methods())


# their folders may be absent
ANSWERS = {"report", "reproduce"} & known_commands().keys()
BEGUN = [
    pytest.param(
        ["rep"], ANSWERS, marks=pytest.mark.skipif(not ANSWERS, reason="none is there")
    ),
    (["run", "--method", "fsm"], {"fsmrank", "fsmrank-top", "fsmsvm"}),
    (["convert", "--norm"], {"--normalize"}),
    (["run", "--data", "MQ20"], {"MQ2007", "MQ2008"}),
    (["evaluate", "MQ20"], {"MQ2007", "MQ2008"}),
]


def proposals(command: list[str], folder: Path) -> set[str]:
    """Return the words that a shell prints, each before a tab or the end of a line, where there are data."""
    for name in ("MQ2007", "MQ2008", "OHSUMED"):
        (folder / name).mkdir()
    said = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert not said.stderr
    return {line.partition("\t")[0].rstrip("/") for line in said.stdout.splitlines()}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(("typed", "proposed"), BEGUN)
def test_bash_completes_what_was_begun(
    typed: list[str], proposed: set[str], tmp_path: Path, capsys
) -> None:
    assert main(["completion", "bash"]) == 0
    ask = f"COMP_WORDS=(rankstudio {' '.join(typed)}); COMP_CWORD={len(typed)}; _shtab_rankstudio"
    script = f'{capsys.readouterr().out}\n{ask}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    assert proposals(["bash", "--norc", "-c", script], tmp_path) == proposed


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(("typed", "proposed"), BEGUN)
def test_fish_completes_what_was_begun(
    typed: list[str], proposed: set[str], tmp_path: Path, done
) -> None:
    script = f"{done(['completion', 'fish']).out}\ncomplete -C 'rankstudio {' '.join(typed)}'"
    assert proposals(["fish", "--no-config", "-c", script], tmp_path) == proposed
