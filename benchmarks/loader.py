"""Read a ranking file of 26 MB, side by side with what a user would take instead.

    python benchmarks/loader.py [FILE]

Without a file, one is made in the shape of MQ2007: 42,158 documents, 46 features with six decimals, comments.
Peers that are not installed are left out with a line. Everybody reads the same file into float64 (XGBoost and
fastrank into their own float32), once to warm up and then in turns, so that all meet the same machine; the
median counts. What is special:

- polars and pyarrow know no LETOR text: colons are made blanks, and the columns of a dense file picked out.
- XGBoost stumbles over LETOR's comments, so it gets a copy of the file without them, 10 % smaller.
- ours comes in three sorts: from the text, from the text with an empty cache to be filled, and from the
  cache. All of them include the SHA-256 of the file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from record import Record, parser

DOCUMENTS, FEATURES, QUERIES, RUNS = 42_158, 46, 1_700, 9
FLOAT32 = {"xgboost", "fastrank"}
Matrix = np.ndarray
Reader = Callable[[Path], object]


def write_example(path: Path) -> None:
    """Write a file in the shape of MQ2007's training parts, a third of the values 0 as there."""
    rng = np.random.default_rng(0)
    X = rng.random((DOCUMENTS, FEATURES)) * (rng.random((DOCUMENTS, FEATURES)) > 1 / 3)
    y = rng.choice([0, 0, 0, 1, 2], DOCUMENTS)
    qid = np.sort(rng.integers(1, QUERIES + 1, DOCUMENTS))
    line = "%d qid:%d " + " ".join(f"{j}:%.6f" for j in range(1, FEATURES + 1))
    with path.open("w") as file:
        for i in range(DOCUMENTS):
            comment = f"#docid = GX{i % 272:03d}-{i % 97:02d}-{i:08d} inc = 1 prob = {rng.random():.6f}"
            file.write(f"{line % (y[i], qid[i], *X[i])} {comment}\n")


def bytes_only(path: Path) -> Matrix:
    """Read the bytes and do nothing with them: what no reader can beat."""
    path.read_bytes()
    return np.zeros((0, 0))


def ours(path: Path, cache: bool) -> object:
    """Read with RankStudio, comments kept, queries grouped."""
    from rankstudio.engine import load_letor

    return load_letor(path, cache=cache)


def ours_filling_the_cache(path: Path) -> object:
    """Read a file never seen before, and put it into the cache."""
    from rankstudio.engine.data.kept_tables import parsed_folder

    shutil.rmtree(parsed_folder(), ignore_errors=True)
    return ours(path, cache=True)


def scikit_learn(path: Path) -> Matrix:
    """Read with load_svmlight_file, which knows qid and drops comments."""
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path), query_id=True)[0].toarray()


def _as_columns(path: Path) -> tuple[bytes, list[int]]:
    """Return the text with blanks for colons, and the columns that then hold label, query id and values."""
    return path.read_bytes().replace(b":", b" "), [0, 2, *range(4, 4 + 2 * FEATURES, 2)]


def polars(path: Path) -> Matrix:
    """Read with polars as a table separated by blanks."""
    import polars as pl

    text, columns = _as_columns(path)
    table = pl.read_csv(text, separator=" ", has_header=False, columns=columns)
    return table[:, 2:].to_numpy()


def pyarrow(path: Path) -> Matrix:
    """Read with pyarrow as a table separated by blanks."""
    import pyarrow as pa
    from pyarrow import csv

    text, columns = _as_columns(path)
    names = [f"f{i}" for i in columns]
    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(autogenerate_column_names=True),
        parse_options=csv.ParseOptions(delimiter=" "),
        convert_options=csv.ConvertOptions(include_columns=names),
    )
    return np.column_stack([column.to_numpy() for column in table.columns[2:]])


def xgboost(path: Path) -> object:
    """Read with XGBoost, from a copy without comments."""
    import xgboost as xgb

    with warnings.catch_warnings():  # it means to drop text files one day
        warnings.simplefilter("ignore")
        # made an array off the clock, by check()
        return xgb.DMatrix(f"{bare_copy(path)}?format=libsvm")


def fastrank(path: Path) -> object:
    """Read with fastrank, written in Rust."""
    from fastrank import CDataset

    return CDataset.open_ranksvm(str(path))


def bare_copy(path: Path) -> Path:
    """Return the copy of a file without its comments."""
    return path.with_suffix(".bare")


def make_bare_copy(path: Path) -> None:
    """Write the copy of a file without its comments."""
    with path.open("rb") as file, bare_copy(path).open("wb") as copy:
        copy.writelines(line.partition(b"#")[0].rstrip() + b"\n" for line in file)


READERS: dict[str, Reader] = {
    "bytes only": bytes_only,
    "rankstudio": partial(ours, cache=False),
    "rankstudio, filling the cache": ours_filling_the_cache,
    "rankstudio, from the cache": partial(ours, cache=True),
    "scikit-learn": scikit_learn,
    "polars": polars,
    "pyarrow": pyarrow,
    "xgboost": xgboost,
    "fastrank": fastrank,
}


def check(name: str, result: object, expected: Matrix) -> str:
    """Say how a peer's matrix compares with scikit-learn's, bit for bit."""
    if name == "bytes only":
        return ""
    if name == "xgboost":
        result = result.get_data().toarray()[:, 1:]  # type: ignore[attr-defined]
    if name == "fastrank":
        rows = result.num_instances()  # type: ignore[attr-defined]
        return "" if rows == len(expected) else f"{rows} documents!"
    X = in_file_order(result) if name.startswith("rankstudio") else np.asarray(result)
    if X.shape != expected.shape:
        return f"shape {X.shape}!"
    if name in FLOAT32:
        return "float32" if np.allclose(X, expected, atol=1e-6) else "other numbers!"
    same = (expected == X).all(axis=None)
    return "" if same else f"{np.mean(expected != X):.1%} of the numbers off"


def in_file_order(dataset: object) -> Matrix:
    """Return our features with the rows as in the file, where a query's documents may be scattered."""
    X, rows = dataset.X, dataset.file_rows  # type: ignore[attr-defined]
    return X if rows is None else X[np.argsort(rows)]


def installed(path: Path) -> dict[str, Reader]:
    """Run every reader once, and return those that can be had and can read the file."""
    readers = {}
    for name, reader in READERS.items():
        try:
            reader(path)
        except Exception as error:
            print(
                f"{name}: left out, {type(error).__name__}: {str(error).splitlines()[0][:80]}"
            )
            continue
        readers[name] = reader
    return readers


def measure(path: Path) -> dict[str, float]:
    """Time the readers in turns and print the table; return the medians in seconds."""
    expected = scikit_learn(path)
    readers = installed(path)
    times: dict[str, list[float]] = {name: [] for name in readers}
    notes: dict[str, str] = {}
    for _ in range(RUNS):
        for name, reader in readers.items():
            began = time.perf_counter()
            result = reader(path)
            times[name].append(time.perf_counter() - began)
            notes[name] = notes.get(name) or check(name, result, expected)
            del result
    median = {name: float(np.median(t)) for name, t in times.items()}
    size = path.stat().st_size / 1e6
    print(
        f"\n{size:.1f} MB, {len(expected)} documents x {expected.shape[1]} features, {os.cpu_count()} cores"
    )
    print(f"{'reader':32}{'median':>9}{'least':>9}{'MB/s':>7}{'x ours':>8}")
    for name, seconds in median.items():
        ratio = seconds / median["rankstudio"]
        line = f"{name:32}{seconds * 1e3:7.1f}ms{min(times[name]) * 1e3:7.1f}ms{size / seconds:7.0f}{ratio:8.1f}"
        print(f"{line}  {notes[name]}".rstrip())
    return median


def main() -> None:
    """Measure, and say whether the aims are met."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="a dense LETOR file with comments of equal shape",
    )
    args = arguments.parse_args()
    given, record = args.file, Record(args.json)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKSTUDIO_CACHE_DIR"] = str(Path(folder) / "cache")
        path = Path(folder) / "train.txt"
        if given is None:
            write_example(path)
        else:
            path.write_bytes(given.read_bytes())
        make_bare_copy(path)
        median = measure(path)
    mine = median["rankstudio"]
    for name, seconds in median.items():
        record.add("one file", name, median_ms=1e3 * seconds, ratio=seconds / mine)
    peers = {
        name: t
        for name, t in median.items()
        if not name.startswith(("rankstudio", "bytes"))
    }
    ahead = all(t > mine for t in peers.values())
    print(
        f"\nscikit-learn takes {peers['scikit-learn'] / mine:.1f} times as long (aim: 10 at least)"
    )
    print(f"ahead of every peer: {'yes' if ahead else 'NO'}")
    print(
        f"reopening: {median['rankstudio, from the cache'] * 1e3:.0f} ms (aim: under 100)"
    )
    record.save()


if __name__ == "__main__":
    main()
