"""Whether a window can be opened here, and what is missing where it cannot."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""Debian's package for each system library that Qt links to."""


def why_no_window() -> str | None:
    """Return why no window can be opened, as one sentence that says what to do; None where one can.

    A platform chosen by the user in ``QT_QPA_PLATFORM`` is trusted, apart from its libraries.
    """
    if find_spec("PySide6") is None:
        return "No window can be opened: PySide6 is not installed (pip install PySide6-Essentials)."
    if not sys.platform.startswith("linux"):
        return None
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if not chosen and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        return "No window can be opened: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    missing = missing_libraries(_plugin(chosen))
    if missing:
        return _sentence(missing)
    if not chosen and not os.environ.get("WAYLAND_DISPLAY"):
        return _unreachable_display()
    return None


def missing_libraries(*binaries: str) -> tuple[str, ...]:
    """Return the system libraries that Qt's libraries and the given plugins need and that are not there.

    Parameters
    ----------
    *binaries : str
        Paths below PySide6's folder ``Qt``, such as ``plugins/platforms/libqxcb.so``.
    """
    spec = find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        return ()
    qt = Path(spec.submodule_search_locations[0]) / "Qt"
    wanted = [qt / "lib" / "libQt6Gui.so.6", qt / "lib" / "libQt6Widgets.so.6"]
    wanted += [qt / binary for binary in binaries if binary]
    needed: dict[str, None] = {}
    for binary in wanted:
        needed.update(dict.fromkeys(_failing(binary)))
    return tuple(needed)


def _failing(binary: Path) -> list[str]:
    """Return what keeps a binary from being loaded: all missing system libraries, not only the first."""
    error = _load(str(binary))
    if error is None or not binary.exists():
        return []
    first = re.match(r"(\S+\.so[.\d]*): cannot open shared object file", error)
    if first is None:
        return []
    # The loader names one at a time; the others are found by trying all that the binary mentions.
    mentioned = _mentioned_libraries(binary)
    candidates = [first[1], *(name for name in _PACKAGES if name in mentioned)]
    return list(dict.fromkeys(name for name in candidates if _load(name) is not None))


def _mentioned_libraries(binary: Path) -> set[str]:
    """Return the names of libraries that stand in a binary, and in Qt's own libraries that it needs."""
    found: set[str] = set()
    waiting = [binary]
    while waiting:
        try:
            content = waiting.pop().read_bytes()
        except OSError:
            continue
        for raw in set(re.findall(rb"lib[\w.+-]+?\.so(?:\.\d+)*(?=\0)", content)):
            name = raw.decode("ascii", "replace")
            sibling = _beside(binary, name)
            if name not in found and sibling is not None:
                waiting.append(sibling)
            found.add(name)
    return found


def _beside(binary: Path, name: str) -> Path | None:
    """Return Qt's own library of that name, or None where it is the system's."""
    for parent in binary.parents:
        candidate = parent / "lib" / name
        if candidate.is_file() and name.startswith("libQt6"):
            return candidate
        if parent.name == "Qt":
            return None
    return None


def _load(library: str) -> str | None:
    """Return the loader's complaint, or None where it could load the library."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


def _plugin(chosen: str) -> str:
    """Return the platform plugin that Qt is going to load."""
    platform = chosen.partition(":")[0].partition(";")[0]
    if not platform:
        platform = "xcb" if os.environ.get("DISPLAY") else ""
    return f"plugins/platforms/libq{platform}.so" if platform else ""


def _sentence(missing: tuple[str, ...]) -> str:
    packages = sorted({_PACKAGES[name] for name in missing if name in _PACKAGES})
    text = f"No window can be opened: Qt needs {' and '.join(missing)}, which this system does not have"
    return text + (f" (on Debian and Ubuntu: apt install {' '.join(packages)})." if packages else ".")


def _unreachable_display() -> str | None:
    """Return a sentence where the X server that DISPLAY names does not answer."""
    name = os.environ.get("DISPLAY", "")
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return None
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(name.encode(), None)
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    if failed:
        return f"No window can be opened: the display {name!r} (DISPLAY) does not answer."
    return None
