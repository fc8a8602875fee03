"""Programs as methods: what they read and write, how they end, and what is said of those that misbehave."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, ended

from rankstudio.engine.errors import CodeNotAllowedError, MethodError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog import MethodRegistry
from rankstudio.engine.methods.foreign.command import PREFIX, method_of_command
from rankstudio.engine.methods.foreign.permission import add_by_user, add_of_plan

SCRIPT = """
import sys
train, order, power, mode = sys.argv[1:5]
rows = [line.split() for line in open(train)]
n = max(int(pair.split(":")[0]) for row in rows for pair in row[2:])
y = [float(row[0]) for row in rows]
X = [dict((int(i), float(v)) for i, v in (pair.split(":") for pair in row[2:])) for row in rows]
mean = sum(y) / len(y)
scores = [abs(sum(x.get(i, 0.0) * (t - mean) for x, t in zip(X, y))) ** float(power) for i in range(1, n + 1)]
print("progress 0.5", flush=True)
print("hello from the program", flush=True)
with open(order, "w") as out:
    if mode == "scores":
        out.write("\\n".join(map(str, scores)))
    else:
        out.write(" ".join(str(i) for i in sorted(range(1, n + 1), key=lambda i: -scores[i - 1])))
"""


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry(catalog.methods()))


def command(folder: Path, text: str, arguments: str) -> str:
    script = folder / "my script.py"
    script.write_text(text, encoding="utf-8")
    return f"{PREFIX}{sys.executable} '{script}' {arguments}"


def selected(key: str, **parameters: object) -> tuple[int, ...]:
    plan = Plan("here", key, {"regularization": 1.0, **parameters}, folds=(1,))
    return ended(run(plan, dataset())).folds[0].paths[0].steps[-1].selected


@pytest.mark.parametrize("mode", ["order", "scores"])
def test_the_order_is_that_of_the_program(tmp_path: Path, mode: str) -> None:
    entry = add_by_user(command(tmp_path, SCRIPT, f"{{train}} {{{mode}}} {{power=1.0}} {mode}"))
    assert entry.label == "my script.py" and entry.parameter("power").default == "1.0"
    train = dataset().folds[0].train
    scores = np.abs(train.X.T @ (train.y - train.y.mean()))
    expected = tuple(np.argsort(-scores, kind="stable").tolist())
    found = selected(entry.key, power="2")
    assert found == expected[: len(found)]
    plan = Plan("here", entry.key, folds=(1,))
    notes = ended(run(plan, dataset())).folds[0].paths[0].notes
    assert any("hello from the program" in note.what for note in notes)
    assert not any("progress" in note.what for note in notes)
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan


@pytest.mark.skipif(shutil.which("awk") is None, reason="there is no awk")
def test_a_program_in_another_language(tmp_path: Path) -> None:
    """The sum of each feature times the label, in awk: the same as in numpy."""
    script = tmp_path / "sums.awk"
    script.write_text(
        '{ for (i = 3; i <= NF; i++) { split($i, p, ":"); s[p[1]] += p[2] * $1 } }\n'
        'END { for (i = 1; i in s; i++) printf "%.17g\\n", s[i] > out }\n',
        encoding="utf-8",
    )
    entry = add_by_user(f"{PREFIX}awk -v out={{scores}} -f {script} {{train}}")
    train = dataset().folds[0].train
    expected = tuple(np.argsort(-(train.X.T @ train.y), kind="stable").tolist())
    found = selected(entry.key)
    assert entry.label == "sums.awk" and found == expected[: len(found)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import sys; sys.exit('no luck')", "no luck"),
        ("pass", "wrote no order.txt"),
        ("open(__import__('sys').argv[2], 'w').write('1 1 2')", "different numbers"),
        ("open(__import__('sys').argv[2], 'w').write('0 1')", "different numbers"),
        ("open(__import__('sys').argv[2], 'w').write('7')", "from 1 to 6"),
        ("open(__import__('sys').argv[2], 'wb').write(b'\\xff\\xfe')", "no text"),
        ("import os; os.kill(os.getpid(), 9)", "status -9"),
        ("x = bytearray(10**10)", "MemoryError"),
    ],
)
def test_a_fault_is_a_sentence(tmp_path: Path, text: str, found: str) -> None:
    entry = add_by_user(command(tmp_path, text, "{train} {order}"))
    with pytest.raises(MethodError, match=found):
        selected(entry.key, memory_limit=4)


def test_time_limit_and_stop_end_the_whole_group(tmp_path: Path) -> None:
    mark = tmp_path / "children"
    text = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(mark)!r}, "a").write(f"{{child.pid}}\\n")
time.sleep(600)
"""
    entry = add_by_user(command(tmp_path, text, "{train} {order}"))
    with pytest.raises(MethodError, match="more than"):
        selected(entry.key, time_limit=3)
    events = run(Plan("here", entry.key, folds=(1,)), dataset())
    while not mark.exists() or len(mark.read_text().split()) < 2:
        next(events)
    events.close()
    for number in map(int, mark.read_text().split()):
        assert _gone(number), number


def _gone(process: int) -> bool:
    """Return whether a process has ended; a killed one is there until it was waited for."""
    for _ in range(200):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{process}/stat")
        with_state = status.read_text().rpartition(")")[2].split() if status.exists() else ["Z"]
        if with_state[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_command_of_a_plan_is_asked_for(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    key = f"{PREFIX}touch {mark} {{train}} {{order}}"
    with pytest.raises(CodeNotAllowedError):
        add_of_plan([key])
    with pytest.raises(PlanError):
        Plan("here", key)
    add_of_plan([key], allow_code=True)
    assert Plan("here", key).entry.label == "touch"
    assert not mark.exists(), "it runs when it is run"
    for text in ("", "'", "x", "x {train}", "x {train} {order} {scores}", "x {train} {order} {what}", "a\nb"):
        with pytest.raises(PlanError):
            method_of_command(PREFIX + text)
    missing = add_by_user(f"{PREFIX}no-such-program-here {{train}} {{order}}")
    with pytest.raises(MethodError, match="cannot be started"):
        selected(missing.key)
