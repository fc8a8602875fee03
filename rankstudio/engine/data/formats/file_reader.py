"""Read a data file of any format."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import RankingDataset, Source
from rankstudio.engine.data.formats.data_format import format_of_name
from rankstudio.engine.data.formats.group_sizes import read_sizes, sizes_file
from rankstudio.engine.data.letor import file_access
from rankstudio.engine.data.letor.compression import decompress, is_packed
from rankstudio.engine.data.letor.file_access import ARROW, PADDING, PARQUET
from rankstudio.engine.data.letor.missing_values import Missing, Normalize, check_options
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.letor.reader import make_dataset, parse_letor, table_of
from rankstudio.engine.data.source import ReadAs
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES
from rankstudio.engine.data.trec.collection import collection_judgements, is_collection
from rankstudio.engine.data.trec.lines import read_lines
from rankstudio.engine.data.trec.qrels import graded_documents, is_judgement, is_qrels_name, runs_beside
from rankstudio.engine.data.trec.runs import run_scores
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.language import tr

_HEAD = 1 << 16
TABLES_VERSION = 3
"""Of the readers of tables: to be raised when they would give other values."""

_FEATURE = re.compile(rb"[0-9]+:")


@dataclass(frozen=True, eq=False)
class FileContents:
    """What was read from a data file.

    Attributes
    ----------
    table : Table
    source : Source
    read_as : ReadAs
    treated : bool
        Whether missing values are filled in, and features scaled, as was asked for.
    """

    table: Table
    source: Source
    read_as: ReadAs
    treated: bool = False


def load_trec(
    qrels: Path,
    runs: Mapping[str, Path],
    *,
    missing: Missing = "query_min",
    normalize: Normalize = False,
) -> RankingDataset:
    """Read TREC's judgements, with the score in each run as a feature; see `graded_documents`.

    Parameters
    ----------
    qrels : Path
        A file, or ``ir_datasets:`` and the id of a collection that the library ir_datasets knows.
    runs : Mapping of str to Path
        By the name that the feature has.
    missing, normalize
        As for `load_letor`.

    Raises
    ------
    DataError
        Where a file cannot be read, or is not what it should be.
    MissingExtraError
        Where ir_datasets is needed, and not installed.
    """
    check_options(missing, normalize)
    found = {name: run_scores(read_lines(path)) for name, path in runs.items()}
    text = collection_judgements(qrels) if is_collection(qrels) else read_lines(qrels)
    table = graded_documents(text, found, refuse=missing == "refuse")
    source = Source(text.path, text.size, f"sha256:{text.checksum}")
    return make_dataset(table, source, missing=missing, n_features=None, normalize=normalize)


def read_data_file(
    path: Path,
    progress: ReadProgress,
    told: DataColumns,
    *,
    refuse: bool = False,
    cache: bool = True,
) -> FileContents:
    """Read a file, or find what was once read from the same bytes in the same way.

    Parameters
    ----------
    path : Path
    progress : ReadProgress
    told : DataColumns
        What is known of the columns.
    refuse : bool
        Whether a missing value is an error.
    cache : bool
        Whether to use the cache of parsed files.

    Raises
    ------
    DataError, MissingExtraError
        Where it cannot be read; ZeroIdError at an id 0 where it is not told that ids begin with it.
    """
    content = file_access.read_file(path, progress)
    if _is_qrels(path, content, progress):
        return _read_trec(path, content, progress, refuse=refuse)
    beside = sizes_file(path)
    form = recognised_form(path, content, told, beside, progress)
    by_size = read_sizes(beside) if beside is not None and form != "letor" else None
    first_id = 1 if told.ids_from is None else told.ids_from

    def parse(pool: Executor) -> Table:
        if form in ("letor", "sizes"):
            table = parse_letor(
                path, content, pool, progress, refuse=refuse, first_id=first_id, sizes=by_size
            )
            return table if first_id else _with_old_ids(table)
        progress.advance(0)
        table = _read_columns(path, content, told, form, by_size, refuse, progress)
        progress.advance(progress.total / 2)
        return table

    identity = identity_of(told, by_size, form)
    variant = "" if form == "letor" and not identity else f"{form} {TABLES_VERSION} {identity}"
    table, source = table_of(
        path, content, progress, parse, refuse=refuse, cache=cache, variant=variant, identity=identity
    )
    return FileContents(table, source, read_as(path, form, beside, table))


def _is_qrels(path: Path, content: Bytes, progress: ReadProgress) -> bool:
    """Tell whether a file is TREC's judgements, which may be compressed where its name says so."""
    head = decompress(path, content, progress) if is_qrels_name(path.name) else content
    text = head[:_HEAD].tobytes().decode("utf-8", "replace")
    return is_judgement(next((line for line in text.split("\n") if line.strip("\x00\r \t")), ""))


def _read_trec(path: Path, content: Bytes, progress: ReadProgress, *, refuse: bool) -> FileContents:
    """Read judgements with the runs beside them."""
    qrels = read_lines(path)
    texts = {name: read_lines(file) for name, file in runs_beside(path).items()}
    identity = json.dumps([[name, text.checksum] for name, text in texts.items()])

    def parse(_: Executor) -> Table:
        progress.advance(0)
        table = graded_documents(qrels, {n: run_scores(text) for n, text in texts.items()}, refuse=refuse)
        progress.advance(progress.total / 2)
        return table

    table, source = table_of(path, content, progress, parse, refuse=refuse, cache=False, identity=identity)
    return FileContents(table, source, ReadAs("trec", ", ".join(texts)))


def recognised_form(
    path: Path, content: Bytes, told: DataColumns, beside: Path | None, progress: ReadProgress
) -> str:
    """Return how a file is read: "letor", "sizes" (SVMlight text with sizes beside it), "csv", "arrow"."""
    begin = content[: len(ARROW)].tobytes()
    if begin.startswith(PARQUET) or begin == ARROW:
        return "arrow"
    refuse_other_binary(path, content[:_HEAD].tobytes())
    if format_of_name(path.name).key in ("csv", "tsv"):
        return "csv"
    head = content[:_HEAD]
    if beside is not None or told.qid or told.label:  # it may be compressed
        head = decompress(path, content, progress)[:_HEAD]
    lines = (line.strip() for line in head.tobytes().splitlines())
    line = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if b"qid:" in line:
        return "letor"
    words = line.split()
    if beside is not None:
        return "sizes" if len(words) <= 1 or _FEATURE.match(words[1]) else "csv"
    names = re.split(rb'[",;|\t]+', line.lower())
    named = any(name.strip().decode("utf-8", "replace") in QUERY_NAMES for name in names)
    return "csv" if told.qid or told.label or (named and len(names) > 2) else "letor"


def refuse_other_binary(path: Path, begin: bytes) -> None:
    """Refuse a file that is named as Parquet or Arrow, and neither is that nor text.

    Raises
    ------
    FileAccessError
    """
    magic = {"parquet": PARQUET, "arrow": ARROW}.get(format_of_name(path.name).key)
    if magic is None or begin.startswith(magic) or is_packed(begin):
        return
    try:
        getincrementaldecoder("utf-8")().decode(begin.rstrip(b"\n"))
        binary = b"\0" in begin
    except UnicodeDecodeError:
        binary = True
    if binary:
        raise FileAccessError(
            path,
            tr("not a {format} file: it does not begin with {magic}, and is no text either.").format(
                format=format_of_name(path.name).label, magic=f'"{magic.rstrip(bytes(1)).decode()}"'
            ),
        )


def _read_columns(
    path: Path,
    content: Bytes,
    told: DataColumns,
    form: str,
    by_size: Ints | None,
    refuse: bool,
    progress: ReadProgress,
) -> Table:
    # Imported only now: pandas and pyarrow take long, and the cache may know the file.
    if form == "arrow":
        from rankstudio.engine.data.tabular.parquet import read_parquet  # noqa: PLC0415

        return read_parquet(path, content, told, sizes=by_size, refuse=refuse, check=progress.check)
    from rankstudio.engine.data.tabular.csv_text import read_csv  # noqa: PLC0415

    unpacked = decompress(path, content, progress)
    text = unpacked[: len(unpacked) - PADDING].tobytes()
    return read_csv(path, text, told, sizes=by_size, refuse=refuse, check=progress.check)


def _with_old_ids(table: Table) -> Table:
    """Name the features of a file whose ids begin at 0 by these, as they are one higher here."""
    return replace(table, feature_names=tuple(f"id {i}" for i in range(table.X.shape[1])))


def identity_of(told: DataColumns, by_size: Ints | None, form: str) -> str:
    """Return what else than a file's bytes says what the data are; "" for nothing."""
    values = told.as_dict() if form in ("csv", "arrow") else {}
    if form in ("letor", "sizes") and told.ids_from == 0:
        values = {"ids_from": 0}
    values.pop("ids_from", None) if form in ("csv", "arrow") else None
    if by_size is not None:
        values["sizes"] = by_size.tolist()
    return json.dumps(values, sort_keys=True) if values else ""


def read_as(path: Path, form: str, beside: Path | None, table: Table) -> ReadAs:
    """Return as what a file was read; beside it is its file of sizes, where there is one."""
    if form == "letor":
        return ReadAs()
    sizes = beside.name if beside is not None else ""
    if form == "sizes":
        return ReadAs("lightgbm" if sizes.endswith(".query") else "xgboost", sizes)
    qid, label, part = table.told_by
    key = format_of_name(path.name).key
    keys = ("parquet", "arrow") if form == "arrow" else ("csv", "tsv")
    return ReadAs(key if key in keys else keys[0], qid or sizes, label, part)
