import os
import sys
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.errors import DataError, OutputError, PlanError
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.export.models import load_model
from rankstudio.engine.support.files import (
    create_file,
    is_there,
    read_text,
    write_bytes,
)


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write_bytes(path, b"one")
    write_bytes(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_a_sentence(tmp_path):
    with pytest.raises(OutputError, match=naming("a.png")):
        write_bytes(tmp_path / "no" / "a.png", b"")


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OutputError, match="No space left"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are Unix's")
def test_a_file_is_as_open_as_others(tmp_path):
    path = tmp_path / "a.txt"
    write_bytes(path, b"")
    other = tmp_path / "b.txt"
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


def test_a_text_is_read_from_a_file_that_is_not_too_large(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc\r\n")
    assert read_text(path, 5) == "abc\n"
    with pytest.raises(OSError, match=naming("5 4")):
        read_text(path, 4)
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_has_no_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match=naming("device")):
            read_text(path)
        with pytest.raises(PlanError, match=naming("device")):
            load_plan(path)
        with pytest.raises(DataError, match=naming("device")):
            load_model(path)


def test_a_name_that_is_too_long_is_of_nothing(tmp_path):
    assert is_there(tmp_path)
    assert not is_there(tmp_path / ("x" * 5000))


def test_what_a_killed_process_left_goes_when_it_is_a_day_old(tmp_path):
    old, new = tmp_path / ".rankstudio-old.part", tmp_path / ".rankstudio-new.part"
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (0, 0))
    write_bytes(tmp_path / "a.txt", b"")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", new.name}


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_made_only_where_there_is_none(tmp_path, monkeypatch, links):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", link)
    path = tmp_path / "a.txt"
    create_file(path, b"one")
    with pytest.raises(FileExistsError):
        create_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]
