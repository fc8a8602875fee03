"""Names with escape sequences, overrides of direction and line breaks: none reaches a terminal as it is."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from pathlib import Path

import pytest
from fuzzer import Fuzz, Outcome

from rankstudio.cli import known_commands, main
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunLabel

SIGNS = (
    "\x1b[2J",
    "\x1b]0;t\x07",
    "\x1b",
    "\x07",
    "\x08",
    "\x7f",
    "\x9b31m",
    "\x85",
    "\r",
    "\n",
    "\t",
)
SIGNS += ("\u202e", "\u2066", "\u2028", "\u2029", "\u200f", "\x01", "\x90")
FORBIDDEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
OWN = "\r\x1b[K"
"""With which the program itself begins a line again."""
FORGED = "forged"
EXPORTED = ("solr", "python", "sql", "c", "pmml", "json")
CONTENTS = {"csv", "-"}
"""Commands with these words print a file, in whose format a name may have lines, such as a cell of CSV."""


class Terminal(io.StringIO):
    """A stream that says it is a terminal, as only then text for files is made safe."""

    def isatty(self) -> bool:
        return True


def forged(rng: random.Random, *, in_file_name: bool = False) -> str:
    """Return a name with signs that a terminal acts on; after a line break it has a word of its own."""
    parts = [
        rng.choice(("a", "é", "-", "")) + rng.choice(SIGNS) + FORGED
        for _ in range(rng.randint(1, 3))
    ]
    name = "n" + "".join(parts)
    return name if not in_file_name else name.replace("/", "")


def printed(command: list[str]) -> str:
    """Carry a command out on a terminal, and return what came there."""
    out, err = Terminal(), Terminal()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.suppress(SystemExit),
    ):
        main(command)
    return out.getvalue() + "\n" + err.getvalue().replace(OWN, "\n")


def write_part(rng: random.Random, path: Path, n_queries: int = 6) -> Path:
    """Write LETOR text, each query and document with a forged name, as far as LETOR text can have it."""
    lines = []
    for query in range(n_queries):
        for document in range(6):
            values = " ".join(
                f"{j}:{rng.random() + (document % 3) * 0.2 * j:.3f}"
                for j in range(1, 5)
            )
            name = "".join(forged(rng).split())
            lines.append(f"{document % 3} qid:{query + 1} {values} # docid = {name}\n")
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def write_model(rng: random.Random, path: Path) -> Path:
    values = {
        "format": "rankstudio-model",
        "version": 3,
        "method": "rankrls",
        "parameters": {},
    }
    values["features"] = [
        {"id": i, "name": forged(rng), "weight": i / 2} for i in (1, 2)
    ]
    values["origin"] = {"data": forged(rng), "chosen": forged(rng)}
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def commands_on(rng: random.Random, folder: Path) -> list[list[str]]:
    """Return every command on data, models, studies and files with forged names."""
    data = folder / forged(rng, in_file_name=True)
    for number in (1, 2):
        place = data / f"Fold{number}"
        place.mkdir(parents=True)
        for part in ("train", "vali", "test"):
            write_part(rng, place / f"{part}.txt")
    names = "".join(f"{i}\t{''.join(forged(rng).split())}\n" for i in range(1, 5))
    (data / "features.txt").write_text(names, encoding="utf-8")
    single = write_part(rng, folder / f"{forged(rng, in_file_name=True)}.txt")
    model = write_model(rng, folder / f"{forged(rng, in_file_name=True)}.json")
    study = folder / f"{forged(rng, in_file_name=True)}.rankstudio"
    out = folder / forged(rng, in_file_name=True)
    scores = folder / f"{forged(rng, in_file_name=True)}.scores"
    scores.write_text("\n".join(f"{rng.random()}" for _ in range(36)), encoding="utf-8")
    table = folder / f"{forged(rng, in_file_name=True)}.csv"
    rows = [
        [rng.randint(0, 2), rng.randint(0, 2), q // 3, rng.random(), rng.random()]
        for q in range(18)
    ]
    head = ["ann", "bob", "qid", '"' + forged(rng).replace('"', "") + '"', "f2"]
    lines = [",".join(head), *(",".join(map(str, row)) for row in rows)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    plan = folder / f"{forged(rng, in_file_name=True)}.toml"
    odd = json.dumps(forged(rng), ensure_ascii=True)
    plan.write_text(
        f'title = {odd}\ndata = [{json.dumps(str(data))}]\n[[run]]\nmethod = "rankrls"\n',
        "utf-8",
    )
    greedy = [
        "--method",
        "greedy-rankrls",
        "--lambda",
        "1",
        "--features",
        "2",
        "--measures",
        "MAP",
    ]
    run = ["run", "--data", str(data), *greedy]
    missing = str(folder / forged(rng, in_file_name=True))
    d, s, m, t = str(data), str(study), str(model), str(single)
    return [
        [*run, "--study", s, "--out", str(out), "--refit"],
        ["run", "--data", d, "--method", "rankrls", "--lambda", "1", "--study", s],
        [
            "run",
            "--data",
            t,
            "--protocol",
            "2-fold",
            "--scores",
            f"{forged(rng)}={scores}",
        ],
        ["run", "--data", d, "--models", f"{forged(rng)}={out / 'models'}"],
        ["run", "--plan", str(plan)],
        ["label", s],
        *([name, s] for name in ("studies", "compare", "thresholds", "cascade")),
        *([name, s, "--json"] for name in ("studies", "compare", "thresholds")),
        *(
            ["compare", s, "--format", form]
            for form in ("csv", "markdown", "latex", "json")
        ),
        *(
            ["compare", s, "--to", form]
            for form in ("markdown", "latex", "csv", "html")
        ),
        ["report", s, "--out", str(out / "r.html")],
        ["report", s, "--out", "-"],
        ["figures", s, "--list"],
        ["figures", s, "--only", "curves", "--to", "csv", "--out", str(out / "f")],
        *(
            ["plan", s, "--run", "1", "--to", form]
            for form in ("toml", "python", "shell", "notebook")
        ),
        ["reproduce", "greedy-rankrls", "--data", missing],
        ["permute", d, "--features", "1", "--permutations", "5"],
        ["permute", d, "--features", "1", "--permutations", "5", "--json"],
        ["evidence", s, "--run", "1", "--fold", "1", "--halves", "2"],
        ["importance", t, "--model", m, "--repeats", "2"],
        ["drift", d],
        ["drift", d, "--json"],
        ["drift", t, str(data / "Fold1" / "test.txt")],
        ["judges", str(table), "--labels", "ann,bob"],
        ["lab", forged(rng)],
        ["evaluate", t, str(scores), "--per-query"],
        ["evaluate", t, "--model", m, "--json", "--per-query"],
        ["predict", t, "--model", m],
        ["export", m, "--to", "ranklib", "--out", str(out / "m.txt"), "--data", d],
        *(
            ["export", m, "--to", form, "--out", "-"]
            for form in ("solr", "python", "sql", "c", "pmml", "json")
        ),
        ["convert", t, str(out / f"{forged(rng, in_file_name=True)}.csv")],
        ["convert", d, str(folder / forged(rng, in_file_name=True)), "--to", "csv"],
        ["convert", t, "-", "--to", "letor"],
        [
            "generate",
            str(folder / forged(rng, in_file_name=True)),
            "--documents",
            "60",
            "--queries",
            "3",
        ],
        ["methods", forged(rng)],
        ["completion", forged(rng)],
        # which would make 5 GB
        *([name, missing] for name in known_commands() if name != "generate"),
        *([name, forged(rng), f"--{forged(rng)}"] for name in known_commands()),
        # else one of those made above, which would open the window
        [f"{forged(rng)} of no file"],
    ]


def set_labels(rng: random.Random, study: Path) -> None:
    with Study.open(study) as opened:
        for run in opened.runs():
            opened.set_label(
                run.key, RunLabel(forged(rng), forged(rng), (forged(rng),))
            )


def test_every_name_in_every_command(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line never begins with what stood after a line break in a name."""
    monkeypatch.setenv("TERM", "xterm")

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        monkeypatch.chdir(folder)
        commands = commands_on(rng, folder)
        assert {command[0] for command in commands} >= set(known_commands())
        for command in commands:
            if command[0] == "label":
                set_labels(rng, Path(command[1]))
                continue
            text = printed(command)
            sign = FORBIDDEN.search(text)
            assert sign is None, (
                command,
                text[max(0, sign.start() - 80) : sign.end() + 20],
            )
            lines = [line for line in text.splitlines() if line.startswith(FORGED)]
            lines = [] if CONTENTS & set(command) else lines
            assert not lines, (command, lines)
        return Outcome.READ

    fuzz("forged names", attempt, 1)
