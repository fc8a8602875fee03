"""Validate the docstrings of what is exported, with numpydoc: ``python .ci/docstrings.py``.

All names of `rankstudio.engine`, `rankstudio.api` and `rankstudio.api.window`, and their public methods. A
method that overrides another needs no docstring. Sections are not required, as the first sentence may say
all; parameters are described all or none.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType

from numpydoc.validate import validate

MODULES = ("rankstudio.engine", "rankstudio.api", "rankstudio.api.window")
NOT_REQUIRED = {
    "ES01",  # an extended summary
    "EX01",  # examples
    "GL01",  # the summary on the line below the quotes
    "GL02",  # quotes on the last line of a docstring of one line
    "PR04",  # types, where several parameters have one description
    "PR08",  # a capital letter at the beginning: symbols are small
    "RT01",  # sections of results, where the summary names the result
    "SA01",  # references to others
    "YD01",
}


def exported_names() -> Iterator[tuple[str, bool]]:
    """Yield functions, classes and public methods, and whether a method overrides another."""
    seen: set[object] = set()
    for module in MODULES:
        for name in import_module(module).__all__:
            exported = getattr(import_module(module), name)
            if not isinstance(exported, FunctionType | type) or exported in seen:
                continue
            if not exported.__module__.startswith("rankstudio"):
                continue
            if "<locals>" in exported.__qualname__:  # a decorator that a function made
                continue
            seen.add(exported)
            yield f"{module}.{name}", False
            if isinstance(exported, type):
                for method in _public_methods(exported):
                    overrides = any(
                        hasattr(base, method) for base in exported.__mro__[1:]
                    )
                    yield f"{module}.{name}.{method}", overrides


def _public_methods(exported: type) -> Iterator[str]:
    for name, member in vars(exported).items():
        kinds = FunctionType | property | classmethod | staticmethod
        if not name.startswith("_") and isinstance(inspect.unwrap(member), kinds):
            yield name


def main() -> int:
    """Print the faults; the exit code is 1 if there are any."""
    n_names = 0
    faults = []
    for name, overrides in exported_names():
        n_names += 1
        checked = validate(name)
        parameters_are_described = "Parameters\n---" in checked["docstring"]
        faults += [
            f"{name}: {code}: {text}"
            for code, text in checked["errors"]
            if code not in NOT_REQUIRED and not (overrides and code == "GL08")
            if code != "PR01" or parameters_are_described
        ]
    print("\n".join([*faults, f"{n_names} docstrings, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
