"""Recipes of other installers: the dependencies and version of the project, and notes from the changelog."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rankstudio

ROOT = Path(__file__).resolve().parents[2]
CONDA_NAMES = {"matplotlib": "matplotlib-base", "pyside6-essentials": "pyside6"}


def dependencies() -> dict[str, str]:
    """Return the strictest bounds of each dependency, by its name on conda-forge."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    bounds: dict[str, str] = {}
    for text in project["dependencies"]:
        requirement = Requirement(text)
        name = requirement.name.lower()
        bounds.setdefault(
            CONDA_NAMES.get(name, name), str(requirement.specifier)
        )  # the first is the stricter
    return bounds


def test_the_conda_recipe_has_the_dependencies_and_the_version() -> None:
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    block = recipe[recipe.index("  run:\n") : recipe.index("\ntests:")]
    lines = re.findall(r"^    - ([\w-]+) ?(.*)$", block, re.MULTILINE)
    run = {
        name: ",".join(sorted(bound.split(",")))
        for name, bound in lines
        if name != "python"
    }
    assert run == {
        name: ",".join(sorted(bound.split(",")))
        for name, bound in dependencies().items()
    }
    assert f'  version: "{rankstudio.__version__}"\n' in recipe


def test_the_guide_lists_the_dependencies_without_those_of_the_window() -> None:
    guide = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    line = re.search("^pip install (numpy .*)$", guide, re.MULTILINE)
    assert line is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {Requirement(text).name for text in project["project"]["dependencies"]}
    assert set(line[1].split()) == needed - {"PySide6-Essentials", "pyqtgraph"}


def module(name: str) -> dict[str, Any]:
    """Return a generated module of the Flatpak."""
    file = ROOT / "packaging" / "flatpak" / f"{name}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def wheels(name: str) -> dict[str, set[str]]:
    """Return the versions of the packages that the Flatpak installs."""
    found: dict[str, set[str]] = {}
    for source in module(name)["sources"]:
        package, version = source["url"].split("/")[-1].split("-")[:2]
        found.setdefault(canonicalize_name(package), set()).add(version)
    return found


def test_the_flatpak_installs_the_dependencies_in_their_locked_versions() -> None:
    lock = (ROOT / "constraints" / "locked.txt").read_text(encoding="utf-8")
    locked = re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE)
    pins = {(canonicalize_name(name), version) for name, version in locked}
    found = wheels("python3-dependencies")
    assert (
        not {
            (name, version) for name, versions in found.items() for version in versions
        }
        - pins
    ), "run packaging/flatpak/sources.py"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [Requirement(text) for text in project["project"]["dependencies"]]
    assert {canonicalize_name(one.name) for one in needed} <= set(found)
    built = [Requirement(text) for text in project["build-system"]["requires"]]
    assert {one.name for one in built} <= set(wheels("python3-build"))


def test_the_wheels_of_the_flatpak_are_of_the_index_and_of_both_processors() -> None:
    for name in ("python3-dependencies", "python3-build"):
        for source in module(name)["sources"]:
            assert source["url"].startswith("https://files.pythonhosted.org/packages/")
            assert re.fullmatch("[0-9a-f]{64}", source["sha256"])
            processor = re.search("(x86_64|aarch64)[.]whl$", source["url"])
            assert source.get("only-arches", []) == (
                [processor[1]] if processor else []
            )


def test_the_flatpak_has_the_version_and_the_name_of_the_software_centre() -> None:
    (manifest,) = (ROOT / "packaging" / "flatpak").glob("*.yml")
    text = manifest.read_text(encoding="utf-8")
    centre = ElementTree.parse(
        ROOT / "packaging" / "linux" / "rankstudio.metainfo.xml"
    ).getroot()
    assert text.count(f"\nid: {manifest.stem}\n") == 1
    assert centre.findtext("id") == manifest.stem
    assert f"/rankstudio-{rankstudio.__version__}.tar.gz\n" in text
    newest = centre.find("releases/release")
    assert newest is not None
    assert newest.attrib["version"] == rankstudio.__version__
    # what both need belongs to the first module: the second one is removed after the build
    assert text.index("- python3-dependencies.json") < text.index(
        "- python3-build.json"
    )


@pytest.mark.parametrize(
    ("version", "status"), [(rankstudio.__version__, 0), ("9.9", 1)]
)
def test_the_notes_of_a_release_are_its_part_of_the_changelog(
    version: str, status: int
) -> None:
    command = [sys.executable, str(ROOT / ".github" / "release_notes.py"), version]
    finished = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert finished.returncode == status
    if status == 0:
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        assert finished.stdout.strip() in changelog
        assert len(finished.stdout) > 1000
    else:
        assert "9.9" in finished.stderr
