"""Data formats of plug-ins: read, written, recorded, absent, and hostile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from plugins.installed import NPZ, install, plugins_of

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import block_reader
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import data_formats, format_of_key
from rankstudio.engine.errors import (
    DatasetError,
    MissingValueError,
    PluginWarning,
    RankStudioError,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.storage.study import Study

ODD = """
    import numpy as np
    from rankstudio.api import DataBlock, DataFormat, Plugin
    PLUGIN = Plugin(name="odd", data_formats=(
        DataFormat("odd", "Odd <b>", (".odd",), reader="odd_plugin:read", several_files=True),
    ))
    def read(path):
        {body}
"""
FINE = "yield np.ones((2, 2)) * [[1], [2]], [0, 1], [1, 1]"
FAULTS = {
    "raises": "raise ValueError('no luck')",
    "raises later": f"{FINE}; 1 / 0",
    "exits": "import sys; sys.exit(0)",
    "no function of blocks": "return 5",
    "nothing": "return iter(())",
    "no tuple": "yield 7",
    "one dimension": "yield np.ones(2), [0, 1], [1, 1]",
    "short labels": "yield np.ones((2, 2)), [0], [1, 1]",
    "short queries": "yield np.ones((2, 2)), [0, 1], [1]",
    "no columns": "yield np.ones((2, 0)), [0, 1], [1, 1]",
    "more columns later": f"{FINE}; yield np.ones((2, 3)), [0, 1], [1, 1]",
    "texts": "yield np.array([['a', 'b']] * 2, object), [0, 1], [1, 1]",
    "lists of unequal length": "yield [[1, 2], [3]], [0, 1], [1, 1]",
    "infinite": "yield np.full((2, 2), np.inf), [0, 1], [1, 1]",
    "label nan": "yield np.ones((2, 2)), [0, np.nan], [1, 1]",
    "query nan": "yield np.ones((2, 2)), [0, 1], [1, np.nan]",
    "query none": "yield np.ones((2, 2)), [0, 1], [1, None]",
    "names too few": "yield DataBlock(np.ones((2, 2)), [0, 1], [1, 1], ('a',))",
    "names twice": "yield DataBlock(np.ones((2, 2)), [0, 1], [1, 1], ('a', 'a'))",
    "documents too few": "yield DataBlock(np.ones((2, 2)), [0, 1], [1, 1], (), ('a',))",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))


def odd_data(folder: Path, body: str) -> Path:
    path = folder / "x.odd"
    path.write_bytes(b"\0\1\2")
    return path


@pytest.mark.parametrize("body", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_of_a_reader_is_one_sentence_with_the_name_of_the_file(
    body: str, tmp_path: Path
) -> None:
    path = odd_data(tmp_path, body)
    with (
        plugins_of(tmp_path / "site", odd=ODD.format(body=body)),
        pytest.raises(DatasetError) as raised,
    ):
        load_data(path)
    text = str(raised.value)
    assert text.startswith(str(path)) and "\n" not in text and "rankstudio-odd" in text
    assert len(load_data(_letor(tmp_path)).y)  # everything else works on


def made(seed: int) -> RankingDataset:
    draw = np.random.default_rng(seed)
    return RankingDataset.from_arrays(
        draw.random((12, 3)), draw.integers(0, 3, 12), np.repeat(range(4), 3)
    )


def _letor(folder: Path) -> Path:
    path = folder / "y.txt"
    path.write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    return path


def test_odd_blocks_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = (
        "import scipy.sparse as s; print('hello'); "
        "yield DataBlock(np.array([[1, None], [3, 4]], object), np.array([0, 2.0]), [7.0, 9.0], "
        "('tf', 'a\\x1b[2Jb'), (b'd1', 'd2')); "
        "yield s.csr_matrix([[0, 5], [6, 0]]), np.array([True, False]), np.array(['7', 'q'])"
    )
    with plugins_of(tmp_path / "site", odd=ODD.format(body=body)):
        data = load_data(odd_data(tmp_path, body), missing="zero")
        again = load_data(odd_data(tmp_path, body), missing="zero")  # from the cache
        with pytest.raises(MissingValueError):
            load_data(odd_data(tmp_path, body), missing="refuse")
        dataset = open_dataset(odd_data(tmp_path, body))
    assert data.query_ids == ("7", "9", "q")
    assert data.y.tolist() == [0, 1, 2, 0]
    assert np.asarray(data.X).tolist() == [[1, 0], [0, 5], [3, 4], [6, 0]]
    assert data.feature_names == ("tf", "a [2Jb") and data.document_ids[0] == "d1"
    assert (
        again.feature_names == data.feature_names
        and again.y.tolist() == data.y.tolist()
    )
    assert (
        dataset.origin.columns.format == "odd of rankstudio-odd==1.2"
        and dataset.origin.read_as.format == "odd"
    )
    assert "hello" not in capsys.readouterr().out


def test_the_page_of_the_guide_has_the_tested_plugin() -> None:
    page = Path(__file__).parents[3] / "docs" / "adding-a-data-format.md"
    assert dedent(NPZ).strip() in page.read_text(encoding="utf-8")


def test_a_changed_reader_reads_anew(tmp_path: Path) -> None:
    path = odd_data(tmp_path, "")
    values = []
    for number, factor in enumerate((1, 3)):
        body = f"yield np.full((2, 1), {factor}.0), [0, 1], [1, 1]"
        with plugins_of(tmp_path / f"site{number}", odd=ODD.format(body=body)):
            values.append(float(load_data(path).X[0, 0]))
    assert values == [1, 3]


def test_a_recogniser_that_fails_or_claims_everything_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_reader, "_TIMEOUT", 0.2)
    text = """
        from threading import Event
        from rankstudio.api import DataFormat, Plugin
        GATE = Event()
        PLUGIN = Plugin(name="{name}", data_formats=(
            DataFormat("{name}", "{name}", (".{name}",), reader="{name}_plugin:read",
                       recognise="{name}_plugin:recognise"),
        ))
        def read(path):
            yield [[1.0], [2.0]], [0, 1], [1, 1]
        def recognise(head, name):
            assert len(head) <= 4096
            {body}
    """
    bodies = {
        "greedy": "return 1",
        "alike": "return 1",
        "hangs": "GATE.wait(60); return 0",
        "exits": "import sys; sys.exit(1)",
        "nan": "return float('nan')",
        "much": "return 7",
    }
    texts = {name: text.format(name=name, body=body) for name, body in bodies.items()}
    csv = tmp_path / "x.csv"
    csv.write_text("qid,label,tf\n1,2,3\n1,0,1\n")
    odd = tmp_path / "x.unknown"
    odd.write_text("?" * 10_000)
    own = tmp_path / "x.greedy"
    own.write_text("?" * 10_000)
    with (
        plugins_of(tmp_path / "site", **texts),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        assert load_data(_letor(tmp_path)).n_features == 1
        assert load_data(csv).feature_names == ("tf",)
        with pytest.raises(DatasetError, match="--data-format alike"):
            load_data(odd)
        assert load_data(odd, columns={"format": "alike"}).n_documents == 2
        assert load_data(own).n_documents == 2
        with pytest.raises(DatasetError, match="data format 'none'"):
            load_data(odd, columns={"format": "none"})
        sys.modules["hangs_plugin"].GATE.set()
    said = [str(item.message) for item in caught if item.category is PluginWarning]
    assert {n for n in bodies if any(n in text for text in said)} == {
        "hangs",
        "exits",
        "nan",
        "much",
    }


def test_invalid_entries_are_one_warning_each(tmp_path: Path) -> None:
    text = """
        from dataclasses import replace
        from rankstudio.api import DataFormat, Plugin
        FINE = DataFormat("fine", "Fine", (".fine",), reader="bad_plugin:read")
        PLUGIN = Plugin(name="bad", data_formats=(
            FINE, replace(FINE, key="letor"), replace(FINE, key="A b"), replace(FINE, key="l", label="a\\nb"),
            replace(FINE, key="e", endings=("npz",)), replace(FINE, key="r", reader="os.system"), 7,
            replace(FINE, key="m", magic="text"), replace(FINE, key="n", label=" "),
        ))
    """
    with (
        plugins_of(tmp_path / "site", bad=text),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        own = [entry.key for entry in data_formats() if entry.package]
    assert (
        own == ["fine"]
        and len([item for item in caught if item.category is PluginWarning]) == 8
    )


def test_a_table_of_a_plugin_is_asked_for_its_columns(tmp_path: Path) -> None:
    text = """
        from rankstudio.api import DataFormat, Plugin
        PLUGIN = Plugin(name="cols", data_formats=(
            DataFormat("cols", "Columns", (".cols",), reader="cols_plugin:read", is_table=True),
        ))
        def read(path):
            yield {"session": ["a", "a", "b"], "clicked": [0, 1, 1], "tf": [1.5, 2.5, None]}
    """
    path = tmp_path / "x.cols"
    path.write_bytes(b"\0")
    from rankstudio.engine.data.table_preview import preview_table  # noqa: PLC0415 - beside its use

    with plugins_of(tmp_path / "site", cols=text):
        preview = preview_table(path)
        data = load_data(
            path, columns={"qid": "session", "label": "clicked"}, missing="zero"
        )
    assert (
        preview.names == ("session", "clicked", "tf") and preview.format.key == "cols"
    )
    assert (
        data.query_ids == ("a", "b")
        and data.feature_names == ("tf",)
        and data.X[2, 0] == 0
    )


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_what_is_written_is_read_back(ending: str, tmp_path: Path) -> None:
    data = made(1)
    with plugins_of(tmp_path / "site", npz=NPZ):
        path = tmp_path / f"x.npz{ending}"
        save_dataset(data, path, format_of_key("npz"))
        again = load_data(path)
    assert np.array_equal(again.X, data.X) and np.array_equal(again.y, data.y)
    assert again.query_ids == data.query_ids


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    data = made(1)
    bodies = ["raise OSError('full')", "pass", "open(str(path) + '2', 'w').close()"]
    for number, body in enumerate(bodies):
        text = NPZ.replace("np.savez(path, X=block.X, y=block.y, qid=block.qid)", body)
        with (
            plugins_of(tmp_path / f"site{number}", npz=text),
            pytest.raises(RankStudioError, match="npz"),
        ):
            save_dataset(data, tmp_path / "x.npz", format_of_key("npz"))
        assert not [
            path for path in tmp_path.iterdir() if path.name.startswith((".rank", "x."))
        ]


def test_a_study_names_the_package_and_is_read_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "Fold1"
    folder.mkdir()
    plan = Plan(
        str(folder), method="single-feature", parameters={"n_features_to_select": 2}
    )
    with plugins_of(tmp_path / "site", npz=NPZ):
        for seed, name in enumerate(("train", "vali", "test")):
            data = made(seed)
            save_dataset(data, folder / f"{name}.npz", format_of_key("npz"))
        dataset = open_dataset(folder)
        assert len(dataset.folds[0].parts) == 3
        with Study.create(tmp_path / "a.rankstudio") as study:
            for _ in run_stored(plan, dataset, study):
                pass
    with Study.open(tmp_path / "a.rankstudio") as study:
        (summary,) = study.runs()
        stored = summary.key.plan
        assert summary.versions["rankstudio-npz"] == "1.2"
        assert stored.columns["format"] == "npz of rankstudio-npz==1.2"
        assert study.result(summary.key).folds
    with pytest.raises(
        DatasetError, match=r"needs rankstudio-npz 1\.2: pip install rankstudio-npz"
    ):
        open_dataset(folder, columns=stored.columns)
    with pytest.raises(DatasetError, match="needs rankstudio-npz"):
        open_dataset(folder / "train.npz", columns=stored.columns)


@pytest.mark.thorough
def test_the_command_converts_runs_and_evaluates(tmp_path: Path) -> None:
    install(tmp_path, "npz", NPZ)

    environment = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, [str(tmp_path), environment, str(Path.cwd())]))

    def rankstudio(*words: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "rankstudio", *words],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert (
        "npz"
        in json.loads(rankstudio("plugins", "--json"))["plugins"][-1]["data_formats"]
    )
    rankstudio("convert", "--sample", "folds", "--to", "npz")
    rankstudio("convert", "--sample", "text")
    for name in ("folds", "text"):
        rankstudio(
            "run",
            "--data",
            name,
            "--method",
            "single-feature",
            "--convention",
            "letor4",
            "--out",
            f"out-{name}",
        )
    files = [tmp_path / f"out-{name}" / "metrics.csv" for name in ("folds", "text")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "npz of rankstudio-npz==1.2" in (
        tmp_path / "out-folds" / "plan.toml"
    ).read_text("utf-8")
    model = next((tmp_path / "out-folds" / "models").glob("*.json"))
    rankstudio("evaluate", "folds/Fold1/test.npz", "--model", str(model))
    rankstudio("evaluate", "text/Fold1/test.txt", "--model", str(model))
    rankstudio("convert", "folds/Fold1/test.npz", "back.txt")


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C is sent as a signal")
@pytest.mark.parametrize("data", ["x.slow", "folds"])
def test_ctrl_c_ends_the_wait_for_a_reader_that_hangs(
    data: str, tmp_path: Path
) -> None:
    text = """
        from rankstudio.api import DataFormat, Plugin
        PLUGIN = Plugin(name="slow", data_formats=(
            DataFormat("slow", "Slow", (".slow",), reader="slow_plugin:hang"),
        ))
        def hang(path):
            import threading
            print("it hangs", flush=True)
            threading.Event().wait(600)
            yield [[1.0]], [1], [1]
    """
    install(tmp_path, "slow", text)
    (tmp_path / "folds" / "Fold1").mkdir(parents=True)
    for name in ("x", "folds/Fold1/train", "folds/Fold1/test"):
        (tmp_path / f"{name}.slow").write_bytes(b"\0\1")
    paths = os.pathsep.join(
        filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", ""), str(Path.cwd())])
    )
    with subprocess.Popen(
        [sys.executable, "-m", "rankstudio", "run", "--data", data],
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stderr is not None
        assert any("it hangs" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(60) == 130 and "Traceback" not in said
