import os
import sys

import pytest

from rankstudio.engine.errors import OutputError
from rankstudio.engine.support.files import write_bytes


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write_bytes(path, b"one")
    write_bytes(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_a_sentence(tmp_path):
    with pytest.raises(OutputError, match=r"a\.png could not be written: No such file or directory\."):
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
