"""Put small faults into the core, one at a time, and tell which of them the tests do not see.

``python tests/mutations.py`` tries all of them, ``python tests/mutations.py holm`` those with that word in
their name. Each runs the tests of the default run that concern the changed module: one of them must fail.
The faults are put into a copy of the project.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("rankstudio", "tests", "resources", "languages", "pyproject.toml")


class Mutation(NamedTuple):
    """A fault: what stands in a module of the engine, what would be wrong, and whose tests must see it."""

    name: str
    module: str
    right: str
    wrong: str
    tests: tuple[str, ...]


FAULTS: dict[tuple[str, ...], tuple[tuple[str, str, str], ...]] = {
    ("metrics/conventions.py", "metrics"): (
        ("gain of NDCG", "np.exp2(positive) - 1.0 if", "np.exp2(positive) if"),
        ("discount of NDCG", "np.log2(ranks + 1.0)", "np.log2(ranks + 2.0)"),
        (
            "ERR's chance of label 0",
            "np.exp2(positive - greatest) - np.exp2(-greatest)",
            "np.exp2(positive - greatest)",
        ),
    ),
    ("metrics/_kernels.py", "metrics"): (
        ("P@k of short queries", "if cut <= n:", "if cut < n:"),
        ("rank of MAP", "* n_hits / (i + 1)", "* n_hits / (i + 2)"),
        (
            "disagreement of ties",
            "0.5 * (n_wrong + n_wrong_or_tied) / n_pairs",
            "(n_wrong + n_wrong_or_tied) / n_pairs",
        ),
        (
            "MAP of ties",
            "precision = hits[stop - 1] / stop",
            "precision = hits[stop - 1] / (start + 1)",
        ),
        (
            "divisor of MAP@k",
            "map_cut_divides_by_k and cut < n_relevant",
            "map_cut_divides_by_k and cut > n_relevant",
        ),
        ("ERR of ties", "(n_tied - j) * chance[j]", "(n_tied - j + 1) * chance[j]"),
        (
            "AUC of ties",
            "+ (stop - start - tied_hits))",
            "+ 2 * (stop - start - tied_hits))",
        ),
    ),
    (
        "methods/selection/greedy_rankrls/_statistics_kernel.py",
        "methods/selection/greedy_rankrls",
    ): (
        (
            "greedy RankRLS leaves no query out",
            "total[0, j] - squares[k, j, i] + reg",
            "total[0, j] + reg",
        ),
        (
            "greedy RankRLS's sign of a product",
            "-= gamma * terms[1, i]",
            "+= gamma * terms[1, i]",
        ),
        (
            "greedy RankRLS's criterion",
            "beta * vv[k, j, i] - 2.0 * ev",
            "beta * vv[k, j, i] - ev",
        ),
        (
            "greedy RankRLS's first weight",
            "for i in range(t, -1, -1):",
            "for i in range(t, 0, -1):",
        ),
        (
            "greedy RankRLS's norm of a feature",
            "terms[4, i] - 2.0 * product",
            "terms[4, i] - product",
        ),
    ),
    ("methods/rankers/_rankrls_kernel.py", "methods/rankers/test_rankrls.py"): (
        (
            "RankRLS's back substitution",
            "for j in range(i + 1, n):\n                value",
            "for j in range(i + 2, n):\n                value",
        ),
        (
            "RankRLS's error of a query",
            "value += parts[i, f] * right[f]",
            "value -= parts[i, f] * right[f]",
        ),
        ("RankRLS leaves no labels out", "total[i, n] - gram[q, i, n]", "total[i, n]"),
        ("RankRLS's fourth pivot", "+ d * left[top + 3, j]", "- d * left[top + 3, j]"),
    ),
    (
        "arithmetic/_pairs_kernel.py",
        "arithmetic/test_pairs.py",
        "methods/rankers/test_ranksvm.py",
    ): (
        (
            "margin of pairs",
            "score - values[low] >= margin",
            "score - values[low] > margin",
        ),
        (
            "level of pairs",
            "1.0 if above > level else 0.0",
            "1.0 if above >= level else 0.0",
        ),
        ("margin of the hinge", "values[k - begin] < 1.0:", "values[k - begin] < 2.0:"),
    ),
    ("arithmetic/optimisers/nesterov.py", "methods/selection/test_fsmrank.py"): (
        (
            "FSMRank's similarity",
            "(similar + inward, similar - inward)",
            "(similar + inward, -similar - inward)",
        ),
        (
            "FSMRank's line search",
            "0.5 * lipschitz * float(step @ step)",
            "2.0 * lipschitz * float(step @ step)",
        ),
        (
            "FSMRank's momentum",
            "momentum = (last_alpha - 1.0) / alpha",
            "momentum = (last_alpha + 1.0) / alpha",
        ),
    ),
    ("arithmetic/optimisers/truncated_newton.py", "methods/rankers/test_ranksvm.py"): (
        (
            "RankSVM's duality gap",
            "gap = 0.5 * float(point.gradient",
            "gap = 0.05 * float(point.gradient",
        ),
        (
            "RankSVM's smoothing",
            "C * total - 0.5 * float(weighted_differences",
            "C * total - 0.4 * float(weighted_differences",
        ),
    ),
    (
        "methods/selection/_divergence_kernel.py",
        "methods/selection/test_expected_divergence.py",
    ): (
        ("weight of expected divergence", "(b - a) * max(", "max("),
        ("kernel of expected divergence", "np.exp(-0.5 * z * z)", "np.exp(-z * z)"),
        ("terms of the fast Gauss transform", "\nTERMS = 24\n", "\nTERMS = 12\n"),
    ),
    ("methods/selection/_kendall_kernel.py", "methods/selection/test_gas.py"): (
        (
            "Kendall's pairs that both features tie",
            "+ tied_in_both\n",
            "- tied_in_both\n",
        ),
        (
            "Kendall's exchanges of merged runs",
            "swaps += middle - left\n",
            "swaps += middle - left - 1\n",
        ),
    ),
    (
        "data/formats/_line_kernel.py",
        "data/formats/test_letor.py",
        "data/formats/test_letor_errors.py",
    ): (
        (
            "LETOR's repeated ids",
            "if number <= previous and ascending:",
            "if number < previous and ascending:",
        ),
        (
            "last digit of a query's id",
            "for k in range(length):",
            "for k in range(length - 1):",
        ),
    ),
    ("data/fold_files.py", "data/test_folders.py"): (
        (
            "order of folds",
            "in sorted(numbered.items())\n",
            "in sorted(numbered.items(), key=str)\n",
        ),
        (
            "order of a part's files",
            "for _, path in sorted(numbered))",
            "for _, path in sorted(numbered, key=str))",
        ),
    ),
    ("data/formats/_decimal.py", "data/formats/test_letor.py"): (
        (
            "LETOR's exponents",
            "return (-value if negative else value), i\n\n\n",
            "return value, i\n\n\n",
        ),
        (
            "LETOR's halves to even",
            "        mantissa -= _U1  # exactly half way: to even",
            "        mantissa += np.uint64(0)",
        ),
    ),
    (
        "statistics/paired.py",
        "statistics/test_paired.py",
    ): (
        (
            "t-test of equal differences",
            "if spread <= ROUNDINGS",
            "if spread < -ROUNDINGS",
        ),
        ("Fisher's ties", "codes)) >= least", "codes)) > abs(least)"),
        (
            "t-test of small numbers",
            "ldexp(difference, -int(",
            "ldexp(difference, int(",
        ),
        (
            "Wilcoxon's tail",
            ">= abs(2 * positive - total)",
            "> abs(2 * positive - total)",
        ),
        (
            "Holm's factors",
            "np.arange(order.size, 0, -1)",
            "np.arange(order.size - 1, -1, -1)",
        ),
        (
            "Fisher's observed assignment",
            "exact else (count + 1) / (n + 1)",
            "exact else count / n",
        ),
    ),
    ("statistics/mean_intervals.py", "statistics/test_mean_intervals.py"): (
        (
            "degrees of freedom of means",
            "n / np.maximum(n - 1, 1)",
            "np.maximum(n - 1, 1) / n",
        ),
    ),
    ("data/splitting/splits.py", "data/splitting/test_splits.py"): (
        (
            "validation queries learned from",
            "rotated[: max(k - 2, 1)]",
            "rotated[: max(k - 1, 1)]",
        ),
    ),
    (
        "experiment/results/model_selection.py",
        "experiment/results/test_model_selection.py",
    ): (
        ("ties of combinations", "gain > best[0]", "gain >= best[0]"),
        (
            "one standard error",
            "gains(plan, path) >= gain - error",
            "gains(plan, path) >= gain + error",
        ),
        (
            "exactly one standard error",
            "gains(plan, path) >= gain - error",
            "gains(plan, path) > gain - error",
        ),
        (
            "models not significantly worse",
            "(model_p_values >= SIGNIFICANCE)",
            "(model_p_values <= SIGNIFICANCE)",
        ),
        (
            "equally small models",
            "(path.sizes[i], -gains[i], i)",
            "(path.sizes[i], gains[i], i)",
        ),
        (
            "models of at most K features",
            "path.sizes[positions] <= max_features",
            "path.sizes[positions] < max_features",
        ),
    ),
}
"""Name, what is right and what would be wrong, by the module and the tests that must see it."""

MUTATIONS = tuple(
    Mutation(name, place[0], right, wrong, place[1:])
    for place, faults in FAULTS.items()
    for name, right, wrong in faults
)


def catcher(mutation: Mutation, root: Path) -> str:
    """Return the first default test that fails with a mutation in a copy of the project; "" for none."""
    path = root / "rankstudio" / "engine" / mutation.module
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.right) != 1:
        raise SystemExit(
            f"{mutation.module}: expected one place with {mutation.right!r}"
        )
    path.write_text(text.replace(mutation.right, mutation.wrong), encoding="utf-8")
    tests = [str(root / "tests" / "engine" / place) for place in mutation.tests]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-m",
        "not thorough",
        *tests,
    ]
    # before the checkout that is installed
    environment = {**os.environ, "PYTHONPATH": str(root)}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode > 1:  # 1: tests failed; below 0: the process died of the fault
        raise SystemExit(
            f"{mutation.name}: pytest ended with {done.returncode}\n{done.stdout}{done.stderr}"
        )
    if done.returncode == 0:
        return ""
    failed = re.search(
        r"^(?:FAILED|ERROR) tests/engine/(\S+)", done.stdout, re.MULTILINE
    )
    return failed[1] if failed else "the process died"


def main(words: list[str]) -> int:
    """Try the mutations whose name has one of the words; return 1 if one is not caught."""
    chosen = [
        m
        for m in MUTATIONS
        if not words or any(word.lower() in m.name.lower() for word in words)
    ]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, root / name)
        for mutation in chosen:
            found = catcher(mutation, root)
            survivors += [] if found else [mutation.name]
            sys.stdout.write(
                f"{mutation.name} ({mutation.module}): {found or 'SURVIVES'}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(survivors)} of {len(chosen)} caught\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
