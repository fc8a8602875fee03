"""Names of features from files of several programs, and the user's own names, notes and groups."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, changed_parts
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import (
    MOST_BYTES,
    Groups,
    group_names,
    groups_of,
    read_feature_file,
)
from rankstudio.engine.data.feature_sets import FeatureSet, first_feature_set
from rankstudio.engine.data.known_datasets import names_in_json, names_in_table
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    OutputError,
    ParameterError,
)
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import guarded, unguarded
from rankstudio.engine.support.files import make_folder, read_text, write_bytes
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_MAX_NAME_LENGTH = 200
_NAMELESS = re.compile(r"(feature|id) [0-9]+")
# of the file of the feature set, beside the file of names
_FEATURE_SET_ENDING = ".featureset"
_COSTS_ENDING = ".costs"
_HEADER = ("id", "name", "note", "group")
_RANKLIB = re.compile(r"\s*([0-9]{1,9})(?:[\t ,;:]+(.*?))?\s*")
_EXPECTED = translatable(
    "lines with id and name (CSV, or RankLib's feature list), or JSON from Solr or Elasticsearch with "
    "a list of named features"
)


@dataclass(frozen=True)
class GivenNames:
    """The names that features have in the data, kept because the user renamed some of them.

    An extension of a dataset.

    Attributes
    ----------
    names : tuple of str
        Name of each feature, in the order of the columns.
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class FeatureNotes:
    """The user's names, notes and groups of the features of a dataset.

    Attributes
    ----------
    names, notes : Mapping of int to str
        Name or note of a feature by its 1-based id.
    groups : Mapping of str to tuple of int
        1-based ids of the features of each group, by the group's name.
    feature_set : FeatureSet or None
        Feature set of a search engine that the user imported; None without one.
    costs : FeatureCosts or None
        Costs of features that the user imported; None without them.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    groups: Groups = field(default_factory=FrozenMapping)
    feature_set: FeatureSet | None = None
    costs: FeatureCosts | None = None

    def with_name(self, feature: int, name: str) -> FeatureNotes:
        """Return a copy with another name of a feature, given by id; "" for the name from the data."""
        return replace(self, names=_with_text(self.names, feature, name))

    def with_note(self, feature: int, note: str) -> FeatureNotes:
        """Return a copy with another note on a feature, given by id; "" for none."""
        return replace(self, notes=_with_text(self.notes, feature, note))


def read_feature_names(path: Path) -> dict[int, str]:
    """Read feature names from a file, and return them by 1-based id.

    Parameters
    ----------
    path : Path
        CSV or text with lines of id and name; RankLib's feature list
        (``12<tab>BM25``, or ``12 # BM25``); JSON of a Solr feature
        store or model, or of an Elasticsearch or OpenSearch feature
        set, with features numbered in order.

    Raises
    ------
    DatasetError
        If the file contains no names; the message states the expected format.
    FileAccessError
        If the file cannot be read.
    """
    text = read_feature_file(path, tr(_EXPECTED))
    # JSON begins with a bracket or brace.
    names = (
        names_in_json(text)
        if text.lstrip()[:1] in ("[", "{")
        else _names_in_lines(path, text)
    )
    # Leave out names of which nothing is left.
    valid_names = {
        i: _cleaned(name) for i, name in names.items() if i > 0 and _cleaned(name)
    }
    if not valid_names:
        raise DatasetError(
            tr("{path}: found no feature names, expected {expected}.").format(
                path=path, expected=tr(_EXPECTED)
            )
        )
    return valid_names


def load_notes(folder: Path, dataset: FoldedDataset) -> FeatureNotes:
    """Return the user's names, notes, groups, set and costs of a dataset's features.

    ``folder`` has the stored files of all datasets, which are named
    after checksums of the data. Names, notes and groups are empty if
    their file is missing or damaged.
    """
    # Data made in memory have no file (None).
    path = _names_file(folder, dataset)
    if path is None:
        return FeatureNotes()
    # The feature set and the costs have files of their own; the set is
    # None if there is no valid file.
    imported = FeatureNotes(
        feature_set=first_feature_set([path.with_suffix(_FEATURE_SET_ENDING)]),
        costs=_stored_costs(path),
    )
    try:
        if not path.exists() or path.stat().st_size > MOST_BYTES:
            return imported
        rows = list(
            csv.reader(io.StringIO(read_text(path, encoding="utf-8", errors="replace")))
        )
    except (OSError, csv.Error):
        return imported
    # Use the rows that begin with the id of a feature.
    names: dict[int, str] = {}
    notes: dict[int, str] = {}
    groups: dict[int, str] = {}
    for row in rows:
        if len(row) >= 3 and re.fullmatch(r"[1-9][0-9]{0,8}", row[0]):
            feature = int(row[0])
            # The columns are name, note and group. A row may have no
            # group: then the added "" is the third text.
            texts = [_cleaned(unguarded(text)) for text in (*row[1:4], "")]
            names[feature], notes[feature], groups[feature] = texts[:3]
    return replace(
        imported,
        names=_without_empty_texts(names),
        notes=_without_empty_texts(notes),
        groups=groups_of(groups),
    )


def _stored_costs(path: Path) -> FeatureCosts | None:
    """Return the costs of features that are stored beside the user's names of features.

    ``path`` is the file of the names. Return None if there are no
    costs, or their file is damaged.
    """
    with suppress(OSError, ValueError, RecursionError, DataError, ParameterError):
        stored = json.loads(read_feature_file(path.with_suffix(_COSTS_ENDING), ""))
        return replace(FeatureCosts.of(stored["costs"]), source=str(stored["source"]))
    return None


def save_notes(folder: Path, dataset: FoldedDataset, notes: FeatureNotes) -> None:
    """Store the user's names, notes and groups of a dataset's features.

    The files are found again by the contents of the data, wherever the
    data are.

    Parameters
    ----------
    folder : Path
        Folder of the files for all datasets. Each file is a table of
        id, name, note and group, which can be copied next to the data
        as ``features.csv``, where every program finds the names. A
        feature set and costs are further files.
    dataset : FoldedDataset
        The data, identified by the checksum of the first data file.
    notes : FeatureNotes
        The user's names, notes and groups, and an imported feature set
        and costs.

    Raises
    ------
    OutputError
        If a file cannot be written, or the data were not read from a file.
    """
    path = _names_file(folder, dataset)
    if path is None:
        raise OutputError(
            tr(
                "{name} was not read from a file: names and notes of its features are not stored."
            ).format(name=dataset.name)
        )
    # Write a line for each feature with a name, a note or a group.
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(_HEADER)
    group_of = group_names(notes.groups)
    for feature in sorted({*notes.names, *notes.notes, *group_of}):
        texts = (
            texts_by_id.get(feature, "")
            for texts_by_id in (notes.names, notes.notes, group_of)
        )
        # A text that a spreadsheet would take as a formula gets an apostrophe.
        writer.writerow([feature, *map(guarded, texts)])
    make_folder(folder)
    write_bytes(path, written.getvalue().encode())
    # The feature set and the costs have files of their own.
    if notes.feature_set is not None:
        write_bytes(
            path.with_suffix(_FEATURE_SET_ENDING), notes.feature_set.text().encode()
        )
    if notes.costs is not None:
        stored = {"source": notes.costs.source, "costs": dict(notes.costs.plain())}
        write_bytes(path.with_suffix(_COSTS_ENDING), json.dumps(stored).encode())


def renamed(dataset: FoldedDataset, names: Mapping[int, str]) -> FoldedDataset:
    """Return a dataset with the user's feature names; the documents are shared.

    Parameters
    ----------
    dataset : FoldedDataset
        The data; not changed.
    names : Mapping of int to str
        New names by id; the other features keep the names from the data.
    """
    original_names = given_names(dataset)
    ids = dataset.feature_ids.tolist()
    new_names = tuple(
        names.get(i, name) for i, name in zip(ids, original_names, strict=True)
    )
    return _with_names(dataset, new_names, original_names)


def given_names(dataset: FoldedDataset) -> tuple[str, ...]:
    """Return the features' names from the data, also if the user renamed features."""
    extension = dataset.extension(GivenNames)
    return dataset.feature_names if extension is None else extension.names


def with_feature_set(dataset: FoldedDataset, feature_set: FeatureSet) -> FoldedDataset:
    """Return a dataset with a search engine's feature set, which also names features that have no name.

    The documents are shared with ``dataset``.

    Raises
    ------
    DatasetError
        If the set has none of the dataset's features.
    """
    # Match the features by name or position.
    ids = dataset.feature_ids.tolist()
    original_names = given_names(dataset)
    matched = feature_set.matched(
        zip(ids, original_names, strict=True), by_position=True
    )
    if not matched.ids:
        raise DatasetError(feature_set.unused(len(ids)))
    # Only features without a name in the data are named by the set;
    # "feature 7" and "id 6" are no names, but made up by the reader.
    features = zip(ids, original_names, strict=True)
    new_names = tuple(
        matched.labels.get(i, name) if _NAMELESS.fullmatch(name) else name
        for i, name in features
    )
    # Names that the user gave stay; they are those that differ from the data.
    user_names = {
        i: user_name
        for i, user_name, name in zip(
            ids, dataset.feature_names, original_names, strict=True
        )
        if user_name != name
    }
    # The names so far count as those of the data, hence no original names.
    with_set = _with_names(dataset, new_names, original_names=())
    if user_names:
        with_set = renamed(with_set, user_names)
    return with_set.extended(matched)


def set_mismatch(dataset: FoldedDataset) -> str:
    """Return a warning if the feature set of a dataset may have other features than its data.

    A feature set describes the features of a search engine. Return ""
    if there is no doubt, or no feature set. For features that are
    matched by position, only the number of features can show a mistake.
    """
    feature_set = dataset.extension(FeatureSet)
    if feature_set is None or feature_set.by_name:
        return ""
    n = dataset.n_features
    size = len(feature_set.names)
    text = tr(
        "{path}: the feature set has {size} features, but the data have {n}. Features are matched by "
        "position: check that the data were logged with this set."
    )
    # A file that omits zeros may have fewer features than the set: last
    # features that are always 0 are not in it.
    omits_zeros = dataset.folds[0].train.sparse
    if n == size or (n < size and omits_zeros):
        return ""
    return text.format(path=feature_set.source, size=size, n=n)


def _with_names(
    dataset: FoldedDataset,
    shown_names: tuple[str, ...],
    original_names: tuple[str, ...],
) -> FoldedDataset:
    """Return a dataset whose features are shown with other names, one per column.

    The original names, those from the data, are recorded as an
    extension of the dataset; () if the shown names are those from the
    data.
    """

    def with_shown_names(part: RankingDataset) -> RankingDataset:
        """Return a part with the ``shown_names`` of the enclosing function."""
        # A copy has the same class, also of parts that assemble
        # documents on demand; `dataclasses.replace` would not accept
        # these. They are frozen, hence __setattr__.
        renamed_part = copy.copy(part)
        object.__setattr__(renamed_part, "feature_names", shown_names)
        return renamed_part

    extensions = dataset.extensions.without(GivenNames)
    if original_names:
        extensions = extensions.extended(GivenNames(original_names))
    folds = changed_parts(dataset.folds, with_shown_names)
    return replace(dataset, folds=folds, extensions=extensions)


def _names_in_lines(path: Path, text: str) -> dict[int, str]:
    """Return the names of features by 1-based id, in text of CSV or in a feature list of RankLib.

    The ending of the name of ``path`` decides which of the two. A line
    of RankLib is "12<tab>BM25" or "12 # BM25". Ids without a name are
    left out.
    """
    if path.suffix.lower() == ".csv":
        return names_in_table(text, separated=True)
    name_of_feature: dict[int, str] = {}
    for line in text.splitlines():
        before, _, comment = line.partition("#")
        # The id, and the name if it is not in the comment.
        match = _RANKLIB.fullmatch(before)
        name = match[2] or comment if match is not None else ""
        if match is not None and name:
            name_of_feature[int(match[1])] = name.strip().strip('"')
    return name_of_feature


def _cleaned(name: str) -> str:
    """Return a name on one line, of a length that can be shown."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[
        :_MAX_NAME_LENGTH
    ].rstrip()


def _with_text(old: Mapping[int, str], feature: int, text: str) -> dict[int, str]:
    """Return texts by id after a change of one; "" removes it."""
    return _without_empty_texts({**old, feature: _cleaned(text)})


def _without_empty_texts(texts: Mapping[int, str]) -> dict[int, str]:
    """Return texts by id without empty ones."""
    return {i: text for i, text in texts.items() if text}


def _names_file(folder: Path, dataset: FoldedDataset) -> Path | None:
    """Return the file of names for a dataset; None without a checksum."""
    name = re.sub(r"[^0-9A-Za-z]+", "-", dataset.origin.checksum)
    return folder / f"{name}.csv" if name else None
