"""What an index shows of RankStudio: a readme whose links lead out, and the licences of what is shipped."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from wording import naming

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)]+)\)")
OUTSIDE = {
    "!": "https://raw.githubusercontent.com/rankstudio/rankstudio/main/",
    "": "https://github.com/rankstudio/rankstudio/blob/main/",
}


def readme() -> str:
    """Return the readme as an index gets it: what the build does with it, done by hand."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "".join(
        (ROOT / part["path"]).read_text(encoding="utf-8") for part in hook["fragments"]
    )
    for rule in hook["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    return text


def test_links_and_pictures_of_the_readme_lead_somewhere_from_outside() -> None:
    here = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    there = LINK.findall(readme())
    expected = [
        (mark, target if target.startswith("http") else OUTSIDE[mark] + target)
        for mark, target in here
    ]
    assert there == expected
    assert len(there) > 5


def test_every_address_of_the_project_is_one_of_its_repository() -> None:
    for address in PROJECT["project"]["urls"].values():
        assert address.startswith("https://github.com/rankstudio/rankstudio")
        inside = address.partition("/blob/main/")[2]
        assert (ROOT / inside).exists()


def test_licences_of_program_and_typeface_are_named_and_shipped() -> None:
    project = PROJECT["project"]
    texts = [
        (ROOT / name).read_text(encoding="utf-8") for name in project["license-files"]
    ]
    assert project["license"] == "MIT AND OFL-1.1"
    assert "MIT License" in texts[0]
    assert naming("SIL OPEN FONT LICENSE Version 1.1").search(texts[1])


@pytest.mark.parametrize("kind", ["scripts", "gui-scripts"])
def test_what_is_installed_as_a_command_is_there(kind: str) -> None:
    for target in PROJECT["project"][kind].values():
        module, function = target.split(":")
        source = (
            (ROOT / module.replace(".", "/"))
            .with_suffix(".py")
            .read_text(encoding="utf-8")
        )
        assert f"def {function}(" in source


def test_the_lowest_versions_are_the_lower_bounds_exactly() -> None:
    bounds = dict(
        re.match(r"([\w.-]+)>=([\d.]+)", entry).groups()
        for entry in PROJECT["project"]["dependencies"]
    )  # type: ignore[union-attr]
    lines = (
        (ROOT / "constraints" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    )
    exact = dict(line.split("==") for line in lines if not line.startswith("#"))
    padded = {name: re.sub(r"(\.0)+$", "", version) for name, version in exact.items()}
    assert padded == {
        name: re.sub(r"(\.0)+$", "", version) for name, version in bounds.items()
    }


def test_the_lock_names_what_every_extra_needs_in_a_version_that_fits() -> None:
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    wanted = [
        Requirement(entry)
        for entry in [*project["dependencies"], *chain.from_iterable(extras)]
    ]
    lines = (
        (ROOT / "constraints" / "locked.txt").read_text(encoding="utf-8").splitlines()
    )
    locked = [Requirement(line) for line in lines if not line.startswith("#")]
    for python in ("3.11", "3.12", "3.13"):
        here = {
            "python_version": python,
            "python_full_version": f"{python}.9",
            "extra": "",
        }
        versions = {
            pin.name: str(pin.specifier)[2:] for pin in locked if applies(pin, here)
        }
        missing = [
            str(entry)
            for entry in wanted
            if applies(entry, here)
            and not entry.specifier.contains(
                versions.get(canonicalize_name(entry.name), "0")
            )
        ]
        assert not missing, (
            f"run .ci/lock: for Python {python} there is no {', '.join(missing)}"
        )


def applies(requirement: Requirement, environment: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment)
