"""Mistaken command lines: what somebody types by mistake, for every command and every option."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rankstudio.cli import command_line

VALUES = (
    *(
        "x",
        "",
        "-1",
        "0",
        "1e99",
        "nan",
        "999999999999999999999",
        "1,,2",
        "2..1",
        "a:b",
        "ä\n\x1b[31m",
    ),
    *("missing.txt", "folder", "empty.txt", "binary", "table.csv", "--json", "'; DROP"),
)
"""Of options: out of range, of another kind, or files that are not what is read there."""

TRANSFER = "drift --study"
"""Another form of a command, beside those by their names."""


@dataclass(frozen=True)
class Files:
    """A right input of each kind."""

    folder: Path

    def command(self, name: str) -> list[str]:
        """Return a right command line of a command, which writes into the current folder."""
        data, study = (
            str(self.folder / "data"),
            str(self.folder / "out" / "study.rankstudio"),
        )
        test, scores = (
            str(self.folder / "data" / "test.txt"),
            str(self.folder / "test.scores"),
        )
        model = str(self.folder / "out" / "models" / "fold1.json")
        return {
            "run": ["run", "--data", data, "--lambda", "1"],
            "compare": ["compare", study],
            "report": ["report", study, "--out", "new.html"],
            "benchmark": ["benchmark", "--data", data, "--dry-run"],
            "rank-methods": ["rank-methods", study, "--csv", "new.csv"],
            "risk": ["risk", study, "--csv", "new.csv"],
            # Of data: that of a study is kept there.
            "evidence": [
                "evidence",
                "--data",
                data,
                "--k",
                "2",
                "--lambda",
                "1",
                "--halves",
                "2",
                "--out",
                "judged",
            ],
            "figures": [
                "figures",
                study,
                "--out",
                "drawn",
                "--only",
                "curves",
                "--to",
                "csv",
            ],
            "plan": ["plan", study, "--run", "1"],
            "studies": ["studies", study],
            "cite": ["cite", study, "--out", "new.bib"],
            "reproduce": [
                "reproduce",
                "greedy-rankrls",
                "--data",
                str(self.folder / "missing"),
            ],
            "permute": ["permute", data, "--permutations", "2", "--lambda", "1"],
            "lab": ["lab", "auc", "--repetitions", "2", "--examples", "20"],
            "evaluate": ["evaluate", test, scores],
            "importance": ["importance", test, "--model", model],
            "cascade": ["cascade", study, "--run", "1", "--budget", "1"],
            "thresholds": ["thresholds", study, "--run", "1"],
            "validity": ["validity", study, "--run", "1", "--keep", "1"],
            "drift": ["drift", test, str(self.folder / "data" / "train.txt")],
            TRANSFER: ["drift", data, "--study", study, "--run", "1"],
            "transfer": [
                "transfer",
                data,
                data,
                "--method",
                "rankrls",
                "--lambda",
                "1",
            ],
            "judges": [
                "judges",
                data,
                "--method",
                "gas",
                "--k",
                "1",
                "--flips",
                "10",
                "--draws",
                "1",
            ],
            "predict": ["predict", test, "--model", model],
            "export": ["export", model, "--to", "python", "--out", "new.py"],
            "convert": ["convert", test, "new.csv"],
            "generate": [
                "generate",
                "made",
                "--documents",
                "40",
                "--queries",
                "5",
                "--features",
                "2",
            ],
            "methods": ["methods"],
            "plugins": ["plugins"],
            "completion": ["completion", "bash"],
        }[name]


_LONG = {(name, "9" * 21) for name in ("--halves", "--permutations", "--repetitions")}
"""What is no mistake, but takes for ever."""


def options_of(name: str, words: list[str]) -> list[argparse.Action]:
    """Return what a command, or the command in it that the words name, can be given."""
    parser: argparse.ArgumentParser = command_line(names=(name,))
    for word in words:
        inner = next(
            (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)),
            None,
        )
        if inner is None or word not in inner.choices:
            break
        parser = inner.choices[word]
    shown = (
        action for action in parser._actions if action.help is not argparse.SUPPRESS
    )
    return [
        action
        for action in shown
        if action.option_strings and "-h" not in action.option_strings
    ]


def mistaken(rng: Random, name: str, right: list[str]) -> list[str]:
    """Return a command line with one mistake in it."""
    options = options_of(name, right)
    valued = [action.option_strings[-1] for action in options if action.nargs != 0]
    words = [
        place for place, word in enumerate(right) if place and not word.startswith("-")
    ]
    match rng.randrange(10):
        case 0 if options:
            return [*right, misspelt(rng, rng.choice(options).option_strings[-1])]
        case 1:
            return [
                *right,
                rng.choice(("--no-such", "-z", "extra", "--", "--=1", "---json")),
            ]
        case 2 if words:
            place = rng.choice(words)
            return [*right[:place], *right[place + 1 :]]
        case 3 if valued:
            return [*right, rng.choice(valued)]
        case 4 | 5 if words:
            place = rng.choice(words)
            return [*right[:place], rng.choice(VALUES), *right[place + 1 :]]
        case _ if valued:
            given = rng.choice(valued), rng.choice(VALUES)
            return [*right, "=".join(given)] if given not in _LONG else right[:1]
    return [*right, "--json=x"]


def misspelt(rng: Random, option: str) -> str:
    """Return an option with two letters exchanged, one left out or one typed twice."""
    place = rng.randrange(2, len(option)) if len(option) > 3 else len(option) - 1
    before, letter, after = option[:place], option[place], option[place + 1 :]
    return rng.choice(
        (
            before + after[:1] + letter + after[1:],
            before + after,
            before + letter * 2 + after,
        )
    )
