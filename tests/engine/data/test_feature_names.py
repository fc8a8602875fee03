"""Names of features: all formats read, the rest refused in a sentence, the user's own kept with the data."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.data.feature_groups import checked_groups
from rankstudio.engine.data.feature_names import (
    FeatureNotes,
    load_notes,
    read_feature_names,
    renamed,
    save_notes,
)
from rankstudio.engine.data.fold_files import path_to_open
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.errors import DatasetError, OutputError, RankStudioError

SOLR = [
    {
        "name": "documentRecency",
        "class": "org.apache.solr.ltr.feature.SolrFeature",
        "params": {"q": "x"},
    },
    {
        "name": "isBook",
        "class": "org.apache.solr.ltr.feature.SolrFeature",
        "params": {},
    },
]
FILES = {
    "a.csv": 'id,name\n1,documentRecency\n2,"isBook"\n',
    "b.txt": "# features to use\n1\tdocumentRecency\n2\tisBook\n\n",
    "c.txt": "1: documentRecency\n2 isBook\n7\n",
    "d.json": json.dumps(SOLR),
    "e.json": json.dumps(
        {
            "class": "…LinearModel",
            "name": "m",
            "features": [{"name": f["name"]} for f in SOLR],
        }
    ),
    "c.list": "1 # documentRecency\n2 \n2\t# isBook\n",
    "g.json": json.dumps(
        {
            "hits": {
                "hits": [{"_source": {"featureset": {"features": SOLR}}}],
                "total": 1,
            }
        }
    ),
    "h.json": json.dumps({"responseHeader": {"status": 0}, "features": SOLR}),
    "f.json": json.dumps(
        {"_source": {"name": "set", "featureset": {"name": "s", "features": SOLR}}}
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert read_feature_names(tmp_path / name) == {1: "documentRecency", 2: "isBook"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[[[",
        "[1, 2]",
        '{"features": 7}',
        "a b c",
        "0\tzero",
        "[" * 9999,
    ],
)
def test_what_has_no_name_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(DatasetError) as caught:
        read_feature_names(tmp_path / "x.txt")
    assert str(caught.value).startswith(
        f"{tmp_path / 'x.txt'}: found no feature names, expected lines with"
    )


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RankStudioError):
        read_feature_names(tmp_path / "nowhere.csv")
    with pytest.raises(RankStudioError):
        read_feature_names(tmp_path)


def test_damaged_files_give_names_or_are_refused(tmp_path: Path) -> None:
    rng = random.Random(0)
    for name, text in FILES.items():
        for _ in range(150):
            damaged = bytearray(text.encode())
            for _ in range(rng.randrange(1, 6)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            # to write over a file waits for the disk
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).write_bytes(
                bytes(damaged[: rng.choice((None, rng.randrange(len(damaged))))])
            )
            try:
                names = read_feature_names(tmp_path / name)
            except RankStudioError as error:
                assert str(tmp_path / name) in str(error)
                continue
            assert all(
                i > 0 and text.isprintable() and text == text.strip()
                for i, text in names.items()
            )


def test_names_and_notes_come_back_with_the_data_and_only_with_them(
    tmp_path: Path,
) -> None:
    data = load_sample()
    notes = (
        FeatureNotes()
        .with_name(3, "=cmd|' /C'!A0")
        .with_note(3, "odd, “very”\nodd")
        .with_note(7, "7")
    )
    notes = replace(notes, groups=checked_groups({"=sum": [7, 9], "B": [3]}))
    save_notes(tmp_path, data, notes)
    expected = FeatureNotes(
        {3: "=cmd|' /C'!A0"}, {3: "odd, “very” odd", 7: "7"}, notes.groups
    )
    assert load_notes(tmp_path, data) == expected
    assert (
        load_notes(tmp_path, replace(data, origin=DatasetOrigin(checksum="sha256:0")))
        == FeatureNotes()
    )
    assert load_notes(tmp_path / "nowhere", data) == FeatureNotes()
    [file] = tmp_path.iterdir()
    assert read_feature_names(file) == {3: "=cmd|' /C'!A0"}, (
        "it can be put beside the data"
    )
    assert notes.with_name(3, "").names == {}


def test_damaged_notes_are_left_out(tmp_path: Path) -> None:
    data = load_sample()
    save_notes(tmp_path, data, FeatureNotes({3: "three"}))
    [file] = tmp_path.iterdir()
    for content in (
        b"",
        b"\xff\xfe\x00",
        b'"',
        b"id,name,note\nx,y,z\n-1,a,b\n5,five\n",
        b"9" * 100 + b",a,b",
    ):
        file.write_bytes(content)
        assert load_notes(tmp_path, data) == FeatureNotes()


def test_names_on_several_lines_or_without_end_come_back_on_one_that_can_be_shown(
    tmp_path: Path,
) -> None:
    dataset = load_sample()
    save_notes(tmp_path, dataset, FeatureNotes({1: "a"}))
    [file] = tmp_path.iterdir()
    file.write_text(
        'id,name,note,group\n1,"a\nb",' + "x" * 300 + ',"=c\t\u202ed"\n',
        encoding="utf-8",
    )
    assert load_notes(tmp_path, dataset) == FeatureNotes(
        {1: "a b"}, {1: "x" * 200}, {"=c d": (1,)}
    )


def test_data_without_a_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=naming("file")):
        save_notes(
            tmp_path,
            replace(load_sample(), origin=DatasetOrigin()),
            FeatureNotes({1: "a"}),
        )


def test_other_names_share_the_documents_and_go_back_to_those_of_the_data() -> None:
    data = load_sample()
    named = renamed(data, {2: "two"})
    assert named.feature_names[1] == "two"
    assert named.feature_names[2:] == data.feature_names[2:]
    for before, after in zip(data.folds, named.folds, strict=True):
        assert all(after.parts[name].X is part.X for name, part in before.parts.items())
        assert {part.feature_names for part in after.parts.values()} == {
            named.feature_names
        }
    assert data.feature_names[1] != "two"
    assert renamed(named, {}).feature_names == data.feature_names


def test_the_parts_of_a_fold_stand_for_their_folder(tmp_path: Path) -> None:
    files = [
        tmp_path / name for name in ("train.txt", "vali.txt", "test.txt", "other.txt")
    ]
    for file in files:
        file.write_text("1 qid:1 1:1\n")
    assert path_to_open([str(file) for file in files[:3]]) == str(tmp_path)
    assert path_to_open([str(files[3])]) == str(files[3])
    for several in (files[:2], files, [files[0], tmp_path]):
        with pytest.raises(DatasetError, match=naming("fold parts")):
            path_to_open([str(file) for file in several])


def test_features_of_solr_beside_the_data_name_them(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 1:0.5 2:0.25 3:1\n")
    (tmp_path / "features.json").write_text(json.dumps(SOLR))
    assert open_dataset(tmp_path).feature_names == (
        "documentRecency",
        "isBook",
        "feature 3",
    )
    (tmp_path / "features.json").write_text("{")
    assert naming("features.json").search(open_dataset(tmp_path).warnings[0])
