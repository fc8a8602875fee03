"""Tables of very many columns: what is done for each column does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.tabular import documents
from rankstudio.engine.data.tabular.recognition import (
    column_names,
    original_names,
    recognise_columns,
)
from rankstudio.engine.errors import ColumnValueError


class Counted(str):
    """A name that counts how often any is compared with another or copied in a list."""

    __slots__ = ()
    n_compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.n_compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class CountedNames(tuple[str, ...]):
    """Names of columns that count how many of them are copied."""

    n_copied = 0

    def __getitem__(self, key):  # type: ignore[no-untyped-def, override]
        if isinstance(key, slice):
            CountedNames.n_copied += len(range(*key.indices(len(self))))
        return super().__getitem__(key)


def counted(
    n: int, told: Callable[[tuple[str, ...]], DataColumns], repeated: bool
) -> int:
    inner = [f"c{i // 2 if repeated else i}" for i in range(n)]
    names = CountedNames(map(Counted, column_names(["label", "qid", *inner])))
    Counted.n_compared = CountedNames.n_copied = 0
    recognise_columns("table", names, told(names))
    return Counted.n_compared + CountedNames.n_copied


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize(
    "told",
    [
        lambda _: DataColumns(),
        lambda names: DataColumns(ignore=names[3:]),
        lambda names: DataColumns(features=names[2:]),
    ],
    ids=["nothing told", "all but one ignored", "all features"],
)
def test_twice_the_columns_take_twice_the_comparisons(
    told: Callable[[tuple[str, ...]], DataColumns], repeated: bool
) -> None:
    once, twice = counted(500, told, repeated), counted(1000, told, repeated)
    assert twice <= 2 * once + 2000


def brute_original(names: tuple[str, ...], i: int) -> str:
    name = names[i].removesuffix(f" (column {i + 1})")
    return name if name in names[:i] else names[i]


def test_original_names_are_those_of_a_search_for_each() -> None:
    names = column_names(
        ["a", "b", "a", "a (column 3)", "b (column 5)", "a", "", "a (column 6)", "b"]
    )
    assert original_names(names) == tuple(
        brute_original(names, i) for i in range(len(names))
    )


def test_columns_of_text_are_refused_after_a_look_at_each_cell(tmp_path: Path) -> None:
    n = 400
    path = tmp_path / "text.csv"
    header = ",".join(["label", "qid", *(f"c{i}" for i in range(n))])
    path.write_text(
        "\n".join([header, *(",".join(["1", "1", *["abc"] * n]) for _ in range(3))])
    )
    with (
        patch.object(
            documents, "_parsed_number", wraps=documents._parsed_number
        ) as looked_at,
        pytest.raises(ColumnValueError) as caught,
    ):
        load_data(path)
    assert looked_at.call_count <= 3 * n
    assert caught.value.text_columns == tuple(f"c{i}" for i in range(n))
    assert len(caught.value.terminal_text) < 500 and f"{n - 8}" in str(caught.value)
