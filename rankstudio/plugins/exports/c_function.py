"""A function in C that scores one document."""

from __future__ import annotations

import shutil

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.formats.trial import Trial
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import Node
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import comment_text

COMPILERS = ("cc", "gcc", "clang", "tcc")

# The program that reads documents from its last but one argument and
# writes their scores to the last one.
_MAIN = """\
#include <stdio.h>
double {name}(const double *x);
int main(int argc, char **argv)
{{
    static double x[{columns}];
    double s;
    long i;
    FILE *in = fopen(argv[argc - 2], "rb"), *out = fopen(argv[argc - 1], "wb");
    for (i = 0; i < {documents}L; i++) {{
        if (fread(x, sizeof(double), {inputs}, in) != {inputs}) return 1;
        s = {name}(x);
        if (fwrite(&s, sizeof(double), 1, out) != 1) return 2;
    }}
    return fclose(out) ? 3 : 0;
}}
"""


def write(function: ScoreFunction) -> Files:
    """Return a model's score function in C89, ``double NAME(const double *x)``, as a file.

    ``x`` has the inputs of the model, in order.
    The result is a dict of files by the ending
    of the name; the only file has the ending
    "".
    """
    # The comment says what the function computes, and which feature
    # each value of x is. `comment_text` removes what would end a
    # comment of C.
    lines = [
        f"/* {comment_text(function.about, 'c')}",
        "",
        f"   {function.name}(x) is the score of a document; x has the values of these features:",
        *(
            f"     x[{n}]  feature {feature.id}, {comment_text(feature.name, 'c')}"
            for n, feature in enumerate(function.inputs)
        ),
        "",
        "   Compile it with -ffp-contract=off for identical results on every machine. */",
    ]

    # The body adds up weighted values, or the score of each tree, a
    # function of its own. `nested` is its root with all nodes below.
    body = []
    if function.linear:
        body = [
            f"    s += {weight!r} * x[{n}];"
            for n, weight in enumerate(function.weights)
        ]
    for number, tree in enumerate(function.trees):
        lines += ["", f"static double tree{number}(const double *x)", "{"]
        lines += [*_branches(tree.nested(), "    "), "}"]
        body.append(f"    s += tree{number}(x);")
    lines += [
        "",
        f"double {function.name}(const double *x)",
        "{",
        "    double s = 0.0;",
    ]

    # "(void)x" prevents a warning if the model has no features.
    lines += ["    (void)x;", *body, "    return s;", "}"]
    return {"": ("\n".join(lines) + "\n").encode()}


def _branches(node: Node, indent: str) -> list[str]:
    """Return the lines of C for a node: a return for a leaf, an "if" for a split.

    A node is the value of a leaf, or a split: the position of an input,
    a threshold, and the nodes for values up to it and above it. The
    lines for values above the threshold need no "else", since every
    branch returns.
    """
    if not isinstance(node, tuple):  # a leaf
        return [f"{indent}return {node!r};"]
    column, threshold, below, above = node
    return [
        f"{indent}if (x[{column}] <= {threshold!r}) {{",
        *_branches(below, indent + "  "),
        f"{indent}}}",
        *_branches(above, indent),
    ]


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with the function in a file, compiled by an installed C compiler.

    The scores have the shape (m,) for m documents. They verify the
    file, which is why only the name of the function is taken from the
    model ``function``. Without a compiler, OutputError is raised.
    """
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        raise OutputError(
            f"No C compiler ({', '.join(COMPILERS)}) found to read the file back."
        )

    # A program that reads documents, calls the function, and prints the
    # scores. An array in C must have at least one element.
    m, n = documents.X.shape
    main = _MAIN.format(name=function.name, columns=max(1, n), inputs=n, documents=m)

    # A trial has a folder with these files. The option -f… rounds
    # products before they are added, as the model does.
    with Trial({"model.c": files[""], "main.c": main.encode()}) as trial:
        trial.run(
            [
                compiler,
                "-ffp-contract=off",
                "-o",
                trial.path("model"),
                "model.c",
                "main.c",
            ]
        )
        return trial.scores([trial.path("model")], documents.X)


FORMAT = ModelFormat(
    "c",
    "C",
    ".c",
    translatable("A function in C that scores one document."),
    write,
    read,
    readers=Readers.CODE,
)
