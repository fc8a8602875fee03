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

from rankstudio.cli import command_line
from rankstudio.engine.errors import CodeNotAllowedError, MethodError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.foreign.command import method_of_command
from rankstudio.engine.methods.foreign.permission import add_by_user, add_code_of_plan
from rankstudio.engine.methods.foreign.program import PREFIX
from rankstudio.engine.metrics.evaluation import evaluate

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


def command(folder: Path, text: str, arguments: str) -> str:
    script = folder / "my script.py"
    script.write_text(text, encoding="utf-8")
    return f"{PREFIX}{sys.executable} '{script}' {arguments}"


def selected(key: str, **parameters: object) -> tuple[int, ...]:
    plan = Plan("here", key, {"regularization": 1.0, **parameters}, folds=(1,))
    return ended(run(plan, dataset())).folds[0].paths[0].steps[-1].selected


@pytest.mark.parametrize("mode", ["order", "scores"])
def test_the_order_is_that_of_the_program(tmp_path: Path, mode: str) -> None:
    entry = add_by_user(
        command(tmp_path, SCRIPT, f"{{train}} {{{mode}}} {{power=1.0}} {mode}")
    )
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


JAVA = """
import java.nio.file.*;
import java.util.*;

public class Sums {
    public static void main(String[] files) throws Exception {
        TreeMap<Integer, Double> sums = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of(files[0]))) {
            String[] words = line.split(" ");
            for (int i = 2; i < words.length; i++) {
                String[] pair = words[i].split(":");
                double product = Double.parseDouble(pair[1]) * Double.parseDouble(words[0]);
                sums.merge(Integer.parseInt(pair[0]), product, Double::sum);
            }
        }
        System.out.println("progress 0.9");
        StringBuilder text = new StringBuilder();
        for (double sum : sums.values()) text.append(sum).append("\\n");
        Files.writeString(Path.of(files[1]), text);
    }
}
"""


@pytest.mark.skipif(
    shutil.which("javac") is None, reason="there is no Java that runs source files"
)
@pytest.mark.thorough
def test_a_program_in_java(tmp_path: Path) -> None:
    (tmp_path / "Sums.java").write_text(JAVA, encoding="utf-8")
    entry = add_by_user(f"{PREFIX}java {tmp_path / 'Sums.java'} {{train}} {{scores}}")
    train = dataset().folds[0].train
    expected = tuple(np.argsort(-(train.X.T @ train.y), kind="stable").tolist())
    found = selected(entry.key)
    assert entry.label == "Sums.java" and found == expected[: len(found)]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R")
@pytest.mark.thorough
def test_the_program_in_r_of_the_guide(tmp_path: Path) -> None:
    guide = Path(__file__).parents[4] / "docs" / "adding-a-method.md"
    text = guide.read_text(encoding="utf-8").split("```r\n")[1].split("```")[0]
    (tmp_path / "covariance.R").write_text(text, encoding="utf-8")
    entry = add_by_user(
        f"{PREFIX}Rscript {tmp_path / 'covariance.R'} {{train}} {{scores}}"
    )
    train = dataset().folds[0].train
    scores = np.abs(train.X.T @ (train.y - train.y.mean()))
    expected = tuple(np.argsort(-scores, kind="stable").tolist())
    found = selected(entry.key)
    assert found == expected[: len(found)]


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
        with_state = (
            status.read_text().rpartition(")")[2].split() if status.exists() else ["Z"]
        )
        if with_state[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_command_of_a_plan_is_asked_for(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    key = f"{PREFIX}touch {mark} {{train}} {{order}}"
    with pytest.raises(CodeNotAllowedError):
        add_code_of_plan([key])
    with pytest.raises(PlanError):
        Plan("here", key)
    add_code_of_plan([key], allow_code=True)
    assert Plan("here", key).entry.label == "touch"
    assert not mark.exists(), "it runs when it is run"
    for text in (
        "",
        "'",
        "x",
        "x {train}",
        "x {train} {order} {scores}",
        "x {train} {order} {what}",
        "a\nb",
    ):
        with pytest.raises(PlanError):
            method_of_command(PREFIX + text)
    missing = add_by_user(f"{PREFIX}no-such-program-here {{train}} {{order}}")
    with pytest.raises(MethodError, match="cannot be started"):
        selected(missing.key)


RANKER = """
import sys
mode, source, model, result = (sys.argv[1:] + [""])[:4]
rows = [line.split() for line in open(source)]
X = [dict((int(i), float(v)) for i, v in (pair.split(":") for pair in row[2:])) for row in rows]
n = max(max(x, default=0) for x in X)
if mode == "train":
    y = [float(row[0]) for row in rows]
    weights = [sum(x.get(i, 0.0) * t for x, t in zip(X, y)) for i in range(1, n + 1)]
    open(model, "w").write(" ".join(map(repr, weights)))
    print("trained")
else:
    weights = list(map(float, open(model).read().split()))
    scores = [sum(w * x.get(i, 0.0) for i, w in enumerate(weights, start=1)) for x in X]
    open(result, "w").write("".join(f"1 {j} {score!r}\\n" for j, score in enumerate(scores)))
"""


def ranker(folder: Path, text: str = RANKER) -> str:
    script = folder / "ranker.py"
    script.write_text(text, encoding="utf-8")
    program = f"{sys.executable} '{script}'"
    return f"{PREFIX}{program} train {{train}} {{model}} ; {program} score {{documents}} {{model}} {{scores}}"


def test_a_program_ranks(tmp_path: Path) -> None:
    entry = add_by_user(ranker(tmp_path))
    assert entry.family == "ranker" and entry.label == "ranker.py"
    data = dataset()
    plan = Plan("here", entry.key, folds=(1,), measures=("MAP", "NDCG@5"))
    fold = ended(run(plan, data)).folds[0]
    train, test = data.folds[0].train, data.folds[0].test
    scores = test.X @ (train.X.T @ train.y)
    expected = evaluate(
        test.y, scores, qid=test.qid, measures=plan.measures, convention=plan.convention
    )
    assert fold.test == pytest.approx(expected)
    assert any("trained" in note.what for note in fold.paths[0].notes)
    assert fold.selected == tuple(data.feature_ids)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pass", "wrote no model.txt"),
        (
            "import sys\nif 'train' in sys.argv: open(sys.argv[3], 'w')",
            "wrote no scores.txt",
        ),
        (RANKER.replace("{score!r}", "many"), "many"),
        (RANKER.replace("{score!r}", "nan"), "finite"),
        (RANKER.replace("1 {j} {score!r}\\n", "1 "), "expected .* lines, got 1"),
        (RANKER + "\nif mode != 'train': sys.exit('no luck')", "no luck"),
    ],
)
def test_a_fault_of_a_ranker_is_a_sentence(
    tmp_path: Path, text: str, found: str
) -> None:
    entry = add_by_user(ranker(tmp_path, text))
    with pytest.raises(MethodError, match=found):
        ended(run(Plan("here", entry.key, folds=(1,)), dataset()))


@pytest.mark.parametrize(
    "key",
    [
        "a {train} {model} ;",
        "; b {model} {documents} {scores}",
        "a {train} ; b {model} {documents} {scores}",
        "a {train} {model} ; b {documents} {scores}",
        "a {train} {model} ; b {model} {documents} {scores} ; c",
        "a {train} {model} {k} ; b {model} {documents} {scores}",
        "a {train} {order} {model}",
        "a {train} {documents} {scores}",
    ],
)
def test_half_a_ranker_is_refused(key: str) -> None:
    with pytest.raises(PlanError, match="expected"):
        method_of_command(f"{PREFIX}{key}")


def test_a_parameter_may_be_called_like_an_option_of_the_command(
    tmp_path: Path,
) -> None:
    """It is set with --set; the option keeps its meaning."""
    entry = add_by_user(f"{PREFIX}a {{train}} {{order}} {{ranker=6}}")
    args = command_line(("run",)).parse_args(
        ["run", "--sample", "--method", entry.key, "--ranker", "rankrls"]
    )
    assert args.ranker == "rankrls"
    assert entry.parameter("ranker").default == "6"
