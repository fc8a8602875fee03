"""Drawn pictures of the guide are those of the present program, and pairs of pictures are complete."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

DOCS = Path(__file__).resolve().parents[2] / "docs"
IMAGES = DOCS / "images"
MOST_BYTES = 7_200_000
"""Limit for all pictures together: every installation contains them."""


@pytest.fixture(scope="module")
def concept_picture() -> ModuleType:
    pytest.importorskip("PySide6.QtGui", exc_type=ImportError)
    file = DOCS / "concept_picture.py"
    spec = importlib.util.spec_from_file_location("concept_picture", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_concept_pictures_are_current(concept_picture: ModuleType) -> None:
    for name, drawn in concept_picture.PICTURES.items():
        assert (IMAGES / name).read_text(encoding="utf-8") == drawn, (
            "run python docs/concept_picture.py"
        )


def size_of(picture: Path) -> tuple[int, int]:
    with Image.open(picture) as opened:
        return opened.size


def test_a_light_picture_has_a_dark_one_of_its_size() -> None:
    lights = [
        file
        for file in IMAGES.rglob("*")
        if file.stem.endswith("-light") and file.suffix != ".svg"
    ]
    assert len(lights) > 5
    for light in lights:
        dark = light.with_stem(light.stem.removesuffix("-light") + "-dark")
        assert size_of(light) == size_of(dark), dark


def test_the_pictures_stay_small() -> None:
    n_bytes = sum(file.stat().st_size for file in IMAGES.rglob("*") if file.is_file())
    assert n_bytes < MOST_BYTES
