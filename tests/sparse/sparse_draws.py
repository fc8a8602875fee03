"""Runs and commands drawn from the catalogs, carried out on the same data with dense and with sparse rows."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isnan
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import tomli_w
from drawn_plans import drawn_parameters

from rankstudio.cli import main
from rankstudio.engine.data.formats import letor, memory_needs
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.support import sparse_rows

N_FEATURES = 9
ENTRIES = [entry for entry in methods() if not (entry.lacking or entry.learns_nothing)]
RANKERS = [entry for entry in ENTRIES if not entry.selects]
CHOOSERS = ("MAP", "MAP", "NDCG@5", "criterion", "leave-query-out MAP")
FORMATS = ("ranklib", "svmrank", "python", "c", "sql", "solr")
_NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")
_REFUSAL = re.compile(r"^rankstudio: (?P<what>\w+):", re.MULTILINE)
_TIMES = re.compile(r"\d+(\.\d+)? (s|ms|min)\b")


def write_data(folder: Path, seed: int = 0) -> None:
    """Write train, vali and test as text without zeros; two thirds of the values are 0."""
    rng = Random(seed)
    folder.mkdir(parents=True)
    query = 0
    for part, n_queries in (("train", 12), ("vali", 8), ("test", 8)):
        lines = []
        for _ in range(n_queries):
            query += 1
            for document in range(rng.randint(5, 9)):
                values = {
                    i: round(rng.random(), 6)
                    for i in range(1, N_FEATURES + 1)
                    if rng.random() < 0.4
                }
                worth = (
                    2 * values.get(2, 0)
                    + values.get(5, 0)
                    - values.get(7, 0)
                    + rng.gauss(0, 0.2)
                )
                features = " ".join(f"{i}:{value}" for i, value in values.items())
                label = min(2, max(0, round(worth)))
                lines.append(
                    f"{label} qid:{query} {features} # docid = D{query}-{document}\n"
                )
        (folder / f"{part}.txt").write_text("".join(lines))


@contextlib.contextmanager
def stored(*, sparse: bool, chosen: bool = False) -> Iterator[None]:
    """Keep rows sparse or dense when data are read; and ``chosen`` columns of sparse rows."""
    with contextlib.ExitStack() as stack:
        for module in (letor, memory_needs):
            stack.enter_context(
                mock.patch.object(module, "worth_it", lambda *_: sparse)
            )
        stack.enter_context(
            mock.patch.object(sparse_rows, "worth_it", lambda *_: chosen)
        )
        yield


@dataclass(frozen=True)
class Outcome:
    """Status of a command, and what it printed."""

    status: int
    out: str
    err: str


def carried_out(command: Sequence[str]) -> Outcome:
    """Carry out a command in this process; what it raises is a fault."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(command))
        except SystemExit as end:
            status = int(end.code or 0)
    return Outcome(status, out.getvalue(), err.getvalue())


def drawn_run(rng: Random, key: str = "") -> dict[str, Any]:
    """Draw the values of a plan, except the data, as TOML has them."""
    entry = next((entry for entry in ENTRIES if entry.key == key), None) or rng.choice(
        ENTRIES
    )
    values: dict[str, Any] = {
        "method": entry.key,
        "measures": ["MAP", "NDCG@5"],
        "seed": rng.randint(0, 9),
    }
    values["select_by"] = rng.choice(CHOOSERS)
    values["convention"] = rng.choice(("standard", "letor4", "trec_eval"))
    values["protocol"] = rng.choice(("given", "given", "3-fold", "nested 2-fold"))
    values["parameters"] = _quick(rng, entry)
    if entry.selects and rng.random() < 0.3:
        ranker = rng.choice(RANKERS)
        values |= {"ranker": ranker.key, "ranker_parameters": _quick(rng, ranker)}
    return values


def _quick(rng: Random, entry: Any) -> dict[str, Any]:
    """Draw parameters; iterations end close to the minimum, so that rounding is all that differs."""
    drawn = drawn_parameters(rng, entry, N_FEATURES)
    names = {p.name for p in entry.parameters}
    for name, value in (("tol", 1e-10), ("max_iter", 400)):
        if name in names and entry.key in ("ranksvm", "svm-map", "fsmsvm", "rfe"):
            drawn[name] = value
    return drawn


@dataclass(frozen=True)
class Place:
    """Files of one way to store the rows.

    Attributes
    ----------
    root : Path
    data : Path
        Shared by both ways.
    """

    root: Path
    data: Path

    @property
    def study(self) -> str:
        """The study of the run."""
        return str(self.root / "study.rankstudio")

    @property
    def out(self) -> Path:
        """The folder of its results."""
        return self.root / "out"

    @property
    def models(self) -> Path:
        """The folder of its models."""
        return self.out / "models"

    def costs(self) -> Path:
        """Write a file of costs and return its place."""
        path = self.root / "costs.csv"
        rows = [
            f"{feature},{feature % 3 + 0.5},1" for feature in range(1, N_FEATURES + 1)
        ]
        path.write_text("\n".join(["feature,per_document,per_query", *rows]) + "\n")
        return path

    def five_folds(self) -> Path:
        """Write the data as five equal folds, as a dataset of which papers print averages."""
        folder = self.root / "MQ2008"
        for fold in range(1, 6):
            shutil.copytree(self.data, folder / f"Fold{fold}", dirs_exist_ok=True)
        return folder

    def model(self) -> str:
        """The model of the first fold."""
        return str(self.models / "fold1.json")

    def plan(self, values: Mapping[str, Any]) -> str:
        """Write a plan and return its place."""
        path = self.root / "plan.toml"
        path.write_text(tomli_w.dumps({"data": str(self.data), **values}))
        return str(path)

    def run(self, values: Mapping[str, Any]) -> list[str]:
        """The command that runs a plan."""
        return [
            "run",
            self.plan(values),
            "--study",
            self.study,
            "--out",
            str(self.out),
            "--json",
        ]


Command = Callable[[Random, Place], list[str]]


def _new(files: Place, name: str) -> str:
    return str(files.root / "new" / name)


COMMANDS: Mapping[str, Command] = {
    "importance": lambda rng, files: [
        *(
            "importance",
            files.study,
            "--run",
            "1",
            "--repeats",
            "2",
            "--seed",
            "1",
            "--json",
        ),
        *(rng.choice(([], ["--measure", "NDCG@5"]))),
    ],
    "importance of a model": lambda rng, files: [
        *(
            "importance",
            str(files.data / "test.txt"),
            "--model",
            files.model(),
            "--repeats",
            "2",
            "--json",
        )
    ],
    "thresholds": lambda rng, files: ["thresholds", files.study, "--json"],
    "validity": lambda rng, files: [
        *("validity", files.study, "--base", rng.choice(("mean", "zero")), "--json")
    ],
    "compare": lambda rng, files: ["compare", files.study, "--json"],
    "risk": lambda rng, files: [
        *("risk", files.study, "--alpha", rng.choice(("0", "1", "5")), "--json")
    ],
    "compare by measures": lambda rng, files: [
        *(
            "compare",
            files.study,
            "--measures",
            "MAP,P@5,ERR",
            "--by",
            "measures",
            "--format",
            "csv",
        )
    ],
    "report": lambda rng, files: [
        "report",
        files.study,
        "--out",
        _new(files, "report.html"),
        "--json",
    ],
    "run of models": lambda rng, files: [
        *(
            "run",
            "--data",
            str(files.data),
            "--models",
            f"again={files.models}",
            "--json",
        )
    ],
    "run with the final model": lambda rng, files: [
        *(
            "run",
            str(files.root / "plan.toml"),
            "--out",
            _new(files, "refit"),
            "--refit",
            "--json",
        )
    ],
    "evidence": lambda rng, files: [
        *(
            "evidence",
            files.study,
            "--run",
            "1",
            "--halves",
            "3",
            "--permutations",
            "9",
            "--json",
        ),
    ],
    "predict": lambda rng, files: [
        "predict",
        str(files.data / "test.txt"),
        "--model",
        files.model(),
    ],
    "evaluate": lambda rng, files: [
        *(
            "evaluate",
            str(files.data / "test.txt"),
            "--model",
            files.model(),
            "--json",
            "--per-query",
        )
    ],
    "export": lambda rng, files: [
        *(
            "export",
            files.model(),
            "--to",
            rng.choice(FORMATS),
            "--out",
            _new(files, "model"),
            "--json",
        ),
        *("--data", str(files.data / "test.txt")),
    ],
    "convert": lambda rng, files: [
        *(
            "convert",
            str(files.data),
            _new(files, "few"),
            "--selected",
            str(files.out / "results.json"),
        ),
    ],
    "drift": lambda rng, files: ["drift", str(files.data), "--json"],
    "transfer": lambda rng, files: [
        "transfer",
        str(files.data),
        str(files.data),
        "--method",
        "rankrls",
        "--json",
    ],
    "drift of a study": lambda rng, files: [
        "drift",
        str(files.data),
        "--study",
        files.study,
        "--json",
    ],
    "permute": lambda rng, files: [
        *("permute", str(files.root / "plan.toml"), "--permutations", "9", "--json")
    ],
    "figures": lambda rng, files: [
        "figures",
        files.study,
        "--out",
        _new(files, "figures"),
        "--to",
        "csv",
    ],
    "judges": lambda rng, files: [
        *("judges", str(files.data), "--plan", str(files.root / "plan.toml")),
        *("--flips", "20", "--draws", "1", "--json"),
    ],
    "cascade": lambda rng, files: [
        *(
            "cascade",
            files.study,
            "--run",
            "1",
            "--costs",
            str(files.costs()),
            "--depths",
            "2,4",
            "--json",
        )
    ],
    "lab": lambda rng, files: [
        *(
            "lab",
            "selection",
            str(files.data),
            "--queries",
            "8",
            "--features",
            "2",
            "--repetitions",
            "3",
        ),
        *("--measure", rng.choice(("MAP", "NDCG@5")), "--json"),
    ],
    "reproduce": lambda rng, files: [
        *(
            "reproduce",
            rng.choice(("greedy-rankrls", "fsmrank")),
            "--data",
            str(files.five_folds()),
        ),
        *("--study", _new(files, "paper.rankstudio"), "--json"),
    ],
    "studies": lambda rng, files: ["studies", files.study, "--json"],
    "plan": lambda rng, files: ["plan", files.study],
    "cite": lambda rng, files: ["cite", files.study, "--json"],
}
"""Commands by name; each is carried out on a study of one run."""

NOT_DRAWN: Mapping[str, str] = {
    "generate": "it writes data and reads none",
    "methods": "it lists the catalog, without data",
    "plugins": "it lists what is installed, without data",
    "benchmark": "its runs are those of run, and its data are several datasets",
    "rank-methods": "it reads a study of runs on several datasets, without the data",
    "completion": "it prints a script of the shell",
}
"""Commands of the terminal that are not drawn, with the reason."""

REFUSED_RUNS: Mapping[str, frozenset[str]] = {
    "rankrls": frozenset({"pairs", "cost", "ties", "weighting", "criterion"}),
    "greedy-rankrls": frozenset({"search", "algorithm", "cost", "ties", "weighting"}),
}
"""What is not learned from sparse rows, by method: parameters, and the criterion to choose by."""

REFUSED_COMMANDS: Mapping[str, frozenset[str]] = {}
"""Methods whose runs a command does not take on sparse rows, by the command's name here."""


def differences(dense: Outcome, sparse: Outcome, places: Sequence[Place]) -> str:
    """Return how the outcome on sparse rows differs from that on dense ones; "" if in rounding alone."""
    if dense.status != sparse.status:
        return f"status {dense.status} and {sparse.status}:\n{dense.err[-800:]}\n{sparse.err[-1500:]}"
    if dense.status:
        return ""
    ours, theirs = (
        _neutral(o.out, p) for o, p in zip((dense, sparse), places, strict=True)
    )
    if ours == theirs:
        return ""
    if ours[:1] in "[{" and theirs[:1] in "[{":
        with contextlib.suppress(ValueError):
            return _differing(json.loads(ours), json.loads(theirs), "")
    words = [_NUMBER.sub("#", text) for text in (ours, theirs)]
    if words[0] != words[1]:
        return f"text:\n{ours[:1500]}\n---\n{theirs[:1500]}"
    pairs = zip(
        *(map(_value, _NUMBER.findall(text)) for text in (ours, theirs)), strict=True
    )
    odd = [pair for pair in pairs if not _close(*pair)]
    return f"numbers: {odd[:5]}" if odd else ""


def is_refused_run(outcome: Outcome, method: str, files: Place) -> bool:
    """Return whether a run was refused for a reason of `REFUSED_RUNS`, before anything was written."""
    sentence = _REFUSAL.search(outcome.err)
    if outcome.status != 1 or sentence is None or "sparse" not in outcome.err:
        return False
    is_untouched = not Path(files.study).exists() and not any(files.out.iterdir())
    return is_untouched and sentence["what"] in REFUSED_RUNS.get(method, ())


def _neutral(text: str, files: Place) -> str:
    """Return a text without the names of its folders and durations."""
    return _TIMES.sub("T", text.replace(str(files.root), "ROOT"))


def _value(text: str) -> float:
    return float(text.replace("−", "-"))


def _close(a: float, b: float) -> bool:
    return isclose(a, b, rel_tol=2e-6, abs_tol=2e-7) or (isnan(a) and isnan(b))


_UNCOMPARED = {
    "seconds",
    "versions",
    "path",
    "study",
    "gap",
    "begun",
    "finished",
    "files",
    "bytes",
    "sections",
}
"""Fields of JSON that are durations or places."""


def _differing(a: Any, b: Any, where: str) -> str:
    """Return the first difference of two values of JSON, beyond rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{where}: keys {sorted(a.keys() ^ b.keys())}"
        found = (
            _differing(a[k], b[k], f"{where}.{k}") for k in a if k not in _UNCOMPARED
        )
        return next(filter(None, found), "")
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = enumerate(zip(a, b, strict=True))
        return next(
            filter(None, (_differing(x, y, f"{where}[{i}]") for i, (x, y) in pairs)), ""
        )
    if isinstance(a, float | int) and isinstance(b, float | int):
        return "" if _close(a, b) else f"{where}: {a} and {b}"
    return (
        ""
        if a == b or (isinstance(a, str) and "seconds" in where)
        else f"{where}: {a!r} and {b!r}"
    )
