"""The data formats of RankStudio itself, as a plug-in."""

from __future__ import annotations

from rankstudio.engine.data.data_format import DataFormat, FormatCode
from rankstudio.engine.plugins.plugin import Plugin

_PACKAGE = "rankstudio.engine.data.formats"
_TEXT_ENDINGS = (
    "",
    ".txt",
    ".letor",
    ".dat",
    ".data",
    ".svm",
    ".svmlight",
    ".libsvm",
    ".ltr",
)
_PART_ENDINGS = (".train", ".vali", ".valid", ".test")


def _format_code(recognised: str, read: str = "", **functions: str) -> FormatCode:
    """Return the locations of a format's functions, as "module:function".

    ``recognised`` is the function that recognises files, in the module
    ``recognition``. ``read`` and the other ``functions``, by the
    attributes of `FormatCode`, are "module:function" inside the package
    of formats. Without ``read``, the default function reads files.
    Without ``write``, the format has no writer ("").
    """
    references = {
        "confidence": f"recognition:{recognised}",
        **({"read": read} if read else {}),
        **functions,
    }
    locations = {
        name: f"{_PACKAGE}.{reference}" for name, reference in references.items()
    }
    return FormatCode(**{"write": "", **locations})


_CSV = _format_code(
    "csv_confidence",
    "csv_text:read_csv",
    need="memory_needs:csv_need",
    preview="csv_text:preview",
    logs_of="joined_files:logs_judged_by_table",
    write="dataset_writer:write_csv",
)
_BY_SIZES = _format_code(
    "sizes_confidence",
    "letor:read_letor",
    need="memory_needs:text_need",
    write="dataset_writer:write_with_sizes",
)

LETOR = DataFormat(
    "letor",
    "LETOR text",
    (".txt", *(e for e in _TEXT_ENDINGS if e != ".txt"), *_PART_ENDINGS),
    "`label qid:id feature:value … # comment`, as used by LETOR, SVM-rank, RankLib and MSLR-WEB",
    loses=("names of features",),
    has_word_ids=True,
    several_files=True,
    parsed_as="letor",
    code=_format_code(
        "letor_confidence",
        "letor:read_letor",
        need="memory_needs:text_need",
        write="dataset_writer:write_letor",
    ),
)

FORMATS = (
    LETOR,
    DataFormat(
        "csv",
        "CSV",
        (".csv",),
        "a header, then one row per document; cells separated by commas (or semicolons, bars, tabs)",
        loses=("ids of features",),
        is_table=True,
        parsed_as="csv",
        code=_CSV,
    ),
    DataFormat(
        "tsv",
        "TSV",
        (".tsv", ".tab"),
        "the same with tabs",
        loses=("ids of features",),
        is_table=True,
        parsed_as="csv",
        code=_CSV,
    ),
    DataFormat(
        "trec",
        "TREC judgments and runs",
        (),
        "`query iteration document grade`, in a file with `qrel` in its name, next to runs (`.run`, "
        "`.trec`, `.res`) with lines `query Q0 document rank score tag`, one feature per run; read only",
        is_joined=True,
        parsed_as="trec",
        code=_format_code(
            "trec_confidence",
            read_whole="trec:read_judged",
            need="memory_needs:no_need",
            logs_of="joined_files:logs_judged_by_trec",
        ),
    ),
    DataFormat(
        "xgboost",
        "SVMlight text with .group",
        _TEXT_ENDINGS,
        "`label feature:value …`, next to a file `.group` with the number of documents of each query, "
        "as used by XGBoost",
        loses=("names of features", "ids of queries", "comments"),
        sizes=".group",
        parsed_as="sizes",
        code=_BY_SIZES,
    ),
    DataFormat(
        "lightgbm",
        "SVMlight text with .query",
        _TEXT_ENDINGS,
        "the same with a file `.query`, as used by LightGBM; its numeric tables without a header, with "
        "the label in the first column, are read too",
        loses=("names of features", "ids of queries", "comments"),
        sizes=".query",
        parsed_as="sizes",
        code=_BY_SIZES,
    ),
)

PLUGIN = Plugin(
    name="data-formats",
    data_formats=FORMATS,
    summary="Data formats of RankStudio itself.",
)
