"""A function in C that scores one document."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats.evaluation import Node, nested
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable

COMPILERS = ("cc", "gcc", "clang", "tcc")
_SECONDS = 300.0


def write(function: ScoreFunction) -> Files:
    """Return the source, in C89: ``double NAME(const double *x)``."""
    lines = [
        f"/* {_comment(function.about)}",
        "",
        f"   {function.name}(x) is the score of a document; x has the values of these features:",
        *(f"     x[{n}]  feature {i.id}, {_comment(i.name)}" for n, i in enumerate(function.inputs)),
        "",
        "   Compile it with -ffp-contract=off for the very same doubles on every machine. */",
    ]
    body = []
    if function.linear:
        body = [f"    s += {weight!r} * x[{n}];" for n, weight in enumerate(function.weights)]
    for number, tree in enumerate(function.trees):
        lines += ["", f"static double tree{number}(const double *x)", "{"]
        lines += [*_branches(nested(tree.splits, tree.leaves, tree.root), "    "), "}"]
        body.append(f"    s += tree{number}(x);")
    lines += ["", f"double {function.name}(const double *x)", "{", "    double s = 0.0;"]
    lines += ["    (void)x;", *body, "    return s;", "}"]
    return {"": ("\n".join(lines) + "\n").encode()}


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def _branches(node: Node, indent: str) -> list[str]:
    if not isinstance(node, tuple):
        return [f"{indent}return {node!r};"]
    column, threshold, below, above = node
    return [
        f"{indent}if (x[{column}] <= {threshold!r}) {{",
        *_branches(below, indent + "  "),
        f"{indent}}}",
        *_branches(above, indent),
    ]


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with the function, compiled by the C compiler that is there."""
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        raise OutputError(f"There is no C compiler ({', '.join(COMPILERS)}) to read it back with.")
    loop = (
        f"double {function.name}(const double *x);\n"
        "void all(const double *x, long m, long n, double *s)\n"
        f"{{ long i; for (i = 0; i < m; i++) s[i] = {function.name}(x + i * n); }}\n"
    )
    with tempfile.TemporaryDirectory(prefix="rankstudio-") as folder:
        source, library = Path(folder) / "model.c", Path(folder) / "model.so"
        source.write_bytes(files[""] + loop.encode())
        command = [compiler, "-shared", "-fPIC", "-ffp-contract=off", "-o", str(library), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            raise OutputError(f"{compiler} refuses the function: {done.stderr.strip()[:500]}")
        compiled = ctypes.CDLL(str(library)).all
        pointer = ctypes.POINTER(ctypes.c_double)
        compiled.argtypes, compiled.restype = [pointer, ctypes.c_long, ctypes.c_long, pointer], None
        X, found = np.ascontiguousarray(documents.X), np.empty(documents.X.shape[0])
        compiled(X.ctypes.data_as(pointer), *X.shape, found.ctypes.data_as(pointer))
    return found


FORMAT = ModelFormat("c", "C", ".c", translatable("A function in C that scores one document."), write, read)
