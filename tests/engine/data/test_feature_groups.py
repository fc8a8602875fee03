"""Groups of features: canonical form, text, tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.feature_groups import (
    checked_groups,
    format_groups,
    group_names,
    groups_of,
    parse_groups,
    read_groups,
)
from rankstudio.engine.errors import DatasetError, FileAccessError, ParameterError


def test_groups_stand_by_their_lowest_id_whatever_their_order() -> None:
    groups = checked_groups({"late": [9, 7], "early": ("3", 1)})
    assert list(groups.items()) == [("early", (1, 3)), ("late", (7, 9))]
    assert groups == checked_groups("late: 7 9; early: 1, 3")
    assert group_names(groups) == {1: "early", 3: "early", 7: "late", 9: "late"}
    assert groups_of({7: "late", 3: "early", 9: "late", 1: " early ", 4: ""}) == groups
    assert hash(groups) == hash(checked_groups(dict(groups)))


# Of what can be printed, but for the semicolon; longer ones are cut.
words = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters=";"),
    min_size=1,
    max_size=30,
)
names = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(st.dictionaries(st.integers(1, 60), names, max_size=12))
def test_what_is_written_is_read_back(of_feature: dict[int, str]) -> None:
    groups = groups_of(of_feature)
    assert parse_groups(format_groups(groups)) == groups
    assert group_names(groups) == of_feature


@pytest.mark.parametrize(
    "values",
    [
        3,
        ["BM25"],
        {"": [1]},
        {3: [1]},
        {"a": []},
        {"a": [0]},
        {"a": [1.5]},
        {"a": [True]},
        {"a": 4},
        {"a": ["x"]},
        {"a": [1], "b": [1, 2]},
        {"a": [1], " a": [2]},
        "1, 2",
        "a: 1; a: 2",
        "a: 99999999999999999999",
    ],
)
def test_what_is_no_group_is_refused(values: object) -> None:
    with pytest.raises(ParameterError, match=r"\b(ids|names?)\b"):
        checked_groups(values)


def test_a_feature_in_two_groups_is_named() -> None:
    with pytest.raises(ParameterError, match=naming("2 feature")):
        parse_groups("a: 1, 2; b: 2, 3")


def test_tables_are_read_by_their_header(tmp_path: Path) -> None:
    plain, wide = tmp_path / "groups.csv", tmp_path / "features.csv"
    plain.write_text(
        "feature,group\n3,TF\n1,TF\n2,\nx,IDF\n12,'=BM25\n", encoding="utf-8"
    )
    wide.write_text(
        'id,name,note,group\n1,"TF, of body",,TF\n3,TF of title,old,TF\n',
        encoding="utf-8-sig",
    )
    assert read_groups(plain) == {"TF": (1, 3), "=BM25": (12,)}
    assert read_groups(wide) == {"TF": (1, 3)}


@pytest.mark.parametrize(
    "text", ["", "1,TF\n", "id,name\n1,TF\n", "feature,group\n", "group,group\n1,2\n"]
)
def test_a_file_without_groups_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=naming("feature group")):
        read_groups(path)
    with pytest.raises(FileAccessError):
        read_groups(tmp_path / "nothing.csv")


def test_digits_of_other_scripts_are_no_ids(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("feature,group\n3\u0661,TF\n2,BM25\n", encoding="utf-8")
    assert read_groups(path) == {"BM25": (2,)}


def test_a_name_that_is_cut_is_read_back_as_it_is() -> None:
    groups = checked_groups({"y" * 199 + " z": (1,)})
    assert groups == {"y" * 199: (1,)}
    assert parse_groups(format_groups(groups)) == groups
