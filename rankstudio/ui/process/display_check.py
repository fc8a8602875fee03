"""Checks whether a window can be opened on this system, and says what is missing if not."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

_LIBRARY_NAMES = """
EGL.so.1 GL.so.1 GLX.so.0 OpenGL.so.0 X11-xcb.so.1 X11.so.6 dbus-1.so.3 fontconfig.so.1 freetype.so.6
glib-2.0.so.0 gthread-2.0.so.0 wayland-client.so.0 wayland-cursor.so.0 xcb-cursor.so.0 xcb-icccm.so.4
xcb-image.so.0 xcb-keysyms.so.1 xcb-randr.so.0 xcb-render-util.so.0 xcb-render.so.0 xcb-shape.so.0
xcb-shm.so.0 xcb-sync.so.1 xcb-util.so.1 xcb-xfixes.so.0 xcb-xkb.so.1 xcb.so.1 xkbcommon-x11.so.0
xkbcommon.so.0
"""
_LIBRARY_FILES = tuple(f"lib{name}" for name in _LIBRARY_NAMES.split())
"""The system libraries that Qt links to."""


def _debian_package(library: str) -> str:
    """Return Debian's package of a library: its name in lower case and its number, such as "libegl1"."""
    name, _, number = library.lower().partition(".so.")
    if name.endswith("-2.0"):  # libglib-2.0 and libgthread-2.0 are in one package
        return "libglib2.0-0"
    separator = "-" if name[-1].isdigit() else ""  # as in "libx11-6"
    return f"{name}{separator}{number}"


def why_no_window() -> str | None:
    """Return why no window can be opened, as a sentence; None if one can.

    For a platform that the user has chosen in ``QT_QPA_PLATFORM``, only
    its libraries are checked.
    """
    if find_spec("PySide6") is None:
        return (
            "No window can be opened: PySide6 is not installed "
            "(pip install PySide6-Essentials pyqtgraph)."
        )
    if not sys.platform.startswith("linux"):
        return None

    # Without a choice, Qt needs the display of X11 or of Wayland.
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if (
        not chosen
        and not os.environ.get("DISPLAY")
        and not os.environ.get("WAYLAND_DISPLAY")
    ):
        return "No window can be opened: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."

    # The plug-in of Qt for the platform needs further libraries.
    missing = missing_libraries(_platform_plugin(chosen))
    if missing:
        return _missing_libraries_sentence(missing)
    if not chosen and not os.environ.get("WAYLAND_DISPLAY"):
        # The display of X11 may be named, but not answer.
        return _unreachable_display()
    return None


def missing_libraries(*binaries: str) -> tuple[str, ...]:
    """Return the names of the missing system libraries that Qt's own libraries need.

    Parameters
    ----------
    *binaries : str
        Further binaries to test, as paths below PySide6's folder
        ``Qt``, such as the plugin ``plugins/platforms/libqxcb.so``.
    """
    spec = find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        return ()
    qt = Path(spec.submodule_search_locations[0]) / "Qt"
    paths = [qt / "lib" / "libQt6Gui.so.6", qt / "lib" / "libQt6Widgets.so.6"]
    paths += [qt / binary for binary in binaries if binary]
    missing: dict[str, None] = {}  # a set that keeps the order
    for binary in paths:
        missing.update(dict.fromkeys(_load_failures(binary)))
    return tuple(missing)


def _load_failures(binary: Path) -> list[str]:
    """Return the names of the system libraries whose absence prevents a binary from being loaded.

    ``binary`` is the path of a library or plugin. Return [] for a
    binary that can be loaded, or that does not exist.
    """
    error = _load_error(str(binary))
    if error is None or not binary.exists():
        return []

    # The error names the missing library; other errors are not about libraries.
    first = re.match(r"(\S+\.so[.\d]*): cannot open shared object file", error)
    if first is None:
        return []

    # The loader names one missing library at a time; to find the
    # others, all that the binary mentions are tried.
    mentioned = _mentioned_libraries(binary)
    candidates = [first[1], *(name for name in _LIBRARY_FILES if name in mentioned)]
    return list(
        dict.fromkeys(name for name in candidates if _load_error(name) is not None)
    )


def _mentioned_libraries(binary: Path) -> set[str]:
    """Return the names of libraries that a binary mentions, also by way of Qt's own libraries.

    Names are such as "libxcb.so.1". Libraries of Qt that the binary
    mentions are read as well.
    """
    names: set[str] = set()
    waiting = [binary]  # binaries still to be read
    while waiting:
        try:
            content = waiting.pop().read_bytes()
        except OSError:
            continue

        # Names are such as "libxcb.so.1", and end with a zero byte.
        for raw in set(re.findall(rb"lib[\w.+-]+?\.so(?:\.\d+)*(?=\0)", content)):
            name = raw.decode("ascii", "replace")

            # The path of a library of Qt; None for one of the system.
            sibling = _bundled_library(binary, name)
            if name not in names and sibling is not None:
                waiting.append(sibling)
            names.add(name)
    return names


def _bundled_library(binary: Path, name: str) -> Path | None:
    """Return the path of a library if it is one of Qt's own; None if it is one of the system.

    ``name`` is the name of the library's file. Qt's libraries lie in a
    folder ``lib``, in one of the folders above the binary that mentions
    them, up to the folder ``Qt``.
    """
    for parent in binary.parents:
        candidate = parent / "lib" / name
        if candidate.is_file() and name.startswith("libQt6"):
            return candidate
        if parent.name == "Qt":
            return None
    return None


def _load_error(library: str) -> str | None:
    """Return the loader's error message; None if the library can be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


def _platform_plugin(chosen: str) -> str:
    """Return the path of the platform plugin that Qt is going to load; "" if that is not known.

    ``chosen`` is the user's choice, such as "xcb" or
    "offscreen:size=1x1;xcb" with an option and an alternative; "" for
    none.
    """
    platform = chosen.partition(":")[0].partition(";")[0]
    if not platform:
        platform = "xcb" if os.environ.get("DISPLAY") else ""
    return f"plugins/platforms/libq{platform}.so" if platform else ""


def _missing_libraries_sentence(missing: tuple[str, ...]) -> str:
    """Return a sentence on missing libraries, with a command that installs them.

    The command installs the libraries whose Debian package is known.
    """
    packages = sorted(
        {_debian_package(name) for name in missing if name in _LIBRARY_FILES}
    )
    text = f"No window can be opened: Qt needs {' and '.join(missing)}, which this system does not have"
    return text + (
        f" (on Debian and Ubuntu: apt install {' '.join(packages)})."
        if packages
        else "."
    )


def _unreachable_display() -> str | None:
    """Return a sentence if the X server that DISPLAY names does not answer; None if it answers.

    Without the library that could ask, None is returned, too.
    """
    name = os.environ.get("DISPLAY", "")
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return None

    # The types of the C functions: by default, a pointer would be cut to 32 bits.
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(name.encode(), None)
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    if failed:
        return (
            f"No window can be opened: the display {name!r} (DISPLAY) does not answer."
        )
    return None
