"""What the plots have of pyqtgraph: a view, its zoom, its items, and quick paths.

pyqtgraph imports all it has, thirty widgets and forty items, and looks up every class of Qt, each of which
PySide makes when it is looked up: 20 MB and a fifth of a second for what no plot here is made of. Here its
other modules are empty while it is imported, and Qt's classes are looked up when they are used. Where another
version cannot be imported in this way, it is imported as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import PySide6.QtCore
import PySide6.QtGui
import PySide6.QtWidgets

_NAME = "pyqtgraph"
_USED = {
    "graphicsItems": {"GraphicsItem", "GraphicsObject", "GraphicsWidget", "ItemGroup", "ViewBox"},
    "widgets": {"GraphicsView"},
}
_UNUSED = {"imageview", "parametertree", "exporters"}
_QT = (PySide6.QtCore, PySide6.QtGui, PySide6.QtWidgets)
_OPENGL = "PySide6.QtOpenGLWidgets"


class _Empty(ModuleType):
    """A module that nobody uses: whatever is imported from it is None."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class _SomeOfQt(ModuleType):
    """A module of Qt in which pyqtgraph keeps a copy of PySide's."""

    def __init__(self, name: str, origin: ModuleType) -> None:
        super().__init__(name)
        self._origin = origin

    def __getattr__(self, name: str) -> Any:
        return getattr(self._origin, name)


class _EmptyModules(Loader, MetaPathFinder):
    """Finds empty modules in place of those of pyqtgraph that are not used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a module's specification if it is an unused one, None if others are to find it."""
        package, _, rest = name.partition(".")
        kind, _, item = rest.partition(".")
        unused = kind in _UNUSED or (kind in _USED and item and item.partition(".")[0] not in _USED[kind])
        if package != _NAME or not (unused or rest == "Qt.OpenGLHelpers"):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty module."""
        return _Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


@contextmanager
def _sparingly() -> Iterator[None]:
    """Have pyqtgraph's unused modules empty, and PySide's list no classes, while it is imported."""
    modules: dict[str, Any] = sys.modules  # None says that there is no such module
    finder, opengl = _EmptyModules(), modules.get(_OPENGL)
    sys.meta_path.insert(0, finder)
    modules.setdefault(_OPENGL, None)
    for origin in _QT:
        name = f"{_NAME}.Qt.{origin.__name__.rpartition('.')[2]}"
        modules[name] = _SomeOfQt(name, origin)
        origin.__dict__["__dir__"] = list
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if opengl is None:
            del modules[_OPENGL]
        for origin in _QT:
            del origin.__dict__["__dir__"]
        for name in [name for name, module in modules.items() if isinstance(module, _Empty)]:
            del modules[name]  # whoever imports it by its name has the whole one


def _load() -> Any:
    """Return pyqtgraph."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    try:
        with _sparingly():
            import pyqtgraph  # noqa: PLC0415 - by its name, so that who packs the program finds it
    except (ImportError, AttributeError, TypeError):
        for name in [name for name in sys.modules if name.partition(".")[0] == _NAME]:
            del sys.modules[name]
        import pyqtgraph  # noqa: PLC0415
    return pyqtgraph


_pyqtgraph = _load()

GraphicsObject: Any = _pyqtgraph.GraphicsObject
GraphicsView: Any = _pyqtgraph.GraphicsView
ViewBox: Any = _pyqtgraph.ViewBox
arrayToQPath: Any = _pyqtgraph.functions.arrayToQPath  # noqa: N816 - Qt's way of names, as below
arrayToQPolygonF: Any = _pyqtgraph.functions.arrayToQPolygonF  # noqa: N816
mkPen: Any = _pyqtgraph.mkPen  # noqa: N816
