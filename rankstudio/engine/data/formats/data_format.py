"""The table of formats: from it come help, docs, the window's filters, and what reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.data.file_access import without_ending


@dataclass(frozen=True)
class DataFormat:
    """A format of data files.

    Attributes
    ----------
    key : str
        Key in the terminal.
    label : str
        Name for users.
    endings : tuple of str
        Endings of file names; the first one is used for writing. "" is none.
    about : str
        Contents of a line or row.
    loses : tuple of str
        Parts of a dataset that the format cannot store.
    extra : str
        Extra that installs its library; "" if none is needed.
    sizes : str
        Ending of the accompanying file of query sizes; "" if the data contain the queries.
    reads_only : bool
        Whether it can be read but not written.
    """

    key: str
    label: str
    endings: tuple[str, ...]
    about: str
    loses: tuple[str, ...] = ()
    extra: str = ""
    sizes: str = ""
    reads_only: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it has named columns."""
        return self.key in ("csv", "tsv", "parquet", "arrow", "records")

    @property
    def ending(self) -> str:
        """Ending of the names of written files."""
        return next((ending for ending in self.endings if ending), "")


_LINES = ("", ".txt", ".letor", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".ltr")
_PARTS = (".train", ".vali", ".valid", ".test")

FORMATS = (
    DataFormat(
        "letor",
        "LETOR text",
        (".txt", *(e for e in _LINES if e != ".txt"), *_PARTS),
        "`label qid:id feature:value … # comment`, as used by LETOR, SVM-rank, RankLib and MSLR-WEB",
        ("names of features",),
    ),
    DataFormat(
        "csv",
        "CSV",
        (".csv",),
        "a header, then one row per document; cells separated by commas (or semicolons, bars, tabs)",
        ("ids of features",),
    ),
    DataFormat("tsv", "TSV", (".tsv", ".tab"), "the same with tabs", ("ids of features",)),
    DataFormat(
        "parquet",
        "Parquet",
        (".parquet", ".pq"),
        "a table with a query column",
        ("ids of features",),
        extra="parquet",
    ),
    DataFormat(
        "arrow",
        "Arrow (Feather)",
        (".feather", ".arrow", ".ipc"),
        "the same as Parquet",
        ("ids of features",),
        extra="parquet",
    ),
    DataFormat(
        "records",
        "JSON Lines",
        (".jsonl", ".ndjson", ".json"),
        "an object per document, with the query, the label, and features by name or in a list; read only",
        ("ids of features",),
        reads_only=True,
    ),
    DataFormat(
        "trec",
        "TREC judgments and runs",
        (),
        "`query iteration document grade`, in a file with `qrel` in its name, next to runs (`.run`, "
        "`.trec`, `.res`) with lines `query Q0 document rank score tag`, one feature per run; read only",
        reads_only=True,
    ),
    DataFormat(
        "logs",
        "Feature logs of search engines",
        (".ndjson", ".jsonl"),
        "JSON with `_ltrlog` (Elasticsearch, OpenSearch), `[features]` (Solr) or `matchfeatures` (Vespa), "
        "next to a file of judgments with `qrel`, `judgment` or `rating` in its name; read only",
        reads_only=True,
    ),
    DataFormat(
        "xgboost",
        "SVMlight text with .group",
        _LINES,
        "`label feature:value …`, next to a file `.group` with the number of documents of each query, "
        "as used by XGBoost",
        ("names of features", "ids of queries", "comments"),
        sizes=".group",
    ),
    DataFormat(
        "lightgbm",
        "SVMlight text with .query",
        _LINES,
        "the same with a file `.query`, as used by LightGBM; its numeric tables without a header, with "
        "the label in the first column, are read too",
        ("names of features", "ids of queries", "comments"),
        sizes=".query",
    ),
)

WRITTEN = tuple(entry for entry in FORMATS if not entry.reads_only)
BY_KEY = {entry.key: entry for entry in FORMATS}

DATA_ENDINGS = frozenset(ending for entry in FORMATS for ending in entry.endings)
"""What names of data files end with, once that of a compressed file is gone."""


def format_of_name(name: str) -> DataFormat:
    """Return the format of a file name; LETOR text by default.

    Examples
    --------
    >>> format_of_name("train.csv.gz").key, format_of_name("train.txt").key
    ('csv', 'letor')
    """
    lower = without_ending(name).lower()
    found = (entry for entry in FORMATS for ending in entry.endings if ending and lower.endswith(ending))
    return next(found, BY_KEY["letor"])
