"""Expected divergence on data shaped like Yahoo's: the fast sums against the exact ones.

    python benchmarks/expected_divergence.py [--documents 20000] [--features 700] [--exact-features 8]

The paper's authors report 1.5 hours on 8 cores for Yahoo's second set. The values are not rounded, so that
hardly two are equal: the worst case for both. The exact sums are timed on a few features and scaled up.
"""

from __future__ import annotations

import time

import numpy as np
from record import Record, parser

from rankstudio.engine import ExpectedDivergence
from rankstudio.engine.methods.selection.expected_divergence import divergences
from rankstudio.engine.support.threads import available

GRADES = 5
PER_QUERY = 20


def problem(m: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training features, grades, queries and validation features; the grades shift some features."""
    rng = np.random.default_rng(0)
    y = rng.choice(GRADES, m, p=(0.3, 0.4, 0.2, 0.07, 0.03)).astype(float)
    shift = rng.random(n) * (rng.random(n) < 0.5)
    X = np.exp(rng.normal(size=(m, n)) + 0.3 * shift * y[:, None])
    return X, y, np.arange(m) // PER_QUERY, np.exp(rng.normal(size=(m, n)))


def main() -> None:
    """Time both and print how far they are apart."""
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=int, default=20_000)
    arguments.add_argument("--features", type=int, default=700)
    arguments.add_argument("--exact-features", type=int, default=8)
    options = arguments.parse_args()
    record = Record(options.json)
    m, n, few = options.documents, options.features, options.exact_features
    X, y, qid, at = problem(m, n)
    divergences(X[:50, :1], y[:50], at[:50, :1])  # compile
    divergences(X[:50, :1], y[:50], at[:50, :1], exact=True)
    print(
        f"{m} training x {m} validation documents x {n} features, {GRADES} grades, {available()} threads"
    )
    began = time.perf_counter()
    fast = divergences(X, y, at)
    seconds = time.perf_counter() - began
    print(f"divergence, fast      {seconds:8.2f} s")
    record.add("divergence", "fast", seconds=seconds)
    began = time.perf_counter()
    exact = divergences(X[:, :few].copy(), y, at[:, :few].copy(), exact=True)
    seconds = time.perf_counter() - began
    print(
        f"divergence, exact     {seconds * n / few:8.1f} s ({seconds:.2f} s for {few} features)"
    )
    record.add("divergence", "exact, scaled up", seconds=seconds * n / few)
    print(f"largest difference    {np.abs(fast[:few] - exact).max():8.1e}")
    for k in (50, None):
        began = time.perf_counter()
        ExpectedDivergence(n_features_to_select=k).fit(X, y, qid=qid, X_validation=at)
        seconds = time.perf_counter() - began
        print(f"fit, {k or n:3d} features     {seconds:8.2f} s")
        record.add("fit", f"{k or n} features", seconds=seconds)
    record.save()


if __name__ == "__main__":
    main()
