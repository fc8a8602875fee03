"""``rankstudio completion``: the script, and what a shell makes of it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from rankstudio.cli import COMMANDS, main
from rankstudio.cli.commands.completion import SHELLS
from rankstudio.engine.methods.catalog import methods


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_every_command_and_method(shell: str, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)
    assert all(method.key in script for method in methods())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        (["rep"], {"report", "reproduce"}),
        (["run", "--method", "fsm"], {"fsmrank", "fsmrank-top", "fsmsvm"}),
        (["convert", "--norm"], {"--normalize"}),
        (["run", "--data", "MQ20"], {"MQ2007", "MQ2008"}),
        (["evaluate", "MQ20"], {"MQ2007", "MQ2008"}),
    ],
)
def test_bash_completes_what_was_begun(typed: list[str], proposed: set[str], tmp_path, capsys) -> None:
    for name in ("MQ2007", "MQ2008", "OHSUMED"):
        (tmp_path / name).mkdir()
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    ask = f"COMP_WORDS=(rankstudio {' '.join(typed)}); COMP_CWORD={len(typed)}; _shtab_rankstudio"
    said = subprocess.run(
        ["bash", "--norc", "-c", f'{script}\n{ask}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(said.stdout.split()) == proposed, said.stderr
