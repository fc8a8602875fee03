"""The columns of the query, the label and the features in data, and the files that belong to the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.name_lists import split_names

_MAX_NAME_LENGTH = 1000
_MAX_COMPARED_NAMES = 1000  # each name is counted among all
_EXPECTED = (
    'columns by their names, such as qid = "query_id" and label = "grade", and lists of names as features or '
    "ignore"
)

COLUMN_OPTIONS = {
    **{name: f"--{name}" for name in ("qid", "label", "labels", "ignore", "part")},
    "features": "--columns",
    "ids_from": "--ids-from",
    "no_queries": "--no-queries",
    "judgments": "--judgments",
    "feature_set": "--feature-set",
    "document": "--docid",
    "missing_texts": "--missing-text",
    "format": "--data-format",
}
"""The terminal's option for each field of `DataColumns`."""

FILES = ("judgments", "feature_set")
"""Fields that name files; there may be several files of judgments."""


@dataclass(frozen=True)
class DataColumns:
    """Names of the columns of a table of documents, and the files that belong to the table.

    A column without a specified name is recognised by the usual names
    of its contents, such as "qid".

    Attributes
    ----------
    qid, label : str
        Columns of the query and of the relevance label; "" for the
        usual names. With several judges, the name of the judge in use.
    labels : tuple of str
        Label columns of several judges; () for one label.
    features : tuple of str
        Feature columns, in order; () for all other columns.
    ignore : tuple of str
        Columns that are not features.
    ids_from : int or None
        First feature id of SVMlight text, 0 or 1; None to detect it from an id
        0.
    part : str
        Column of the part of each document, train, vali or test; "" for
        the usual name, if present.
    no_queries : bool
        Whether all documents are one ranking, regardless of any queries
        in the data.
    judgments : tuple of str
        Files with the judgments of feature logs, one per judge; () for
        the one file next to the logs.
    feature_set : str
        File with the feature set of a search engine; "" for the one
        next to the data, if there is one.
    document : str
        Column of the document ids; "" for the usual name, if present.
    format : str
        Key of the format of the data; "" to recognise the format from
        the file. A plan records a format of a plug-in with its package.
    missing_texts : tuple of str
        Texts that stand for a missing value, besides NULL, NaN, NA and
        others that are usual.
    no_labels : bool
        Whether the documents are only scored, so that labels are not
        read, and only the columns of the query and of the features must
        exist. No plan has this value.
    """

    qid: str = ""
    label: str = ""
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    ids_from: int | None = None
    part: str = ""
    no_queries: bool = False
    labels: tuple[str, ...] = ()
    judgments: tuple[str, ...] = ()
    feature_set: str = ""
    document: str = ""
    missing_texts: tuple[str, ...] = ()
    format: str = ""
    no_labels: bool = False

    def __bool__(self) -> bool:
        return self != DataColumns()

    @property
    def files(self) -> tuple[str, ...]:
        """Files of judgments, then that of the feature set, if any."""
        return (*self.judgments, *filter(None, [self.feature_set]))

    def without_labels(self) -> DataColumns:
        """Return the same columns for documents that are only scored, without labels and judgments."""
        return replace(self, labels=(), judgments=(), no_labels=True)

    def beside(self, relocate: Callable[[str], str]) -> DataColumns:
        """Return the same columns with ``relocate`` applied to the path of each file."""
        feature_set = self.feature_set and relocate(self.feature_set)
        judgments = tuple(map(relocate, self.judgments))
        return replace(self, judgments=judgments, feature_set=feature_set)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of several judges, by their columns or files; () for one label."""
        if self.labels:
            return self.labels
        names = [Path(file).stem for file in self.judgments]
        return tuple(names) if len(names) > 1 else ()

    @classmethod
    def of(cls, values: Any) -> DataColumns:
        """Return the columns from plain values, a mapping of names of fields to values.

        The fields are the attributes of the class; those that are left
        out have their defaults. An object of this class is checked and
        returned, too.

        Raises
        ------
        ParameterError
            For invalid names of columns, or a name that occurs twice.
        """
        # Plain values cannot state that documents are only scored:
        # check such columns like others, then mark the result.
        if isinstance(values, DataColumns) and values.no_labels:
            return cls.of(replace(values, no_labels=False)).without_labels()
        plain = values.as_dict() if isinstance(values, DataColumns) else values
        fields_by_name = _checked_fields(plain)
        labels = fields_by_name["labels"]
        judgments = fields_by_name["judgments"]
        if fields_by_name["no_queries"] and fields_by_name["qid"]:
            raise ParameterError(
                "no_queries", True, f"no query column, got {fields_by_name['qid']!r}"
            )
        # Labels are in columns or in files of judgments, not in both.
        if labels and judgments:
            raise ParameterError(
                "labels", labels[0], "no label columns beside files of judgments"
            )
        # A judge is a column of labels, or a file of judgments, of its
        # own. Of several judges, the label in use is that of the first
        # one, unless another is specified.
        judges = cls(labels=labels, judgments=judgments).judges
        fields_by_name["label"] = label = fields_by_name["label"] or next(
            iter(judges), ""
        )
        _check_judges(label, judges)
        # A column has at most one role.
        other_labels = (name for name in labels if name != label)
        single_columns = [
            fields_by_name["qid"],
            label,
            fields_by_name["part"],
            fields_by_name["document"],
        ]
        used_columns = [
            *single_columns,
            *other_labels,
            *fields_by_name["features"],
            *fields_by_name["ignore"],
        ]
        _check_once([name for name in used_columns if name])
        # One name in "labels" means the same as "label" alone: store only the latter.
        return cls(**fields_by_name | {"labels": labels if len(labels) > 1 else ()})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a plan: texts, numbers and lists by field.

        Fields with their default value are left out.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        # All defaults are false in a condition, such as "" and (). But ids_from
        # = 0, which is false, too, differs from its default None.
        specified = {
            name: value
            for name, value in values.items()
            if value or (name == "ids_from" and value == 0)
        }
        plain = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in specified.items()
        }
        if len(self.judgments) == 1:  # a text, as versions with a single judge wrote it
            plain["judgments"] = self.judgments[0]
        return plain


def _checked_fields(values: Any) -> dict[str, Any]:
    """Return a value for every field of DataColumns, by name, from plain values.

    ``values`` is a mapping of some fields to values with the types of
    JSON. Raise ParameterError for unknown fields or values of a wrong
    type.
    """
    if not isinstance(values, Mapping):
        raise ParameterError("columns", values, _EXPECTED)
    # Other fields have their default; lists become tuples.
    checked = {f.name: values.get(f.name, f.default) for f in fields(DataColumns)}
    checked |= {
        name: _names_of_list(checked[name])
        for name in ("features", "ignore", "labels", "missing_texts")
    }
    # A single file of judgments may be given without a list.
    files = checked["judgments"]
    first_id = checked["ids_from"]
    if not isinstance(files, list | tuple):
        files = (files,) if files else ()
    checked["judgments"] = tuple(files)
    # Check that there are no other fields, and the type of each one. A
    # name may be "", for a column that is not specified, but not that
    # of a file. "no_labels" is not a plain value: only the program sets
    # it. The first id of a feature is 0 or 1, or not specified.
    names = [
        checked[name]
        for name in ("qid", "label", "part", "feature_set", "document", "format")
    ]
    conditions = (
        values.keys() <= checked.keys() - {"no_labels"},
        first_id in (None, 0, 1) and not isinstance(first_id, bool),
        isinstance(checked["no_queries"], bool),
        all(_is_name(name, empty=True) for name in names)
        and all(map(_is_name, checked["judgments"])),
    )
    if not all(conditions):
        raise ParameterError("columns", dict(values), _EXPECTED)
    return checked


def _check_once(names: Sequence[str]) -> None:
    """Raise ParameterError for a name that occurs twice in a list.

    A list of very many names is not checked, as this would take long.
    The reader of the table refuses the name then.
    """
    if len(names) < _MAX_COMPARED_NAMES and (
        twice := [name for name in names if names.count(name) > 1]
    ):
        raise ParameterError("columns", twice[0], "each column at most once")


def _check_judges(label: str, judges: tuple[str, ...]) -> None:
    """Raise ParameterError for two judges with the same name, and for a label that no judge has.

    A judge is a column of labels, or a file of judgments, beside
    others. ``label`` is the name of the judge in use; ``judges`` are
    the names of all judges, () unless there are several.
    """
    if len(set(judges)) < len(judges):
        repeated_name = next(name for name in judges if judges.count(name) > 1)
        raise ParameterError(
            "judgments", repeated_name, "a name for each judge, of a column or a file"
        )
    if judges and label not in judges:
        raise ParameterError("label", label, f"one of the judges, {', '.join(judges)}")


def _names_of_list(values: Any) -> tuple[str, ...]:
    """Return a list of names, which may be one text with commas."""
    items = split_names(values) if isinstance(values, str) else values
    if not isinstance(items, list | tuple) or not all(_is_name(item) for item in items):
        raise ParameterError("columns", values, _EXPECTED)
    return tuple(items)


def _is_name(value: Any, *, empty: bool = False) -> bool:
    """Return whether a value may be a name of a column; "" only if ``empty``."""
    return (
        isinstance(value, str)
        and len(value) <= _MAX_NAME_LENGTH
        and (bool(value) or empty)
    )
