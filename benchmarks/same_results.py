"""Record what a fixed set of commands prints and writes, and compare two such records.

    python benchmarks/same_results.py record before
    git checkout other && python benchmarks/same_results.py record after
    python benchmarks/same_results.py compare before after

Every method is run on the bundled sample, plain and with a final ranker; then studies, evidence, analyses,
exports, figures, tables and reports follow, and runs by workers, on blocks, from preferences, with costs and
groups, and of other data. A change of the code that must change no number is held against the record of the
commit before. Records are comparable on one machine with the same libraries: the last bits depend on both.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path

SMALL = {
    "--rounds": "5",
    "--max-iter": "3",
    "--restarts": "1",
    "--basis-vectors": "30",
    "--stages": "2",
}
"""Options that make methods quick, where they have them."""

VARIANTS = {
    "greedy-rankrls": (
        ["--search", "floating"],
        ["--search", "swap"],
        ["--pin", "1", "--ban", "2"],
        ["--protocol", "leave-query-out"],
        ["--protocol", "5-fold, nested 4-fold"],
        ["--pairs", "pointwise"],
        ["--rule", "one-se"],
        ["--normalize", "query_minmax"],
        ["--candidates", "5", "--seed", "3"],
    ),
    "rankrls": (["--pairs", "all"], ["--cost", "unit"]),
    "ranksvm": (["--loss", "hinge"], ["--kernel", "rbf", "--gamma", "0.1"]),
    "kernel-rankrls": (["--kernel", "poly"],),
    "fsmrank": (["--similarity", "kendall"],),
}
"""Further options of some methods, a run for each."""

FIRST = "greedy-rankrls"
"""Method of run 1, which later commands look at."""

TREE = Path(__file__).resolve().parents[1]

LATER = (
    "studies all.rankstudio --json",
    "compare all.rankstudio",
    "compare all.rankstudio --json",
    "compare all.rankstudio --part validation --format markdown",
    "compare all.rankstudio --measures MAP,NDCG@10 --bold --marks --to latex",
    "figures all.rankstudio --to csv,svg --runs 1,2,3 --out figures",
    "report all.rankstudio --out report.html",
    "plan all.rankstudio --run 1",
    "evidence all.rankstudio --run 1 --fold 1 --halves 5 --permutations 9",
    "evidence --sample --k 4 --lambda 64 --best --halves 5 --permutations 9 --loss MAP --json",
    "evidence --sample --k 3 --lambda 64 --halves 5 --permutations 9 --out evidence",
    "importance all.rankstudio --run 2 --fold 1 --repeats 3 --out importance",
    "importance --sample --model out-rankrls-0/models/fold1.json --measure MAP --repeats 3 --json",
    "report all.rankstudio --out later.html --sections evidence,results,features,substitutes,rerun",
    "permute --sample --features 3 --permutations 19 --lambda 16",
    "permute --sample --folds 2 --method rankrls --permutations 19 --json --lambda 16",
    "permute --sample --permutations 9 --preferences preferences.csv --lambda 16",
    "thresholds all.rankstudio --run 1",
    "thresholds all.rankstudio --run 1 --json",
    "cascade all.rankstudio --run 1 --budget 2.5 --costs costs.csv",
    "cascade all.rankstudio --run 1 --costs costs.csv --json",
    "drift --sample",
    "drift --sample --fold 2 --parts train,vali --json",
    "drift --sample --study all.rankstudio --run 1",
    "judges judged.csv --labels label,second",
    "judges judged.csv --labels label,second --method rankrls --lambda 4 --protocol 3-fold --json",
    "judges --sample --method greedy-rankrls --lambda 4 --features 3 --flips 10 --draws 2 --folds 1",
    "lab auc --shift 0.5 --repetitions 20 --json",
    "lab auc --repetitions 10 --vary examples --values 10,20",
    "lab selection --sample --queries 10 --features 3 --repetitions 2 --json",
    "evaluate sample.csv scores.txt --json",
    "predict --model out-greedy-rankrls-0/models/fold1.json sample.csv",
    "convert sample.csv sample.txt",
    "convert sample.csv sample.qrels",
    "generate made --seed 3 --documents 400 --queries 20 --features 8",
    "methods",
    "methods --json",
    "run all.toml --out again",
    "run --sample --method greedy-rankrls --lambda 4 --features 3 --workers 2 --out workers",
    "run --sample --method greedy-rankrls --lambda 4 --features 3 --memory 1MB --out blocks",
    "run --sample --method greedy-rankrls --features 3 --costs costs.csv --by-cost milliseconds --out cost",
    "run --sample --method greedy-rankrls --lambda 4 --features 3 --preferences preferences.csv --out pairs",
    "run --data sample.csv --protocol 3-fold --method greedy-rankrls --lambda 4 --features 3 --out csv",
    "run --sample --models former=out-rankrls-0/models --out models",
    "run --sample --method greedy-rankrls --lambda 4 --features 3 --groups groups.csv --out groups",
)
"""Commands after the runs of all methods."""

_VARIABLE = (
    (re.compile(r"\d+(\.\d+)? (ms|s|min|h)\b"), "T"),
    (
        re.compile(
            r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?"
        ),
        "D",
    ),
    (re.compile(r"\b\d\d:\d\d(:\d\d)?\b"), "D"),
    (
        re.compile(
            r'"?(seconds|created|started|finished|written)"?[=:] ?"?[-\d.e+:TZ ]+"?'
        ),
        "T",
    ),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "H"),
    (re.compile(r"Compiling for this computer .*\n"), ""),
)


def commands() -> Iterator[list[str]]:
    """Yield the commands, as lists of words."""
    from rankstudio.engine.methods.catalog import methods

    for entry in sorted(methods(), key=lambda entry: (entry.key != FIRST, entry.key)):
        if entry.learns_nothing or entry.lacking or entry.origin is not None:
            continue
        options = {parameter.option for parameter in entry.parameters}
        words = [
            "run",
            "--sample",
            "--folds",
            "1,2",
            "--method",
            entry.key,
            "--study",
            "all.rankstudio",
        ]
        words += [
            word
            for name, value in SMALL.items()
            if name in options
            for word in (name, value)
        ]
        words += ["--features", "4"] if "--features" in options else []
        words += ["--lambda", "2^2..2^4"] if "--lambda" in options else []
        words += ["--C", "0.01,1"] if "--C" in options else []
        for number, variant in enumerate(([], *VARIANTS.get(entry.key, ()))):
            yield [*words, *variant, "--out", f"out-{entry.key}-{number}", "--refit"]
        if entry.selects and "--lambda" in options:
            yield [*words, "--ranker", "ranksvm", "--out", f"out-{entry.key}-ranked"]
    for line in LATER:
        yield line.split()
    from rankstudio.engine.export.formats.registry import model_formats

    for key in sorted(model_formats()):
        for model in ("greedy-rankrls", "lambdamart", "kernel-rankrls"):
            source = f"out-{model}-0/models/fold1.json"
            yield [
                "export",
                source,
                "--to",
                key,
                "--sample",
                "--out",
                f"export-{model}-{key}",
            ]


def prepare() -> None:
    """Write the files that commands read into the folder one is in."""
    from rankstudio.engine import load_sample

    fold = load_sample().folds[0]
    part = fold.train
    header = ["qid", "label", *(f"f{i}" for i in part.feature_ids.tolist())]
    rows = [
        [query, label, *values]
        for query, label, values in zip(
            part.qid.tolist(), part.y.tolist(), part.X.tolist(), strict=True
        )
    ]
    lines = [",".join(header), *(",".join(map(repr, row)) for row in rows)]
    Path("sample.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    judged = [
        f"{lines[0]},second",
        *(
            f"{line},{max(0, row[1] - i % 2)}"
            for i, (line, row) in enumerate(zip(lines[1:], rows, strict=True))
        ),
    ]
    Path("judged.csv").write_text("\n".join(judged) + "\n", encoding="utf-8")
    Path("scores.txt").write_text(
        "\n".join(repr(row[2]) for row in rows) + "\n", encoding="utf-8"
    )
    costs = [
        "feature,per_document,per_query",
        *(f"{i},{0.5 + i % 3},{i % 2}" for i in part.feature_ids.tolist()),
    ]
    Path("costs.csv").write_text("\n".join(costs) + "\n", encoding="utf-8")
    groups = ["feature,group", *(f"{i},g{i % 5}" for i in part.feature_ids.tolist())]
    Path("groups.csv").write_text("\n".join(groups) + "\n", encoding="utf-8")
    pairs = ["qid,winner,loser"]
    for query in dict.fromkeys(part.qid.tolist()):
        places = [i for i, row in enumerate(rows) if row[0] == query]
        pairs += [
            f"{query},{a - places[0] + 1},{b - places[0] + 1}"
            for a, b in pairwise(places)
            if rows[a][1] > rows[b][1]
        ]
    Path("preferences.csv").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    Path("all.toml").write_text(
        'data = "sample"\nmethod = "greedy-rankrls"\n\n[parameters]\n'
        "regularization = [4.0]\nn_features_to_select = 3\n",
        encoding="utf-8",
    )


def record(folder: Path) -> None:
    """Carry the commands out, and write what each printed and what all wrote into a folder."""
    from rankstudio.cli import main as rankstudio

    folder = folder.resolve()
    folder.mkdir(parents=True)
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        prepare()
        for number, words in enumerate(commands()):
            printed, errors = io.StringIO(), io.StringIO()
            with redirect_stdout(printed), redirect_stderr(errors):
                try:
                    status: object = rankstudio(words)
                except BaseException as error:
                    status = repr(error)
            text = f"$ {' '.join(words)}\n{printed.getvalue()}\n--- {status}\n{errors.getvalue()}"
            name = re.sub(r"[^A-Za-z0-9.,-]+", "_", " ".join(words))[:180]
            (folder / f"{name}.txt").write_text(plain(text, work), encoding="utf-8")
            print(f"{number:3d} {status} {' '.join(words)}"[:150], flush=True)
        for path in sorted(Path().rglob("*")):
            if path.is_file():
                (folder / str(path).replace("/", "__")).write_text(
                    contents(path, work), encoding="utf-8"
                )
        os.chdir(home)


def plain(text: str, work: str) -> str:
    """Return a text without times, dates, checksums and the folder that it was made in."""
    text = text.replace(work, "WORK").replace(str(TREE), "TREE")
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    return text


def contents(path: Path, work: str) -> str:
    """Return what a file holds, as text that two runs of one tree make alike."""
    if path.suffix == ".rankstudio":
        return plain("\n".join(_rows(path)), work)
    data = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            return "\n".join(
                f"{name} {hashlib.sha256(archive.read(name)).hexdigest()[:20]}"
                for name in names
            )
    try:
        return plain(data.decode("utf-8"), work)
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()[:20]


def _rows(path: Path) -> Iterator[str]:
    """Yield the tables of a study, a row a line, in order, without seconds; bytes as checksums."""
    with sqlite3.connect(path) as connection:
        tables = connection.execute(
            "SELECT name, sql FROM sqlite_master ORDER BY name"
        ).fetchall()
        for name, sql in tables:
            yield f"{name}: {sql}"
            # which holds how long it took
            if sql and sql.startswith("CREATE TABLE") and name != "evidence":
                cursor = connection.execute(f"SELECT * FROM {name}")
                timed = [column[0] == "seconds" for column in cursor.description]
                yield from sorted(
                    repr(
                        [
                            _cell(value)
                            for value, skip in zip(row, timed, strict=True)
                            if not skip
                        ]
                    )
                    for row in cursor
                )


def _cell(value: object) -> object:
    return (
        f"bytes {hashlib.sha256(value).hexdigest()[:20]}"
        if isinstance(value, bytes)
        else value
    )


def compare(first: Path, second: Path) -> int:
    """Print which outcomes differ, and return 1 if any do."""
    names = sorted(
        {path.name for folder in (first, second) for path in folder.iterdir()}
    )
    different = []
    for name in names:
        texts = [
            (folder / name).read_text("utf-8") if (folder / name).exists() else None
            for folder in (first, second)
        ]
        if texts[0] != texts[1]:
            different.append(name)
            print(name, "" if None not in texts else "(only in one)")
    print(f"{len(names) - len(different)} of {len(names)} outcomes are equal")
    return int(bool(different))


def main() -> int:
    """Carry the command line out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    if args.action == "compare":
        return compare(*args.folders)
    record(args.folders[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
