"""Named groups of features: checked, as text, and from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rankstudio.engine.errors import (
    DatasetError,
    FileAccessError,
    ParameterError,
    shown,
)
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import csv_cells, unguarded
from rankstudio.engine.support.extensions import Extended
from rankstudio.engine.support.files import read_text
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.item_groups import grouped

Groups = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class GroupedFeatures:
    """Groups of features: an extension of a plan, or of a dataset, as the user's groups for new plans.

    A selector selects each group as a whole; a feature without a group
    is a candidate of its own. A plan may combine groups with a method
    that does not support them, but cannot be run then.

    Attributes
    ----------
    groups : Mapping of str to tuple of int
        1-based ids of the features of each group, by the name of the
        group, in canonical form.
    """

    groups: Groups

    @classmethod
    def parsed(cls, values: Any) -> Self | None:
        """Return groups of features from ids by name or a text such as "BM25: 21, 22; TF: 1, 2".

        Return None if there is no group in the values.
        """
        groups = checked_groups(values)
        return cls(groups) if groups else None


MOST_BYTES = 16 << 20
"""Maximum size of a file about features."""

_MAX_LENGTH = 200
_MAX_COUNTED_IDS = 200  # each id is counted among all
_ID = re.compile(r"0*[1-9][0-9]{0,8}")
_ID_HEADER = re.compile(r"(feature\W?)?(id|number|no\.?|feature)", re.IGNORECASE)
_EXPECTED = translatable(
    "groups such as BM25: 21, 22; TF: 1, 2, each with a name and ids of features, no id in two groups"
)
_EXPECTED_FILE = translatable(
    "lines with a feature id and its group, below a header such as feature,group"
)


def checked_groups(values: Any) -> Groups:
    """Return groups of features in canonical form: ordered by their lowest id, with ascending ids.

    Parameters
    ----------
    values : Mapping of str to iterable of int, or str
        Ids of features, 1-based, by the name of their group; or all
        groups as a text such as "BM25: 21, 22; TF: 1, 2".

    Raises
    ------
    ParameterError
        For invalid groups or names, or a feature in two groups.
    """
    if isinstance(values, str):
        return parse_groups(values)
    if not isinstance(values, Mapping):
        raise ParameterError("groups", values, tr(_EXPECTED))
    ids_by_name = {
        group_name(name): _checked_ids(name, ids) for name, ids in values.items()
    }
    all_ids = [i for ids in ids_by_name.values() for i in ids]
    # The name of a group is "" if it is invalid; names that become
    # equal, such as "BM25" and "BM25 ", leave one of two groups.
    has_invalid_names = "" in ids_by_name or len(ids_by_name) < len(values)
    if has_invalid_names or len(set(all_ids)) < len(all_ids):
        # Counting takes time quadratic in the number of ids: name the
        # feature in the message only if there are few.
        is_short = len(all_ids) < _MAX_COUNTED_IDS
        repeated_ids = (
            sorted({i for i in all_ids if all_ids.count(i) > 1}) if is_short else []
        )
        template = (
            tr("{expected}; feature {feature} is in two groups")
            if repeated_ids
            else "{expected}"
        )
        expected = template.format(
            expected=tr(_EXPECTED), feature=repeated_ids[0] if repeated_ids else ""
        )
        raise ParameterError("groups", dict(values), expected)
    return FrozenMapping(sorted(ids_by_name.items(), key=lambda item: item[1]))


def feature_groups_of(extended: Extended) -> Groups:
    """Return the groups of features of a plan, or those that the user made for a dataset.

    The result maps the name of a group to ids. Return an empty mapping
    if there are no groups.
    """
    extension = extended.extension(GroupedFeatures)
    return FrozenMapping() if extension is None else extension.groups


def group_name(name: Any) -> str:
    """Return a name of a group as one short line, without signs that separate groups.

    Return "" if nothing is left.
    """
    if not isinstance(name, str):
        return ""
    printable = "".join(c if c.isprintable() and c != ";" else " " for c in name)
    return " ".join(printable.split())[:_MAX_LENGTH].rstrip()


def _checked_ids(name: Any, ids: Any) -> tuple[int, ...]:
    """Return the ids of the group ``name``, ascending and without duplicates.

    ``ids`` is an iterable of ids, or a text with commas or blanks
    between them. Raise ParameterError, which names the group, if an id
    is invalid or the group has no id.
    """
    items = ids.replace(",", " ").split() if isinstance(ids, str) else ids
    try:
        unique_ids = tuple(sorted({int(item) for item in items}))
        # int() also accepts texts such as "1_0", fractions and True.
        is_valid = bool(unique_ids) and all(
            _ID.fullmatch(str(item).strip()) is not None and not isinstance(item, bool)
            for item in items
        )
    except (TypeError, ValueError, OverflowError):
        unique_ids = ()
        is_valid = False
    if not is_valid:
        raise ParameterError(
            f"group {shown(name)}", ids, tr("ids of features from 1 up, such as 21, 22")
        )
    return unique_ids


def parse_groups(text: str) -> Groups:
    """Parse groups of features from one line such as ``"BM25: 21, 22; TF: 1, 2"``.

    The result maps names of groups to ascending 1-based ids of
    features; it is empty for the empty text.

    Raises
    ------
    ParameterError
        If the text has another form.
    """
    ids_by_name: dict[str, str] = {}
    for item in text.split(";"):
        # The last colon separates: a name may contain colons.
        name, colon, ids = item.rpartition(":")
        if not item.strip():
            continue
        if not colon or name.strip() in ids_by_name:
            raise ParameterError("groups", text, tr(_EXPECTED))
        ids_by_name[name.strip()] = ids
    return checked_groups(ids_by_name)


def format_groups(groups: Groups) -> str:
    """Return groups as one line, such as "BM25: 21, 22; TF: 1, 2"."""
    return "; ".join(
        f"{name}: {', '.join(map(str, ids))}" for name, ids in groups.items()
    )


def group_names(groups: Groups) -> dict[int, str]:
    """Return the group name of each grouped feature by id."""
    return {i: name for name, ids in groups.items() for i in ids}


def in_groups(ids: Iterable[int], groups: Groups) -> list[tuple[str, tuple[int, ...]]]:
    """Divide feature ids by their groups: return pairs (name of a group, ids in it).

    The pairs are in the order in which the groups first occur among the
    ids. Each ungrouped feature has a pair of its own, with the name "".
    """
    names = group_names(groups)
    # An ungrouped feature has its id as the key, an int, so that it stays alone.
    ids_by_group = grouped(ids, lambda i: names.get(i, i))
    return [
        (key if isinstance(key, str) else "", tuple(members))
        for key, members in ids_by_group.items()
    ]


def groups_in_words(groups: Groups, max_names: int = 4) -> str:
    """Return the names of groups with their numbers of features: "BM25 (3), TF (5)".

    After ``max_names`` names, only the number of further groups
    follows. Return "none" without groups.
    """
    names = [f"{name} ({len(ids)})" for name, ids in groups.items()]
    if len(names) > max_names:
        return tr("{first} and {n} more").format(
            first=", ".join(names[:max_names]), n=len(names) - max_names
        )
    return ", ".join(names) or tr("none")


def with_their_groups(ids: Iterable[int], groups: Groups) -> tuple[int, ...]:
    """Return feature ids and the ids of all other features of their groups, without duplicates.

    A feature in no group stays alone. The order is the one in which the
    features or their groups first occur.
    """
    names = group_names(groups)
    # dict.fromkeys removes duplicates and keeps the order; no group is called "".
    return tuple(
        dict.fromkeys(
            member
            for feature in ids
            for member in groups.get(names.get(feature, ""), (feature,))
        )
    )


def candidate_names(
    ids: Iterable[int], names: Sequence[str], groups: Groups
) -> tuple[str, ...]:
    """Return the name of each feature as a candidate of a selection.

    The name is that of the feature's group, as groups are selected as a
    whole, or that of a feature without a group. ``ids`` and ``names``
    belong to the same features, in order.
    """
    if not groups:
        return tuple(names)
    group_of_feature = group_names(groups)
    return tuple(
        group_of_feature.get(int(i), name) for i, name in zip(ids, names, strict=True)
    )


def in_other_group(group: str, members: Iterable[int], groups: Groups) -> Groups:
    """Return groups after moving some features, by their ids, to another group.

    With the group "", the features are in no group.
    """
    moved = {i: group_name(group) for i in members}
    return groups_of({**group_names(groups), **moved})


def among(groups: Groups, ids: Iterable[int]) -> Groups:
    """Return groups restricted to some features."""
    present = set(ids)
    return groups_of(
        {i: name for i, name in group_names(groups).items() if i in present}
    )


def greatest_size(n_features: int, groups: Groups, n_steps: int) -> int:
    """Return the maximum number of features that a selection has after some steps.

    Each step adds a whole group or one ungrouped feature; there are
    ``n_features`` features in all. The maximum is reached by adding the
    largest groups first.
    """
    sizes = sorted(map(len, groups.values()), reverse=True)
    # Steps that remain after all groups add one ungrouped feature each.
    n_ungrouped = n_features - sum(sizes)
    return min(
        n_features,
        sum(sizes[:n_steps]) + min(n_ungrouped, max(0, n_steps - len(sizes))),
    )


def groups_of(names: Mapping[int, str]) -> Groups:
    """Return groups from feature names by id; "" means ungrouped."""
    ids_by_group = grouped(names, lambda feature: group_name(names[feature]))
    return checked_groups(
        {name: features for name, features in ids_by_group.items() if name}
    )


def read_groups(path: Path) -> Groups:
    """Read groups of features from a file with a table of features.

    Parameters
    ----------
    path : Path
        CSV: ``feature,group`` with a line per grouped feature, or any
        feature table whose header has a column of ids and one called
        ``group``.

    Raises
    ------
    DatasetError
        If the file contains no groups; the message states the expected format.
    FileAccessError
        If the file cannot be read.
    """
    names = groups_in_table(read_feature_file(path, tr(_EXPECTED_FILE)))
    if not names:
        raise DatasetError(
            tr("{path}: found no feature groups, expected {expected_file}.").format(
                path=path, expected_file=tr(_EXPECTED_FILE)
            )
        )
    return groups_of(names)


def groups_in_table(text: str) -> dict[int, str]:
    """Return the group's name of each feature in the text of a table, by 1-based id.

    The header must have a column of ids, such as "id" or "feature", and
    one called "group"; without such a header return {}. Features
    without a group are left out.
    """
    rows = map(csv_cells, text.splitlines())
    header = [cell.strip().lower() for cell in next(rows, [])]
    id_columns = [i for i, cell in enumerate(header) if _ID_HEADER.fullmatch(cell)]
    id_column = id_columns[0] if id_columns else None
    if id_column is None or "group" not in header or header.index("group") == id_column:
        return {}
    group_column = header.index("group")
    # Skip rows that are too short, or without the id of a feature.
    group_of_feature: dict[int, str] = {}
    for row in rows:
        if len(row) > max(id_column, group_column) and _ID.fullmatch(
            row[id_column].strip()
        ):
            name = group_name(unguarded(row[group_column]))
            if name:
                group_of_feature[int(row[id_column])] = name
    return group_of_feature


def read_feature_file(path: Path, expected: str) -> str:
    """Read the text of a file about features, such as their names, groups or costs.

    Bytes that are not UTF-8 are replaced.

    Parameters
    ----------
    path : Path
        The file.
    expected : str
        Expected contents in words, for the error message.

    Raises
    ------
    DatasetError
        If the file is larger than such files can be.
    FileAccessError
        If the file cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DatasetError(
                tr(
                    "{path}: found a file of more than 16 MB, expected {expected}."
                ).format(path=path, expected=expected)
            )
        return read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileAccessError(
            path,
            tr("the file could not be read: {strerror}.").format(
                strerror=error.strerror
            ),
        ) from None
