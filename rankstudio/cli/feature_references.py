"""Features as they are typed in the terminal: by id, or by the name that the data's features have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from rankstudio.engine.errors import ParameterError, shown

Names = Mapping[int, str]
"""Names of features by id."""


def feature_ids(text: str, option: str, names: Callable[[], Names]) -> str:
    """Return a list of features with ids in place of names.

    Parameters
    ----------
    text : str
        As it was typed: "25, 39", or "BM25 of title; BM25 of anchor". Semicolons and commas divide; where a
        name holds a comma, only semicolons do. Lists to try one after the other have "|" between them.
    option : str
        What the error names: "--pin".
    names : callable
        Returns the names of the data's features; asked for only where something is no id.

    Raises
    ------
    ParameterError
        Where a name is no feature's, or that of several; the text says which were close.
    """
    if re.fullmatch(r"[\d\s,|+-]*", text):
        return text
    known = names()
    return " | ".join(_listed(one, option, known) for one in text.split("|"))


def costs_by_id(text: str, option: str, names: Callable[[], Names]) -> str:
    """Return costs of features with ids in place of names: "BM25 of title: 3" as "25: 3".

    Raises
    ------
    ParameterError
        As :func:`feature_ids` does.
    """
    lists = [[item.rpartition(":") for item in _items(one, ";,")] for one in text.split("|")]
    if all(not colon or feature.strip().isdecimal() for one in lists for feature, colon, _ in one):
        return text
    known = names()
    written = [[f"{_id_of(feature, option, known)}:{cost}" for feature, _, cost in one] for one in lists]
    return " | ".join(", ".join(one) for one in written)


def _listed(text: str, option: str, names: Names) -> str:
    alone = any(_key(text) == _key(name) for name in names.values())
    items = [text] if alone else _items(text, ";" if ";" in text else ",")
    return ", ".join(str(_id_of(item, option, names)) for item in items)


def _items(text: str, dividers: str) -> list[str]:
    for divider in dividers[1:]:
        text = text.replace(divider, dividers[0])
    return [item.strip() for item in text.split(dividers[0]) if item.strip()]


def _id_of(item: str, option: str, names: Names) -> int:
    if item.strip().isdecimal():
        return int(item)
    found = [feature for feature, name in names.items() if _key(name) == _key(item)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(map(str, found))
        raise ParameterError(option, item, f"a unique feature name; features {ids} share this one")
    raise ParameterError(option, item, f"a feature id or name{_hint(item, list(names.values()))}")


def _hint(item: str, names: Sequence[str]) -> str:
    keys = {_key(name): name for name in names}
    close = [keys[key] for key in get_close_matches(_key(item), keys, n=3)]
    return f", such as {' or '.join(shown(name) for name in close)}" if close else ""


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()
