"""The licences of what a bundle contains."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path
from types import ModuleType

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def licenses(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script, which belongs to no package."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    yield importlib.import_module("licenses")
    sys.modules.pop("licenses")


def distribution(folder: Path, fields: str, **files: str) -> Distribution:
    """An installed distribution with the metadata and the licence files."""
    information = folder / "ranks-1.0.dist-info"
    information.mkdir()
    head = "Metadata-Version: 2.4\nName: ranks\nVersion: 1.0\n"
    (information / "METADATA").write_text(head + fields + "\n")
    for name, text in files.items():
        (information / name).write_text(text)
    listed = [f"{information.name}/{name},," for name in ("METADATA", *files)]
    (information / "RECORD").write_text("\n".join(listed) + "\n")
    return Distribution.at(information)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("License-Expression: MIT\nLicense: other", "MIT"),
        ("License: BSD", "BSD"),
        (
            "License: UNKNOWN\nClassifier: License :: OSI Approved :: ISC License",
            "ISC License",
        ),
        (
            "License: The text\n        of a licence\n"
            "Classifier: License :: OSI Approved\n"
            "Classifier: License :: OSI Approved :: MIT License",
            "MIT License",
        ),
        ("Summary: nothing stated", ""),
    ],
)
def test_a_licence_is_what_the_metadata_state(
    licenses: ModuleType, tmp_path: Path, fields: str, expected: str
) -> None:
    assert licenses.license_of(distribution(tmp_path, fields)) == expected


def test_the_texts_are_those_beside_the_metadata(
    licenses: ModuleType, tmp_path: Path
) -> None:
    files = {"LICENSE": "a licence", "NOTICE": "a notice", "other": "no licence"}
    component = licenses.component_of(distribution(tmp_path, "License: BSD", **files))
    assert set(component.texts) == {"a licence", "a notice"}


def test_licences_that_wheels_only_name_come_with_their_texts(
    licenses: ModuleType, tmp_path: Path
) -> None:
    fields = "License: LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only"
    texts = licenses.component_of(distribution(tmp_path, fields)).texts
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in texts[0]
    assert "GNU GENERAL PUBLIC LICENSE" in texts[1]


def test_apaches_licence_is_known_by_all_its_names(
    licenses: ModuleType, tmp_path: Path
) -> None:
    fields = "Classifier: License :: OSI Approved :: Apache Software License"
    (text,) = licenses.component_of(distribution(tmp_path, fields)).texts
    assert "Apache License" in text


@pytest.mark.parametrize("fields", ["Summary: nothing stated", "License: Own"])
def test_nothing_is_bundled_without_its_licence(
    licenses: ModuleType, tmp_path: Path, fields: str
) -> None:
    with pytest.raises(licenses.UnknownLicenseError):
        licenses.component_of(distribution(tmp_path, fields))


def test_the_list_names_what_is_bundled_and_nothing_else(
    licenses: ModuleType, tmp_path: Path
) -> None:
    library = tmp_path / "libown.so.1"
    library.touch()
    sources = [
        numpy.__file__,
        importlib.__file__,
        str(library),
        str(ROOT / "packaging" / "own.so"),
        "",
    ]
    components, unknown = licenses.components(sources)
    assert [component.name for component in components] == ["Python", "numpy"]
    assert unknown == ["libown.so.1"]
    text = licenses.document(sources)
    assert "SIL OPEN FONT LICENSE" in text
    assert all(part.strip() in text for part in components[1].texts)
