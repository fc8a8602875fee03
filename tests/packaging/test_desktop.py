"""What a Linux desktop gets: a menu entry, a type for studies, icons, a page in a software centre."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankstudio.engine.experiment.storage.sqlite_file import APPLICATION_ID
from rankstudio.engine.experiment.storage.study import SUFFIX

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "packaging" / "linux"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"
CATEGORIES = {"Science", "ArtificialIntelligence", "DataVisualization", "Qt"}
"""Of the menu specification; the first is a main one."""


def entry() -> dict[str, str]:
    parser = configparser.RawConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign] - keys are case-sensitive
    parser.read(LINUX / "rankstudio.desktop", encoding="utf-8")
    assert parser.sections() == ["Desktop Entry"]
    return dict(parser["Desktop Entry"])


def study_type() -> ElementTree.Element:
    found = (
        ElementTree.parse(LINUX / "rankstudio.xml").getroot().find(f"{MIME}mime-type")
    )
    assert found is not None
    return found


def test_the_menu_entry_starts_the_window_with_a_file() -> None:
    keys = entry()
    program, field = keys["Exec"].split()
    assert program == keys["TryExec"]
    assert program in PROJECT["project"]["gui-scripts"]
    assert field == "%f"
    assert (keys["Type"], keys["Terminal"]) == ("Application", "false")


def test_the_menu_entry_follows_the_specification() -> None:
    keys = entry()
    lists = [
        name
        for name in keys
        if name.partition("[")[0] in {"MimeType", "Categories", "Keywords"}
    ]
    assert all(keys[name].endswith(";") for name in lists)
    assert set(keys["Categories"].rstrip(";").split(";")) <= CATEGORIES
    assert all(re.fullmatch(r"[A-Za-z]+(\[[a-z]{2}\])?", name) for name in keys)
    translated = {name.partition("[")[0] for name in keys if "[" in name}
    assert {f"{name}[de]" for name in translated} <= set(keys)


def test_a_study_is_known_by_its_ending_and_by_its_bytes() -> None:
    kind = study_type()
    globs = [glob.attrib["pattern"] for glob in kind.iter(f"{MIME}glob")]
    match = next(kind.iter(f"{MIME}match")).find(f"{MIME}match")
    assert match is not None
    assert globs == [f"*{SUFFIX}"]
    assert int(match.attrib["value"], 16) == APPLICATION_ID
    assert (match.attrib["type"], match.attrib["offset"]) == ("big32", "68"), (
        "where SQLite has it"
    )


def test_entry_type_and_software_centre_name_the_same_things() -> None:
    keys, kind = entry(), study_type().attrib["type"]
    centre = ElementTree.parse(LINUX / "rankstudio.metainfo.xml").getroot()
    assert keys["MimeType"] == f"{kind};"
    assert centre.findtext("provides/mediatype") == kind
    assert centre.findtext("launchable") == "rankstudio.desktop"
    assert centre.findtext("project_license") == PROJECT["project"]["license"]
    commands = {**PROJECT["project"]["scripts"], **PROJECT["project"]["gui-scripts"]}
    assert {binary.text for binary in centre.iter("binary")} == set(commands)
    assert {category.text for category in centre.iter("category")} <= CATEGORIES


def test_there_is_an_icon_of_every_size() -> None:
    for side in (16, 24, 32, 48, 64, 128, 256, 512):
        head = (
            LINUX / "icons" / f"{side}x{side}" / "apps" / "rankstudio.png"
        ).read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", head[16:]) == (side, side)
    scalable = LINUX / "icons" / "scalable" / "apps" / "rankstudio.svg"
    assert (
        scalable.read_bytes() == (ROOT / "resources" / "icons" / "app.svg").read_bytes()
    ), "run python packaging/icons.py"


def test_the_wheel_puts_them_where_desktops_look() -> None:
    data = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert all((ROOT / source).exists() for source in data)
    assert set(data.values()) == {
        "share/applications/rankstudio.desktop",
        "share/mime/packages/rankstudio.xml",
        "share/metainfo/io.github.rankstudio.rankstudio.metainfo.xml",
        "share/icons/hicolor",
    }


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["desktop-file-validate"], "rankstudio.desktop"),
        (["appstreamcli", "validate", "--no-net"], "rankstudio.metainfo.xml"),
    ],
)
def test_the_desktops_own_checks_find_no_fault(command: list[str], file: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    done = subprocess.run(
        [*command, str(LINUX / file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_desktop_recognises_a_study(tmp_path: Path) -> None:
    if shutil.which("update-mime-database") is None:
        pytest.skip("there is no update-mime-database")
    packages = tmp_path / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(LINUX / "rankstudio.xml", packages)
    done = subprocess.run(
        ["update-mime-database", str(tmp_path / "mime")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kind = study_type().attrib["type"]
    assert f"{kind}:*{SUFFIX}" in (tmp_path / "mime" / "globs2").read_text(
        encoding="utf-8"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="an AppImage is made on Linux")
def test_an_appimage_is_made_of_a_folder_that_starts(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    programs = [
        tmp_path / "build/bundle/rankstudio/rankstudio",
        tmp_path / "tools/appimagetool",
    ]
    for program in programs:
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$0 $*"\n', encoding="utf-8")
        program.chmod(0o755)
    (programs[0].parent / "rankstudio-window").symlink_to("rankstudio")
    path = f"{programs[1].parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "packaging/appimage.sh"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = tmp_path / "build/RankStudio.AppDir"
    assert done.stdout.split()[1:] == [
        "build/RankStudio.AppDir",
        "build/RankStudio-x86_64.AppImage",
    ]
    said = subprocess.run(
        [folder / "AppRun", "a study"], capture_output=True, text=True, check=True
    ).stdout
    assert said == f"{folder}/usr/bin/rankstudio a study\n"
    keys = entry()
    assert (folder / "usr/bin" / keys["Exec"].split()[0]).exists()
    assert (folder / f"{keys['Icon']}.png").is_file()
    assert (folder / "rankstudio.desktop").is_file()
