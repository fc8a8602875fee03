"""What is in a wheel, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="a wheel is built by hatchling (extra test)")
pytest.importorskip(
    "hatch_fancy_pypi_readme", reason="a wheel's readme is made by it (extra test)"
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(folder),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(*folder.glob("*.whl")) as file:
        yield file


def shipped(folder: str) -> set[str]:
    files = (ROOT / folder).rglob("*")
    return {
        str(path.relative_to(ROOT))
        for path in files
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("folder", ["resources", "docs"])
def test_resources_and_guide_are_inside_the_package(
    wheel: zipfile.ZipFile, folder: str
) -> None:
    names = set(wheel.namelist())
    assert {f"rankstudio/{name}" for name in shipped(folder)} <= names


def test_every_module_is_there_and_nothing_that_is_compiled(
    wheel: zipfile.ZipFile,
) -> None:
    names = set(wheel.namelist())
    assert {name for name in shipped("rankstudio") if name.endswith(".py")} <= names
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_metadata_have_the_licences_and_a_readme_for_an_index(
    wheel: zipfile.ZipFile,
) -> None:
    name = next(
        name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")
    )
    metadata = Parser().parsestr(wheel.read(name).decode())
    licences = [entry for entry in wheel.namelist() if "/licenses/" in entry]
    assert metadata["License-Expression"] == "MIT AND OFL-1.1"
    assert len(licences) == len(metadata.get_all("License-File")) == 2
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "](docs/" not in metadata.get_payload()
    assert (
        "](https://github.com/rankstudio/rankstudio/blob/main/docs/"
        in metadata.get_payload()
    )
