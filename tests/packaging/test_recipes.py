"""Recipes of other installers: the dependencies and version of the project, and notes from the changelog."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
