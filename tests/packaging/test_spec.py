"""PyInstaller's recipe on each system, read with what PyInstaller would give it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest

from rankstudio import __version__
from rankstudio.engine.experiment.storage.study import SUFFIX

ROOT = Path(__file__).resolve().parents[2]
BINARIES = [
    ("libpython3.11.so.1.0", "/usr/lib/libpython3.11.so.1.0", "BINARY"),
    ("libused.so.1", "/usr/lib/libused.so.1", "BINARY"),
    ("libneeded.so.1", "/usr/lib/libneeded.so.1", "BINARY"),
    ("libgtk-3.so.0", "/usr/lib/libgtk-3.so.0", "BINARY"),
    ("PySide6/QtCore.abi3.so", "/site/PySide6/QtCore.abi3.so", "EXTENSION"),
    ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", "/site/libqgtk3.so", "BINARY"),
    ("pyarrow/libarrow_python.so", "/site/libarrow_python.so", "BINARY"),
    ("pyarrow/libarrow_python.so.2600", "/site/libarrow_python.so.2600", "BINARY"),
]
LINKS = {
    "/site/PySide6/QtCore.abi3.so": {"libused.so.1"},
    "/usr/lib/libused.so.1": {"libneeded.so.1", "libc.so.6"},
    "/site/libqgtk3.so": {"libgtk-3.so.0"},
}
DATA = [
    ("rankstudio/resources/icons/app.svg", "", "DATA"),
    ("pyarrow/include/arrow/api.h", "", "DATA"),
]


class Made:
    """What a recipe makes on a system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.analysis: dict[str, Any] = {}
        self.programs: dict[str, dict[str, Any]] = {}
        self.files: list[str] = []
        self.application: dict[str, Any] = {}

    def recipe(self) -> dict[str, Any]:
        """Return the names that PyInstaller gives a recipe."""
        return {
            "SPECPATH": str(ROOT / "packaging"),
            "workpath": str(self.folder),
            "Analysis": self._analyse,
            "PYZ": lambda pure: pure,
            "EXE": self._program,
            "COLLECT": self._collect,
            "BUNDLE": lambda folder, **said: self.application.update(said),
        }

    def _analyse(self, scripts: list[str], **said: Any) -> SimpleNamespace:
        self.analysis = {"start": scripts, **said}
        modules = [("numpy", numpy.__file__, "PYMODULE")]
        return SimpleNamespace(
            pure=modules, scripts=[], binaries=BINARIES, datas=list(DATA)
        )

    def _program(self, *parts: Any, **said: Any) -> list[Any]:
        self.programs[said["name"]] = said
        return []

    def _collect(self, *parts: Any, name: str) -> SimpleNamespace:
        self.files = [entry[0] for part in parts for entry in part]
        program_folder = self.folder / "program"
        program_folder.mkdir()
        return SimpleNamespace(name=str(program_folder))


@pytest.fixture
def made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> Made:
    """What the recipe makes on the system that the test names."""
    bindepend, hooks = (
        ModuleType("PyInstaller.depend.bindepend"),
        ModuleType("PyInstaller.utils.hooks"),
    )
    vars(bindepend).update(
        get_imports=lambda source: {(name, "") for name in LINKS.get(source, ())}
    )
    vars(hooks).update(
        collect_submodules=lambda package: [package],
        copy_metadata=lambda name: [(name, name)],
    )
    for module in (bindepend, hooks):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        for parent in (module.__name__.rpartition(".")[0], "PyInstaller"):
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "platform", request.param)
    result = Made(tmp_path)
    runpy.run_path(
        str(ROOT / "packaging" / "rankstudio.spec"), init_globals=result.recipe()
    )
    return result


systems = pytest.mark.parametrize("made", ["linux", "darwin", "win32"], indirect=True)


@systems
def test_everything_that_a_recipe_names_is_there(made: Made) -> None:
    assert all(Path(script).is_file() for script in made.analysis["start"])
    assert all(
        Path(entry[0]).exists()
        for entry in made.analysis["datas"]
        if Path(entry[0]).is_absolute()
    )
    icons = [said["icon"] for said in made.programs.values() if said["icon"]]
    assert all(Path(icon).is_file() for icon in icons)
    assert bool(icons) == (sys.platform != "linux"), "Linux has the menu entry's"


@systems
def test_there_is_a_program_for_the_terminal_and_one_for_the_window(made: Made) -> None:
    if sys.platform == "win32":
        assert {name: said["console"] for name, said in made.programs.items()} == {
            "rankstudio": True,
            "rankstudio-window": False,
        }
    else:
        assert list(made.programs) == ["rankstudio"]
        assert (made.folder / "program" / "rankstudio-window").readlink() == Path(
            "rankstudio"
        )


@systems
def test_parts_of_libraries_that_are_never_used_stay_out(made: Made) -> None:
    assert "rankstudio/resources/icons/app.svg" in made.files
    assert not {name for name in made.files if "gtk3" in name or "include" in name}
    assert "pyarrow/libarrow_python.so.2600" in made.files
    assert "pyarrow/libarrow_python.so" not in made.files


@systems
def test_the_licences_of_what_is_bundled_are_in_it_and_beside_it(made: Made) -> None:
    assert "rankstudio/resources/LICENSES.txt" in made.files
    text = (made.folder / "program" / "LICENSES.txt").read_text()
    assert numpy.__version__ in text
    assert pytest.__version__ not in text.partition("=====")[0]


@pytest.mark.parametrize("made", ["linux"], indirect=True)
def test_only_libraries_that_something_links_to_come_from_the_system(
    made: Made,
) -> None:
    assert {name for name in made.files if name.startswith("lib")} == {
        "libpython3.11.so.1.0",
        "libused.so.1",
        "libneeded.so.1",
    }


@pytest.mark.parametrize("made", ["darwin"], indirect=True)
def test_an_application_of_macos_has_a_window_and_opens_studies(made: Made) -> None:
    (program,) = made.programs.values()
    assert not program["console"], (
        "PyInstaller would make a program that runs in the background"
    )
    assert program["argv_emulation"]
    linux = ElementTree.parse(
        ROOT / "packaging" / "linux" / "rankstudio.metainfo.xml"
    ).getroot()
    assert made.application["bundle_identifier"] == linux.findtext("id")
    assert made.application["version"] == __version__
    (kind,) = made.application["info_plist"]["CFBundleDocumentTypes"]
    assert kind["CFBundleTypeExtensions"] == [SUFFIX.removeprefix(".")]
