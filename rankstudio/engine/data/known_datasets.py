"""Well-known public datasets: how to recognise them, the names of their features, and their usual measures.

A dataset is recognised by its number of features together with its
labels, and the style of its comments, the name of its folder or,
without comments, values that other datasets do not have. LETOR's
conventions and those of MSLR hold for these datasets only: all others
are measured as by most programs, see
`rankstudio.engine.metrics.conventions`. Recognition depends on the
files alone, not on who reads them.

A wrong name is worse than no name, so features that could have another
meaning get no name. A ``features.csv`` or ``feature_names.txt`` beside
the data (lines of ``id,name``), or the ``features.json`` of Solr or
Elasticsearch, overrides the names from here, unless its header states
other contents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.feature_sets import (
    FEATURE_SET_FILES,
    FeatureSet,
    features_in_json,
    first_feature_set,
)
from rankstudio.engine.support.escaping import csv_cells, unguarded
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import read_text
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.grades import STANDARD
from rankstudio.engine.support.resources import resource, table
from rankstudio.engine.support.shard import shards_of

_NAME_FILES = (
    "features.csv",
    "feature_names.csv",
    "feature_names.txt",
    "features.txt",
    "featureset.json",
    "features.json",
)
_PART_OR_FOLD = re.compile(r"fold[-_ ]?\d+", re.IGNORECASE)
_LINE = re.compile(r"\s*([0-9]+)\s*[,;:\t ]\s*(.*?)\s*")
_ID = re.compile(r"0*[0-9]{1,9}")
_ID_COLUMN = re.compile(
    r"(feature)?[\s_.-]*(id|index|column|number|no|nr|#)?\.?", re.IGNORECASE
)
_MAX_COMMENTS = 50  # first comments that are compared with a pattern


@dataclass(frozen=True)
class KnownDataset:
    """A known public dataset, with the signs by which data are recognised as it.

    Attributes
    ----------
    key : str
        Key, also the name of its table in ``resources/features``, if
        there is one.
    title : str
        Name for people.
    n_features : range
        Possible numbers of features.
    labels : range
        Possible labels.
    convention : str
        Key of the convention by which its measures are usually computed.
    folder : Pattern
        Pattern of the names of its folders.
    comment : Pattern or None
        Pattern of its documents' comments; None if the dataset has no comments.
    unmistakable : callable or None
        Function that returns whether data are this dataset by their
        values alone.
    """

    key: str
    title: str
    n_features: range
    labels: range
    convention: str
    folder: re.Pattern[str]
    comment: re.Pattern[str] | None
    unmistakable: Callable[[RankingDataset], bool] | None = None

    def fits(self, path: Path, dataset: RankingDataset) -> bool:
        """Return whether a dataset that was read from a path is this known dataset.

        Number of features, labels and comments must agree. In addition,
        either a folder in the path has a name of the dataset, or the
        comments are typical, or, without comments, the values are
        typical.
        """
        if dataset.n_features not in self.n_features or not _labels_within(
            dataset, self.labels
        ):
            return False
        comments = list(islice(dataset.comments, _MAX_COMMENTS))
        if (
            self.comment is not None
            and any(comments)
            and not all(map(self.comment.search, comments))
        ):
            return False
        # Farther up in the path, a name says little about this file.
        if any(self.folder.search(part) for part in path.parts[-4:]):
            return True
        # By now, comments match the typical ones, if the known dataset
        # has such; otherwise they say nothing. Without comments, a test
        # of the values decides.
        if any(comments):
            return self.comment is not None
        return self.unmistakable is not None and self.unmistakable(dataset)


@dataclass(frozen=True)
class Identity:
    """Result of the recognition of data as a known dataset.

    Attributes
    ----------
    known : str or None
        Key of the known dataset; None if the data are not recognised.
    convention : str
        Key of the convention by which measures are computed by default.
    names : Mapping of int to str
        Known feature names by 1-based id.
    warnings : tuple of str
        Problems of a file of feature names next to the data.
    feature_set : FeatureSet or None
        Feature set of a search engine next to the data, if the set has
        any feature of the data.
    """

    known: str | None
    convention: str
    names: Mapping[int, str]
    warnings: tuple[str, ...] = ()
    feature_set: FeatureSet | None = None

    def name_features(self, dataset: RankingDataset) -> RankingDataset:
        """Return the dataset with known feature names, warnings and convention.

        Features without a known name keep the name that they have.
        """
        names = dataset.feature_names
        if self.names:
            features = zip(dataset.feature_ids.tolist(), names, strict=True)
            names = tuple(self.names.get(i, name) for i, name in features)
        return replace(
            dataset,
            feature_names=names,
            warnings=dataset.warnings + self.warnings,
            convention=self.convention,
        )


def identify(path: Path, dataset: RankingDataset) -> Identity:
    """Recognise the dataset read from a file.

    Parameters
    ----------
    path : Path
        Path of the file; the names of its folders are used, and a file
        of feature names is searched there.
    dataset : RankingDataset
        Dataset read from the file.
    """
    path = path.absolute()
    # The sample of RankStudio has the features of LETOR 4.0.
    if path.parent == resource("sample"):
        return Identity("letor4", "letor4", table_of_names("letor4"))
    # A known dataset names features that have no names in the file.
    known_dataset = _known_dataset(path, dataset)
    names: Mapping[int, str] = {}
    # A file whose ids count from 0 has features "id 0" and so on: its
    # ids are one less than here.
    from_zero = dataset.feature_names[0] == "id 0"
    unnamed = from_zero or dataset.feature_names == default_names(dataset.feature_ids)
    # The known list of names for the dataset "gov" does not fit all of
    # its versions: the values decide.
    if (
        known_dataset is not None
        and unnamed
        and (known_dataset.key != "gov" or _gov_by_feature(dataset))
    ):
        names = table_of_names(known_dataset.key)
    # Names and a feature set may be in files next to the data. Lists of
    # names by position are only for features without names.
    own_names, warnings = _names_beside_data(path, lists=unnamed)
    if from_zero and 0 in own_names:
        own_names = {i + 1: name for i, name in own_names.items()}
    feature_set = first_feature_set(_files_beside(path, FEATURE_SET_FILES))
    # Match the feature set by name, or by position without names.
    if feature_set is not None:
        ids = dataset.feature_ids.tolist()
        features = zip(ids, dataset.feature_names, strict=True)
        named_features = [(i, own_names.get(i, name)) for i, name in features]
        feature_set = feature_set.matched(named_features, by_position=unnamed)
        warnings += () if feature_set.ids else (feature_set.unused(dataset.n_features),)
        names = {**names, **feature_set.labels}
    # Names next to the data take precedence over all others.
    names = own_names or names
    key = known_dataset.key if known_dataset else None
    convention = known_dataset.convention if known_dataset else STANDARD
    matched_set = feature_set if feature_set and feature_set.ids else None
    return Identity(key, convention, names, warnings, matched_set)


def _known_dataset(path: Path, dataset: RankingDataset) -> KnownDataset | None:
    """Return the first known dataset that fits the data, or None."""
    if not dataset.n_documents:
        return None
    return next(
        (candidate for candidate in KNOWN if candidate.fits(path, dataset)), None
    )


def recorded_dataset(
    path: str, feature_names: Sequence[str] = (), n_features: int | None = None
) -> str | None:
    """Return the key of the known dataset of data that are only recorded; None if none is recognised.

    Parameters
    ----------
    path : str
        File or folder of the data.
    feature_names : sequence of str
        Recorded names of the features. Names that a known dataset gave
        its features are enough.
    n_features : int, optional
        Recorded number of features, which the dataset of a folder's
        name must have.
    """
    # The sample has the features of LETOR 4.0, but is no part of it.
    if Path(path).absolute().is_relative_to(resource("sample")):
        return None
    for candidate in KNOWN:
        published_names = tuple(table_of_names(candidate.key).values())
        if published_names and tuple(feature_names) == published_names:
            return candidate.key
    # Otherwise the name of a folder decides. Farther up in the path
    # than the last four names, one says little about the data.
    parts = Path(path).parts[-4:]
    return next(
        (
            candidate.key
            for candidate in KNOWN
            if (n_features is None or n_features in candidate.n_features)
            and any(map(candidate.folder.search, parts))
        ),
        None,
    )


def _names_beside_data(
    path: Path, *, lists: bool
) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return (feature names by id, warnings) from a file beside the data ``path``.

    The names are those of the first file with names. Each file before
    it that is named like a file of names, but has none, gives a
    warning. If ``lists``, a file named like a search engine's feature
    set is used, too, if it is only a list of names by position; feature
    sets themselves are read elsewhere.
    """
    warnings: tuple[str, ...] = ()
    for file in _files_beside(path, _NAME_FILES):
        # Skip a feature set, and a list of names if these do not count.
        if file.name in FEATURE_SET_FILES and (
            not lists or first_feature_set([file]) is not None
        ):
            continue
        own_names = _read_names(file)
        if own_names:
            return own_names, warnings
        warnings += (
            f"{file}: no feature names found; expected a header such as id,name and lines such as "
            "12,BM25 of title.",
        )
    return {}, warnings


@cache
def table_of_names(key: str) -> Mapping[int, str]:
    """Return the feature names of a known dataset by id; empty if none are published."""
    return FrozenMapping(_read_names(resource("features", f"{key}.csv")))


def _files_beside(path: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the files with some names that belong to a data file.

    The files are in the folder of the data file or, if that is the
    folder of a fold, in the folder above.
    """
    folders = [path.parent]
    if _PART_OR_FOLD.fullmatch(path.parent.name):
        folders.append(path.parent.parent)
    candidates = (folder / name for folder in folders for name in names)
    return (c for c in candidates if c.is_file() and c != path)


def _read_names(path: Path) -> dict[int, str]:
    """Return the feature names in a file, by 1-based id.

    Return {} if the file cannot be read or has no names.
    """
    try:
        text = read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError:
        return {}
    if path.suffix.lower() == ".json":
        return {
            i: name.strip() for i, name in names_in_json(text).items() if name.strip()
        }
    return names_in_table(text, separated=path.suffix.lower() == ".csv")


def names_in_table(text: str, *, separated: bool) -> dict[int, str]:
    """Return the feature names, by id, in a text with lines of id and name.

    ``separated`` is whether the text is CSV; otherwise a comma, colon,
    semicolon, tab or blank separates id and name. Return {} for tables
    whose header states other contents of the first column, or groups in
    the second.
    """
    if separated:
        first_line, _, _ = text.partition("\n")
        header = [cell.strip().lower() for cell in csv_cells(first_line)]
        if header[1:2] == ["group"]:  # the second column has names of groups
            return {}
        cells_of_lines = map(csv_cells, text.splitlines())
        rows = [[row[0], unguarded(row[1])] for row in cells_of_lines if len(row) >= 2]
    else:
        rows = [list(m.groups()) for m in map(_LINE.fullmatch, text.splitlines()) if m]
    # The first line must be a header for ids, or begin with an id.
    if (
        rows
        and not rows[0][0].strip().isdecimal()
        and not _ID_COLUMN.fullmatch(rows[0][0].strip())
    ):
        return {}
    return {
        int(i): name.strip()
        for i, name in rows
        if _ID.fullmatch(i.strip()) and name.strip()
    }


def names_in_json(text: str) -> dict[int, str]:
    """Return feature names in JSON of Solr, Elasticsearch or OpenSearch, by position from 1.

    The JSON may be a list of features, a Solr feature store or model, a
    feature set, or a response with a feature set.
    """
    try:
        features, _ = features_in_json(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    names = (
        feature.get("name") if isinstance(feature, dict) else feature
        for feature in features
    )
    return {i: name for i, name in enumerate(names, start=1) if isinstance(name, str)}


def _labels_within(dataset: RankingDataset, labels: range) -> bool:
    """Return whether all labels are whole numbers in a range."""
    are_whole = bool((dataset.y == np.floor(dataset.y)).all())
    return (
        are_whole and dataset.y.min() >= labels.start and dataset.y.max() < labels.stop
    )


def _is_mslr(dataset: RankingDataset) -> bool:
    """Return whether the values of features are those of the public dataset MSLR.

    In MSLR, features 96 … 100 are 0 or 1, and 6 … 10 ratios from 0 to
    1. Columns of X count from 0.
    """
    for X in _feature_blocks(dataset):
        boolean = X[:, 95:100]
        ratio = X[:, 5:10]
        if not (
            np.isin(boolean, (0.0, 1.0)).all()
            and (ratio >= 0.0).all()
            and (ratio <= 1.0).all()
        ):
            return False
    return True


def _gov_by_feature(dataset: RankingDataset) -> bool:
    """Return whether feature 22 of data of the collection .gov is BM25 of anchor, as in LETOR 3.0.

    If so, feature 22 is 0 for nearly the same documents as feature 2,
    TF of anchor. The list that circulates for LETOR 4.0 turned out to
    have another order than the data.
    """
    n_alike = sum(
        np.count_nonzero((X[:, 1] == 0.0) == (X[:, 21] == 0.0))
        for X in _feature_blocks(dataset)
    )
    return n_alike / dataset.n_documents > 0.9


def _feature_blocks(dataset: RankingDataset) -> Iterator[Floats]:
    """Yield the features of some documents at a time."""
    for shard in shards_of(dataset.query_ptr):
        yield dataset.X[shard.rows]
        release(dataset.X[shard.rows])


def _is_zero_in(columns: Sequence[int]) -> Callable[[RankingDataset], bool]:
    """Return a function that tests whether a dataset is scaled like LETOR, with some columns all 0.

    Values scaled within each query go from 0 to 1, and at least half of
    the features reach 1. Inverse document frequencies are equal for all
    documents of a query, so that scaling makes these ``columns``, which
    count from 1, all
    0.
    """
    zero_columns = [column - 1 for column in columns]

    def is_scaled(dataset: RankingDataset) -> bool:
        """Return whether all features of a part are in [0, 1], half of them reach 1, and some are all 0.

        The features that must be 0 are the ``zero_columns`` of the
        enclosing function.
        """
        # The largest value of each feature in all blocks of documents.
        largest = np.zeros(dataset.n_features)
        for X in map(np.asarray, _feature_blocks(dataset)):
            low = X.min(axis=0)
            high = X.max(axis=0)
            if low.min() < 0.0 or high.max() > 1.0 or high[zero_columns].any():
                return False
            np.maximum(largest, high, out=largest)
        return bool(np.count_nonzero(largest == 1.0) >= dataset.n_features // 2)

    return is_scaled


_UNMISTAKABLE = {
    "mslr": _is_mslr,
    "letor4": _is_zero_in((6, 7, 8, 9, 10)),
    "ohsumed": _is_zero_in((5, 6, 7, 20, 21, 22, 35, 36, 37)),
}


def _parsed_known_dataset(key: str, values: Mapping[str, Any]) -> KnownDataset:
    """Return a known dataset by its key and its values in the table of known datasets."""
    # The table has the lowest and the highest number of features, and
    # the lowest and the highest label. A range ends behind its highest
    # number.
    features, labels = (
        (low, high + 1) for low, high in (values["n_features"], values["labels"])
    )
    comment = values.get("comment")  # a pattern of typical comments, or None
    return KnownDataset(
        key=key,
        title=values["title"],
        n_features=range(*features),
        labels=range(*labels),
        convention=values["convention"],
        folder=re.compile(values["folder"], re.IGNORECASE),
        comment=re.compile(comment, re.IGNORECASE) if comment else None,
        unmistakable=_UNMISTAKABLE.get(key),
    )


KNOWN = tuple(
    _parsed_known_dataset(key, values)
    for key, values in table("features", "datasets.toml").items()
)


def known_title(key: str | None) -> str:
    """Return the title of a known dataset by its key; "" for None or an unknown key."""
    titles = (candidate.title for candidate in KNOWN if candidate.key == key)
    return next(titles, "")
