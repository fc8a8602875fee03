"""A permutation test as something to run again, to the same bits: a command, or a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rankstudio.engine.data.feature_groups import format_groups
from rankstudio.engine.experiment.plan.as_code import column_words, origin_lines, plan_code
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.methods.catalog import Kind
from rankstudio.engine.support.escaping import shell_command
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_UNKNOWN: Mapping[str, str] = FrozenMapping()


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
    data = "--sample" if plan.data == SAMPLE else plan.data
    words = ["rankstudio", "permute", data, "--method", plan.method, *_parameter_words(plan)]
    words += ["--permutations", str(n_permutations)]
    words += ["--folds", ",".join(map(str, plan.folds))] if plan.folds else []
    usual = Plan(plan.data)
    for name in ("missing", "normalize", "protocol", "seed"):
        if getattr(plan, name) != getattr(usual, name):
            words += [f"--{name}", str(getattr(plan, name))]
    words += column_words(plan)
    words += ["--groups", format_groups(plan.groups)] if plan.groups else []
    words += ["--preferences", plan.preferences["path"]] if plan.preferences else []
    return shell_command(words)


def _parameter_words(plan: Plan) -> Iterator[str]:
    """Yield options and values, each of the parameters that have a grid: here they have one value."""
    for p in plan.entry.parameters:
        value = plan.parameters[p.name]
        if p.kind is Kind.GRID or value != p.default:
            text = p.written(value)
            yield from [f"{p.option}={text}"] if text.startswith("-") else [p.option, text]


def permutation_as_python(
    plan: Plan, n_permutations: int, computed_with: Mapping[str, str] = _UNKNOWN
) -> str:
    """Return a short program that does a permutation test with the library, and prints what it found as JSON.

    Parameters
    ----------
    plan, n_permutations
        As of :func:`permutation_as_command`.
    computed_with : Mapping of str to str
        Versions that give the same bits, where these are known.
    """
    lines = [
        *origin_lines(computed_with),
        "import json",
        "",
        "from rankstudio.engine import Plan",
        "from rankstudio.engine.analysis.permutation.criterion_band import band_steps",
        "from rankstudio.engine.experiment.runner import open_data",
        "",
        plan_code(plan),
        f"*_, band = band_steps(plan, open_data(plan), n_permutations={n_permutations})",
        "print(json.dumps(band.as_dict(), indent=1))",
    ]
    return "\n".join(lines) + "\n"
