"""What is remembered, and that a damaged memory harms nobody."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QThread
from waiting import wait_until

from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.process.settings import MOST_RECENT, Settings, config_folder

PLAN = Plan(
    data="/data/MQ2008",
    parameters={"regularization": (0.1, 1 / 3), "pinned": (39,)},
    folds=(2,),
)


def test_everything_comes_back(tmp_path: Path) -> None:
    first = Settings(tmp_path)
    first.set("window/geometry", QByteArray(b"\x00\x01geometry"))
    first.set("window/theme", "dark")
    first.add_recent("/a")
    first.add_recent("/b")
    first.add_recent("/a")
    first.save_plan(PLAN)
    first.sync()
    second = Settings(tmp_path)
    assert second.bytes("window/geometry") == QByteArray(b"\x00\x01geometry")
    assert second.theme == "dark"
    assert second.recent == ("/a", "/b")
    assert second.plan == PLAN


def test_what_is_set_is_written_aside_without_being_asked(
    app: object, tmp_path: Path
) -> None:
    settings, ini = Settings(tmp_path), tmp_path / "window.ini"
    settings.write_aside()
    assert settings._writer._disk.thread() is not QThread.currentThread()
    for mode in ("dark", "light", "light", "dark"):
        settings.set("window/theme", mode)
        wait_until(
            lambda mode=mode: ini.exists() and f"theme={mode}" in ini.read_text()
        )
    settings.set("window/theme", None)
    settings.close()
    assert "theme" not in ini.read_text()
    assert settings.theme == "system"


def test_only_so_many_recent_files_are_kept_and_they_can_be_forgotten(
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path)
    for i in range(20):
        settings.add_recent(f"/data/{i}")
    assert settings.recent == tuple(
        f"/data/{i}" for i in range(19, 19 - MOST_RECENT, -1)
    )
    settings.clear_recent()
    assert settings.recent == ()


@pytest.mark.parametrize("seed", range(5))
def test_damaged_files_count_as_not_there(tmp_path: Path, seed: int) -> None:
    whole = Settings(tmp_path)
    whole.set("window/theme", "purple")
    whole.set("window/geometry", "no bytes at all")
    whole.save_plan(PLAN)
    whole.sync()
    if seed:
        rng = random.Random(seed)
        (tmp_path / "window.ini").write_bytes(rng.randbytes(400))
        (tmp_path / "plan.toml").write_bytes(rng.randbytes(200))
    settings = Settings(tmp_path)
    assert settings.theme == "system"
    assert settings.bytes("window/geometry") is None
    assert settings.recent == ()
    assert (settings.plan is None) == bool(seed)


def test_objects_of_qt_are_not_unpacked(tmp_path: Path) -> None:
    """A list of a thousand million texts, which asks for more memory than there is."""
    ini = tmp_path / "window.ini"
    ini.write_bytes(b"[window]\ntheme=@Variant(\\0\\0\\0\\xb\\x7f\\xff\\xff\\xff)\n")
    settings = Settings(tmp_path)
    assert settings.theme == "system"
    settings.set("window/theme", "dark")
    settings.sync()
    assert Settings(tmp_path).theme == "dark"
    assert (tmp_path / "window.damaged").exists()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(OutputError, match="could not be stored"):
        Settings(blocked / "below").save_plan(PLAN)


def test_the_environment_chooses_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_CONFIG_DIR", str(tmp_path))
    assert config_folder() == tmp_path


def test_the_language_comes_back_and_a_damaged_one_is_the_systems(
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path)
    assert settings.language == "system"
    for stored, language in (("de", "de"), ("en", "en"), ("klingon", "system")):
        settings.set("window/language", stored)
        assert Settings(tmp_path).language == language


def test_a_damaged_text_size_is_not_believed(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    assert settings.text_size == 0
    for value, believed in (
        (17, 17),
        ("15", 15),
        ("large", 0),
        (-4, 0),
        (10**9, 0),
        ("nan", 0),
        ("inf", 0),
    ):
        settings.set("window/text-size", value)
        assert settings.text_size == believed
