"""``--memory``: larger data are read from disk as they are needed, with the same results."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.large_folder import LargeData, write_folder


def test_a_run_within_little_memory_has_the_same_results(
    tmp_path: Path, done, monkeypatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    list(write_folder(LargeData(8000, 100, 20), tmp_path / "data"))
    options = [
        "run",
        "--data",
        str(tmp_path / "data"),
        "--method",
        "single-feature",
        "--json",
    ]
    whole = done(options)
    mapped = done([*options, "--memory", "1MB"])
    assert json.loads(mapped.out)["folds"] == json.loads(whole.out)["folds"]
    assert naming("8,000 20 1.3 MB").search(mapped.err)
    assert naming("1.0 MB").search(mapped.err)
    goes = [
        line
        for line in mapped.err.splitlines()
        if line.endswith("of memory, limit 1.0 MB.")
    ]
    assert len(goes) == 1
    assert naming("documents disk").search(goes[0])
    assert not naming("LETOR").search(whole.err)
    assert naming("4 LETOR 4.0 2").search(
        done([*options, "--convention", "letor4"]).err
    )
    assert not naming("documents disk").search(whole.err)
    assert "RANKSTUDIO_MEMORY" not in os.environ


@pytest.mark.parametrize("text", ["4", "many", "10KB"])
def test_what_is_no_size_is_a_wrong_command_line(text: str, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--sample", "--memory", text])
    assert naming(f"--memory 1MB 4GB 500MB {text}").search(capsys.readouterr().err)
