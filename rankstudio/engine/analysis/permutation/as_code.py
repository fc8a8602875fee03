"""A permutation test as something to run again, to the same bits: a command, or a program."""

from __future__ import annotations

from collections.abc import Mapping

from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    group_words,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.support.escaping import shell_command


def permutation_as_command(plan: Plan, n_permutations: int) -> str:
    """Return the command that does a permutation test in the terminal.

    Parameters
    ----------
    plan : Plan
        Of one path, as :func:`rankstudio.engine.analysis.permutation.criterion_band.single_plan` returns it.
    n_permutations : int

    Returns
    -------
    str
        One line for a POSIX shell, without what has its default anyway.
    """
    words = ["rankstudio", "permute", "--sample" if plan.data == SAMPLE else plan.data]
    grids = [p.name for p in plan.entry.grids]  # which have one value here
    words += ["--method", plan.method, *parameter_words(plan.entry.parameters, plan.parameters, grids)]
    words += ["--permutations", str(n_permutations)]
    words += field_words(plan, ("folds", "missing", "normalize", "protocol", "seed"))
    words += [*column_words(plan), *group_words(plan)]
    return shell_command(words)


def permutation_as_python(plan: Plan, n_permutations: int, computed_with: Mapping[str, str] = UNKNOWN) -> str:
    """Return a short program that does a permutation test with the library, and prints what it found as JSON.

    Parameters
    ----------
    plan, n_permutations
        As of :func:`permutation_as_command`.
    computed_with : Mapping of str to str
        Versions that give the same bits, where these are known.
    """
    imports = [
        "import json",
        "",
        "from rankstudio.engine import Plan",
        "from rankstudio.engine.analysis.permutation.criterion_band import band_steps",
        "from rankstudio.engine.experiment.runner import open_data",
    ]
    lines = [
        plan_code(plan),
        f"*_, band = band_steps(plan, open_data(plan), n_permutations={n_permutations})",
        "print(json.dumps(band.as_dict(), indent=1))",
    ]
    return program(imports, lines, computed_with)
