"""Ctrl+C, and SIGTERM, while modules load ends the process with one sentence, whichever module it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking

# At each import that the command makes a copy of the process is interrupted, and the process goes on.
CODE = """
import os, runpy, sys

tried, folder = [], sys.argv[1]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        package, _, rest = name.partition(".")
        if name in ("rankstudio", "rankstudio.__main__"):  # before the program's first line
            return None
        if rest.count(".") > 0 and package != "rankstudio":
            return None
        if os.fork() == 0:
            sys.meta_path.remove(self)
            printed = os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            # exec() has Python remember an interruption until its end
            number = "SIGTERM" if len(tried) % 2 and "rankstudio.cli" in sys.modules else "SIGINT"
            exec(f"import signal; signal.raise_signal(signal.{number})")
            os._exit(99)
        status = os.waitstatus_to_exitcode(os.wait()[1])
        printed = open(f"{folder}/{name}").read()
        tried.append((name, status, printed))
        return None

sys.meta_path.insert(0, Interrupting())
sys.argv = ["rankstudio", *sys.argv[2:]]
try:
    runpy.run_module("rankstudio", run_name="__main__")
finally:
    failed = [t for t in tried if t[1:] != (130, "Interrupted.\\n")]
    with open("tried", "w") as file:
        print(len(tried), *failed, sep="\\n", file=file)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied there")
@pytest.mark.parametrize("command", ["methods gas", "evaluate train.txt scores.txt --measures MAP"])
def test_whichever_module_loads(command: str, tmp_path: Path) -> None:
    train = make_ranking(n_queries=5, seed=3).folds[0].train
    save_letor(train, tmp_path / "train.txt")
    (tmp_path / "scores.txt").write_text("1\n" * train.n_documents)
    (tmp_path / "printed").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "printed"), *command.split()],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    count, *failed = (tmp_path / "tried").read_text().splitlines()
    assert int(count) > 50
    assert failed == []
    assert done.stderr == ""
