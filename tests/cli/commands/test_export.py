"""``rankstudio export``, as a user calls it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from wording import naming

from rankstudio.cli import main


def export(
    place: Path, model: str, out: Path, *options: str, to: str = "ranklib"
) -> int:
    path = place / "out" / "models" / f"{model}.json"
    return main(["export", str(path), "--to", to, "--out", str(out), *options])


def test_what_is_written_is_tried_on_the_test_part_of_the_models_fold(
    place: Path, tmp_path: Path, capsys
) -> None:
    assert export(place, "fold1", tmp_path / "fold1.txt") == 0
    printed = capsys.readouterr()
    assert (tmp_path / "fold1.txt").read_text().startswith("## Coordinate Ascent\n")
    assert printed.err == f"Written: {tmp_path / 'fold1.txt'}\n"
    assert "Identical ranking on " in printed.out
    assert naming("RankLib test fold 1 exports data").search(printed.out)


def test_as_json_and_on_other_data(place: Path, tmp_path: Path, capsys) -> None:
    test = str(place / "data" / "Fold1" / "test.txt")
    assert (
        export(place, "all", tmp_path / "all.sql", "--data", test, "--json", to="sql")
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["written"] == [str(tmp_path / "all.sql")]
    assert printed["identical"] == printed["queries"] > 0
    assert printed["proof"].endswith("exports data Fold1 test.")
    assert (
        export(place, "all", tmp_path / "all.json", "--json", "--no-proof", to="solr")
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "format": "solr",
        "written": [str(tmp_path / "all.json"), str(tmp_path / "all-features.json")],
        "proof": "",
        "note": "",
    }


def test_nothing_is_replaced_without_force_nor_what_stands_beside(
    place: Path, tmp_path: Path, capsys
) -> None:
    (tmp_path / "m-features.json").write_text("mine")
    assert export(place, "fold1", tmp_path / "m.json", to="solr") == 1
    assert naming("m-features.json").search(capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["m-features.json"]
    assert (tmp_path / "m-features.json").read_text() == "mine"
    assert export(place, "fold1", tmp_path / "m.json", "--force", to="solr") == 0
    assert "FieldValueFeature" in (tmp_path / "m-features.json").read_text()


def test_what_cannot_be_expressed_or_tried_is_said(
    place: Path, tmp_path: Path, capsys
) -> None:
    assert export(place, "fold1", tmp_path / "m.txt", to="lightgbm") == 1
    assert naming("LightGBM").search(capsys.readouterr().err)
    assert not (tmp_path / "m.txt").exists()
    moved = tmp_path / "moved"
    shutil.copytree(place / "out", moved / "out")
    values = json.loads((moved / "out" / "models" / "fold1.json").read_text())
    del values["digest"], values["plan"]
    (moved / "out" / "models" / "fold1.json").write_text(json.dumps(values))
    assert export(moved, "fold1", tmp_path / "m.py", to="python") == 0
    assert naming("model data --data").search(capsys.readouterr().out)
    assert (
        export(
            moved,
            "fold1",
            tmp_path / "n.py",
            "--data",
            str(tmp_path / "none"),
            to="python",
        )
        == 1
    )
    assert "none" in capsys.readouterr().err
    assert not (tmp_path / "n.py").exists()


def test_a_feature_set_gives_its_definitions_and_one_of_another_engine_is_refused(
    place: Path, tmp_path: Path, capsys
) -> None:
    kind = "org.apache.solr.ltr.feature.SolrFeature"
    store = [
        {"name": f"f{i}", "class": kind, "params": {"q": f"{{!func}}{i}"}}
        for i in range(1, 60)
    ]
    own = tmp_path / "features.json"
    own.write_text(json.dumps(store))
    assert (
        export(
            place, "fold1", tmp_path / "m.json", "--feature-set", str(own), to="solr"
        )
        == 0
    )
    assert "Identical ranking on " in capsys.readouterr().out
    written = json.loads((tmp_path / "m-features.json").read_text())
    assert written == [feature for feature in store if feature in written]
    assert json.loads((tmp_path / "m.json").read_text())["store"] == "_DEFAULT_"

    assert export(place, "fold1", tmp_path / "m.txt", "--feature-set", str(own)) == 1
    assert naming("features.json Solr solr ranklib").search(capsys.readouterr().err)
    own.write_text(json.dumps(store[:1]))
    assert (
        export(
            place, "fold1", tmp_path / "n.json", "--feature-set", str(own), to="solr"
        )
        == 1
    )
    assert naming("features.json feature model 1 set").search(capsys.readouterr().err)
    assert not (tmp_path / "n.json").exists()


def test_a_feature_set_beside_the_data_is_used_and_one_that_does_not_fit_is_named(
    place: Path, tmp_path: Path, capsys
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(place / "data" / "Fold1" / "test.txt", data / "test.txt")
    features = [
        {"name": f"f{i}", "params": [], "template": {"match_all": {}}}
        for i in range(1, 60)
    ]
    (data / "featureset.json").write_text(
        json.dumps({"featureset": {"name": "s", "features": features}})
    )
    options = ("--data", str(data / "test.txt"), "--json")
    assert (
        export(place, "fold1", tmp_path / "m.json", *options, to="elasticsearch") == 0
    )
    assert json.loads(capsys.readouterr().out)["note"] == ""
    written = json.loads((tmp_path / "m-featureset.json").read_text())["featureset"][
        "features"
    ]
    assert all(feature in features for feature in written)
    (data / "featureset.json").write_text(
        json.dumps({"featureset": {"features": features[:1]}})
    )
    assert (
        export(
            place, "fold1", tmp_path / "m.json", *options, "--force", to="elasticsearch"
        )
        == 0
    )
    assert naming("featureset feature model").search(
        json.loads(capsys.readouterr().out)["note"]
    )


def test_the_part_of_a_feature_set_that_a_model_needs(
    place: Path, tmp_path: Path, capsys
) -> None:
    features = [
        {"name": f"f{i}", "params": [], "template": {"match_all": {}}}
        for i in range(1, 60)
    ]
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps({"featureset": {"name": "s", "features": features}}))
    options = ("--feature-set", str(whole))
    assert (
        export(place, "fold1", tmp_path / "part.json", *options, to="feature-set") == 0
    )
    assert naming("59 features").search(capsys.readouterr().out)
    part = json.loads((tmp_path / "part.json").read_text())["featureset"]
    model = json.loads((place / "out" / "models" / "fold1.json").read_text())
    assert part["name"] == "s"
    assert [f["name"] for f in part["features"]] == [
        f"f{i}" for i in sorted(f["id"] for f in model["features"])
    ]
    assert (
        export(place, "fold1", tmp_path / "part.json", *options, to="feature-set") == 1
    )
    assert "part.json" in capsys.readouterr().err
    assert export(place, "fold1", whole, *options, "--force", to="feature-set") == 1
    assert "whole.json" in capsys.readouterr().err
    assert export(place, "fold1", tmp_path / "none.json", to="feature-set") == 1
    assert naming("--feature-set feature set data").search(capsys.readouterr().err)
