"""Costs of features from files: tables, JSON, and profiles of Elasticsearch and OpenSearch."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import fsum
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts, milliseconds_of
from rankstudio.engine.data.feature_groups import read_feature_file
from rankstudio.engine.data.feature_names import given_names
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.errors import DataError, DatasetError, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import one_line, unguarded

COST_FILES = ("costs.csv", "costs.json")
"""Possible names of the file of costs beside the data."""

_COST_COLUMNS = ("per_document", "per_query")
_EXPECTED = translatable(
    "milliseconds per feature: a table with the columns feature, per_document and per_query, the same as "
    "JSON, or profiles of Elasticsearch or OpenSearch"
)
# What Lucene does once per segment; everything else of a profile
# happens document by document.
_TIMES_PER_REQUEST = ("create_weight", "build_scorer", "count_weight")
_SLICE_PREFIXES = ("max_", "min_", "avg_")
_LTR_QUERY = "RankerQuery"
_MAX_HEADER_LENGTH = 1 << 16


def read_costs(path: Path, dataset: FoldedDataset) -> FeatureCosts:
    """Read the costs of the features of a dataset.

    Parameters
    ----------
    path : Path
        CSV with the columns ``feature`` (id or name), ``per_document``
        and ``per_query``, in milliseconds; a missing column counts 0.
        JSON: an object with such an object for each feature, or a list
        of them. Or the response of Elasticsearch or OpenSearch to a
        request with ``"profile": true``, or several as a list or one
        per line: the children of the query of the plug-in Learning To
        Rank are the features of the feature set, in order.
    dataset : FoldedDataset
        Data whose features have the costs.

    Raises
    ------
    DatasetError
        If the file has another form, a number is invalid, or a feature
        of the data has no cost.
    FileAccessError
        If the file cannot be read.
    """
    text = read_feature_file(path, tr(_EXPECTED))
    read = _costs_from_json if text.lstrip()[:1] in ("{", "[") else _costs_from_table
    return _costs_of_all_features(path, read(path, text), dataset)


def costs_beside(dataset: FoldedDataset) -> tuple[FeatureCosts | None, str]:
    """Return the costs of features in a file beside the data, and a note.

    The costs are None if there is no such file, or if the file cannot
    be used. The note says why the file cannot be used; otherwise the
    note is "".
    """
    # Data made in memory have no file.
    if dataset.path is None:
        return None, ""
    folder = dataset.path if dataset.path.is_dir() else dataset.path.parent
    for path in (folder / name for name in COST_FILES):
        if path.is_file() and path != dataset.path:
            try:
                return read_costs(path, dataset), ""
            except DataError as error:
                return None, str(error)
    return None, ""


def holds_costs(path: Path) -> bool:
    """Return whether a file has costs of features, of any dataset.

    A CSV file is recognised by its header alone; JSON is parsed. Return
    False for a file that cannot be read.
    """
    with suppress(OSError, DataError):
        if path.suffix.lower() == ".csv":
            with path.open("rb") as file:
                first_line = file.readline(_MAX_HEADER_LENGTH)
            header = first_line.decode("utf-8-sig", errors="replace")
            return _column_positions(header) is not None
        # Without a description of what is expected, "": no message is shown.
        return path.suffix.lower() == ".json" and bool(
            _costs_from_json(path, read_feature_file(path, ""))
        )
    return False


_Costs = Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]]
"""Costs per document and per query, by the id or name of the feature, or by its position."""


def _costs_of_all_features(
    path: Path, costs: _Costs, dataset: FoldedDataset
) -> FeatureCosts:
    """Assign the costs in a file to a dataset's features.

    ``costs`` are pairs (milliseconds per document, milliseconds per
    query): a mapping from a feature's name or id, or a sequence in the
    order of the features. Raise DatasetError if a feature has no cost,
    or all costs are 0.
    """
    ids = dataset.feature_ids.tolist()
    costs_by_id = (
        _costs_by_name(path, costs, dataset)
        if isinstance(costs, Mapping)
        else _costs_by_position(path, costs, dataset)
    )
    # Every feature needs a cost, and not all costs may be 0.
    features = zip(ids, dataset.feature_names, strict=True)
    missing = [(i, name) for i, name in features if i not in costs_by_id]
    if missing:
        text = tr(
            "{path}: found no cost of feature {feature} ({name}), expected costs of all {n} features of the "
            "data."
        )
        first, name = missing[0]
        raise DatasetError(
            text.format(path=path, feature=first, name=shown(name), n=len(ids))
        )
    if not any(any(costs_by_id[i]) for i in ids):
        raise DatasetError(
            tr("{path}: all costs are 0, expected one greater than 0.").format(
                path=path
            )
        )
    # The mean number of documents per query, in all parts of the first
    # fold: it weights the costs per document.
    parts = list(dataset.folds[0].parts.values())
    mean = sum(part.n_documents for part in parts) / sum(
        part.n_queries for part in parts
    )
    return FeatureCosts(tuple((i, *costs_by_id[i]) for i in ids), mean, str(path))


def _costs_by_name(
    path: Path, costs_by_name: Mapping[str, tuple[float, float]], dataset: FoldedDataset
) -> dict[int, tuple[float, float]]:
    """Return the costs by feature id, from costs by name or by an id as text.

    A cost is (milliseconds per document, milliseconds per query). Names
    that the data do not have are skipped. Raise DatasetError for two
    different costs of a feature.
    """
    # Later entries replace earlier ones: a name counts before an id, as
    # a feature may be called "12", and the user's names (those of the
    # dataset) before the names in its file (given_names).
    ids = {str(i): i for i in dataset.feature_ids.tolist()}
    for names in (given_names(dataset), dataset.feature_names):
        ids |= {
            name: i for i, name in zip(dataset.feature_ids.tolist(), names, strict=True)
        }
    costs_by_id: dict[int, tuple[float, float]] = {}
    for name, cost in costs_by_name.items():
        feature = ids.get(one_line(name))
        if feature is None:
            continue  # of a table for more features than these data have
        if costs_by_id.get(feature, cost) != cost:
            text = tr(
                "{path}: found two different costs of feature {feature}, expected one."
            )
            raise DatasetError(text.format(path=path, feature=shown(name)))
        costs_by_id[feature] = cost
    return costs_by_id


def _costs_by_position(
    path: Path, profile_costs: Sequence[tuple[float, float]], dataset: FoldedDataset
) -> dict[int, tuple[float, float]]:
    """Return the costs by feature id, from costs in the order of a profile.

    A profile is a search engine's report of its times. A cost is
    (milliseconds per document, milliseconds per query). The order is
    that of the engine's feature set or, if the dataset has none, of the
    features of the data. Raise DatasetError if the number of costs
    differs.
    """
    features = dataset.extension(FeatureSet)
    ids = dataset.feature_ids.tolist()
    n = len(features.names) if features is not None else len(ids)
    if len(profile_costs) != n:
        text = tr(
            "{path}: the profile has {found} features, expected {n} as in the feature set or the data."
        )
        raise DatasetError(text.format(path=path, found=len(profile_costs), n=n))
    if features is None:
        return dict(zip(ids, profile_costs, strict=True))
    cost_of_name = dict(zip(features.names, profile_costs, strict=True))
    # ``ids`` has the name in the feature set of each feature of the data, by id.
    return {i: cost_of_name[name] for i, name in features.ids.items()}


def _costs_from_table(path: Path, text: str) -> dict[str, tuple[float, float]]:
    """Return the costs by name or id (as text) from the text of a table with a header.

    A cost is (milliseconds per document, milliseconds per query).
    ``path`` is for messages. Raise DatasetError for another table.
    """
    lines = text.splitlines()
    # The header names the columns.
    column_of = _column_positions(lines[0]) if lines else None
    if column_of is None:
        text = tr("{path}: found the columns {found}, expected {expected}.")
        found_columns = shown(lines[0]) if lines else "''"
        raise DatasetError(
            text.format(path=path, found=found_columns, expected=tr(_EXPECTED))
        )
    try:
        rows = list(csv.reader(lines, delimiter=_separator(lines[0])))
    except csv.Error as error:
        raise _no_costs_error(path) from error
    # Skip blank lines; cells that a short line lacks count as empty.
    # The header is line 1.
    costs_by_name: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = {
            name: row[column] if column < len(row) else ""
            for name, column in column_of.items()
        }
        # The other cells are costs. An apostrophe before a name, which
        # protects it from spreadsheets, is removed.
        location = tr("{path}, line {line}").format(path=path, line=number)
        _add_costs(
            costs_by_name, location, unguarded(cells.pop("feature").strip()), cells
        )
    return costs_by_name


def _column_positions(header: str) -> dict[str, int] | None:
    """Return the position of each column, from 0, by the header of a table of costs.

    The columns are "feature" and at least one of "per_document" and
    "per_query". Return None if the header lacks these columns.
    """
    names = [
        cell.strip().strip('"').lower() for cell in header.split(_separator(header))
    ]
    column_of = {
        name: names.index(name) for name in ("feature", *_COST_COLUMNS) if name in names
    }
    has_feature_and_cost = "feature" in column_of and len(column_of) >= 2
    has_unique_names = len(set(names)) == len(names)
    return column_of if has_feature_and_cost and has_unique_names else None


def _separator(header: str) -> str:
    """Return the sign between the cells of a header: ";", a tab or ","."""
    return next((sign for sign in ";\t" if sign in header), ",")


def _costs_from_json(path: Path, text: str) -> _Costs:
    """Return the costs in JSON, as pairs (milliseconds per document, per query).

    Profiles of a search engine give a list in the order of the
    features; objects give a dict by name or id. ``path`` is for
    messages. Raise DatasetError for other JSON.
    """
    documents = _json_documents(path, text)
    # Profiles contain the costs by position.
    answers = [
        document
        for document in documents
        if isinstance(document, dict) and "profile" in document
    ]
    if answers:
        return _costs_from_profiles(path, answers)
    # A single object maps names to costs; of several, each describes one feature.
    first = documents[0] if documents else None
    if len(documents) == 1 and isinstance(first, dict) and "feature" not in first:
        rows: list[tuple[Any, Any]] = list(first.items())
    else:
        rows = [
            (document.get("feature"), document)
            if isinstance(document, dict)
            else (None, None)
            for document in documents
        ]
    if not rows:
        raise _no_costs_error(path)
    costs_by_name: dict[str, tuple[float, float]] = {}
    for name, costs in rows:
        # A feature has a name or an id, and at least one cost.
        is_id = isinstance(name, int) and not isinstance(name, bool)
        if not (isinstance(name, str) or is_id) or not isinstance(costs, dict):
            raise _no_costs_error(path)
        milliseconds = {
            column: costs[column] for column in _COST_COLUMNS if column in costs
        }
        if not milliseconds:
            raise _no_costs_error(path)
        _add_costs(costs_by_name, str(path), str(name), milliseconds)
    return costs_by_name


def _json_documents(path: Path, text: str) -> list[Any]:
    """Parse JSON, or a text with one JSON value per line, into a list of its values.

    A single value other than a list becomes a list of one. Raise
    DatasetError for text that is not JSON.
    """
    try:
        try:
            document = json.loads(text)
        except ValueError:
            document = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise _no_costs_error(path) from error
    return document if isinstance(document, list) else [document]


def _add_costs(
    costs_by_name: dict[str, tuple[float, float]],
    location: str,
    feature: str,
    milliseconds: Mapping[str, Any],
) -> None:
    """Add the costs of a feature to ``costs_by_name``, after checking them.

    Parameters
    ----------
    costs_by_name : dict of str to (float, float)
        Costs per document and per query, by name or id of a feature.
    location : str
        File and line, for messages.
    feature : str
        Name or id.
    milliseconds : Mapping of str to object
        Values of the columns "per_document" and "per_query"; a column
        that is missing or empty counts 0.

    Raises
    ------
    DatasetError
        For an invalid value, or a feature that occurs twice.
    """
    costs = []
    for column in _COST_COLUMNS:
        value = milliseconds.get(column, 0)
        try:
            is_empty = isinstance(value, str) and not value.strip()
            costs.append(milliseconds_of(0 if is_empty else value))
        except (TypeError, ValueError, OverflowError):
            text = tr(
                "{where}: {column} of {feature} is {value}, expected milliseconds from 0 up."
            )
            raise DatasetError(
                text.format(
                    where=location,
                    column=column,
                    feature=shown(feature),
                    value=shown(value),
                )
            ) from None
    if feature in costs_by_name:
        text = tr("{where}: {feature} occurs twice, expected one cost per feature.")
        raise DatasetError(text.format(where=location, feature=shown(feature)))
    # Costs per document come first in _COST_COLUMNS.
    per_document, per_query = costs
    costs_by_name[feature] = per_document, per_query


def _costs_from_profiles(
    path: Path, answers: Sequence[Mapping[str, Any]]
) -> list[tuple[float, float]]:
    """Return the costs of the features of a feature set, in order, from profiles.

    A cost is (mean milliseconds per document, mean milliseconds per
    request). ``answers`` are responses of a search engine, each with a
    profile.

    Elasticsearch and OpenSearch document the profile:
    ``profile.shards[].searches[].query[]`` is a tree with ``type``,
    ``breakdown`` in nanoseconds, and ``children``. The query of
    Learning To Rank has a child per feature, and its own
    ``score_count`` is the number of documents.
    """
    # nanoseconds of each feature: on documents, and once per request
    totals: list[list[float]] = []
    documents = requests = 0.0
    try:
        # Add up the nanoseconds of each feature over all queries.
        for answer in answers:
            # The queries of the plug-in Learning To Rank, from depth 0 of the tree.
            queries = list(_ltr_queries(_profiled_queries(answer), 0))
            # A response without a query of the plug-in is no request for features.
            requests += bool(queries)
            for query in queries:
                # Each query has one child per feature, in order. The
                # first query tells how many features there are.
                children = query.get("children", [])
                totals = totals or [[0.0, 0.0] for _ in children]
                if len(children) != len(totals):
                    raise ValueError("expected the same features in all")
                # A number of documents, which has to be from 0 up like a time.
                documents += milliseconds_of(query["breakdown"]["score_count"])
                for total, child in zip(totals, children, strict=True):
                    added = _document_and_request_nanoseconds(child["breakdown"])
                    for column, nanoseconds in enumerate(added):
                        total[column] += nanoseconds
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise _no_costs_error(path) from error
    if not totals:
        text = tr(
            "{path}: found no RankerQuery with features in the profile, expected a request with sltr."
        )
        raise DatasetError(text.format(path=path))
    # Divide by at least one document: a request without hits has costs
    # per request only.
    return [
        (1e-6 * per_document / max(documents, 1.0), 1e-6 * per_request / requests)
        for per_document, per_request in totals
    ]


def _profiled_queries(answer: Mapping[str, Any]) -> list[Any]:
    """Return the queries of all shards in a search engine's answer."""
    searches = [
        search for shard in answer["profile"]["shards"] for search in shard["searches"]
    ]
    return [query for search in searches for query in search["query"]]


def _ltr_queries(queries: Iterable[Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield the queries of Learning To Rank in a tree, down to a depth of 100."""
    for query in queries:
        if query["type"] == _LTR_QUERY:
            yield query
        elif depth < 100:
            yield from _ltr_queries(query.get("children", []), depth + 1)


def _document_and_request_nanoseconds(
    breakdown: Mapping[str, Any],
) -> tuple[float, float]:
    """Return a feature's nanoseconds (on documents, once per request) in a profile.

    ``breakdown`` has the nanoseconds of each step of the search engine
    by name, and numbers of calls, whose names end with "_count". If
    segments are searched in parallel, ``breakdown`` also has the times
    of slices (``max_`` …); only the sum over the slices counts.
    """
    # milliseconds_of() only checks that a value is a number from 0 up:
    # these remain nanoseconds.
    times = {
        name: milliseconds_of(value)
        for name, value in breakdown.items()
        if not name.endswith("_count") and not name.startswith(_SLICE_PREFIXES)
    }
    per_request = fsum(
        time for name, time in times.items() if name in _TIMES_PER_REQUEST
    )
    return fsum(times.values()) - per_request, per_request


def _no_costs_error(path: Path) -> DatasetError:
    """Return the error of a file without costs."""
    return DatasetError(
        tr("{path}: no costs of features found; expected {expected}.").format(
            path=path, expected=tr(_EXPECTED)
        )
    )
