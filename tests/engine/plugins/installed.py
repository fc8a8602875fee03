"""Plug-ins as files of a folder, installed in this process for a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path
from textwrap import dedent

from rankstudio.engine.data.formats import block_reader
from rankstudio.engine.data.formats.format_catalog import data_formats
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.plugin_formats import model_format_entries
from rankstudio.engine.plugins import entries, loader

NPZ = """
    from rankstudio.api import DataFormat, Plugin

    NPZ = DataFormat(
        key="npz",
        label="NumPy archive",
        endings=(".npz",),
        reader="npz_plugin:read",
        writer="npz_plugin:write",
    )
    PLUGIN = Plugin(name="npz", data_formats=(NPZ,))


    def read(path):
        import numpy as np

        with np.load(path) as arrays:
            yield arrays["X"], arrays["y"], arrays["qid"]


    def write(path, block):
        import numpy as np

        np.savez(path, X=block.X, y=block.y, qid=block.qid)
"""
"""A data format, as the guide has it."""

INI = """
    from rankstudio.api import ModelFormat, Plugin

    INI = ModelFormat(
        key="ini",
        label="INI file",
        suffix=".ini",
        writer="ini_plugin:write",
        reader="ini_plugin:scores",
    )
    PLUGIN = Plugin(name="ini", model_formats=(INI,))


    def write(model):
        pairs = zip(model.inputs, model.weights)
        return "[weights]\\n" + "".join(f"{one.id} = {weight!r}\\n" for one, weight in pairs)


    def scores(content, X, ids):
        from configparser import ConfigParser

        parser = ConfigParser()
        parser.read_string(content.decode())
        weights = parser["weights"]
        return sum(
            float(weights.get(str(id), 0)) * X[:, column] for column, id in enumerate(ids)
        )
"""
"""A model format, as the guide has it."""


def install(folder: Path, name: str, text: str, version: str = "1.2") -> None:
    """Make a package with one plug-in as pip would."""
    module = f"{name}_plugin"
    (folder / f"{module}.py").write_text(dedent(text), encoding="utf-8")
    info = folder / f"rankstudio_{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: rankstudio-{name}\nVersion: {version}\n"
    )
    (info / "entry_points.txt").write_text(
        f"[rankstudio.plugins]\n{name} = {module}:PLUGIN\n", "utf-8"
    )


def forget() -> None:
    """Let this process look for plug-ins again."""
    loader.plugins.cache_clear()
    loader._plugins_of_packages.cache_clear()
    loader._plugins_with_needs.cache_clear()
    data_formats.cache_clear()
    model_formats.cache_clear()
    model_format_entries.cache_clear()
    entries._given_warnings.clear()
    block_reader._failed_formats.clear()
    invalidate_caches()


@contextmanager
def plugins_of(folder: Path, **texts: str) -> Iterator[None]:
    """Install plug-ins, by names and texts, and remove them afterwards."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        install(folder, name, text)
    sys.path.insert(0, str(folder))
    forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in texts:
            sys.modules.pop(f"{name}_plugin", None)
        forget()


@contextmanager
def without_plugins(folder: Path) -> Iterator[None]:
    """Forget the plug-ins of a folder for a while, as after pip uninstall."""
    sys.path.remove(str(folder))
    forget()
    try:
        yield
    finally:
        sys.path.insert(0, str(folder))
        forget()
