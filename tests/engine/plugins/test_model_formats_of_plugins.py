"""Model formats of plug-ins: written, verified, and hostile."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from plugins.installed import INI, install, plugins_of

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    OutputError,
    PluginWarning,
    RankStudioError,
)
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.model_files import (
    find_models,
    holds_models,
    models_in,
    score_file,
)
from rankstudio.engine.export.models import Model, Weight, load_model, save_model
from rankstudio.engine.export.proof import RankingProof, ranking_proof
from rankstudio.engine.export.score_function import score_function

MODEL_FORMATS = model_formats()

WRITERS = [
    "raise ValueError('no')",
    "import sys; sys.exit()",
    "return 7",
    "return ''",
    "return None",
]
READERS = [
    *("raise ValueError('no')", "import sys; sys.exit()", "return 7", "return X"),
    *(
        "return X[:, 0] * float('nan')",
        "return ['a'] * len(X)",
        "X[:] = 0; return X[:1, 0]",
    ),
]


def model() -> Model:
    weights = (Weight(1, "bm25", 0.5), Weight(3, "length", -0.25))
    return Model(weights, "gas", {}, {"data": "Small", "fold": 1})


def proof(key: str) -> RankingProof:
    draw = np.random.default_rng(0)
    data = RankingDataset.from_arrays(
        draw.random((30, 3)), draw.integers(0, 3, 30), np.repeat(range(6), 5)
    )
    function, form = score_function(model()), model_formats()[key]
    return ranking_proof(model(), function, form, form.files(function), [data])


def changed(function: str, body: str) -> str:
    """Return the plug-in with another body of one of its functions."""
    head, _, _ = dedent(INI).partition(f"def {function}(")
    arguments = "model" if function == "write" else "content, X, ids"
    rest = (
        dedent(INI)[dedent(INI).index("def scores(") :] if function == "write" else ""
    )
    return f"{head}def {function}({arguments}):\n    {body}\n\n{rest}"


def test_a_model_is_written_and_verified(tmp_path: Path) -> None:
    with plugins_of(tmp_path / "site", ini=INI):
        assert list(model_formats()) == [*MODEL_FORMATS, "ini"]
        text = model_formats()["ini"].files(score_function(model()))[""]
        shown = proof("ini")
    assert text == b"[weights]\n1 = 0.5\n3 = -0.25\n"
    assert shown.holds and shown.n_queries == 6


def test_without_a_reader_nothing_is_verified(tmp_path: Path) -> None:
    with plugins_of(
        tmp_path / "site", ini=INI.replace('reader="ini_plugin:scores",', "")
    ):
        shown = proof("ini")
    assert not shown.holds and "no reader" in shown.failure


def test_a_wrong_file_is_not_verified(tmp_path: Path) -> None:
    with plugins_of(tmp_path / "site", ini=INI.replace("{weight!r}", "{-weight!r}")):
        assert not proof("ini").holds


@pytest.mark.parametrize("body", WRITERS)
def test_a_writer_that_fails_is_one_sentence(body: str, tmp_path: Path) -> None:
    with (
        plugins_of(tmp_path / "site", ini=changed("write", body)),
        pytest.raises(OutputError) as raised,
    ):
        proof("ini")
    assert "rankstudio-ini" in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("body", READERS)
def test_a_reader_that_fails_verifies_nothing(body: str, tmp_path: Path) -> None:
    with plugins_of(tmp_path / "site", ini=changed("scores", body)):
        shown = proof("ini")
    assert not shown.holds and "rankstudio-ini" in shown.failure


@pytest.mark.ability("search_engines")
def test_invalid_entries_are_one_warning_each(tmp_path: Path) -> None:
    text = """
        from dataclasses import replace
        from rankstudio.api import ModelFormat, Plugin
        FINE = ModelFormat("fine", "Fine", ".fine", writer="bad_plugin:write")
        PLUGIN = Plugin(name="bad", model_formats=(
            FINE, replace(FINE, key="solr"), replace(FINE, key="A"), replace(FINE, key="l", label="a\\nb"),
            replace(FINE, key="s", suffix="x/y"), replace(FINE, key="w", writer="os.system"), 7,
        ))
    """
    with (
        plugins_of(tmp_path / "site", bad=text),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        assert [key for key, form in model_formats().items() if form.package] == [
            "fine"
        ]
    assert len([item for item in caught if item.category is PluginWarning]) == 6


def test_scaled_models_and_trees_are_refused(tmp_path: Path) -> None:
    with plugins_of(tmp_path / "site", ini=INI):
        form = model_formats()["ini"]
    assert form.refusal(linear=False, scaled=False) and form.refusal(
        linear=True, scaled=True
    )
    assert replace(form, trees=True).refusal(linear=False, scaled=False) == ""


def test_the_page_of_the_guide_has_the_tested_plugin() -> None:
    page = Path(__file__).parents[3] / "docs" / "adding-a-data-format.md"
    assert dedent(INI).strip() in page.read_text(encoding="utf-8")


def data_file(folder: Path) -> Path:
    draw = np.random.default_rng(3)
    data = RankingDataset.from_arrays(
        draw.random((12, 3)), draw.integers(0, 3, 12), np.repeat(range(4), 3)
    )
    save_letor(data, folder / "test.txt")
    return folder / "test.txt"


@pytest.mark.parametrize("ending", [".ini", ".INI"])
def test_a_file_of_a_model_is_opened_and_scores(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"fold1{ending}"
    path.write_text("[weights]\n1 = 0.5\n3 = -0.25\n")
    with plugins_of(tmp_path / "site", ini=INI):
        scores, data, _ = score_file(path, data_file(tmp_path))
        assert (
            holds_models(path)
            and holds_models(tmp_path)
            and models_in(tmp_path) == {1: path}
        )
        dataset = FoldedDataset.of(data)
        found = find_models(path, dataset).of_folds[1]
        save_model(tmp_path / "again.json", found)
        again = load_model(tmp_path / "again.json")
        with pytest.raises(OutputError):
            score_function(found)
        assert again.predict(data.X).tolist() == scores.tolist()
    assert np.allclose(scores, data.X @ [0.5, 0, -0.25])
    assert not holds_models(path)
    with pytest.raises(
        DataError, match=r"needs rankstudio-ini 1\.2: pip install rankstudio-ini"
    ):
        load_model(tmp_path / "again.json").predict(data.X)


@pytest.mark.parametrize("body", READERS)
def test_a_reader_that_fails_on_an_opened_file_is_one_sentence(
    body: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.ini"
    path.write_text("?")
    with (
        plugins_of(tmp_path / "site", ini=changed("scores", body)),
        pytest.raises(DataError) as raised,
    ):
        score_file(path, data_file(tmp_path))
    text = str(raised.value)
    assert text.startswith(str(path)) and "\n" not in text and "rankstudio-ini" in text


def test_hostile_files_of_models_are_one_sentence(tmp_path: Path) -> None:
    data = data_file(tmp_path)
    fifo = tmp_path / "fifo.ini"
    os.mkfifo(fifo)
    (tmp_path / "folder.ini").mkdir()
    (tmp_path / "bytes.ini").write_bytes(b"\xff\x00[weights")
    (tmp_path / "empty.ini").write_bytes(b"")
    own = Model((Weight(1, "a", 1.0),), "x", {}, {}, {"kind": "plugin"})
    beyond = {
        "format": "os",
        "package": "os:system",
        "version": "1",
        "content": "",
        "columns": [1],
    }
    values = [
        {},
        {"columns": [9]},
        {"content": "?"},
        {"format": 7},
        {"format": "ini", "package": "other"},
    ]
    with plugins_of(tmp_path / "site", ini=INI):
        for name in ("fifo.ini", "folder.ini", "bytes.ini", "empty.ini", "absent.ini"):
            with pytest.raises(RankStudioError) as raised:
                score_file(tmp_path / name, data)
            assert name in str(raised.value) and "\n" not in str(raised.value)
        for changes in values:
            path = tmp_path / "named.json"
            save_model(path, replace(own, beyond={**own.beyond, **beyond, **changes}))
            with pytest.raises(RankStudioError) as raised:
                score_file(path, data)
            assert "\n" not in str(raised.value)
        with plugins_of(
            tmp_path / "more",
            two=INI.replace('"ini"', '"two"').replace("ini_p", "two_p"),
        ):
            (tmp_path / "m.ini").write_text("[weights]\n")
            with pytest.raises(DatasetError, match="--without"):
                score_file(tmp_path / "m.ini", data)


@pytest.mark.thorough
def test_the_command_exports_and_verifies(tmp_path: Path) -> None:
    install(tmp_path, "ini", INI)
    environment = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, [str(tmp_path), environment, str(Path.cwd())]))
    output = ""
    for words in (
        ["run", "--sample", "--method", "single-feature", "--out", "out"],
        [
            "export",
            "out/models/fold1.json",
            "--to",
            "ini",
            "--out",
            "fold1.ini",
            "--sample",
        ],
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "rankstudio", *words],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert ended.returncode == 0, ended.stderr
        output = ended.stdout + ended.stderr
    assert "Identical ranking" in output
    assert (tmp_path / "fold1.ini").read_text("utf-8").startswith("[weights]")
